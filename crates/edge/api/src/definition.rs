//! `ExtensionDefinition`: the definition of one version of an extension.

use fitout_model::Definition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conditions;

/// The definition of one version of an extension. It is immutable.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "ExtensionDefinition",
    doc = "An ExtensionDefinition declares one version of an extension. Applied in org-NAME it is a sideload: only that \
           organization sees it and can install it. The hub creates none of these for catalogs.",
    namespaced,
    status = "ExtensionDefinitionStatus",
    derive = "PartialEq",
    shortname = "extdef",
    category = "fitout",
    selectable = ".spec.extension",
    printcolumn(name = "Extension", type_ = "string", json_path = ".spec.extension"),
    printcolumn(name = "Version", type_ = "string", json_path = ".spec.version"),
    printcolumn(name = "Kubernetes", type_ = "string", json_path = ".spec.kubernetes"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Status", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].message"#),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(transparent)]
pub struct ExtensionDefinitionSpec(pub Definition);

/// The observed state of a definition.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionDefinitionStatus {
    /// The generation that the hub last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest conditions, one of each type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// The digest of the definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}
