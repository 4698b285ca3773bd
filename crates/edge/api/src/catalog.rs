//! `Catalog`: a source of extension definitions.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{conditions, rules};

/// The source that a catalog is read from.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "Catalog",
    doc = "A Catalog is a source of extensions. A catalog in fitout-system serves every organization, one in org-NAME \
           serves that organization alone. Deleting a catalog does not change installed extensions.",
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
    /// The name shown to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// The source of the definitions.
    pub source: CatalogSource,
}

/// The source of definitions. Exactly one of its fields is set.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::exactly_one(&["directory"], "a catalog has exactly one source: directory"))]
pub struct CatalogSource {
    /// A directory that the hub can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<DirectorySource>,
}

/// A directory that is built into Fitout or is on the hub's file system.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::exactly_one(
    &["embedded", "path"],
    "a directory is named by exactly one of 'embedded' (a catalog that comes with Fitout) and 'path' (on the hub's disk)",
))]
pub struct DirectorySource {
    /// The name of a catalog that is built into Fitout, such as `community`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), transform = rules::label("an embedded catalog", 63))]
    pub embedded: Option<String>,
    /// The absolute path of a directory on the hub's file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024), transform = rules::absolute_path())]
    pub path: Option<String>,
}

/// The observed state of a catalog.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogStatus {
    /// The generation that the hub last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest conditions, one of each type: `Synced`, `Ready`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// The number of extensions in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<u32>,
    /// The number of extension versions in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<u32>,
    /// The digest of the content that the hub read last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The time at which the hub last read the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced_at: Option<Time>,
}
