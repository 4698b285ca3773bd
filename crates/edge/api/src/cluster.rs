//! `Cluster`: a target.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{conditions, rules};

/// How to reach a cluster, and what its owner allows. What it is like, its labels say.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "Cluster",
    doc = "A target: any Kubernetes cluster on which extensions are wanted. The same cluster is registered once.",
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
    /// The secret of type `fitout.dev/kubeconfig`, in the same namespace, with the way in.
    #[schemars(length(max = 253), transform = rules::label("a kubeconfig secret", 63))]
    pub kubeconfig_secret: String,
    /// Whether its owner has accepted privileged workloads and workloads in kube-system. This voids the warranty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rooted: bool,
    /// Whether it cannot reach the internet: images then come from the hub's registry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub airgapped: bool,
    /// The Kubernetes version it is to be upgraded to next. Nothing is moved for it; the status says what would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::kubernetes_version())]
    pub planned_version: Option<String>,
    /// The members of the organization whose SSH keys are delivered to it, for extensions that ask for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub users: Vec<String>,
}

/// What the hub knows of a cluster. Why it is not connected is the reason and the message of the condition `Connected`.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// The generation that the hub has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What holds and what does not, each with a sentence: `Connected`, `UpgradeReady`, `Ready`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// Its Kubernetes version, with the vendor's suffix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whose Kubernetes it is, as far as it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Its nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Nodes>,
    /// What it can do for extensions: storageClass, loadBalancer, networkPolicy and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// The UID of its namespace kube-system, by which the same cluster is known under any address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// How many nodes there are.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// Those that are ready.
    pub ready: u32,
    /// All of them.
    pub total: u32,
}
