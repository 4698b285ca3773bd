//! The ways to clusters: each in a secret of the organization, with a copy of the hub's own that outlives it.

use fitout_api::{Cluster, KUBECONFIG_SECRET};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::DeleteParams;
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::storage::api_writes::{self, found};
use crate::{Hub, SYSTEM};

const KEY: &str = "kubeconfig";

/// The kubeconfig that the organization has for a cluster, if it is there and as it should be.
pub(crate) fn known(hub: &Hub, cluster: &Cluster) -> Option<String> {
    let namespace = cluster.namespace().unwrap_or_default();
    read(hub.cache.kubeconfig(&namespace, &cluster.spec.kubeconfig_secret)?.as_ref().clone())
}

/// The kubeconfig of a cluster: the organization's, or where that is gone the copy.
pub(crate) async fn find(hub: &Hub, cluster: &Cluster) -> Result<String, String> {
    if let Some(kubeconfig) = known(hub, cluster) {
        return Ok(kubeconfig);
    }
    let (namespace, name) = (cluster.namespace().unwrap_or_default(), &cluster.spec.kubeconfig_secret);
    let kept = copies(hub).get_opt(&copy_name(cluster)).await.map_err(|error| error.to_string())?;
    kept.and_then(read)
        .ok_or_else(|| format!("there is no Secret/{namespace}/{name} of type {KUBECONFIG_SECRET} with a key `{KEY}`"))
}

/// Keeps a copy for the day on which the organization's is gone and the cluster has to be cleaned up.
pub(crate) async fn keep(hub: &Hub, cluster: &Cluster, kubeconfig: &str) {
    let name = copy_name(cluster);
    let of = format!("{}/{}", cluster.namespace().unwrap_or_default(), cluster.name_any());
    let copy = json!({
        "apiVersion": "v1", "kind": "Secret", "type": KUBECONFIG_SECRET,
        "metadata": { "name": name, "annotations": { "fitout.dev/cluster": of } },
        "data": { KEY: ByteString(kubeconfig.as_bytes().to_vec()) },
    });
    if let Err(error) = api_writes::ensure(&copies(hub), &name, &copy).await {
        tracing::warn!(cluster = cluster.name_any(), %error, "keep the kubeconfig");
    }
}

/// Removes the copy.
pub(crate) async fn remove(hub: &Hub, cluster: &Cluster) -> kube::Result<()> {
    found(copies(hub).delete(&copy_name(cluster), &DeleteParams::default()).await.map(drop))
}

fn read(secret: Secret) -> Option<String> {
    let content = secret
        .data
        .and_then(|mut data| data.remove(KEY))
        .filter(|_| secret.type_.as_deref() == Some(KUBECONFIG_SECRET))?;
    String::from_utf8(content.0).ok()
}

fn copies(hub: &Hub) -> Api<Secret> {
    Api::namespaced(hub.client.clone(), SYSTEM)
}

/// By the identity of the object: another cluster of the same name is another one.
fn copy_name(cluster: &Cluster) -> String {
    format!("kubeconfig-{}", cluster.uid().unwrap_or_default())
}
