//! RBAC rules and roles of a definition.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules::{self, Rule};

/// An RBAC rule, as in a Kubernetes `Role`.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = resources_or_urls())]
pub struct AccessRule {
    /// The API groups; the empty string is the core group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub api_groups: Vec<String>,
    /// The resources, with subresources such as `pods/log`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), inner(length(max = 253)))]
    pub resources: Vec<String>,
    /// The names of the objects. Defaults to all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 253)))]
    pub resource_names: Vec<String>,
    /// URL paths outside of API resources.
    #[serde(default, rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub non_resource_urls: Vec<String>,
    /// The allowed verbs.
    #[schemars(length(min = 1, max = 32), inner(length(max = 64)))]
    pub verbs: Vec<String>,
    /// The namespaces in which the rule applies. Defaults to the whole cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub namespaces: Vec<String>,
}

pub(super) fn resources_or_urls() -> Rule {
    Rule::new(
        "has(self.resources) != has(self.nonResourceURLs)",
        "a rule names either 'resources' or 'nonResourceURLs'",
    )
}

/// A role that can be granted to users.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// The name of the role.
    #[schemars(length(max = 253), transform = rules::label("a role", 63))]
    pub name: String,
    /// The name that the console shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// The rules of the role.
    #[schemars(length(min = 1, max = 128))]
    pub rules: Vec<AccessRule>,
}
