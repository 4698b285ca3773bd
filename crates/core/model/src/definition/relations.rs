//! Dependencies and conflicts of an extension.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules;

/// An extension or capability that has to be installed first.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The name of an extension, or a capability that an extension provides.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// The accepted versions. Defaults to any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub version: Option<String>,
    /// Whether it may be missing. Where it is installed, it still comes first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// An extension or capability that must not be installed on the same cluster.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The name of an extension, or a capability that an extension provides.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// The conflicting versions. Defaults to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub version: Option<String>,
}
