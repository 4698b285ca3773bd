//! What was rendered and placed, as it is kept.

use std::collections::{BTreeMap, BTreeSet};

use fitout_helm_release::Hook;
use fitout_model::{Digest, ObjectId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Artifact, Phase, Planned, PlannedHook, RenderError, phase};

/// All that is applied at some moment, and what Helm's record says of it. Its digest is the artifact's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// What is applied, in the order of kinds.
    pub objects: Vec<Value>,
    /// Definitions of custom resources that come before all else and belong to no release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crds: Vec<Value>,
    /// What runs at certain moments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<KeptHook>,
    /// What there is to say to whoever installs it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// The objects as Helm's record has them; none where it is made of the objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
}

/// A hook: what Helm's record says of it, and its object in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptHook {
    /// What Helm's record says.
    pub hook: Hook,
    /// The object.
    pub object: Value,
}

impl Content {
    /// As it is kept.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What was kept.
    pub(crate) fn read(kept: &str) -> Result<Self, RenderError> {
        serde_json::from_str(kept).map_err(|error| {
            RenderError::Invalid(format!(
                "what was kept of a revision cannot be read: {error}; upgrade to something else"
            ))
        })
    }

    /// What the state machine works from.
    pub(crate) fn artifact(&self, digest: Digest, rolls_back_to: Option<u32>) -> Artifact {
        let guarded = guarded(&self.objects);
        let planned = |object: &Value| {
            let id = ObjectId::of(object)?;
            let phase = phase(&id.gvk);
            let guarded = phase == Phase::CustomResources && (guarded.contains(&id.gvk.group) || guarded.contains("*"));
            Some(Planned { phase, digest: Digest::of_value(object), guarded, id })
        };
        // In the order of what they are, so that it does not depend on who wrote them down.
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

    /// The objects as Helm's record has them.
    pub fn manifest(&self) -> String {
        let document = |object: &Value| format!("---\n{}", fitout_go_yaml::to_yaml(object));
        self.manifest.clone().unwrap_or_else(|| self.objects.iter().map(document).collect())
    }
}

/// The API groups that webhooks among these objects are asked about.
fn guarded(objects: &[Value]) -> BTreeSet<String> {
    let webhooks = objects.iter().filter(|object| {
        object["apiVersion"].as_str().is_some_and(|version| version.starts_with("admissionregistration.k8s.io/"))
    });
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let rules = webhooks.flat_map(|object| all(&object["webhooks"])).flat_map(|webhook| all(&webhook["rules"]));
    let groups = rules.flat_map(|rule| all(&rule["apiGroups"]));
    groups.filter_map(|group| group.as_str().map(str::to_owned)).collect()
}
