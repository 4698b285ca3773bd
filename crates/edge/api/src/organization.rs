//! `Organization`: a tenant.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{conditions, rules};

/// Who an organization is.
///
/// Its name has at most 59 characters, because its namespace on the hub is `org-NAME` and a namespace has at most 63.
#[derive(CustomResource, JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "Organization",
    doc = "A tenant. It owns the namespace org-NAME on the hub, and all that is in it.",
    status = "OrganizationStatus",
    derive = "PartialEq",
    shortname = "org",
    category = "fitout",
    validation = rules::object_name("an organization", 59),
    printcolumn(name = "Display name", type_ = "string", json_path = ".spec.displayName"),
    printcolumn(name = "Namespace", type_ = "string", json_path = ".status.namespace"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Status", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].message"#),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationSpec {
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// The people who belong to it, each named once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 256),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]),
    )]
    pub members: Vec<Member>,
}

/// A person in an organization.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The user name, as the hub's API server knows it.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// What the person may do in the organization.
    #[serde(default)]
    pub role: MemberRole,
    /// Public SSH keys, for clusters on which the person may log in to nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), inner(length(max = 1024)), transform = rules::ssh_keys())]
    pub ssh_keys: Vec<String>,
}

/// What a member may do.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberRole {
    /// Look at everything in the organization.
    #[default]
    Member,
    /// Change everything in the organization.
    Admin,
}

/// What the hub says about an organization.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationStatus {
    /// The generation that the hub has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What holds and what does not, each with a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// Its namespace on the hub, once that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

impl Organization {
    /// The namespace of the organization with this name.
    pub fn namespace_of(name: &str) -> String {
        format!("org-{name}")
    }
}
