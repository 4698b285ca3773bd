//! What a change applies.

use fitout_helm_release::{HookDeletePolicy, HookEvent};
use fitout_model::{Digest, ObjectId};

use crate::Phase;

/// The very thing that is applied, rendered once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Of all that is in it.
    pub digest: Digest,
    /// The revision whose artifact is installed again; none for one that was rendered now.
    pub rolls_back_to: Option<u32>,
    /// Its objects.
    pub objects: Vec<Planned>,
    /// Definitions of custom resources that come before all else and belong to no release.
    pub crds: Vec<Planned>,
    /// What runs at certain moments.
    pub hooks: Vec<PlannedHook>,
}

impl Artifact {
    /// All that it may write, but for hooks.
    pub fn inventory(&self) -> Vec<ObjectId> {
        self.crds.iter().chain(&self.objects).map(|planned| planned.id.clone()).collect()
    }

    /// What is planned for an object.
    pub fn planned(&self, id: &ObjectId) -> Option<&Planned> {
        self.objects.iter().chain(&self.crds).find(|planned| planned.id == *id)
    }
}

/// One object of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Which it is.
    pub id: ObjectId,
    /// When it is applied.
    pub phase: Phase,
    /// Of what is applied.
    pub digest: Digest,
    /// Whether a webhook of the same artifact may be asked about it: that has to be answered first.
    pub guarded: bool,
}

/// An object that runs at certain moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedHook {
    /// Which it is.
    pub id: ObjectId,
    /// The moments.
    pub events: Vec<HookEvent>,
    /// Hooks of one moment run from the lowest to the highest, one at a time.
    pub weight: i64,
    /// When the object is deleted.
    pub policies: Vec<HookDeletePolicy>,
    /// Of what is applied.
    pub digest: Digest,
}

impl PlannedHook {
    /// Whether its end is waited for; of anything else it is enough that it is there.
    pub fn runs(&self) -> bool {
        ["Job", "Pod"].contains(&self.id.gvk.kind.as_str())
    }

    /// Whether its object is deleted at this moment. A definition of custom resources never is, and before it is made
    /// again, an object goes unless something else is said.
    pub fn goes(&self, when: &HookDeletePolicy) -> bool {
        let asked =
            self.policies.contains(when) || self.policies.is_empty() && *when == HookDeletePolicy::BeforeCreation;
        asked && self.id.gvk.kind != "CustomResourceDefinition"
    }
}
