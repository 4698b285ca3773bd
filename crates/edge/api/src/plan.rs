//! `Plan`: what would be done for an instance. It is computed when it is created, and kept nowhere.

use kube::CustomResource;
use serde::{Deserialize, Serialize};

use crate::ExtensionInstance;

/// What a plan is asked for: an instance that is there, or one that is proposed.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "compute.fitout.dev",
    version = "v1alpha1",
    kind = "Plan",
    doc = "What the hub would do for an instance.",
    namespaced,
    status = "fitout_plan::Plan",
    schema = "disabled",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanSpec {
    /// The name of an instance: what would be done for it as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// An instance as it might be written: a new one, or another form of one that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ExtensionInstance>,
    /// What would be done if the instance were deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uninstall: bool,
}
