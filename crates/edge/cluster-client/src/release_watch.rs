//! A watch on Helm release records, which notifies subscribers of every write by any client.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fitout_model::ResourceVersion;
use futures::TryStreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{Config, Event};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::Notify;

/// The watch state of all releases with subscribers.
#[derive(Debug, Default)]
pub(crate) struct ReleaseWatch(Mutex<Listeners>);

/// The listeners of each release, by its namespace and name.
type Listeners = BTreeMap<(String, String), Vec<Arc<Listener>>>;

#[derive(Debug, Default)]
struct Listener {
    notify: Notify,
    observed: Mutex<Observed>,
}

#[derive(Debug, Default)]
struct Observed {
    /// The newest resource version of each record.
    versions: BTreeMap<u32, ResourceVersion>,
    /// Whether the watch may have missed events.
    gap: bool,
}

/// A subscription to changes of one release's records, removed when it is dropped.
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

    pub(crate) fn subscribe(self: &Arc<Self>, namespace: &str, name: &str) -> ReleaseSubscription {
        let release = (namespace.to_owned(), name.to_owned());
        let listener = Arc::<Listener>::default();
        self.lock().entry(release.clone()).or_default().push(Arc::clone(&listener));
        ReleaseSubscription { releases: Arc::clone(self), release, listener }
    }

    fn record_event(&self, record: &PartialObjectMeta<Secret>) {
        let revision = record.labels().get("version").and_then(|version| version.parse().ok());
        let (Some(name), Some(revision)) = (record.labels().get("name"), revision) else { return };
        let version =
            ResourceVersion::parse(record.metadata.resource_version.as_deref()).unwrap_or(ResourceVersion::NEWEST);
        let release = (record.namespace().unwrap_or_default(), name.clone());
        for listener in self.lock().get(&release).into_iter().flatten() {
            let mut observed = listener.observed();
            let newest = observed.versions.entry(revision).or_default();
            *newest = version.max(*newest);
            listener.notify.notify_one();
        }
    }

    fn record_gap(&self) {
        for listener in self.lock().values().flatten() {
            listener.observed().gap = true;
            listener.notify.notify_one();
        }
    }
}

impl Listener {
    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReleaseSubscription {
    /// Waits for the next event of any of the release's records.
    pub async fn changed(&self) {
        self.listener.notify.notified().await;
    }

    /// Whether the watch showed a record newer than these versions, or may have missed one.
    pub fn has_changes(&self, known: &BTreeMap<u32, ResourceVersion>) -> bool {
        let observed = self.listener.observed();
        let is_newer =
            |(revision, version): (&u32, &ResourceVersion)| known.get(revision).is_none_or(|known| version > known);
        observed.gap || observed.versions.iter().any(is_newer)
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

/// Watches the records of all releases.
pub(crate) async fn follow(client: Client, releases: Arc<ReleaseWatch>) {
    let api: Api<PartialObjectMeta<Secret>> = Api::all(client);
    let config = Config::default().labels("owner=helm");
    let mut events = std::pin::pin!(watcher(api, config).default_backoff());
    // A subscriber has read the records, so the first list shows what has changed since. A later list does not show
    // what was deleted while the watch was down.
    let mut listed = false;
    loop {
        match events.try_next().await {
            Ok(Some(Event::Init)) => {}
            Ok(Some(Event::InitDone)) => {
                if std::mem::replace(&mut listed, true) {
                    releases.record_gap();
                }
            }
            Ok(Some(Event::InitApply(record) | Event::Apply(record) | Event::Delete(record))) => {
                releases.record_event(&record);
            }
            Ok(None) => return,
            Err(error) => tracing::debug!(%error, "watch of release records failed"),
        }
    }
}
