//! The controller of catalogs: a task for each catalog reads its sources, keeps the snapshot, and writes an Extension
//! for everything it offers.
//!
//! A source that cannot be read, or that contradicts what it has published, changes nothing: the snapshot of the last
//! good read stays, also when the hub restarts. A slow source delays no other catalog.

mod directory_watch;
mod error;
pub(super) mod extensions;
pub(crate) mod memory;
mod source;
mod status;
mod sync;
mod wait;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use fitout_api::Catalog;
use kube::ResourceExt;
use kube::runtime::reflector::ObjectRef;
use tokio::task::{AbortHandle, JoinSet};
use tracing::{Instrument, error_span};

use crate::Hub;
use crate::cache::indexes::{Key, key};
use crate::controllers::sideloads::{self, Sideloads};

/// The task of a catalog.
struct Running {
    /// The UID of the catalog: one that is created again under the same name is another catalog.
    uid: Option<String>,
    task: AbortHandle,
}

/// Runs a task for each catalog for as long as it exists. All tasks end with this one.
pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let mut changes = hub.cache.others();
    let mut tasks = JoinSet::new();
    let mut running: BTreeMap<Key, Running> = BTreeMap::new();
    let mut sideloads = Sideloads::default();
    loop {
        changes.mark_unchanged();
        let namespaces = sideloads.namespaces(&hub).await;
        let catalogs = hub.cache.catalogs.state();
        let catalogs: BTreeMap<Key, Option<String>> =
            catalogs.iter().map(|catalog| (key(&**catalog), catalog.uid())).collect();
        running.retain(|key, Running { uid, task }| {
            let exists = catalogs.get(key) == Some(uid);
            if !exists {
                task.abort();
                hub.catalogs.forget(key);
                hub.content_gc.notify_one();
            }
            // A task ends when its catalog does not exist, which may have been so for a moment only.
            exists && !task.is_finished()
        });
        for (catalog, uid) in &catalogs {
            if !running.contains_key(catalog) {
                let span = error_span!("catalog", namespace = catalog.0, catalog = catalog.1);
                let follow = sync::follow(Arc::clone(&hub), catalog.clone(), uid.clone()).instrument(span);
                running.insert(catalog.clone(), Running { uid: uid.clone(), task: tasks.spawn(follow) });
            }
        }
        let failed = sideloads.sync(&hub, &namespaces).await;
        let existing: BTreeSet<Key> =
            catalogs.into_keys().chain(namespaces.iter().map(|namespace| sideloads::catalog(namespace))).collect();
        hub.catalogs.retain(&existing);
        tokio::select! {
            ended = crate::storage::api_writes::next_change(&mut changes, failed) => ended?,
            Some(ended) = tasks.join_next() => if let Err(error) = ended && error.is_panic() {
                return Err(error.into());
            },
        }
    }
}

/// A catalog in the cache, unless another one has taken its name.
fn find(hub: &Hub, (namespace, name): &Key, uid: Option<&str>) -> Option<Arc<Catalog>> {
    let catalog = hub.cache.catalogs.get(&ObjectRef::new(name).within(namespace));
    catalog.filter(|catalog| catalog.metadata.uid.as_deref() == uid)
}
