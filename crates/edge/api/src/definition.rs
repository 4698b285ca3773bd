//! `ExtensionDefinition`: all that one version of an extension declares.

use fitout_model::Definition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conditions;

/// One version of an extension. It never changes: what was read once is what it is.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "ExtensionDefinition",
    doc = "All that one version of an extension declares. Applied in org-NAME it is a sideload: that organization alone sees it \
           and can install it. Catalogs make none of these.",
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

/// What the hub says about a definition.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionDefinitionStatus {
    /// The generation that the hub has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What holds and what does not, each with a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// The digest by which this definition is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}
