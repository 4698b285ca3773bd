//! `ExtensionRevision`: the record of one change to an instance.

use std::cmp::Ordering;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conditions;
use crate::rules::{self, Rule};

/// What was to be done. It is written before the first write to the cluster, and never changes.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "ExtensionRevision",
    doc = "The record of one change to an instance: what was to be done, and what came of it. Written by the hub, under the name \
           INSTANCE.NUMBER, so that a number is given once.",
    namespaced,
    status = "ExtensionRevisionStatus",
    derive = "PartialEq",
    shortname = "extrev",
    category = "fitout",
    selectable = ".spec.instance",
    validation = name_is_made_of_its_parts(),
    printcolumn(name = "Instance", type_ = "string", json_path = ".spec.instance"),
    printcolumn(name = "Number", type_ = "integer", json_path = ".spec.number"),
    printcolumn(name = "Action", type_ = "string", json_path = ".spec.action"),
    printcolumn(name = "Version", type_ = "string", json_path = ".spec.version"),
    printcolumn(name = "Result", type_ = "string", json_path = ".status.result"),
    printcolumn(name = "Finished", type_ = "date", json_path = ".status.finishedAt", priority = 1),
    printcolumn(name = "Artifact", type_ = "string", json_path = ".spec.artifactDigest", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rules::fixed("a revision is a record and never changes"),
    transform = only_an_uninstall_renders_nothing(),
)]
pub struct ExtensionRevisionSpec {
    /// The instance that was changed.
    #[schemars(length(max = 253), transform = rules::label("an instance", 63))]
    pub instance: String,
    /// The number of the change, from 1.
    #[schemars(range(min = 1))]
    pub number: u32,
    /// What was to be done.
    pub action: Action,
    /// The version that was to be installed or removed.
    #[schemars(length(max = 128), transform = rules::semver())]
    pub version: String,
    /// The digest of the definition.
    #[schemars(length(max = 128), transform = rules::digest())]
    pub definition_digest: String,
    /// The digest of what was rendered, shown and applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub artifact_digest: Option<String>,
    /// The digest of the values it was rendered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub values_digest: Option<String>,
    /// The digest of all that went into it: as long as that stays the same, nothing is rendered again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub input_digest: Option<String>,
    /// The digest of the packaged chart, where it came from a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub chart_digest: Option<String>,
    /// Every object that was to be on the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4096))]
    pub inventory: Vec<ObjectName>,
    /// Every object that was to run there at some moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub hooks: Vec<ObjectName>,
}

/// Compared as numbers: the API server cannot bound what it costs to make a text of one.
fn name_is_made_of_its_parts() -> kube::core::Rule {
    rules::of_name(&Rule::new(
        "self.metadata.name.matches('^[^.]+[.][1-9][0-9]*$') && self.metadata.name.startsWith(self.spec.instance + '.') \
         && int(self.metadata.name.substring(size(self.spec.instance) + 1)) == self.spec.number",
        "the name of an ExtensionRevision is INSTANCE.NUMBER, made of its spec.instance and spec.number",
    ))
}

fn only_an_uninstall_renders_nothing() -> Rule {
    Rule::new(
        "self.action == 'Uninstall' || (has(self.artifactDigest) && has(self.valuesDigest))",
        "every revision but an Uninstall names its 'artifactDigest' and its 'valuesDigest'",
    )
}

impl ExtensionRevision {
    /// What came of it, as follows from which revision of its instance is installed.
    pub fn outcome(&self, installed: Option<u32>) -> Outcome {
        match installed.map(|installed| self.spec.number.cmp(&installed)) {
            None | Some(Ordering::Greater) => Outcome::Running,
            Some(Ordering::Equal) => Outcome::Succeeded,
            Some(Ordering::Less) => Outcome::Superseded,
        }
    }

    /// The name of the object for a revision of an instance.
    pub fn name_of(instance: &str, number: u32) -> String {
        format!("{}{number}", Self::names_of(instance))
    }

    /// What the names of all revisions of an instance begin with, and those of no other.
    pub fn names_of(instance: &str) -> String {
        format!("{instance}.")
    }
}

/// What a revision does to an instance.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// It was not there.
    Install,
    /// It was there, with another version or other values.
    Upgrade,
    /// It goes back to an earlier revision.
    Rollback,
    /// Another hand made it, and it is known from then on.
    Adopt,
    /// It goes away.
    Uninstall,
}

/// An object on a cluster.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// Its API version, with the group.
    #[schemars(length(min = 1, max = 253))]
    pub api_version: String,
    /// Its kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Its namespace; absent: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// What came of a revision.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It is under way.
    Running,
    /// All of it was done.
    Succeeded,
    /// Some of it could not be done.
    Failed,
    /// Another took its place.
    Superseded,
}

/// What came of a revision, and when.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionRevisionStatus {
    /// The generation that the hub has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What holds and what does not, each with a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Outcome>,
    /// When the first write was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When there was nothing left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
}
