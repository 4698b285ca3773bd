//! What a cluster is.

use std::collections::BTreeMap;

use fitout_model::{Apis, Gvk, Scope};
use k8s_openapi::api::core::v1::{Namespace, Node};
use kube::api::ListParams;
use kube::discovery::{ApiResource, Discovery, Scope as KubeScope};
use kube::{Api, Client};

/// What a cluster is and serves, at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterInfo {
    /// Its Kubernetes version, as it says it.
    pub version: String,
    /// The identity of its kube-system, which is the cluster's own.
    pub uid: String,
    /// Its nodes.
    pub nodes: Nodes,
    /// The kinds it serves.
    pub apis: Apis,
    /// Whether it has a class of storage.
    pub storage_class: bool,
    /// How each kind is asked for.
    pub(crate) resources: BTreeMap<Gvk, ApiResource>,
}

/// How many nodes there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// All of them.
    pub total: usize,
    /// Those that take pods.
    pub ready: usize,
}

impl ClusterInfo {
    /// Asks the cluster.
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
            // The watch on them is about to tell.
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
