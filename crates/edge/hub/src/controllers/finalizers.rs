//! A cluster that is no longer registered: its instances go first, and only then is it let go.

use fitout_api::{Cluster, ExtensionInstance, ExtensionRevision, FINALIZER, FORGET};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::Hub;
use crate::cache::indexes::{Key, key};
use crate::cache::pending_writes::{Expected, version};
use crate::controllers::clusters::instances;
use crate::reconcile::status;
use crate::storage::api_writes::found;
use crate::storage::kubeconfigs;

/// Holds a cluster until its instances are gone.
pub(crate) async fn hold(hub: &Hub, cluster: &Cluster) -> kube::Result<()> {
    let held = cluster.finalizers().iter().any(|finalizer| finalizer == FINALIZER);
    if held || cluster.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    set_finalizer(&api(hub, cluster), cluster, true).await
}

/// Whether somebody has said, by name, that the cluster will not come back.
pub(crate) fn is_forgotten(cluster: &Cluster) -> bool {
    let said = cluster.annotations().get(FORGET);
    cluster.metadata.deletion_timestamp.is_some() && said.map(String::as_str) == Some(cluster.name_any().as_str())
}

/// Lets the instances of a cluster go as they are.
pub(crate) async fn forget(hub: &Hub, cluster: &Cluster) -> kube::Result<()> {
    let key = (cluster.namespace().unwrap_or_default(), cluster.name_any());
    for instance in instances(hub, &key) {
        forget_instance(hub, &instance).await?;
    }
    Ok(())
}

/// An instance whose cluster is not registered: nobody can do anything for it, and when it is to go, it goes.
pub(crate) async fn without_cluster(hub: &Hub, instance: &ExtensionInstance) {
    if instance.metadata.deletion_timestamp.is_none() {
        let cluster = &instance.spec.cluster;
        let sentence = format!("there is no cluster {cluster} in this organization; register it, or remove this");
        return status::failed(hub, instance, &sentence).await;
    }
    if let Err(error) = forget_instance(hub, instance).await {
        tracing::warn!(instance = instance.name_any(), %error, "let go");
    }
}

async fn forget_instance(hub: &Hub, instance: &ExtensionInstance) -> kube::Result<()> {
    remove_instance(hub, instance).await?;
    let (namespace, name) = (instance.namespace().unwrap_or_default(), instance.name_any());
    hub.write_ahead_log.forget(&(namespace.clone(), name.clone())).await;
    for revision in hub.cache.revisions_of(&namespace, &name) {
        remove_revision(hub, &revision).await?;
    }
    found(set_finalizer(&api(hub, instance), instance, false).await)
}

/// Takes a cluster that is being deleted one step further: its instances are to go; when they have, so does it. Says
/// whether it is gone.
pub(crate) async fn slot(hub: &Hub, key: &Key) -> bool {
    let Some(cluster) = hub.cache.cluster(&key.0, &key.1) else { return true };
    if cluster.metadata.deletion_timestamp.is_none() {
        return false;
    }
    let left = instances(hub, key);
    for instance in left.iter().filter(|instance| instance.metadata.deletion_timestamp.is_none()) {
        if let Err(error) = remove_instance(hub, instance).await {
            tracing::warn!(instance = instance.name_any(), %error, "remove");
        }
    }
    if !left.is_empty() {
        return false;
    }
    let gone = async {
        kubeconfigs::remove(hub, &cluster).await?;
        found(set_finalizer(&api(hub, cluster.as_ref()), cluster.as_ref(), false).await)
    };
    match gone.await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%error, "let go");
            false
        }
    }
}

async fn remove_instance(hub: &Hub, instance: &ExtensionInstance) -> kube::Result<()> {
    found(api(hub, instance).delete(&instance.name_any(), &DeleteParams::default()).await.map(drop))
}

/// Removes a revision, which is held like the instance it is of: it is all that is known of what is on the cluster.
pub(crate) async fn remove_revision(hub: &Hub, revision: &ExtensionRevision) -> kube::Result<()> {
    let api = api(hub, revision);
    if revision.finalizers().iter().any(|finalizer| finalizer == FINALIZER) {
        found(set_finalizer(&api, revision, false).await)?;
    }
    found(api.delete(&revision.name_any(), &DeleteParams::default()).await.map(drop))?;
    hub.cache.expect_revision(&key(revision), Expected::Deleted(version(revision)));
    Ok(())
}

fn api<K>(hub: &Hub, object: &K) -> Api<K>
where
    K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
{
    Api::namespaced(hub.client.clone(), &object.namespace().unwrap_or_default())
}

/// Holds an object, or lets it go.
pub(crate) async fn set_finalizer<K>(api: &Api<K>, object: &K, hold: bool) -> kube::Result<()>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug,
{
    let mut finalizers: Vec<String> =
        object.finalizers().iter().filter(|finalizer| *finalizer != FINALIZER).cloned().collect();
    if hold {
        finalizers.push(FINALIZER.to_owned());
    }
    let patch = json!({ "metadata": { "finalizers": finalizers } });
    api.patch(&object.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
}
