//! What an extension is to others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules;

/// Something that has to be there first.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The name of an extension, or a capability that an extension provides.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// Which of its versions will do; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub version: Option<String>,
    /// Whether it may be missing. When it is there, it still comes first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// Something that must not be there.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The name of an extension, or a capability that an extension provides.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// Which of its versions are in the way; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub version: Option<String>,
}
