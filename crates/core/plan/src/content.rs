//! The content of an artifact, as the blob store keeps it.

use std::collections::{BTreeMap, BTreeSet};

use fitout_helm_release::Hook;
use fitout_model::{Digest, ObjectId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Artifact, Phase, Planned, PlannedHook, RenderError, phase};

/// All that a revision applies, with the parts that only the release record needs. Its digest identifies the artifact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// The objects, in install order.
    pub objects: Vec<Value>,
    /// The CRDs that are applied first and belong to no release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crds: Vec<Value>,
    /// The Helm hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<KeptHook>,
    /// The rendered `NOTES.txt`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// The manifest of the release record; none where it is generated from the objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
}

/// A hook: its entry in the release record, and its object with namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptHook {
    /// The entry in the release record.
    pub hook: Hook,
    /// The object.
    pub object: Value,
}

impl Content {
    /// The content as the JSON that is stored.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses stored content.
    pub(crate) fn read(stored: &str) -> Result<Self, RenderError> {
        serde_json::from_str(stored).map_err(|error| {
            RenderError::Invalid(format!(
                "the stored content of the revision cannot be parsed: {error}; upgrade to another version"
            ))
        })
    }

    /// The artifact with this content.
    pub(crate) fn artifact(&self, digest: Digest, rolls_back_to: Option<u32>) -> Artifact {
        let groups = guarded_groups(&self.objects);
        let planned = |object: &Value| {
            let id = ObjectId::of(object)?;
            let phase = phase(&id.gvk);
            let guarded = phase == Phase::CustomResources && (groups.contains(&id.gvk.group) || groups.contains("*"));
            Some(Planned { phase, digest: Digest::of_value(object), guarded, id })
        };
        // Sorted by identity, so that the order does not depend on the origin of the content.
        let ordered = |objects: &[Value]| {
            let all: BTreeMap<ObjectId, Planned> =
                objects.iter().filter_map(planned).map(|planned| (planned.id.clone(), planned)).collect();
            all.into_values().collect()
        };
        let hook = |kept: &KeptHook| {
            Some(PlannedHook {
                id: ObjectId::of(&kept.object)?,
                events: kept.hook.events.clone(),
                weight: kept.hook.weight,
                policies: kept.hook.delete_policies.clone(),
                digest: Digest::of_value(&kept.object),
            })
        };
        Artifact {
            digest,
            rolls_back_to,
            objects: ordered(&self.objects),
            crds: ordered(&self.crds),
            hooks: self.hooks.iter().filter_map(hook).collect(),
        }
    }

    /// The manifest of the release record.
    pub fn manifest(&self) -> String {
        let document = |object: &Value| format!("---\n{}", fitout_go_yaml::to_yaml(object));
        self.manifest.clone().unwrap_or_else(|| self.objects.iter().map(document).collect())
    }
}

/// The API groups that webhooks among these objects intercept.
fn guarded_groups(objects: &[Value]) -> BTreeSet<String> {
    let webhooks = objects.iter().filter(|object| {
        object["apiVersion"].as_str().is_some_and(|version| version.starts_with("admissionregistration.k8s.io/"))
    });
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let rules = webhooks.flat_map(|object| all(&object["webhooks"])).flat_map(|webhook| all(&webhook["rules"]));
    let groups = rules.flat_map(|rule| all(&rule["apiGroups"]));
    groups.filter_map(|group| group.as_str().map(str::to_owned)).collect()
}
