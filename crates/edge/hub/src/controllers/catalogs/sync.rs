//! The task of a catalog: syncs it, and waits until it has to be synced again.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use fitout_api::{ACCEPT_REVISION, Catalog, CatalogSource, SYNC_REQUESTED_AT};
use fitout_model::Digest;
use fitout_snapshot::Snapshot;
use futures::future::join_all;
use kube::{Api, ResourceExt};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::error::SourceError;
use super::extensions::{self, Owner};
use super::source::{Read, Settings, Source};
use super::status::{self, Synced};
use super::wait::{self, DirectoryWatch};
use crate::Hub;
use crate::cache::indexes::Key;
use crate::storage::api_writes;

/// The state of a task between two syncs.
struct Task {
    key: Key,
    /// The snapshot of the last good read.
    snapshot: Arc<Snapshot>,
    /// Whether the Extensions and the stored snapshot are those of the snapshot.
    written: bool,
    /// The failed syncs in a row.
    failures: u32,
    /// The earliest time of the next attempt, as a source has stated it.
    retry_after: Option<Duration>,
}

/// Syncs a catalog for as long as it exists.
pub(super) async fn follow(hub: Arc<Hub>, key: Key) {
    let Some(catalog) = super::find(&hub, &key) else { return };
    let stored = hub.load_stored(&key, &catalog).await;
    let mut task = Task { key, snapshot: stored.unwrap_or_default(), written: false, failures: 0, retry_after: None };
    let mut changes = hub.cache.others();
    let mut watched: Option<(Vec<(String, CatalogSource)>, DirectoryWatch)> = None;
    loop {
        changes.mark_unchanged();
        let Some(catalog) = super::find(&hub, &task.key) else { return };
        let inputs = wait::inputs(&hub, &catalog);
        let sources = wait::sources(&hub, &catalog);
        // Watched before it is read, so that no change is missed.
        if watched.as_ref().is_none_or(|(of, _)| *of != sources) {
            watched = Some((sources.clone(), DirectoryWatch::of(&sources)));
        }
        task.sync(&hub, &catalog, &sources).await;
        let pause = wait::pause(&catalog, task.failures, task.retry_after, random());
        let woken = async {
            tokio::select! {
                () = until_changed(&hub, &task.key, &inputs, &mut changes) => {}
                () = async {
                    match &watched {
                        Some((_, directories)) => directories.changed().await,
                        None => std::future::pending().await,
                    }
                    sleep(wait::SETTLE).await;
                } => {}
            }
        };
        let _ = timeout(pause, woken).await;
    }
}

/// Waits until a catalog has to be synced at once.
async fn until_changed(hub: &Hub, key: &Key, inputs: &Value, changes: &mut watch::Receiver<u64>) {
    loop {
        if super::find(hub, key).is_none_or(|catalog| wait::inputs(hub, &catalog) != *inputs) {
            return;
        }
        if changes.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// A number between 0 and 1.
fn random() -> f64 {
    let bits = u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or_default();
    f64::from(bits) / f64::from(u32::MAX)
}

impl Task {
    async fn sync(&mut self, hub: &Hub, catalog: &Catalog, sources: &[(String, CatalogSource)]) {
        if let Err(error) = self.try_sync(hub, catalog, sources).await {
            tracing::warn!(%error, "failed to sync catalog");
            self.failures += 1;
            hub.catalogs.failed(&self.key);
        }
    }

    /// Reads the sources and writes what has changed. Fails only if the hub's API server does.
    async fn try_sync(
        &mut self,
        hub: &Hub,
        catalog: &Catalog,
        sources: &[(String, CatalogSource)],
    ) -> anyhow::Result<()> {
        let (namespace, name) = &self.key;
        if catalog.spec.suspend {
            hub.catalogs.failed(&self.key);
            return write_status(hub, catalog, status::suspended(catalog, &api_writes::now())).await;
        }
        let annotation = |name: &str| catalog.annotations().get(name).cloned();
        let request = annotation(SYNC_REQUESTED_AT);
        let handled = catalog.status.as_ref().and_then(|status| status.last_handled_request.clone());
        // A request reads everything: a server may answer that nothing has changed where it has.
        let force = request.is_some() && request != handled;
        let accepted = annotation(ACCEPT_REVISION);
        let before = Arc::clone(&self.snapshot);
        let reads = sources.iter().map(async |(key, source)| {
            let before = before.sources.get(key).map(|source| &**source);
            let is_contested = before.is_some_and(|before| !before.kept.is_empty());
            let settings = Settings::of(&catalog.spec, source)?;
            let read = Source {
                hub,
                namespace,
                source,
                settings,
                before,
                force: force || (is_contested && accepted.is_some()),
                accepted: accepted.as_deref(),
            };
            read.read().await
        });
        let results = join_all(reads).await;
        let (mut next, mut errors, mut guards) = (BTreeMap::new(), vec![], vec![]);
        for ((key, _), result) in sources.iter().zip(results) {
            let kept = self.snapshot.sources.get(key).cloned();
            let source = match result {
                Ok(Some(Read { snapshot, guards: of_source })) => {
                    guards.extend(of_source);
                    Some(Arc::new(snapshot))
                }
                Ok(None) => kept,
                Err(error) => {
                    errors.push((key.clone(), error));
                    kept
                }
            };
            next.extend(source.map(|source| (key.clone(), source)));
        }
        let is_failed = errors.iter().any(|(_, error): &(String, SourceError)| error.is_transient());
        self.failures = if is_failed { self.failures + 1 } else { 0 };
        self.retry_after = errors.iter().filter_map(|(_, error)| error.retry_after()).max();
        let next = Snapshot { sources: next };
        let changed = next != *self.snapshot;
        let stored = catalog.status.as_ref().and_then(|status| status.digest.clone());
        let mut digest = stored;
        if changed || digest.is_none() && !next.sources.is_empty() {
            let text = next.to_bytes();
            let of_text = Digest::of(&text);
            // Named by the status of the catalog a moment later.
            guards.push(hub.catalogs.keep_while_reading(&of_text));
            let _reservation = hub.content_reservations.reserve().await;
            hub.content.put(&text).await?;
            digest = Some(of_text.to_string());
        }
        if changed {
            self.snapshot = Arc::new(next);
            self.written = false;
        }
        if self.snapshot.sources.is_empty() && !errors.is_empty() {
            hub.catalogs.failed(&self.key);
        } else {
            hub.catalogs.put(&self.key, Arc::clone(&self.snapshot));
        }
        let keys: Vec<String> = sources.iter().map(|(key, _)| key.clone()).collect();
        let synced = Synced { snapshot: &self.snapshot, digest, changed, errors: &errors, keys: &keys, request };
        let status = status::status(catalog, &synced, &api_writes::now());
        // Before the status: a client that waits for the status finds the Extensions.
        if !self.written {
            extensions::write(hub, &Owner::of(namespace, name, catalog), &self.snapshot).await?;
            self.written = true;
        }
        write_status(hub, catalog, status).await?;
        drop(guards);
        hub.content_gc.notify_one();
        Ok(())
    }
}

async fn write_status(hub: &Hub, catalog: &Catalog, status: fitout_api::CatalogStatus) -> anyhow::Result<()> {
    if catalog.status.as_ref() == Some(&status) {
        return Ok(());
    }
    let api: Api<Catalog> = Api::namespaced(hub.client.clone(), &catalog.namespace().unwrap_or_default());
    api_writes::patch_status(&api, &catalog.name_any(), &status).await?;
    Ok(())
}
