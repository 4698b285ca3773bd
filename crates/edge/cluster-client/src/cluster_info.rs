//! Version, nodes and served APIs of a cluster.

use std::collections::BTreeMap;

use fitout_model::{Apis, Gvk, Scope};
use k8s_openapi::api::core::v1::{Namespace, Node};
use kube::api::ListParams;
use kube::discovery::{ApiResource, Discovery, Scope as KubeScope};
use kube::{Api, Client};

/// A snapshot of a cluster's version, nodes and served APIs.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterInfo {
    /// The Kubernetes version, as the API server reports it (`v1.36.3`).
    pub version: String,
    /// The UID of the kube-system namespace, which identifies the cluster.
    pub uid: String,
    /// The node counts.
    pub nodes: Nodes,
    /// The served kinds.
    pub apis: Apis,
    /// Whether the cluster has a storage class.
    pub storage_class: bool,
    /// The resource of each served kind.
    pub(crate) resources: BTreeMap<Gvk, ApiResource>,
}

/// The node counts of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// All nodes.
    pub total: usize,
    /// Nodes whose `Ready` condition is true.
    pub ready: usize,
}

impl ClusterInfo {
    /// Reads the info from the API server.
    pub async fn load(client: &Client) -> kube::Result<Self> {
        let version = client.apiserver_version().await?.git_version;
        let kube_system = Api::<Namespace>::all(client.clone()).get_metadata("kube-system").await?;
        let nodes = Api::<Node>::all(client.clone()).list(&ListParams::default()).await?;
        let ready = nodes.items.iter().filter(|node| is_ready(node)).count();
        let (apis, resources) = discover(client).await?;
        Ok(Self {
            version,
            uid: kube_system.metadata.uid.unwrap_or_default(),
            nodes: Nodes { total: nodes.items.len(), ready },
            apis,
            // The watch on storage classes sets it.
            storage_class: false,
            resources,
        })
    }
}

pub(crate) fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

pub(crate) async fn discover(client: &Client) -> kube::Result<(Apis, BTreeMap<Gvk, ApiResource>)> {
    let discovery = Discovery::new(client.clone()).run_aggregated().await?;
    let mut apis = Apis::default();
    let mut resources = BTreeMap::new();
    for group in discovery.groups() {
        for version in group.versions() {
            for (resource, capabilities) in group.versioned_resources(version) {
                let gvk = Gvk {
                    group: resource.group.clone(),
                    version: resource.version.clone(),
                    kind: resource.kind.clone(),
                };
                let scope = match capabilities.scope {
                    KubeScope::Cluster => Scope::Cluster,
                    KubeScope::Namespaced => Scope::Namespaced,
                };
                apis.insert(gvk.clone(), scope);
                resources.insert(gvk, resource);
            }
        }
    }
    Ok((apis, resources))
}
