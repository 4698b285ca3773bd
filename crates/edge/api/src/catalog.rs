//! `Catalog`: where definitions come from.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{conditions, rules};

/// What a catalog is read from.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "Catalog",
    doc = "A source of extensions. In fitout-system it is for every organization, in org-NAME for that one alone. Losing a \
           catalog touches nothing that is installed.",
    namespaced,
    status = "CatalogStatus",
    derive = "PartialEq",
    shortname = "cat",
    category = "fitout",
    validation = rules::object_name("a catalog", 63),
    printcolumn(name = "Extensions", type_ = "integer", json_path = ".status.extensions"),
    printcolumn(name = "Versions", type_ = "integer", json_path = ".status.versions"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Status", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].message"#),
    printcolumn(name = "Synced", type_ = "date", json_path = ".status.syncedAt", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct CatalogSpec {
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// Where its definitions are.
    pub source: CatalogSource,
}

/// Where definitions are: exactly one kind of source.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::exactly_one(&["directory"], "a catalog has exactly one source: directory"))]
pub struct CatalogSource {
    /// A directory that the hub can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<DirectorySource>,
}

/// A directory: one that is part of Fitout, or one on the hub's disk.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::exactly_one(
    &["embedded", "path"],
    "a directory is named by exactly one of 'embedded' (a catalog that comes with Fitout) and 'path' (on the hub's disk)",
))]
pub struct DirectorySource {
    /// The name of a catalog that comes with Fitout, such as `community`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), transform = rules::label("an embedded catalog", 63))]
    pub embedded: Option<String>,
    /// The path of a directory on the hub's disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024), transform = rules::absolute_path())]
    pub path: Option<String>,
}

/// What the hub says about a catalog.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogStatus {
    /// The generation that the hub has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What holds and what does not, each with a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// How many extensions are in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<u32>,
    /// How many versions of extensions are in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<u32>,
    /// The digest of what was read last: as long as it stays, there is nothing new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When it was read last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced_at: Option<Time>,
}
