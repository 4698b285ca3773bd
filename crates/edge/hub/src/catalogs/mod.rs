//! The catalogs that the hub has read: their snapshots in memory, and the packages in its content store.

mod packages;
mod resolve;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fitout_api::{Catalog, SIDELOADED};
use fitout_content::Error as ContentError;
use fitout_model::Digest;
use fitout_snapshot::{ExtensionEntry, Snapshot};
use kube::runtime::reflector::ObjectRef;
use tokio::sync::watch;

use crate::Hub;
use crate::blocking::run_blocking;
use crate::cache::Cache;
use crate::cache::indexes::{Key, key};
pub(crate) use packages::{PackageError, ReadingGuard};

use packages::PackageCache;

/// The snapshots of all catalogs.
pub(crate) struct Catalogs {
    snapshots: watch::Sender<Snapshots>,
    packages: PackageCache,
    /// The packs of snapshots that are being read. No snapshot names them yet.
    reading: Mutex<BTreeMap<Digest, usize>>,
}

/// The snapshots so far.
#[derive(Default)]
pub(crate) struct Snapshots {
    /// By namespace and name of the catalog.
    by_catalog: BTreeMap<Key, ReadCatalog>,
    /// The catalogs that were read, or failed to be read, since the hub acquired the lease.
    tried: BTreeSet<Key>,
    /// The catalogs that exist; none before the hub has listed them.
    existing: Option<BTreeSet<Key>>,
}

/// A catalog that was read.
struct ReadCatalog {
    /// The content of its sources.
    read: Arc<Snapshot>,
    /// The part of it that the catalog offers.
    offered: Arc<Snapshot>,
}

/// A stored snapshot of a catalog.
pub(crate) struct StoredSnapshot {
    pub(crate) digest: Digest,
    pub(crate) snapshot: Arc<Snapshot>,
}

/// The reason why a stored snapshot cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error(transparent)]
    Content(#[from] ContentError),
    #[error("content {digest} is no snapshot of a catalog: {error}")]
    Invalid { digest: Digest, error: serde_json::Error },
}

impl LoadError {
    /// Whether a retry may succeed. Otherwise the snapshot is lost.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Content(ContentError::Hub(_)))
    }
}

/// The versions of an extension that a catalog offers to one cluster.
#[derive(Default)]
pub(crate) struct Offered {
    /// The versions.
    pub(crate) entry: Option<Arc<ExtensionEntry>>,
    /// The reason why there is no entry.
    pub(crate) problem: Option<String>,
}

impl Default for Catalogs {
    fn default() -> Self {
        Self {
            snapshots: watch::channel(Snapshots::default()).0,
            packages: PackageCache::default(),
            reading: Mutex::default(),
        }
    }
}

impl Catalogs {
    /// The snapshot that a catalog offers, or none before it was read.
    pub(crate) fn snapshot(&self, catalog: &Key) -> Option<Arc<Snapshot>> {
        self.snapshots.borrow().by_catalog.get(catalog).map(|catalog| Arc::clone(&catalog.offered))
    }

    /// The versions of an extension that a catalog offers to a cluster with this Kubernetes version.
    pub(crate) fn offered(&self, catalog: &Key, extension: &str, kubernetes: &str) -> Offered {
        let name = &catalog.1;
        let problem = |text: String| Offered { entry: None, problem: Some(text) };
        let Some(snapshot) = self.snapshot(catalog) else {
            return problem(format!("catalog {name} does not exist; `fitout catalog list` shows the catalogs"));
        };
        let Some(source) = snapshot.source_for(kubernetes) else {
            return problem(match snapshot.keys().as_slice() {
                [] => format!("catalog {name} was not read yet; `fitout catalog show {name}` shows why"),
                keys => format!(
                    "catalog {name} has no source for Kubernetes {kubernetes}; its sources are for {}",
                    keys.join(", ")
                ),
            });
        };
        let entry = source.extensions.get(extension).cloned();
        // The first problem is the cause, if no version could be read.
        let at = format!("{extension}/");
        let problem = source.problems.iter().find(|problem| problem.starts_with(&at)).cloned();
        Offered { problem: problem.filter(|_| entry.is_none()), entry }
    }

    /// Waits until it is known whether a catalog exists. A new leader has to read the catalogs first.
    pub(crate) async fn known(&self, catalog: &Key) {
        let is_known = |snapshots: &Snapshots| {
            snapshots.by_catalog.contains_key(catalog)
                || snapshots.tried.contains(catalog)
                || snapshots.existing.as_ref().is_some_and(|existing| !existing.contains(catalog))
        };
        let _ = self.snapshots.subscribe().wait_for(is_known).await;
    }

