//! `Organization`: a tenant.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{conditions, rules};

/// The members of an organization.
///
/// An organization's name has at most 59 characters: its namespace is `org-NAME`, and a namespace's name has at most
/// 63.
#[derive(CustomResource, JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "Organization",
    doc = "An Organization is a tenant. It owns the namespace org-NAME on the hub and everything in it.",
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
    /// The name shown to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// The members, each listed once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 256),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]),
    )]
    pub members: Vec<Member>,
}

/// A member of an organization.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The user name, as the hub's API server knows it.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The role in the organization: `Member` may view everything, `Admin` may change everything.
    #[serde(default)]
    pub role: MemberRole,
    /// The public SSH keys, for clusters on which the member may log in to nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), inner(length(max = 1024)), transform = rules::ssh_keys())]
    pub ssh_keys: Vec<String>,
}

/// The role of a member.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberRole {
    /// May view everything in the organization.
    #[default]
    Member,
    /// May change everything in the organization.
    Admin,
}

/// The observed state of an organization.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationStatus {
    /// The generation that the hub last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest conditions, one of each type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// The namespace of the organization on the hub, once it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

impl Organization {
    /// The namespace of an organization, from its name.
    pub fn namespace_of(name: &str) -> String {
        format!("org-{name}")
    }
}
