//! The chart cache: archives that are in use, and recent failures to fetch one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fitout_api::ExtensionRevision;
use fitout_model::{Digest, Helm, Package};
use fitout_plan::{Archive, RenderError};
use fitout_repositories::{Cause, Error, Sources, Wanted};
use kube::ResourceExt;
use tokio::sync::OnceCell;

use crate::reconcile::retry::Backoff;
use crate::{Hub, SYSTEM};

/// The bytes of archives in memory. Beyond this, some are dropped and read from the content store again.
const CACHE_BYTES: usize = 64 << 20;

/// The number of failures that are remembered.
const NEGATIVE_ENTRIES: usize = 10_000;

/// The chart cache.
#[derive(Default)]
pub(crate) struct Charts {
    /// The client of repositories, also for catalogs.
    pub(crate) sources: Sources,
    archives: Mutex<BTreeMap<ChartKey, Cell>>,
    /// By chart and credentials: new credentials are tried at once.
    failures: Mutex<BTreeMap<Digest, NegativeCacheEntry>>,
}

/// The namespace of a catalog and the digest of a definition. An organization never gets a chart by the credentials of
/// another.
type ChartKey = (String, Digest);

/// An archive and the time it was fetched. Callers wait for a fetch that is under way.
type Cell = Arc<OnceCell<(Instant, Archive)>>;

/// A chart could not be fetched.
#[derive(Clone, Debug)]
pub(crate) struct FetchError {
    /// The cause, for the status of an instance.
    pub(crate) why: RenderError,
    /// The time of the next attempt. Until then every caller gets this error.
    pub(crate) due: Instant,
}

/// A failure that is remembered until its chart is due.
struct NegativeCacheEntry {
    error: FetchError,
    backoff: Backoff,
}

impl Hub {
    /// The packaged chart of a definition, or none where the definition contains it. Once a version was installed, its
    /// archive never changes.
    pub(crate) async fn archive(&self, namespace: &str, package: &Package) -> Result<Option<Archive>, FetchError> {
        let Some((helm, repository)) =
            package.definition.helm.as_ref().and_then(|helm| Some((helm, helm.repository.as_ref()?)))
        else {
            return Ok(None);
        };
        let key = (namespace.to_owned(), package.digest.clone());
        let digest = || helm.digest.clone().map(Digest::from).or_else(|| self.installed_chart(&key));
        // A chart that was never installed may be republished under the same version.
        let is_old =
            |cell: Cell| cell.get().is_some_and(|(since, _)| since.elapsed() >= self.options.fetch_retry_interval);
        if is_old(self.charts.cell(&key)) && digest().is_none() {
            self.charts.archives().remove(&key);
        }
        let cell = self.charts.cell(&key);
        let fetched = cell.get_or_try_init(|| self.fetch(&key, helm, repository, digest())).await;
        let archive = fetched.map(|(_, archive)| archive.clone())?;
        self.charts.evict(CACHE_BYTES);
        Ok(Some(archive))
    }

    /// Reads an archive from the content store, or else fetches it from its repository.
    async fn fetch(
        &self,
        key: &ChartKey,
        helm: &Helm,
        repository: &str,
        digest: Option<Digest>,
    ) -> Result<(Instant, Archive), FetchError> {
        if let Some(digest) = &digest
            && let Ok(archive) = self.content.get(digest).await
        {
            return Ok((Instant::now(), Archive::new(archive)));
        }
        let credentials = self.credentials(&key.0, repository);
        let request = Digest::of(format!("{}\n{}\n{}", key.0, key.1, credentials.access.fingerprint()));
        let is_early = |failure: &&NegativeCacheEntry| failure.error.due > Instant::now();
        if let Some(failure) = self.charts.failures().get(&request).filter(is_early) {
            return Err(failure.error.clone());
        }
        let wanted =
            Wanted { repository, chart: &helm.chart, version: helm.version.as_deref(), digest: digest.as_ref() };
        match self.charts.sources.fetch(&wanted, &credentials.access).await {
            Ok(fetched) => {
                self.charts.failures().remove(&request);
                Ok((Instant::now(), Archive::new(fetched.archive)))
            }
            Err(error) => {
                let interval = self.options.fetch_retry_interval;
                Err(self.charts.add_failure(request, &error, &credentials.secret, interval))
            }
        }
    }

    /// The chart that a definition was installed with: by the organization, or by any where the catalog is shared.
    fn installed_chart(&self, key: &ChartKey) -> Option<Digest> {
        let (namespace, definition) = key;
        let is_own =
            |revision: &Arc<ExtensionRevision>| namespace == SYSTEM || revision.namespace().as_ref() == Some(namespace);
        let mut own = self.cache.revisions_with(definition).into_iter().filter(is_own);
        own.find_map(|revision| revision.spec.chart_digest.clone()).map(Digest::from)
    }
}

/// The message of a failed fetch, which names the Secret with the credentials where those may be the cause.
fn render_error(error: &Error, secret: &str) -> RenderError {
    match error.cause {
        _ if error.passing() => RenderError::Unavailable(format!("{error}; the hub retries by itself")),
        Cause::Refused { .. } | Cause::Untrusted { .. } | Cause::Access(_) => {
            RenderError::Invalid(format!("{error}: {secret}"))
        }
        _ => RenderError::Invalid(error.to_string()),
    }
}

impl Charts {
    fn archives(&self) -> MutexGuard<'_, BTreeMap<ChartKey, Cell>> {
        self.archives.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failures(&self) -> MutexGuard<'_, BTreeMap<Digest, NegativeCacheEntry>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cell(&self, key: &ChartKey) -> Cell {
        self.archives().entry(key.clone()).or_default().clone()
    }

    /// Remembers a failure. A transient one is retried with backoff, and not before the server's `Retry-After`. A
    /// permanent one is retried at this interval: only the publisher can fix it, and the hub is not notified.
    fn add_failure(&self, request: Digest, error: &Error, secret: &str, fetch_retry_interval: Duration) -> FetchError {
        let mut failures = self.failures();
        if failures.len() >= NEGATIVE_ENTRIES {
            failures.clear();
        }
        let mut backoff = failures.remove(&request).map(|failure| failure.backoff).unwrap_or_default();
        let pause = if error.passing() {
            backoff.next_pause().max(error.retry_after().unwrap_or_default())
        } else {
            fetch_retry_interval
        };
        let error = FetchError { why: render_error(error, secret), due: Instant::now() + pause };
        failures.insert(request, NegativeCacheEntry { error: error.clone(), backoff });
        error
    }

    /// Drops archives until the others fit. The last one always stays.
    fn evict(&self, limit: usize) {
        let mut archives = self.archives();
        let size = |cell: &Cell| cell.get().map_or(0, |(_, archive)| archive.content.len());
        while archives.values().map(size).sum::<usize>() > limit && archives.len() > 1 {
            archives.pop_first();
        }
    }
}
