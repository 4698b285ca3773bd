//! `Cluster`: a Kubernetes cluster that extensions are installed on.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{conditions, rules};

/// How to reach a cluster, and what its owner allows.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "Cluster",
    doc = "A Cluster is a Kubernetes cluster that extensions are installed on. A cluster can be registered only once.",
    namespaced,
    status = "ClusterStatus",
    derive = "PartialEq",
    shortname = "fcl",
    category = "fitout",
    validation = rules::object_name("a cluster", 63),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version"),
    printcolumn(name = "Planned", type_ = "string", json_path = ".spec.plannedVersion"),
    printcolumn(name = "Nodes", type_ = "integer", json_path = ".status.nodes.ready", description = "Nodes that are ready"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Status", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].message"#),
    printcolumn(name = "Platform", type_ = "string", json_path = ".status.platform", priority = 1),
    printcolumn(name = "Rooted", type_ = "boolean", json_path = ".spec.rooted", priority = 1),
    printcolumn(name = "Airgapped", type_ = "boolean", json_path = ".spec.airgapped", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSpec {
    /// The Secret of type `fitout.dev/kubeconfig`, in the same namespace, that holds the kubeconfig.
    #[schemars(length(max = 253), transform = rules::label("a kubeconfig secret", 63))]
    pub kubeconfig_secret: String,
    /// Whether the owner accepts privileged workloads and workloads in kube-system. This voids the warranty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rooted: bool,
    /// Whether the cluster cannot reach the internet; images then come from the hub's registry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub airgapped: bool,
    /// The Kubernetes version of the next upgrade. Setting it changes no extension; the status reports the
    /// consequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::kubernetes_version())]
    pub planned_version: Option<String>,
    /// The members of the organization whose SSH keys are provided to extensions that request them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub users: Vec<String>,
}

/// The observed state of a cluster. The condition `Connected` reports why a cluster is not connected.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// The generation that the hub last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest conditions, one of each type: `Connected`, `UpgradeReady`, `Ready`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// The Kubernetes version, with the vendor's suffix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The Kubernetes distribution, if the hub recognizes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The nodes of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Nodes>,
    /// The capabilities that extensions can require, such as storageClass, loadBalancer and networkPolicy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// The UID of the namespace kube-system, which identifies the cluster whatever its address is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// The number of nodes.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// The number of ready nodes.
    pub ready: u32,
    /// The number of all nodes.
    pub total: u32,
}
