//! What an extension needs, for a person to approve.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AccessRule;
use crate::rules::{self, Rule};

/// What an extension needs of the cluster and of the people who run it. What is not here, it does not get.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirements {
    /// What its workloads reach outside the cluster; absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internet_access: Option<InternetAccess>,
    /// Whether it has workloads in kube-system: then it is only for rooted clusters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kube_system_deployment: bool,
    /// Whether it has privileged pods: then it is only for rooted clusters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub privileged: bool,
    /// What the cluster must be able to do: storageClass, loadBalancer, networkPolicy and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 64)))]
    pub capabilities: Vec<String>,
    /// The namespaces it writes to, and no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)), transform = rules::labels("a namespace", 63))]
    pub namespaces: Vec<String>,
    /// The rights that installing it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub installer: Vec<AccessRule>,
    /// The rights that it hands to its own workloads, through the roles it ships.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub grants: Vec<AccessRule>,
    /// The admission webhooks it ships, and what they intercept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128))]
    pub webhooks: Vec<Webhook>,
    /// What it is given from the hub, such as `cluster.users.sshKeys`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 128)))]
    pub platform_data: Vec<String>,
    /// Where its images come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub registries: Vec<String>,
}

/// What workloads reach outside the cluster.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = hosts_go_with_reach())]
pub struct InternetAccess {
    /// How far they reach.
    pub to: Reach,
    /// The hosts, where it is some hosts that they reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), inner(length(max = 253)), transform = rules::hosts())]
    pub hosts: Vec<String>,
}

pub(super) fn hosts_go_with_reach() -> Rule {
    Rule::new(
        "(self.to == 'Hosts') == (has(self.hosts) && size(self.hosts) > 0)",
        "'hosts' is given when, and only when, 'to' is Hosts",
    )
}

/// How far workloads reach.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    /// Not outside the cluster.
    None,
    /// The hosts that are named.
    Hosts,
    /// Everywhere.
    Any,
}

/// An admission webhook.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// Its name, as in the configuration that is shipped.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// What it does with what it intercepts.
    pub kind: WebhookKind,
    /// What it intercepts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub rules: Vec<WebhookRule>,
}

/// What a webhook does.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookKind {
    /// It lets pass or refuses.
    Validating,
    /// It changes.
    Mutating,
}

/// Writes that a webhook intercepts.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookRule {
    /// The API groups.
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub api_groups: Vec<String>,
    /// The resources.
    #[schemars(length(max = 128), inner(length(max = 253)))]
    pub resources: Vec<String>,
    /// CREATE, UPDATE, DELETE, CONNECT or `*`.
    #[schemars(length(max = 8), inner(length(max = 16)))]
    pub operations: Vec<String>,
}
