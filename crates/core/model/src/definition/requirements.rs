//! The permissions and capabilities that an extension needs, for approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AccessRule;
use crate::rules::{self, Rule};

/// The permissions and capabilities that an extension needs. It gets none that are not listed here.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirements {
    /// The network access of its workloads to outside the cluster. Defaults to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internet_access: Option<InternetAccess>,
    /// Whether it has workloads in kube-system. These are only allowed on rooted clusters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kube_system_deployment: bool,
    /// Whether it has privileged pods. These are only allowed on rooted clusters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub privileged: bool,
    /// The capabilities that the cluster must have: storageClass, loadBalancer, networkPolicy and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 64)))]
    pub capabilities: Vec<String>,
    /// The only namespaces that it writes to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)), transform = rules::labels("a namespace", 63))]
    pub namespaces: Vec<String>,
    /// The permissions that are needed to install it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub installer: Vec<AccessRule>,
    /// The permissions that it grants to its own workloads, through the roles it ships.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub grants: Vec<AccessRule>,
    /// The admission webhooks that it ships, and the requests they intercept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128))]
    pub webhooks: Vec<Webhook>,
    /// The data that the hub provides to it, such as `cluster.users.sshKeys`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 128)))]
    pub platform_data: Vec<String>,
    /// The registries of its images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub registries: Vec<String>,
}

/// Network access of workloads to outside the cluster.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = hosts_require_reach())]
pub struct InternetAccess {
    /// The scope of the access.
    pub to: Reach,
    /// The hosts, where `to` is `Hosts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), inner(length(max = 253)), transform = rules::hosts())]
    pub hosts: Vec<String>,
}

pub(super) fn hosts_require_reach() -> Rule {
    Rule::new(
        "(self.to == 'Hosts') == (has(self.hosts) && size(self.hosts) > 0)",
        "'hosts' is given when, and only when, 'to' is Hosts",
    )
}

/// The scope of network access to outside the cluster.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    /// No access outside the cluster.
    None,
    /// The listed hosts.
    Hosts,
    /// Any host.
    Any,
}

/// An admission webhook.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// Its name in the webhook configuration.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Whether it validates or mutates.
    pub kind: WebhookKind,
    /// The requests that it intercepts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub rules: Vec<WebhookRule>,
}

/// The type of a webhook.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookKind {
    /// It accepts or rejects a request.
    Validating,
    /// It may change the object.
    Mutating,
}

/// Requests that a webhook intercepts.
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
