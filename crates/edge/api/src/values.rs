//! `Values`: the values of an instance and the layers that set them. The hub computes it on creation and does not store
//! it.

use kube::CustomResource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ExtensionInstance, Obstacle, PlanSpec};

/// The instance whose values are requested: an existing one or a proposed one.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "compute.fitout.dev",
    version = "v1alpha1",
    kind = "Values",
    plural = "values",
    doc = "Values lists every value that an instance is rendered with, and the layer that set it.",
    namespaced,
    status = "ValuesStatus",
    schema = "disabled",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValuesSpec {
    /// The name of an existing instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// A new instance, or a new state of an existing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ExtensionInstance>,
}

/// The values that an instance is rendered with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ValuesStatus {
    /// The version of the extension.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The reason that values cannot be computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// All values, as templates or manifests see them.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub values: Value,
    /// The same values, one by one, each with its layer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<SourcedValue>,
}

/// A value and the layer that set it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourcedValue {
    /// The keys that lead to the value.
    pub path: Vec<String>,
    /// The value; `(not shown)` for a secret one.
    #[serde(default)]
    pub value: Value,
    /// The layer that set the value.
    pub set_by: String,
    /// The layers whose values were overridden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<String>,
    /// Whether the value is a default of the chart or of the definition's parameters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
}

impl From<&ValuesSpec> for PlanSpec {
    fn from(spec: &ValuesSpec) -> Self {
        Self { instance: spec.instance.clone(), proposed: spec.proposed.clone(), uninstall: false }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_status_round_trips_through_json() {
        let leaf = json!({ "path": ["a", "b.c"], "value": 1, "setBy": "instance", "over": ["chart"], "default": true });
        let least = json!({ "path": [], "value": null, "setBy": "chart" });
        let value = json!({ "version": "1.0.0", "values": { "a": { "b.c": 1 } }, "leaves": [leaf, least],
            "obstacle": { "reason": "InvalidSpec", "message": "no" } });
        let status: ValuesStatus = serde_json::from_value(value.clone()).unwrap();
        assert_eq!((status.leaves[0].set_by.as_str(), status.leaves[1].default), ("instance", false));
        assert_eq!(serde_json::to_value(status).unwrap(), value);
        assert_eq!(serde_json::to_value(ValuesStatus::default()).unwrap(), json!({}));
    }
}
