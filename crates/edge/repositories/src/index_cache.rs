//! A cache of indexes, used while the server answers that an index has not changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use fitout_model::Digest;
use reqwest::Url;
use reqwest::header::HeaderName;

use crate::Access;
use crate::index::Release;

/// The number of cached chart versions, about 200 bytes each.
const MAX_VERSIONS: usize = 100_000;

/// The versions of charts, by index and credentials.
#[derive(Default)]
pub(crate) struct IndexCache(Mutex<HashMap<Digest, CachedChart>>);

/// The versions of one chart, and the headers of a conditional request for its index.
#[derive(Clone)]
pub(crate) struct CachedChart {
    pub(crate) releases: Arc<Vec<Release>>,
    pub(crate) conditions: Vec<(HeaderName, String)>,
}

impl IndexCache {
    /// The key of a chart. It includes the credentials, so that an organization learns nothing from another's access.
    pub(crate) fn key(index: &Url, chart: &str, access: &Access) -> Digest {
        Digest::of(format!("{index}\n{chart}\n{}", access.fingerprint()))
    }

    pub(crate) fn get(&self, key: &Digest) -> Option<CachedChart> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Stores a chart that can be requested conditionally. A full cache is cleared.
    pub(crate) fn insert(&self, key: Digest, releases: &Arc<Vec<Release>>, conditions: Vec<(HeaderName, String)>) {
        let mut charts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if conditions.is_empty() {
            charts.remove(&key);
            return;
        }
        // Each chart counts for one more, so that charts without versions are limited too.
        let count = |releases: &Arc<Vec<Release>>| releases.len() + 1;
        if charts.values().map(|chart| count(&chart.releases)).sum::<usize>() + count(releases) > MAX_VERSIONS {
            charts.clear();
        }
        charts.insert(key, CachedChart { releases: Arc::clone(releases), conditions });
    }
}
