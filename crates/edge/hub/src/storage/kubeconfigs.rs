//! Kubeconfigs: each in a Secret of the organization, with a copy in the hub's namespace that outlives it.

use fitout_api::{Cluster, KUBECONFIG_SECRET};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::DeleteParams;
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::storage::api_writes::{self, found};
use crate::{Hub, SYSTEM};

const KEY: &str = "kubeconfig";

/// The kubeconfig in the organization's Secret, if that exists and is valid.
pub(crate) fn known(hub: &Hub, cluster: &Cluster) -> Option<String> {
    let namespace = cluster.namespace().unwrap_or_default();
    read(hub.cache.kubeconfig(&namespace, &cluster.spec.kubeconfig_secret)?.as_ref().clone())
}

/// Why a cluster has no kubeconfig.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("Secret/{namespace}/{name} does not exist, or is not of type {KUBECONFIG_SECRET} with a key `{KEY}`")]
    Missing { namespace: String, name: String },
    #[error(transparent)]
    Hub(#[from] kube::Error),
}

/// The kubeconfig of a cluster: from the organization's Secret, or else from the copy.
pub(crate) async fn find(hub: &Hub, cluster: &Cluster) -> Result<String, Error> {
    if let Some(kubeconfig) = known(hub, cluster) {
        return Ok(kubeconfig);
    }
    let copy = copies(hub).get_opt(&copy_name(cluster)).await?;
    copy.and_then(read).ok_or_else(|| Error::Missing {
        namespace: cluster.namespace().unwrap_or_default(),
        name: cluster.spec.kubeconfig_secret.clone(),
    })
}

/// Writes the copy: the hub still has to clean up the cluster when the organization's Secret was deleted.
pub(crate) async fn keep(hub: &Hub, cluster: &Cluster, kubeconfig: &str) {
    let name = copy_name(cluster);
    let of = format!("{}/{}", cluster.namespace().unwrap_or_default(), cluster.name_any());
    let copy = json!({
        "apiVersion": "v1", "kind": "Secret", "type": KUBECONFIG_SECRET,
        "metadata": { "name": name, "annotations": { "fitout.dev/cluster": of } },
        "data": { KEY: ByteString(kubeconfig.as_bytes().to_vec()) },
    });
    if let Err(error) = api_writes::ensure(&copies(hub), &name, &copy).await {
        tracing::warn!(cluster = cluster.name_any(), %error, "failed to copy kubeconfig");
    }
}

/// Deletes the copy.
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

/// Named by the UID: a cluster that was registered again has a copy of its own.
fn copy_name(cluster: &Cluster) -> String {
    format!("kubeconfig-{}", cluster.uid().unwrap_or_default())
}
