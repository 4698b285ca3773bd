//! `Extension`: one extension of one catalog, as the hub found it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conditions;
use crate::rules::{self, Rule};

/// What a catalog says of one of its extensions. The hub writes this; people read it.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "Extension",
    doc = "Something that can be installed, as a catalog offers it. Written by the hub, under the name CATALOG.EXTENSION.",
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
    /// The catalog that offers it.
    #[schemars(length(max = 253), transform = rules::label("a catalog", 63))]
    pub catalog: String,
    /// The extension's name in the catalog.
    #[schemars(length(max = 253), transform = rules::label("an extension", 63))]
    pub extension: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub display_name: Option<String>,
    /// What it is for, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub summary: Option<String>,
    /// Who publishes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub publisher: Option<String>,
    /// What it is found under.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 64)))]
    pub categories: Vec<String>,
    /// Its versions, the newest first. The same version may be there more than once, with different digests.
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

/// One version, with as much as it takes to choose among them.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionVersion {
    /// The version.
    #[schemars(length(max = 128), transform = rules::semver())]
    pub version: String,
    /// The Kubernetes versions it is made for; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub kubernetes: Option<String>,
    /// The digest of its definition.
    #[schemars(length(max = 128), transform = rules::digest())]
    pub digest: String,
    /// The version of what it installs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub app_version: Option<String>,
    /// Whether it should no longer be chosen. What is installed stays.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
}

/// What the hub says about an extension.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionStatus {
    /// The generation that the hub has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What holds and what does not, each with a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
}

impl Extension {
    /// The name of the object for an extension of a catalog.
    pub fn name_of(catalog: &str, extension: &str) -> String {
        format!("{catalog}.{extension}")
    }
}
