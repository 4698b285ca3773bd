//! The task of a catalog: syncs it, and waits until it has to be synced again.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use fitout_api::{ACCEPT_REVISION, Catalog, CatalogSource, SYNC_REQUESTED_AT, reasons};
use fitout_content::Error as ContentError;
use fitout_model::Digest;
use fitout_snapshot::{CatalogRules, Snapshot, SourceSnapshot};
use kube::{Api, ResourceExt};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::directory_watch::DirectoryWatch;
use super::error::SourceError;
use super::extensions::{self, Owner};
use super::source::{Outcome, Read, Settings, Source};
use super::status::{self, Synced};
use super::wait;
use crate::Hub;
use crate::cache::indexes::Key;
use crate::catalogs::{LoadError, ReadingGuard};
use crate::storage::api_writes;

/// The state of a task between two syncs.
struct Task {
    key: Key,
    /// The UID of the catalog.
    uid: Option<String>,
    /// Whether the stored snapshot was read, is lost, or does not exist.
    is_loaded: bool,
    /// The reason why the stored snapshot is lost, until a user requests a sync.
    lost: Option<String>,
    /// The snapshot of the last good read.
    snapshot: Arc<Snapshot>,
    /// The digest of the stored snapshot; none before the first good read.
    digest: Option<Digest>,
    /// The headers of the next conditional request, by key of the source, where a server has sent others with the same
    /// content.
    validators: BTreeMap<String, Vec<(String, String)>>,
    /// Whether the Extensions are those of the snapshot.
    is_written: bool,
    /// Whether the Extensions were written as those of the platform.
    builtin: bool,
    /// Watches the directories among the sources.
    directories: Arc<DirectoryWatch>,
    /// The failed syncs in a row.
    failures: u32,
    /// The earliest time of the next attempt, as a source has stated it.
    retry_after: Option<Duration>,
}

/// Syncs a catalog for as long as it exists.
pub(super) async fn follow(hub: Arc<Hub>, key: Key, uid: Option<String>) {
    let mut task = Task {
        key,
        uid,
        is_loaded: false,
        lost: None,
        snapshot: Arc::default(),
        digest: None,
        validators: BTreeMap::new(),
        is_written: false,
        builtin: false,
        directories: Arc::new(DirectoryWatch::of(&[])),
        failures: 0,
        retry_after: None,
    };
    let mut changes = hub.cache.others();
    let mut watched: Vec<(String, CatalogSource)> = vec![];
    loop {
        changes.mark_unchanged();
        let Some(catalog) = super::find(&hub, &task.key, task.uid.as_deref()) else { return };
        let inputs = wait::inputs(&hub, &catalog);
        let sources = wait::sources(&hub, &catalog);
        if watched != sources {
            task.directories = Arc::new(DirectoryWatch::of(&sources));
            watched.clone_from(&sources);
        }
        task.sync(&hub, &catalog, &sources).await;
        let pause = wait::pause(&catalog, task.failures, task.retry_after, random());
        let woken = async {
            tokio::select! {
                () = until_changed(&hub, &task, &inputs, &mut changes) => {}
                () = async {
                    task.directories.changed().await;
                    sleep(wait::SETTLE).await;
                } => {}
            }
        };
        let _ = timeout(pause, woken).await;
    }
}

