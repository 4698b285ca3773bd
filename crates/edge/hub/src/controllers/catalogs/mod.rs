//! The controller of catalogs: a task for each catalog reads its sources, keeps the snapshot, and writes an Extension
//! for everything it offers.
//!
//! A source that cannot be read, or that contradicts what it has published, changes nothing: the snapshot of the last
//! good read stays, also when the hub restarts. A slow source delays no other catalog.

mod error;
pub(super) mod extensions;
mod source;
mod status;
mod sync;
mod wait;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use fitout_api::Catalog;
use kube::runtime::reflector::ObjectRef;
use tokio::task::{AbortHandle, JoinSet};
use tracing::{Instrument, error_span};

use crate::Hub;
use crate::cache::indexes::{Key, key};
use crate::controllers::sideloads;

/// Runs a task for each catalog for as long as it exists. All tasks end with this one.
pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let mut changes = hub.cache.others();
    let mut tasks = JoinSet::new();
    let mut running: BTreeMap<Key, AbortHandle> = BTreeMap::new();
    loop {
        changes.mark_unchanged();
        let catalogs: BTreeSet<Key> = hub.cache.catalogs.state().iter().map(|catalog| key(&**catalog)).collect();
        let sideloads = sideloads::namespaces(&hub);
        running.retain(|key, task| {
            let exists = catalogs.contains(key);
            if !exists {
                task.abort();
                hub.content_gc.notify_one();
            }
            exists
        });
        for catalog in &catalogs {
            if !running.contains_key(catalog) {
                let span = error_span!("catalog", namespace = catalog.0, catalog = catalog.1);
                let task = tasks.spawn(sync::follow(Arc::clone(&hub), catalog.clone()).instrument(span));
                running.insert(catalog.clone(), task);
            }
        }
        let failed = sideloads::sync(&hub, &sideloads).await;
        let existing: BTreeSet<Key> = catalogs.into_iter().chain(sideloads.iter().map(sideloads::catalog)).collect();
        hub.catalogs.retain(&existing);
        tokio::select! {
            changed = crate::storage::api_writes::next_change(&mut changes, failed) => changed?,
            Some(ended) = tasks.join_next() => if let Err(error) = ended && error.is_panic() {
                return Err(error.into());
            },
        }
    }
}

/// A catalog in the cache.
fn find(hub: &Hub, (namespace, name): &Key) -> Option<Arc<Catalog>> {
    hub.cache.catalogs.get(&ObjectRef::new(name).within(namespace))
}
