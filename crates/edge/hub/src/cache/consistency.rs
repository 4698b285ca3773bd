//! Consistent reads: from the cache, or from the hub's API server where the cache is behind.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use fitout_api::{ExtensionInstance, ExtensionRevision};
use kube::api::{ListParams, PartialObjectMeta};
use kube::{Api, ResourceExt};
use tokio::time::sleep;

use crate::Hub;
use crate::cache::indexes::key;
use crate::cache::pending_writes::{Expected, version};
use crate::reconcile::retry::ReconcileError;
use crate::storage::write_ahead_log;

/// The pause before the initial read is retried.
const RETRY: Duration = Duration::from_secs(1);

/// The limit of a list request.
const LIMIT: u32 = 500;

/// Compares the cache of a new leader with the API server: the watches may not have reported the last writes of the
/// previous leader yet.
pub(crate) async fn catch_up(hub: &Hub) {
    while let Err(error) = expect_all(hub).await {
        tracing::warn!(%error, "failed to read instances and revisions");
        sleep(RETRY).await;
    }
}

async fn expect_all(hub: &Hub) -> kube::Result<()> {
    let instances = Api::<ExtensionInstance>::all(hub.client.clone());
    for_each(&instances, |instance| hub.cache.expect_instance(&key(instance), version(instance))).await?;
    let cached = hub.cache.revisions.state();
    let revisions = Api::<ExtensionRevision>::all(hub.client.clone());
    let mut existing = BTreeSet::new();
    for_each(&revisions, |revision| {
        existing.insert(key(revision));
        hub.cache.expect_revision(&key(revision), Expected::Present(version(revision)));
    })
    .await?;
    for deleted in cached.iter().filter(|revision| !existing.contains(&key(revision.as_ref()))) {
        hub.cache.expect_revision(&key(deleted.as_ref()), Expected::Deleted(version(deleted.as_ref())));
    }
    Ok(())
}

/// Lists the metadata of all objects of a kind.
async fn for_each<K>(api: &Api<K>, mut each: impl FnMut(&PartialObjectMeta<K>)) -> kube::Result<()>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let mut params = ListParams::default().limit(LIMIT);
    loop {
        let found = api.list_metadata(&params).await?;
        found.items.iter().for_each(&mut each);
        match found.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => params.continue_token = Some(next),
            None => return Ok(()),
        }
    }
}

impl Hub {
    /// An instance and its revisions, with every write that is known. Revisions that are only in the write-ahead log
    /// are among them.
    pub(crate) async fn read_consistent(
        &self,
        known: &Arc<ExtensionInstance>,
    ) -> kube::Result<(Arc<ExtensionInstance>, Vec<Arc<ExtensionRevision>>)> {
        let (namespace, name) = key(known.as_ref());
        // Read before the objects: a revision that leaves the write-ahead log becomes an object.
        let logged = self.write_ahead_log.revision_of(known).into_iter().collect();
        let is_behind = self.cache.is_behind(&namespace, &name);
        let instance = self.now(known).await?.unwrap_or_else(|| Arc::clone(known));
        let mut revisions =
            if is_behind { self.objects(&namespace, &name).await? } else { self.cache.revisions_of(&namespace, &name) };
        if instance.status.is_none() {
            revisions = self.existing(revisions).await?;
        }
        Ok((instance, with_logged(revisions, logged)))
    }

    /// An instance with every write that is known, or none if it was deleted. `known` is the instance as read earlier.
    pub(crate) async fn now(&self, known: &ExtensionInstance) -> kube::Result<Option<Arc<ExtensionInstance>>> {
        let (namespace, name) = key(known);
        let found = if self.cache.is_behind(&namespace, &name) {
            self.instance(&namespace, &name).await?.map(Arc::new)
        } else {
            self.cache.instance(&namespace, &name)
        };
        Ok(found.filter(|found| found.uid() == known.uid()))
    }

    /// The revisions that still exist. A new instance has revisions only if a deleted one of the same name left them
    /// behind, and the cache may still have those that were deleted with it.
    async fn existing(&self, cached: Vec<Arc<ExtensionRevision>>) -> kube::Result<Vec<Arc<ExtensionRevision>>> {
        let mut found = Vec::new();
        for revision in cached {
            let api: Api<ExtensionRevision> =
                Api::namespaced(self.client.clone(), &revision.namespace().unwrap_or_default());
            if api.get_opt(&revision.name_any()).await?.is_some_and(|now| now.uid() == revision.uid()) {
                found.push(revision);
            }
        }
        Ok(found)
    }

    /// Reads an instance from the API server, by namespace and name.
    pub async fn instance(&self, namespace: &str, name: &str) -> kube::Result<Option<ExtensionInstance>> {
        let api: Api<ExtensionInstance> = Api::namespaced(self.client.clone(), namespace);
        let named = ListParams::default().fields(&format!("metadata.name={name}"));
        Ok(api.list(&named).await?.items.into_iter().find(|found| found.name_any() == name))
    }

    /// Reads the revisions of an instance from the API server. Works on a replica that does not lead.
    pub(crate) async fn revisions(&self, instance: &ExtensionInstance) -> kube::Result<Vec<Arc<ExtensionRevision>>> {
        let (namespace, name) = key(instance);
        // Read before the objects: a revision that leaves the write-ahead log becomes an object.
        let logged = write_ahead_log::read(&self.client, instance).await?;
        Ok(with_logged(self.objects(&namespace, &name).await?, logged))
    }

    /// Reads the revisions of an instance that are objects.
    async fn objects(&self, namespace: &str, name: &str) -> kube::Result<Vec<Arc<ExtensionRevision>>> {
        let api: Api<ExtensionRevision> = Api::namespaced(self.client.clone(), namespace);
        let of_instance = ListParams::default().fields(&format!("spec.instance={name}"));
        let found = api.list(&of_instance).await?.items.into_iter();
        Ok(found.filter(|found| found.spec.instance == name).map(Arc::new).collect())
    }
}

/// Adds the revisions that are only in the write-ahead log.
fn with_logged(
    mut objects: Vec<Arc<ExtensionRevision>>,
    logged: Vec<ExtensionRevision>,
) -> Vec<Arc<ExtensionRevision>> {
    let known: BTreeSet<u32> = objects.iter().map(|object| object.spec.number).collect();
    objects.extend(logged.into_iter().filter(|logged| !known.contains(&logged.spec.number)).map(Arc::new));
    objects
}

/// Returns an error if a revision of this number exists: its objects would be left behind when the finalizer is
/// removed.
pub(crate) async fn ensure_known(hub: &Hub, instance: &ExtensionInstance, number: u32) -> Result<(), ReconcileError> {
    let (namespace, name) = key(instance);
    let revisions: Api<ExtensionRevision> = Api::namespaced(hub.client.clone(), &namespace);
    let revision = ExtensionRevision::name_of(&name, number);
    match revisions.get_opt(&revision).await?.filter(|found| found.spec.instance == name) {
        Some(_) => Err(ReconcileError::Stale(format!("ExtensionRevision/{revision} was not known"))),
        None => Ok(()),
    }
}