/// Waits until a catalog has to be synced at once.
async fn until_changed(hub: &Hub, task: &Task, inputs: &Value, changes: &mut watch::Receiver<u64>) {
    loop {
        let catalog = super::find(hub, &task.key, task.uid.as_deref());
        if catalog.is_none_or(|catalog| wait::inputs(hub, &catalog) != *inputs) {
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
        if let Err(error) = self.load(hub, catalog).await {
            return self.failed(hub, catalog, &format!("what was read before cannot be read again: {error}")).await;
        }
        if catalog.spec.suspend {
            return self.suspended(hub, catalog).await;
        }
        let request = catalog.annotations().get(SYNC_REQUESTED_AT).cloned();
        let handled = catalog.status.as_ref().and_then(|status| status.last_handled_request.clone());
        // A request reads everything: a server may answer that nothing has changed where it has.
        let force = request.is_some() && request != handled;
        if force && sources.iter().all(|(key, _)| self.snapshot.sources.contains_key(key)) {
            self.lost = None;
        }
        let rules = self.rules(catalog);
        // A source may take long to answer, and a withdrawal must not wait for it.
        if rules != self.snapshot.rules && !self.snapshot.sources.is_empty() {
            let sources = self.snapshot.sources.clone();
            hub.catalogs.put(&self.key, Arc::new(Snapshot { sources, rules: rules.clone() }));
        }
        let (before, validators) = (Arc::clone(&self.snapshot), self.validators.clone());
        let directories = Arc::clone(&self.directories);
        let (mut next, mut errors, mut guards) = (BTreeMap::new(), vec![], vec![]);
        // One after the other: each holds what it reads in memory.
        for (key, source) in sources {
            let kept = before.sources.get(key);
            let source =
                match read(hub, catalog, source, kept.map(|kept| &**kept), validators.get(key), force, &directories)
                    .await
                {
                    Ok(Outcome::Changed(Read { snapshot, guards: of_source })) => {
                        guards.extend(of_source);
                        self.validators.remove(key);
                        Some(Arc::new(snapshot))
                    }
                    Ok(Outcome::Unchanged(validators)) => {
                        if !validators.is_empty() {
                            self.validators.insert(key.clone(), validators);
                        }
                        kept.cloned()
                    }
                    Err(error) => {
                        errors.push((key.clone(), error));
                        kept.cloned()
                    }
                };
            next.extend(source.map(|source| (key.clone(), source)));
        }
        let is_failed = errors.iter().any(|(_, error): &(String, SourceError)| error.is_transient());
        self.retry_after = errors.iter().filter_map(|(_, error)| error.retry_after()).max();
        match self.store(hub, catalog, Snapshot { sources: next, rules }).await {
            Ok(stored) => guards.extend(stored),
            Err(error) => return self.failed(hub, catalog, &format!("what was read cannot be stored: {error}")).await,
        }
        if self.snapshot.sources.is_empty() && !errors.is_empty() {
            hub.catalogs.failed(&self.key);
        } else {
            hub.catalogs.put(&self.key, Arc::clone(&self.snapshot));
        }
        let keys: Vec<String> = sources.iter().map(|(key, _)| key.clone()).collect();
        // Before the status: a client that waits for the status finds the Extensions.
        let unwritten = self.write_extensions(hub, catalog, &keys, force).await;
        self.failures = if is_failed || !unwritten.is_empty() { self.failures + 1 } else { 0 };
        let stored = catalog.status.as_ref().and_then(|status| status.digest.clone());
        let synced = Synced {
            snapshot: &self.offered(hub),
            digest: self.digest.as_ref().map(ToString::to_string).or(stored),
            errors: &errors,
            keys: &keys,
            unwritten: &unwritten,
            lost: self.lost.as_deref(),
            request,
        };
        write_status(hub, catalog, status::status(catalog, &synced, &api_writes::now())).await?;
        // Content may be unused only after a read.
        let has_read = !guards.is_empty() || !errors.is_empty();
        drop(guards);
        if has_read {
            hub.content_gc.notify_one();
        }
        Ok(())
    }

    /// Reads the stored snapshot before the first sync. What the sources offer is compared with it, so they are not read
    /// while it is out of reach. Fails only then; a snapshot that is lost is noted.
    async fn load(&mut self, hub: &Hub, catalog: &Catalog) -> Result<(), LoadError> {
        if self.is_loaded {
            return Ok(());
        }
        match hub.load_stored(&self.key, catalog).await {
            Ok(Some(stored)) => (self.snapshot, self.digest) = (stored.snapshot, Some(stored.digest)),
            Ok(None) => {}
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => {
                tracing::error!(%error, "lost the stored snapshot of a catalog");
                self.lost = Some(format!(
                    "what was read before is lost ({error}), so changes of published versions were not noticed; check them \
                     and confirm with `fitout catalog sync`"
                ));
            }
        }
        self.is_loaded = true;
        Ok(())
    }

    /// Applies the rules of a catalog to what was read before, and reads nothing.
    async fn suspended(&mut self, hub: &Hub, catalog: &Catalog) -> anyhow::Result<()> {
        self.failures = 0;
        let next = Snapshot { sources: self.snapshot.sources.clone(), rules: self.rules(catalog) };
        let guard = match self.store(hub, catalog, next).await {
            Ok(guard) => guard,
            Err(error) => {
                return self.failed(hub, catalog, &format!("the rules cannot be stored: {error}")).await;
            }
        };
        let mut status = status::suspended(catalog, &api_writes::now());
        if self.snapshot.sources.is_empty() {
            hub.catalogs.failed(&self.key);
        } else {
            hub.catalogs.put(&self.key, Arc::clone(&self.snapshot));
            let keys: Vec<String> = self.snapshot.sources.keys().cloned().collect();
            if !self.write_extensions(hub, catalog, &keys, false).await.is_empty() {
                self.failures += 1;
            }
            status.digest = self.digest.as_ref().map(ToString::to_string).or(status.digest);
        }
        write_status(hub, catalog, status).await?;
        drop(guard);
        Ok(())
    }

    /// The snapshot that the catalog offers.
    fn offered(&self, hub: &Hub) -> Arc<Snapshot> {
        hub.catalogs.snapshot(&self.key).unwrap_or_else(|| Arc::clone(&self.snapshot))
    }

    /// The rules of a catalog; invalid ones change nothing, and are an error of each source.
    fn rules(&self, catalog: &Catalog) -> CatalogRules {
        super::source::rules(&catalog.spec).unwrap_or_else(|_| self.snapshot.rules.clone())
    }

    /// Stores the next snapshot, unless the status names it. Keeps it from the garbage collector until then.
    async fn store<'a>(
        &mut self,
        hub: &'a Hub,
        catalog: &Catalog,
        next: Snapshot,
    ) -> Result<Option<ReadingGuard<'a>>, ContentError> {
        let has_changed = next != *self.snapshot;
        // Unless the status was written, the stored snapshot may have been collected.
        let named = catalog.status.as_ref().and_then(|status| status.digest.as_deref());
        let is_named = self.digest.as_ref().is_none_or(|digest| Some(digest.as_str()) == named);
        if !has_changed && is_named {
            return Ok(None);
        }
        let text = next.to_bytes();
        let digest = Digest::of(&text);
        let guard = hub.catalogs.keep_while_reading(&digest);
        {
            let _reservation = hub.content_reservations.reserve().await;
            hub.put_content(&text).await?;
        }
        if has_changed {
            self.snapshot = Arc::new(next);
            self.is_written = false;
        }
        self.digest = Some(digest);
        Ok(Some(guard))
    }

    /// Writes the Extensions, unless they are current. Returns a sentence for each that could not be written.
    async fn write_extensions(&mut self, hub: &Hub, catalog: &Catalog, keys: &[String], force: bool) -> Vec<String> {
        let owner = Owner::of(&self.key.0, &self.key.1, catalog);
        if self.is_written && self.builtin == owner.builtin && !force {
            return vec![];
        }
        // An Extension of a source that was neither read nor loaded may be offered still.
        let is_complete = self.lost.is_none() || keys.iter().all(|key| self.snapshot.sources.contains_key(key));
        let unwritten = match extensions::write(hub, &owner, &self.offered(hub), is_complete).await {
            Ok(unwritten) => unwritten,
            Err(error) => vec![format!("the Extensions cannot be listed: {error}")],
        };
        self.is_written = unwritten.is_empty() && is_complete;
        self.builtin = owner.builtin;
        unwritten
    }

    /// Reports that the hub's own storage fails. The extensions of the last sync stay.
    async fn failed(&mut self, hub: &Hub, catalog: &Catalog, message: &str) -> anyhow::Result<()> {
        tracing::warn!(message, "failed to sync catalog");
        self.failures += 1;
        hub.catalogs.failed(&self.key);
        let reason = reasons::synced::UNREACHABLE;
        write_status(hub, catalog, status::unsynced(catalog, reason, message, &api_writes::now())).await
    }
}

