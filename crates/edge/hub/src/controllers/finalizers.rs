//! Finalizers: a cluster stays until its instances are gone, and a revision until its objects are deleted from the
//! cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use fitout_api::{Cluster, ExtensionInstance, ExtensionRevision, FINALIZER, FORGET};
use fitout_cluster_client::ClusterClient;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Hub;
use crate::cache::indexes::{Key, key};
use crate::cache::pending_writes::{Expected, version};
use crate::controllers::clusters::instances;
use crate::reconcile::status;
use crate::storage::api_writes::found;
use crate::storage::kubeconfigs;

/// Adds the finalizer to a cluster, unless it has it or is being deleted.
pub(crate) async fn add_to_cluster(hub: &Hub, cluster: &Cluster) -> kube::Result<()> {
    let has_finalizer = cluster.finalizers().iter().any(|finalizer| finalizer == FINALIZER);
    if has_finalizer || cluster.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    set_finalizer(&api(hub, cluster), cluster, true).await
}

/// Whether a deleted cluster is to be forgotten: an annotation with its name says that it does not come back.
pub(crate) fn is_forgotten(cluster: &Cluster) -> bool {
    let forget = cluster.annotations().get(FORGET);
    cluster.metadata.deletion_timestamp.is_some() && forget.map(String::as_str) == Some(cluster.name_any().as_str())
}

/// Deletes the instances of a cluster, and leaves the cluster as it is.
pub(crate) async fn forget(hub: &Hub, cluster: &Cluster) -> kube::Result<()> {
    let key = (cluster.namespace().unwrap_or_default(), cluster.name_any());
    for instance in instances(hub, &key) {
        forget_instance(hub, &instance).await?;
    }
    Ok(())
}

/// Handles an instance whose cluster is not registered: reports that, or forgets the instance if it is being deleted.
pub(crate) async fn without_cluster(hub: &Hub, instance: &Arc<ExtensionInstance>) {
    if instance.metadata.deletion_timestamp.is_none() {
        let cluster = &instance.spec.cluster;
        let message = format!("cluster {cluster} is not registered in this organization; register it, or delete this");
        return status::failed(hub, instance, &message).await;
    }
    if let Err(error) = forget_instance(hub, instance).await {
        tracing::warn!(instance = instance.name_any(), %error, "failed to remove finalizer");
    }
}

async fn forget_instance(hub: &Hub, instance: &Arc<ExtensionInstance>) -> kube::Result<()> {
    delete_instance(hub, instance).await?;
    // First, so that no revision of the write-ahead log becomes an object after the revisions are read.
    hub.write_ahead_log.forget(&key(instance.as_ref())).await;
    // The cache may not have the last revision yet.
    let (_, revisions) = hub.read_consistent(instance).await?;
    for revision in revisions {
        remove_revision(hub, &revision).await?;
    }
    found(set_finalizer(&api(hub, instance.as_ref()), instance.as_ref(), false).await)
}

/// Deletes the revisions of an instance that was deleted despite its finalizer, if nothing of them was applied.
///
/// A finalizer holds an object only against later DELETE requests: one that has read the object before the finalizer
/// was added deletes it. The worker may have written a revision by then, whose own finalizer nothing would remove.
///
/// A revision with a release record is kept, because it is all that the hub knows of its objects on the cluster. An
/// instance that is created under the same name takes it over.
pub(crate) async fn remove_unapplied_revisions(
    hub: &Hub,
    target: &ClusterClient,
    instance: &Arc<ExtensionInstance>,
) -> Result<()> {
    let (namespace, name) = key(instance.as_ref());
    if hub.write_ahead_log.revision_of(instance).is_some() {
        hub.write_ahead_log.forget(&key(instance.as_ref())).await;
    }
    if hub.cache.revisions_of(&namespace, &name).is_empty() && !hub.cache.is_behind(&namespace, &name) {
        return Ok(());
    }
    if hub.instance(&namespace, &name).await?.is_some() {
        return Ok(());
    }
    let (_, revisions) = hub.read_consistent(instance).await?;
    if revisions.is_empty() {
        return Ok(());
    }
    let records = target.record_versions(instance.spec.release_name(), &instance.spec.namespace).await?;
    if is_applied(instance, &revisions, &records.into_keys().collect()) {
        tracing::warn!(
            instance = name,
            "kept revisions of an instance that was deleted without its finalizer; to remove what they installed, \
             create the instance again and delete it"
        );
        return Ok(());
    }
    for revision in revisions {
        remove_revision(hub, &revision).await?;
        tracing::info!(revision = revision.name_any(), "removed revision of deleted instance");
    }
    hub.content_gc.notify_one();
    Ok(())
}

/// Whether any of these revisions may have objects on the cluster. The release record is written before the first
/// object.
fn is_applied(instance: &ExtensionInstance, revisions: &[Arc<ExtensionRevision>], records: &BTreeSet<u32>) -> bool {
    let has_result =
        |revision: &ExtensionRevision| revision.status.as_ref().is_some_and(|status| status.result.is_some());
    instance.status.as_ref().is_some_and(|status| status.revision.is_some())
        || revisions.iter().any(|revision| has_result(revision) || records.contains(&revision.spec.number))
}

