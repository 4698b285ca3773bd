//! A plan: what is going to be done to a cluster, and why.

use fitout_model::{Digest, Gvk, ObjectId};
use serde::{Deserialize, Serialize};

use crate::Difference;

/// Everything that is going to be done for one instance, if all goes well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Plan {
    /// What it comes to.
    pub change: Change,
    /// The version that is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The version that will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Why it will be that one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The revision that the hub will record; none where it records no new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// Of all that will be applied: the same plan has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Digest>,
    /// Why nothing will be done at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// What has to happen before any of it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// Every write to the cluster, in order.
    pub writes: Vec<Write>,
    /// How many objects are as they should be.
    pub unchanged: usize,
    /// What a person should know before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What a plan comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// Everything is as it should be, or nothing can be done.
    #[default]
    Nothing,
    /// The first revision.
    Install,
    /// Something new over something older.
    Upgrade,
    /// Something older again.
    Rollback,
    /// What somebody changed is put back.
    Repair,
    /// All of it goes.
    Uninstall,
}

/// Why nothing will be done until a person does something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", content = "message")]
pub enum Obstacle {
    /// No version fits.
    Unresolved(String),
    /// What was found cannot be rendered.
    Wrong(String),
    /// Something of somebody else's is in the way.
    Foreign(String),
}

impl Obstacle {
    /// In a sentence.
    pub fn message(&self) -> &str {
        match self {
            Self::Unresolved(message) | Self::Wrong(message) | Self::Foreign(message) => message,
        }
    }
}

/// One write to the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Write {
    /// What is done to the object.
    pub act: Act,
    /// Its group and version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty for what has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Writes of the same stage are done side by side; the next stage begins when what it needs is there.
    pub stage: usize,
    /// What it is for, where the object does not tell: a release record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Each field that changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Difference>,
    /// Why the cluster will not do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// It is made.
    Create,
    /// It is changed.
    Update,
    /// It is removed.
    Delete,
}

impl Write {
    /// A write to an object, of which no more is known.
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

    /// The object.
    pub fn object(&self) -> ObjectId {
        let gvk = Gvk::new(&self.api_version, &self.kind);
        ObjectId { gvk, namespace: self.namespace.clone(), name: self.name.clone() }
    }
}

impl Plan {
    /// The first thing that the cluster would refuse.
    pub fn refusal(&self) -> Option<&str> {
        self.writes.iter().find_map(|write| write.refused.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_is_a_value_that_can_be_written_and_read() {
        let id = ObjectId { gvk: Gvk::new("apps/v1", "Deployment"), namespace: "shop".into(), name: "web".into() };
        let plan = Plan {
            change: Change::Upgrade,
            obstacle: Some(Obstacle::Foreign("it is not ours".to_owned())),
            writes: vec![Write::new(Act::Update, &id, 2)],
            ..Plan::default()
        };
        let value = serde_json::to_value(&plan).unwrap();
        let write = json!({
            "act": "Update", "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web", "stage": 2,
        });
        let obstacle = json!({ "reason": "Foreign", "message": "it is not ours" });
        assert_eq!(value, json!({ "change": "Upgrade", "obstacle": obstacle, "writes": [write], "unchanged": 0 }));
        assert_eq!(serde_json::from_value::<Plan>(value).unwrap(), plan);
        assert_eq!(plan.writes[0].object(), id);
    }
}