    /// Notifies of every snapshot that is read from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<Snapshots> {
        self.snapshots.subscribe()
    }

    /// Forgets all catalogs but these.
    pub(crate) fn retain(&self, existing: &BTreeSet<Key>) {
        self.snapshots.send_if_modified(|snapshots| {
            let before = snapshots.by_catalog.len();
            snapshots.by_catalog.retain(|catalog, _| existing.contains(catalog));
            snapshots.tried.retain(|catalog| existing.contains(catalog));
            let first = snapshots.existing.replace(existing.clone()).is_none();
            first || snapshots.by_catalog.len() != before
        });
    }

    /// Forgets a catalog that was deleted, also if there is another one of its name.
    pub(crate) fn forget(&self, catalog: &Key) {
        self.snapshots.send_if_modified(|snapshots| {
            snapshots.tried.remove(catalog);
            snapshots.by_catalog.remove(catalog).is_some()
        });
    }

    /// Sets what was read of a catalog. Notifies if it is something else than before.
    pub(crate) fn put(&self, catalog: &Key, read: Arc<Snapshot>) {
        let offered = read.offered().unwrap_or_else(|error| {
            // The rules were checked before they were stored.
            tracing::error!(catalog = catalog.1, %error, "a stored rule of a catalog is invalid");
            Snapshot::clone(&read)
        });
        self.snapshots.send_if_modified(|snapshots| {
            snapshots.tried.insert(catalog.clone());
            let is_new = snapshots.by_catalog.get(catalog).is_none_or(|before| *before.read != *read);
            snapshots.by_catalog.insert(catalog.clone(), ReadCatalog { read, offered: Arc::new(offered) });
            is_new
        });
    }

    /// Notes that a catalog could not be read.
    pub(crate) fn failed(&self, catalog: &Key) {
        self.snapshots.send_if_modified(|snapshots| snapshots.tried.insert(catalog.clone()));
    }

    /// The content that snapshots name, or none while a stored snapshot was not read yet.
    pub(crate) fn named(&self, cache: &Cache) -> Option<Vec<Digest>> {
        let snapshots = self.snapshots.borrow();
        let mut named: Vec<Digest> = self.reading().keys().cloned().collect();
        for catalog in cache.catalogs.state() {
            let stored = catalog.status.as_ref().and_then(|status| status.digest.clone());
            if stored.is_some() && !snapshots.by_catalog.contains_key(&key(&*catalog)) {
                return None;
            }
            named.extend(stored.map(Digest::from));
        }
        // The sideloaded catalogs are read from objects, all of them at once.
        let complete = snapshots.existing.is_some();
        named.extend(snapshots.by_catalog.values().flat_map(|catalog| catalog.read.packs().cloned()));
        complete.then_some(named)
    }

    /// Whether a snapshot names this pack. If one does, the pack is stored.
    pub(crate) fn names_pack(&self, pack: &Digest) -> bool {
        self.snapshots.borrow().by_catalog.values().any(|catalog| catalog.read.packs().any(|named| named == pack))
    }

    fn reading(&self) -> MutexGuard<'_, BTreeMap<Digest, usize>> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hub {
    /// Whether a revision names this content. If one does, the content is stored.
    pub(crate) fn names_content(&self, content: &Digest) -> bool {
        self.cache.names_content(content) || self.write_ahead_log.names(content)
    }

    /// Reads the stored snapshot of a catalog, unless this replica leads and has read its source.
    pub(crate) async fn load_snapshot(&self, catalog: &Key) {
        let object = self.cache.catalogs.get(&ObjectRef::new(&catalog.1).within(&catalog.0));
        if self.fence.allows_writes() {
            return;
        }
        if catalog.1 == SIDELOADED {
            match crate::controllers::sideloads::read(self, &catalog.0).await {
                Ok(snapshot) => self.catalogs.put(catalog, Arc::new(snapshot)),
                Err(error) => tracing::warn!(%error, "failed to read sideloaded definitions"),
            }
        }
        if let Some(object) = object
            && let Err(error) = self.load_stored(catalog, &object).await
        {
            tracing::warn!(catalog = catalog.1, %error, "failed to read the stored snapshot of a catalog");
        }
    }

    /// Reads the stored snapshot of a catalog; none if the status names none.
    pub(crate) async fn load_stored(
        &self,
        catalog: &Key,
        object: &Catalog,
    ) -> Result<Option<StoredSnapshot>, LoadError> {
        let Some(digest) = object.status.as_ref().and_then(|status| status.digest.clone()).map(Digest::from) else {
            return Ok(None);
        };
        let text = self.content.get(&digest).await?;
        let parsed = run_blocking(text.len(), || Snapshot::parse(&text));
        let snapshot = Arc::new(parsed.map_err(|error| LoadError::Invalid { digest: digest.clone(), error })?);
        self.catalogs.put(catalog, Arc::clone(&snapshot));
        Ok(Some(StoredSnapshot { digest, snapshot }))
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_catalog_is_known_once_it_was_read_or_does_not_exist() {
        let catalogs = Catalogs::default();
        let of = |name: &str| ("fitout-system".to_owned(), name.to_owned());
        let known = |name: &str| catalogs.known(&of(name)).now_or_never().is_some();
        assert!(!known("first") && !known("second") && !known("third"));
        catalogs.put(&of("first"), Arc::default());
        assert!(known("first") && !known("second"));
        catalogs.retain(&["first", "second"].map(of).into());
        assert!(!known("second") && known("third") && catalogs.snapshot(&of("third")).is_none());
        catalogs.failed(&of("second"));
        assert!(known("second"));
    }
}
