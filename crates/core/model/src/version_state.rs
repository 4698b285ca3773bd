//! The state of a version in a catalog.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a version in a catalog. No state changes what is installed by itself, except that instances that follow
/// their catalog move away from a withdrawn version.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum VersionState {
    /// It can be installed.
    #[default]
    Listed,
    /// It can be installed, with a warning.
    Deprecated,
    /// It is not chosen for new installations. Instances that have it keep it.
    Yanked,
    /// It has a security problem: it is not chosen, and instances move to another version that fits.
    Withdrawn,
}

impl VersionState {
    /// Whether this is the default state.
    pub fn is_listed(&self) -> bool {
        *self == Self::Listed
    }

    /// The state as an adjective in a sentence.
    pub fn adjective(self) -> &'static str {
        match self {
            Self::Listed => "listed",
            Self::Deprecated => "deprecated",
            Self::Yanked => "yanked",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// The state of some versions of an extension, with the reason.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionStateRule {
    /// The extension.
    #[schemars(length(max = 253), transform = crate::rules::label("an extension", 63))]
    pub extension: String,
    /// The range of versions. Defaults to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = crate::rules::range())]
    pub version: Option<String>,
    /// The state: `Listed`, `Deprecated`, `Yanked` or `Withdrawn`.
    pub state: VersionState,
    /// The reason, and the advice to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub note: Option<String>,
}
