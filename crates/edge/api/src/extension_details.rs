//! `ExtensionDetails`: all that is known of one version of an extension. The hub computes it on creation and does not store
//! it.

use fitout_model::{Definition, Digest};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

use crate::ExtensionReference;

/// The version of an extension whose details are requested.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "compute.fitout.dev",
    version = "v1alpha1",
    kind = "ExtensionDetails",
    plural = "extensiondetails",
    doc = "ExtensionDetails has the definition, the requirements and the changelog of one version of an extension.",
    namespaced,
    status = "ExtensionDetailsStatus",
    schema = "disabled",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExtensionDetailsSpec {
    /// The extension.
    pub extension: ExtensionReference,
    /// The version. Defaults to the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The Kubernetes minor version, such as 1.36, where the catalog has a source for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The version after which the changelog begins. Defaults to the one before the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// The details of a version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtensionDetailsStatus {
    /// The version.
    pub version: String,
    /// The digest of its definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The definition, with the requirements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<Definition>,
    /// Whether the requirements are those of what the chart renders with its default values, because its publisher has not
    /// declared any.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub derived: bool,
    /// Facts about the requirements that no chart shows, or why they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The changes since the version of the request, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changelog: Vec<VersionChanges>,
}

/// The changes of one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionChanges {
    /// The version.
    pub version: String,
    /// Its changes, in Markdown.
    pub text: String,
}