/// Reads one source, unless it has not changed.
async fn read<'a>(
    hub: &'a Hub,
    catalog: &'a Catalog,
    source: &'a CatalogSource,
    before: Option<&'a SourceSnapshot>,
    validators: Option<&'a Vec<(String, String)>>,
    force: bool,
    directories: &'a Arc<DirectoryWatch>,
) -> Result<Outcome<Read<'a>>, SourceError> {
    let accepted = catalog.annotations().get(ACCEPT_REVISION).map(String::as_str);
    let is_contested = before.is_some_and(|before| !before.kept.is_empty());
    let settings = Settings::of(&catalog.spec, source)?;
    let force = force || (is_contested && accepted.is_some());
    let namespace = catalog.metadata.namespace.as_deref().unwrap_or_default();
    let validators = validators.map(Vec::as_slice);
    Source { hub, namespace, source, settings, before, validators, force, accepted, directories }.read().await
}

async fn write_status(hub: &Hub, catalog: &Catalog, status: fitout_api::CatalogStatus) -> anyhow::Result<()> {
    if catalog.status.as_ref() == Some(&status) {
        return Ok(());
    }
    let api: Api<Catalog> = Api::namespaced(hub.client.clone(), &catalog.namespace().unwrap_or_default());
    api_writes::patch_status(&api, &catalog.name_any(), &status).await?;
    Ok(())
}
