//! `Values`: what an instance is made with, and whose each value is. It is computed when it is created, and kept nowhere.

use kube::CustomResource;
use serde::{Deserialize, Serialize};

use crate::{ExtensionInstance, PlanSpec};

/// Whose values are asked for: those of an instance that is there, or of one that is proposed.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "compute.fitout.dev",
    version = "v1alpha1",
    kind = "Values",
    plural = "values",
    doc = "Every value that an instance is made with, and the layer that set it.",
    namespaced,
    status = "fitout_plan::Provenance",
    schema = "disabled",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ValuesSpec {
    /// The name of an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// An instance as it might be written: a new one, or another form of one that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ExtensionInstance>,
}

impl From<&ValuesSpec> for PlanSpec {
    fn from(spec: &ValuesSpec) -> Self {
        Self { instance: spec.instance.clone(), proposed: spec.proposed.clone(), uninstall: false }
    }
}
