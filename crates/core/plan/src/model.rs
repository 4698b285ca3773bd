//! The plan of one instance: the writes to its cluster, and the reasons for them.

use fitout_model::{Digest, Gvk, ObjectId};

use crate::Difference;

/// The changes for one instance, provided that every write succeeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The kind of change.
    pub change: Change,
    /// The installed version.
    pub from: Option<String>,
    /// The version after the change.
    pub to: Option<String>,
    /// The reason for that version.
    pub why: String,
    /// The number of the revision that the hub will record, if it records one.
    pub revision: Option<u32>,
    /// The digest of the rendered artifact. Equal plans have equal digests.
    pub artifact: Option<Digest>,
    /// The reason that nothing can be planned.
    pub obstacle: Option<Obstacle>,
    /// The condition that must hold before the first write.
    pub waits: Option<String>,
    /// Every write to the cluster, in order.
    pub writes: Vec<Write>,
    /// The number of objects that stay unchanged.
    pub unchanged: usize,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// The kind of change that a plan makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change {
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// The kind of write.
    pub act: Act,
    /// The object's API group and version.
    pub api_version: String,
    /// The object's kind.
    pub kind: String,
    /// The object's namespace; empty for a cluster-scoped object.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The stage of the write. Writes of one stage run in parallel; the next stage starts when its dependencies are
    /// ready.
    pub stage: usize,
    /// The purpose of the object, if it is no object of the extension, such as a release record.
    pub note: Option<String>,
    /// The fields that change.
    pub changes: Vec<Difference>,
    /// The reason that the cluster would reject the write.
    pub refused: Option<String>,
}

/// The kind of a write to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The object is created.
    Create,
    /// The object is changed.
    Update,
    /// The object is deleted.
    Delete,
}

impl Write {
    /// Creates a write to an object, without details.
    pub fn new(act: Act, id: &ObjectId, stage: usize) -> Self {
        Self {
            act,
            api_version: id.gvk.api_version(),
            kind: id.gvk.kind.clone(),
            namespace: id.namespace.clone(),
            name: id.name.clone(),
            stage,
            note: None,
            changes: vec![],
            refused: None,
        }
    }

    /// The identity of the object.
    pub fn object(&self) -> ObjectId {
        let gvk = Gvk::new(&self.api_version, &self.kind);
        ObjectId { gvk, namespace: self.namespace.clone(), name: self.name.clone() }
    }
}

impl Plan {
    /// The reason for the first write that the cluster would reject.
    pub fn refusal(&self) -> Option<&str> {
        self.writes.iter().find_map(|write| write.refused.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_names_its_object() {
        let id = ObjectId { gvk: Gvk::new("apps/v1", "Deployment"), namespace: "shop".into(), name: "web".into() };
        let write = Write::new(Act::Update, &id, 2);
        assert_eq!((write.api_version.as_str(), write.object()), ("apps/v1", id));
    }
}
