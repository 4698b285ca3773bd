//! Rights, for workloads and for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules::{self, Rule};

/// Rights, as Kubernetes' roles have them.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rights_are_to_something())]
pub struct AccessRule {
    /// The API groups; the empty text is the core group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub api_groups: Vec<String>,
    /// The resources, and subresources as `pods/log`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), inner(length(max = 253)))]
    pub resources: Vec<String>,
    /// The objects' names; absent: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 253)))]
    pub resource_names: Vec<String>,
    /// Paths that belong to no resource.
    #[serde(default, rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub non_resource_urls: Vec<String>,
    /// What may be done.
    #[schemars(length(min = 1, max = 32), inner(length(max = 64)))]
    pub verbs: Vec<String>,
    /// The namespaces it holds in; absent: the whole cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    pub namespaces: Vec<String>,
}

pub(super) fn rights_are_to_something() -> Rule {
    Rule::new(
        "has(self.resources) != has(self.nonResourceURLs)",
        "a rule names either 'resources' or 'nonResourceURLs'",
    )
}

/// A role that can be given to people.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// Its name.
    #[schemars(length(max = 253), transform = rules::label("a role", 63))]
    pub name: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// The rights that come with it.
    #[schemars(length(min = 1, max = 128))]
    pub rules: Vec<AccessRule>,
}
