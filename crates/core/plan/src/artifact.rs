//! The artifact: all objects and hooks of one rendered revision.

use fitout_helm_release::{HookDeletePolicy, HookEvent};
use fitout_model::{Digest, ObjectId};

use crate::Phase;

/// A rendered extension. It is rendered once and applied, recorded and rolled back to unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The digest of its content.
    pub digest: Digest,
    /// The revision that a rollback restores; none for a newly rendered artifact.
    pub rolls_back_to: Option<u32>,
    /// The objects of the release.
    pub objects: Vec<Planned>,
    /// The CRDs that are applied first and belong to no release.
    pub crds: Vec<Planned>,
    /// The Helm hooks.
    pub hooks: Vec<PlannedHook>,
}

impl Artifact {
    /// The identities of all CRDs and objects, without hooks.
    pub fn inventory(&self) -> Vec<ObjectId> {
        self.crds.iter().chain(&self.objects).map(|planned| planned.id.clone()).collect()
    }

    /// The entry of an object or CRD.
    pub fn planned(&self, id: &ObjectId) -> Option<&Planned> {
        self.objects.iter().chain(&self.crds).find(|planned| planned.id == *id)
    }
}

/// One object of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The identity.
    pub id: ObjectId,
    /// The phase in which it is applied.
    pub phase: Phase,
    /// The digest of the object as it is applied.
    pub digest: Digest,
    /// Whether a webhook of the same artifact may intercept it, so that the webhook has to be available first.
    pub guarded: bool,
}

/// A Helm hook of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedHook {
    /// The identity of its object.
    pub id: ObjectId,
    /// The events at which it runs.
    pub events: Vec<HookEvent>,
    /// The weight: hooks of one event run one at a time, in ascending order.
    pub weight: i64,
    /// The delete policies.
    pub policies: Vec<HookDeletePolicy>,
    /// The digest of the object as it is applied.
    pub digest: Digest,
}

impl PlannedHook {
    /// Whether it runs to completion, as Jobs and Pods do. Any other hook is done once it is applied.
    pub fn runs(&self) -> bool {
        ["Job", "Pod"].contains(&self.id.gvk.kind.as_str())
    }

    /// Whether a delete policy applies. As with Helm, the default is `before-hook-creation`, and a CRD is never deleted.
    pub fn has_policy(&self, when: &HookDeletePolicy) -> bool {
        let applies =
            self.policies.contains(when) || self.policies.is_empty() && *when == HookDeletePolicy::BeforeCreation;
        applies && self.id.gvk.kind != "CustomResourceDefinition"
    }
}
