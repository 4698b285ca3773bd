//! What the hub's API server is asked for, where the index may be a moment behind.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use fitout_api::{ExtensionInstance, ExtensionRevision};
use kube::api::{ListParams, PartialObjectMeta};
use kube::{Api, ResourceExt};
use tokio::time::sleep;

use crate::Hub;
use crate::cache::indexes::key;
use crate::cache::pending_writes::{Expected, version};
use crate::reconcile::retry::StaleState;
use crate::storage::write_ahead_log;

/// How long until what another hub has left is asked for again.
const AGAIN: Duration = Duration::from_secs(1);

/// As many are asked for at once.
const PAGE: u32 = 500;

/// Takes note of all that is there, for a hub that comes to lead: the last that another one wrote may not have been heard.
pub(crate) async fn catch_up(hub: &Hub) {
    while let Err(error) = take_stock(hub).await {
        tracing::warn!(%error, "catch up");
        sleep(AGAIN).await;
    }
}

async fn take_stock(hub: &Hub) -> kube::Result<()> {
    let instances = Api::<ExtensionInstance>::all(hub.client.clone());
    every(&instances, |instance| hub.cache.expect_instance(&key(instance), version(instance))).await?;
    let known = hub.cache.revisions.state();
    let revisions = Api::<ExtensionRevision>::all(hub.client.clone());
    let mut there = BTreeSet::new();
    every(&revisions, |revision| {
        there.insert(key(revision));
        hub.cache.expect_revision(&key(revision), Expected::Present(version(revision)));
    })
    .await?;
    for gone in known.iter().filter(|revision| !there.contains(&key(revision.as_ref()))) {
        hub.cache.expect_revision(&key(gone.as_ref()), Expected::Deleted(version(gone.as_ref())));
    }
    Ok(())
}

/// Goes through all objects of a kind, as far as they say what they are called.
async fn every<K>(api: &Api<K>, mut each: impl FnMut(&PartialObjectMeta<K>)) -> kube::Result<()>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let mut page = ListParams::default().limit(PAGE);
    loop {
        let found = api.list_metadata(&page).await?;
        found.items.iter().for_each(&mut each);
        match found.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => page.continue_token = Some(next),
            None => return Ok(()),
        }
    }
}

impl Hub {
    /// What is on record of an instance: it itself and its revisions, with all that is known to be written of them.
    pub(crate) async fn read_consistent(
        &self,
        known: &Arc<ExtensionInstance>,
    ) -> kube::Result<(Arc<ExtensionInstance>, Vec<Arc<ExtensionRevision>>)> {
        let (namespace, name) = key(known.as_ref());
        // Before the objects: what leaves the journal becomes one of them.
        let written = self.write_ahead_log.revision_of(known).into_iter().collect();
        let is_behind = self.cache.is_behind(&namespace, &name);
        let instance = self.now(known).await?.unwrap_or_else(|| Arc::clone(known));
        let mut revisions =
            if is_behind { self.objects(&namespace, &name).await? } else { self.cache.revisions_of(&namespace, &name) };
        if instance.status.is_none() {
            revisions = self.still_there(revisions).await?;
        }
        Ok((instance, with(revisions, written)))
    }

    /// An instance with all that is known to be written of it; none where it is gone. One that was taken from the index before
    /// may be older.
    pub(crate) async fn now(&self, known: &ExtensionInstance) -> kube::Result<Option<Arc<ExtensionInstance>>> {
        let (namespace, name) = key(known);
        let found = if self.cache.is_behind(&namespace, &name) {
            self.instance(&namespace, &name).await?.map(Arc::new)
        } else {
            self.cache.instance(&namespace, &name)
        };
        Ok(found.filter(|found| found.uid() == known.uid()))
    }

    /// Of a new instance there are revisions only where one of the same name went without them. The index may not have heard
    /// yet that they are gone.
    async fn still_there(&self, known: Vec<Arc<ExtensionRevision>>) -> kube::Result<Vec<Arc<ExtensionRevision>>> {
        let mut found = Vec::new();
        for revision in known {
            let api: Api<ExtensionRevision> =
                Api::namespaced(self.client.clone(), &revision.namespace().unwrap_or_default());
            if api.get_opt(&revision.name_any()).await?.is_some_and(|now| now.uid() == revision.uid()) {
                found.push(revision);
            }
        }
        Ok(found)
    }

    /// An instance by namespace and name, as the API server has it now.
    pub async fn instance(&self, namespace: &str, name: &str) -> kube::Result<Option<ExtensionInstance>> {
        let api: Api<ExtensionInstance> = Api::namespaced(self.client.clone(), namespace);
        let named = ListParams::default().fields(&format!("metadata.name={name}"));
        Ok(api.list(&named).await?.items.into_iter().find(|found| found.name_any() == name))
    }

    /// The revisions of an instance, as the API server has them now, for who does not lead as well.
    pub(crate) async fn revisions(&self, instance: &ExtensionInstance) -> kube::Result<Vec<Arc<ExtensionRevision>>> {
        let (namespace, name) = key(instance);
        // As above.
        let written = write_ahead_log::read(&self.client, instance).await?;
        Ok(with(self.objects(&namespace, &name).await?, written))
    }

    /// Those of them that are objects.
    async fn objects(&self, namespace: &str, name: &str) -> kube::Result<Vec<Arc<ExtensionRevision>>> {
        let api: Api<ExtensionRevision> = Api::namespaced(self.client.clone(), namespace);
        let of_instance = ListParams::default().fields(&format!("spec.instance={name}"));
        let found = api.list(&of_instance).await?.items.into_iter();
        Ok(found.filter(|found| found.spec.instance == name).map(Arc::new).collect())
    }
}

/// Revisions that are objects, and those that are only in the journal.
fn with(mut objects: Vec<Arc<ExtensionRevision>>, written: Vec<ExtensionRevision>) -> Vec<Arc<ExtensionRevision>> {
    let known: BTreeSet<u32> = objects.iter().map(|object| object.spec.number).collect();
    objects.extend(written.into_iter().filter(|written| !known.contains(&written.spec.number)).map(Arc::new));
    objects
}

/// Refuses to go on where there is a revision that is not known here: what it has installed would stay for ever.
pub(crate) async fn ensure_known(hub: &Hub, instance: &ExtensionInstance, number: u32) -> Result<()> {
    let (namespace, name) = key(instance);
    let revisions: Api<ExtensionRevision> = Api::namespaced(hub.client.clone(), &namespace);
    let of = ExtensionRevision::name_of(&name, number);
    match revisions.get_opt(&of).await?.filter(|found| found.spec.instance == name) {
        Some(_) => Err(StaleState(format!("ExtensionRevision/{of} was not known")).into()),
        None => Ok(()),
    }
}