/// Advances the deletion of a cluster: deletes its instances, and removes the finalizer once they are gone. Returns
/// whether the cluster is gone.
pub(crate) async fn finalize_cluster(hub: &Hub, key: &Key) -> bool {
    let Some(cluster) = hub.cache.cluster(&key.0, &key.1) else { return true };
    if cluster.metadata.deletion_timestamp.is_none() {
        return false;
    }
    let left = instances(hub, key);
    for instance in left.iter().filter(|instance| instance.metadata.deletion_timestamp.is_none()) {
        if let Err(error) = delete_instance(hub, instance).await {
            tracing::warn!(instance = instance.name_any(), %error, "failed to delete instance");
        }
    }
    if !left.is_empty() {
        return false;
    }
    let finalized = async {
        kubeconfigs::remove(hub, &cluster).await?;
        found(set_finalizer(&api(hub, cluster.as_ref()), cluster.as_ref(), false).await)
    };
    match finalized.await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%error, "failed to remove finalizer");
            false
        }
    }
}

async fn delete_instance(hub: &Hub, instance: &ExtensionInstance) -> kube::Result<()> {
    found(api(hub, instance).delete(&instance.name_any(), &DeleteParams::default()).await.map(drop))
}

/// Removes the finalizer of a revision and deletes it.
pub(crate) async fn remove_revision(hub: &Hub, revision: &ExtensionRevision) -> kube::Result<()> {
    let api = api(hub, revision);
    if revision.finalizers().iter().any(|finalizer| finalizer == FINALIZER) {
        found(set_finalizer(&api, revision, false).await)?;
    }
    // Another instance may have written a revision of the same name meanwhile.
    let params = match revision.uid() {
        Some(uid) => DeleteParams::default().preconditions(Preconditions { uid: Some(uid), resource_version: None }),
        None => DeleteParams::default(),
    };
    found(api.delete(&revision.name_any(), &params).await.map(drop))?;
    hub.cache.expect_revision(&key(revision), Expected::Deleted(version(revision)));
    Ok(())
}

fn api<K>(hub: &Hub, object: &K) -> Api<K>
where
    K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
{
    Api::namespaced(hub.client.clone(), &object.namespace().unwrap_or_default())
}

/// Adds the finalizer to an object, or removes it. The API server refuses it if another object has the name by now.
pub(crate) async fn set_finalizer<K>(api: &Api<K>, object: &K, present: bool) -> kube::Result<()>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug,
{
    let patch = Patch::Merge(finalizer_patch(object, present));
    api.patch(&object.name_any(), &PatchParams::default(), &patch).await.map(drop)
}

fn finalizer_patch(object: &impl Resource, present: bool) -> Value {
    let mut finalizers: Vec<String> =
        object.finalizers().iter().filter(|finalizer| *finalizer != FINALIZER).cloned().collect();
    if present {
        finalizers.push(FINALIZER.to_owned());
    }
    let mut metadata = json!({ "finalizers": finalizers });
    // The UID cannot change, so a patch with another UID is invalid.
    if let Some(uid) = object.uid() {
        metadata["uid"] = uid.into();
    }
    json!({ "metadata": metadata })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(status: &Value) -> ExtensionInstance {
        serde_json::from_value(json!({
            "metadata": { "namespace": "org-acme", "name": "web", "uid": "1", "finalizers": ["example.com/other"] },
            "spec": { "cluster": "c0", "namespace": "web", "extension": { "name": "thing", "catalog": "local" } },
            "status": status,
        }))
        .unwrap()
    }

    fn revision(number: u32) -> Arc<ExtensionRevision> {
        let spec = json!({
            "instance": "web", "number": number, "action": "Install", "version": "1.0.0",
            "definitionDigest": "sha256:0",
        });
        Arc::new(serde_json::from_value(json!({ "metadata": {}, "spec": spec })).unwrap())
    }

    #[test]
    fn a_revision_is_applied_once_it_has_a_release_record() {
        let rows = [
            (json!(null), vec![], false),
            (json!({}), vec![], false),
            (json!({}), vec![3], false),
            (json!({}), vec![1], true),
            (json!({ "revision": 2 }), vec![], true),
        ];
        for (status, records, expected) in rows {
            let records = records.into_iter().collect();
            let applied = is_applied(&instance(&status), &[revision(1), revision(2)], &records);
            assert_eq!(applied, expected, "{status} {records:?}");
        }
    }

    #[test]
    fn a_finalizer_patch_keeps_other_finalizers_and_names_the_uid() {
        let instance = instance(&json!(null));
        let patch = |present| finalizer_patch(&instance, present)["metadata"].clone();
        assert_eq!(patch(true), json!({ "uid": "1", "finalizers": ["example.com/other", FINALIZER] }));
        assert_eq!(patch(false), json!({ "uid": "1", "finalizers": ["example.com/other"] }));
    }
}
