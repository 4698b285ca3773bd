//! What was in an index, for as long as its server says that it has not changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use fitout_model::Digest;
use reqwest::Url;
use reqwest::header::{ETAG, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};

use crate::Access;
use crate::index::Release;
use crate::web::Answer;

/// So many versions of charts are remembered in all, about 200 bytes each.
const VERSIONS: usize = 100_000;

/// The versions of charts, by where they are from and what was shown to see them.
#[derive(Default)]
pub(crate) struct Known(Mutex<HashMap<Digest, Memory>>);

/// One chart's versions, and what tells its server that we have them.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) releases: Arc<Vec<Release>>,
    pub(crate) unless: Vec<(HeaderName, String)>,
}

impl Known {
    /// What everybody who shows the same may remember together. An organization learns nothing from another's access.
    pub(crate) fn key(index: &Url, chart: &str, access: &Access) -> Digest {
        Digest::of(format!("{index}\n{chart}\n{}", access.fingerprint()))
    }

    pub(crate) fn recall(&self, key: &Digest) -> Option<Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Remembers, unless nobody could tell whether it is still so. When it is too much, all else is forgotten.
    pub(crate) fn remember(&self, key: Digest, releases: &Arc<Vec<Release>>, unless: Vec<(HeaderName, String)>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unless.is_empty() {
            all.remove(&key);
            return;
        }
        // Each counts for one more, so that charts without versions are not remembered for ever.
        let count = |releases: &Arc<Vec<Release>>| releases.len() + 1;
        if all.values().map(|memory| count(&memory.releases)).sum::<usize>() + count(releases) > VERSIONS {
            all.clear();
        }
        all.insert(key, Memory { releases: Arc::clone(releases), unless });
    }
}

/// What to say next time, so that an answer comes only when there is another.
pub(crate) fn unless(answer: &Answer) -> Vec<(HeaderName, String)> {
    let said = |name: &HeaderName| answer.header(name).next().map(str::to_owned);
    let tag = said(&ETAG).map(|tag| (IF_NONE_MATCH, tag));
    let date = said(&LAST_MODIFIED).map(|date| (IF_MODIFIED_SINCE, date));
    tag.or(date).into_iter().collect()
}
