//! `Extension`: one extension of one catalog, written by the hub.

use fitout_model::VersionState;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conditions;
use crate::rules::{self, Rule};

/// An extension and its versions, as its catalog lists them. Only the hub writes it.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "Extension",
    doc = "An Extension is an entry of a catalog that can be installed. The hub writes it under the name CATALOG.EXTENSION.",
    namespaced,
    status = "ExtensionStatus",
    derive = "PartialEq",
    shortname = "ext",
    category = "fitout",
    selectable = ".spec.catalog",
    selectable = ".spec.extension",
    validation = name_is_made_of_its_parts(),
    printcolumn(name = "Catalog", type_ = "string", json_path = ".spec.catalog"),
    printcolumn(name = "Extension", type_ = "string", json_path = ".spec.extension"),
    printcolumn(name = "Newest", type_ = "string", json_path = ".spec.versions[0].version"),
    printcolumn(name = "Kubernetes", type_ = "string", json_path = ".spec.versions[0].kubernetes"),
    printcolumn(name = "Summary", type_ = "string", json_path = ".spec.summary"),
    printcolumn(name = "Publisher", type_ = "string", json_path = ".spec.publisher", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionSpec {
    /// The catalog that contains the extension.
    #[schemars(length(max = 253), transform = rules::label("a catalog", 63))]
    pub catalog: String,
    /// The extension's name in the catalog.
    #[schemars(length(max = 253), transform = rules::label("an extension", 63))]
    pub extension: String,
    /// The name shown to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// The purpose of the extension, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub summary: Option<String>,
    /// The publisher of the extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub publisher: Option<String>,
    /// The categories that the extension is listed under.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 64)))]
    pub categories: Vec<String>,
    /// Words to find the extension by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 64)))]
    pub keywords: Vec<String>,
    /// The URL of an icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub icon: Option<String>,
    /// The versions, newest first. A version can be listed more than once, with different digests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub versions: Vec<ExtensionVersion>,
}

fn name_is_made_of_its_parts() -> kube::core::Rule {
    rules::of_name(&Rule::new(
        "self.metadata.name == self.spec.catalog + '.' + self.spec.extension",
        "the name of an Extension is CATALOG.EXTENSION, made of its spec.catalog and spec.extension",
    ))
}

/// One version of an extension, with the facts that version resolution needs.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionVersion {
    /// The version.
    #[schemars(length(max = 128), transform = rules::semver())]
    pub version: String,
    /// The range of Kubernetes versions that it supports. Defaults to any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub kubernetes: Option<String>,
    /// The digest of the definition.
    #[schemars(length(max = 128), transform = rules::digest())]
    pub digest: String,
    /// The version of the application that it installs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub app_version: Option<String>,
    /// The Kubernetes minor version, such as 1.36, that the version is offered for, where the catalog reads a source of its
    /// own for each. The same version with another key may have another content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub key: Option<String>,
    /// The state: `Listed`, `Deprecated`, `Yanked` or `Withdrawn`. Defaults to `Listed`.
    #[serde(default, skip_serializing_if = "VersionState::is_listed")]
    pub state: VersionState,
    /// The reason of the state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub note: Option<String>,
}

/// The observed state of an extension.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionStatus {
    /// The generation that the hub last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest conditions, one of each type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
}

impl Extension {
    /// The name of the `Extension` object for an extension of a catalog.
    pub fn name_of(catalog: &str, extension: &str) -> String {
        format!("{catalog}.{extension}")
    }
}
