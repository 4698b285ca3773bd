//! `Plan`: the changes that the hub would make for an instance. The hub computes it on creation and does not store it.

use fitout_model::{Digest, Gvk, ObjectId};
use kube::CustomResource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ExtensionInstance;

/// The subject of a plan: an existing instance or a proposed one.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "compute.fitout.dev",
    version = "v1alpha1",
    kind = "Plan",
    doc = "A Plan lists the changes that the hub would make for an instance.",
    namespaced,
    status = "PlanStatus",
    schema = "disabled",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanSpec {
    /// The name of an existing instance, which is planned as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// A new instance, or a new state of an existing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ExtensionInstance>,
    /// Whether to plan the deletion of the instance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uninstall: bool,
}

/// The changes for one instance, provided that every write succeeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlanStatus {
    /// The kind of change.
    pub change: PlannedChange,
    /// The installed version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The version after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The reason for that version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The number of the revision that the hub will record, if it records one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// The digest of the rendered artifact. Equal plans have equal digests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Digest>,
    /// The reason that nothing can be planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// The condition that must hold before the first write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// Every write to the cluster, in order.
    pub writes: Vec<PlannedWrite>,
    /// The number of objects that stay unchanged.
    pub unchanged: usize,
    /// Warnings for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The kind of change that a plan makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlannedChange {
    /// No change is needed, or none is possible.
    #[default]
    Nothing,
    /// The first revision is installed.
    Install,
    /// Another version or other values are installed.
    Upgrade,
    /// An earlier revision is installed again.
    Rollback,
    /// Drift on the cluster is reverted.
    Repair,
    /// The extension is uninstalled.
    Uninstall,
}

/// The reason that the hub makes no change until a user acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", content = "message")]
pub enum Obstacle {
    /// No version fits.
    Unresolved(String),
    /// The instance or its extension cannot be rendered.
    InvalidSpec(String),
    /// An object or a release that belongs to another owner is in the way.
    Foreign(String),
}

impl Obstacle {
    /// The sentence for users.
    pub fn message(&self) -> &str {
        match self {
            Self::Unresolved(message) | Self::InvalidSpec(message) | Self::Foreign(message) => message,
        }
    }
}

/// One write to the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedWrite {
    /// The kind of write.
    pub act: WriteAct,
    /// The object's API group and version.
    pub api_version: String,
    /// The object's kind.
    pub kind: String,
    /// The object's namespace; empty for a cluster-scoped object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The stage of the write. Writes of one stage run in parallel; the next stage starts when its dependencies are
    /// ready.
    pub stage: usize,
    /// The purpose of the object, if it is no object of the extension, such as a release record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The fields that change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// The reason that the cluster would reject the write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// The kind of a write to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteAct {
    /// The object is created.
    Create,
    /// The object is changed.
    Update,
    /// The object is deleted.
    Delete,
}

/// The change of one field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    /// The path of the field, such as `spec.containers[name=web].image`.
    pub path: String,
    /// The current value; none if the field does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// The value after the change; none if the field is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

impl PlannedWrite {
    /// The identity of the object.
    pub fn object(&self) -> ObjectId {
        let gvk = Gvk::new(&self.api_version, &self.kind);
        ObjectId { gvk, namespace: self.namespace.clone(), name: self.name.clone() }
    }
}

impl PlanStatus {
    /// The reason for the first write that the cluster would reject.
    pub fn refusal(&self) -> Option<&str> {
        self.writes.iter().find_map(|write| write.refused.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plan_status_round_trips_through_json() {
        let write = json!({
            "act": "Update", "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web", "stage": 2,
        });
        let obstacle = json!({ "reason": "Foreign", "message": "it is not ours" });
        let value = json!({ "change": "Upgrade", "obstacle": obstacle, "writes": [write], "unchanged": 0 });
        let plan: PlanStatus = serde_json::from_value(value.clone()).unwrap();
        let id = ObjectId { gvk: Gvk::new("apps/v1", "Deployment"), namespace: "shop".into(), name: "web".into() };
        assert_eq!(
            (plan.change, plan.writes[0].act, plan.writes[0].object()),
            (PlannedChange::Upgrade, WriteAct::Update, id)
        );
        assert_eq!(plan.obstacle.as_ref().map(Obstacle::message), Some("it is not ours"));
        assert_eq!(serde_json::to_value(plan).unwrap(), value);
    }

    #[test]
    fn absent_fields_have_defaults() {
        assert_eq!(serde_json::from_value::<PlanStatus>(json!({})).unwrap(), PlanStatus::default());
        assert_eq!(
            serde_json::to_value(PlanStatus::default()).unwrap(),
            json!({ "change": "Nothing", "writes": [], "unchanged": 0 })
        );
    }
}
