//! Who writes release records: a watch tells of every one, whoever wrote it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{Config, Event};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::Notify;

/// What was heard of the records of releases that somebody listens to.
#[derive(Debug, Default)]
pub(crate) struct ReleaseWatch(Mutex<Listeners>);

/// Who listens to which release, by its namespace and name.
type Listeners = BTreeMap<(String, String), Vec<Arc<Listener>>>;

#[derive(Debug, Default)]
struct Listener {
    word: Notify,
    heard: Mutex<Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    /// The newest version of each record.
    versions: BTreeMap<u32, u64>,
    /// Something may have been missed.
    gap: bool,
}

/// Listens to what is written to the records of one release.
#[derive(Debug)]
pub struct ReleaseSubscription {
    releases: Arc<ReleaseWatch>,
    release: (String, String),
    listener: Arc<Listener>,
}

impl ReleaseWatch {
    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn listen(self: &Arc<Self>, namespace: &str, name: &str) -> ReleaseSubscription {
        let release = (namespace.to_owned(), name.to_owned());
        let listener = Arc::<Listener>::default();
        self.lock().entry(release.clone()).or_default().push(Arc::clone(&listener));
        ReleaseSubscription { releases: Arc::clone(self), release, listener }
    }

    fn note(&self, record: &PartialObjectMeta<Secret>) {
        let number = record.labels().get("version").and_then(|version| version.parse().ok());
        let (Some(name), Some(number)) = (record.labels().get("name"), number) else { return };
        let version = record.resource_version().and_then(|version| version.parse().ok()).unwrap_or(u64::MAX);
        let release = (record.namespace().unwrap_or_default(), name.clone());
        for listener in self.lock().get(&release).into_iter().flatten() {
            let mut heard = listener.heard();
            let newest = heard.versions.entry(number).or_default();
            *newest = version.max(*newest);
            listener.word.notify_one();
        }
    }

    fn miss(&self) {
        for listener in self.lock().values().flatten() {
            listener.heard().gap = true;
            listener.word.notify_one();
        }
    }
}

impl Listener {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReleaseSubscription {
    /// Waits for word of any record.
    pub async fn changed(&self) {
        self.listener.word.notified().await;
    }

    /// Whether there was word of anything newer than these versions of records.
    pub fn has_changes(&self, known: &BTreeMap<u32, u64>) -> bool {
        let heard = self.listener.heard();
        heard.gap
            || heard.versions.iter().any(|(number, version)| known.get(number).is_none_or(|known| version > known))
    }
}

impl Drop for ReleaseSubscription {
    fn drop(&mut self) {
        let mut all = self.releases.lock();
        if let Some(listeners) = all.get_mut(&self.release) {
            listeners.retain(|other| !Arc::ptr_eq(other, &self.listener));
            if listeners.is_empty() {
                all.remove(&self.release);
            }
        }
    }
}

/// Follows the records of all releases.
pub(crate) async fn follow(client: Client, releases: Arc<ReleaseWatch>) {
    let api: Api<PartialObjectMeta<Secret>> = Api::all(client);
    let config = Config::default().labels("owner=helm");
    let mut events = std::pin::pin!(watcher(api, config).default_backoff());
    // Whoever listens has read the records, so the first list tells what has changed since; once we were cut off, nobody
    // tells what has gone.
    let mut listed = false;
    loop {
        match events.try_next().await {
            Ok(Some(Event::Init)) => {}
            Ok(Some(Event::InitDone)) => {
                if std::mem::replace(&mut listed, true) {
                    releases.miss();
                }
            }
            Ok(Some(Event::InitApply(record) | Event::Apply(record) | Event::Delete(record))) => releases.note(&record),
            Ok(None) => return,
            Err(error) => tracing::debug!(%error, "watch release records"),
        }
    }
}
