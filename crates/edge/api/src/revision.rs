//! `ExtensionRevision`: the record of one change to an instance.

use std::cmp::Ordering;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conditions;
use crate::rules::{self, Rule};

/// The desired result of the change. It is written before the first write to the cluster, and is immutable.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "ExtensionRevision",
    doc = "An ExtensionRevision records one change to an instance and its result. The hub writes it under the name \
           INSTANCE.NUMBER, so that each number is used once.",
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
    /// The name of the instance.
    #[schemars(length(max = 253), transform = rules::label("an instance", 63))]
    pub instance: String,
    /// The number of the revision, from 1.
    #[schemars(range(min = 1))]
    pub number: u32,
    /// The action: `Install`, `Upgrade`, `Rollback`, `Adopt` of a release that another client wrote, or `Uninstall`.
    pub action: Action,
    /// The version that the revision installs or removes.
    #[schemars(length(max = 128), transform = rules::semver())]
    pub version: String,
    /// The digest of the definition.
    #[schemars(length(max = 128), transform = rules::digest())]
    pub definition_digest: String,
    /// The digest of the content that has the definition and its files, so that the catalog may lose them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub pack_digest: Option<String>,
    /// The digest of the rendered artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub artifact_digest: Option<String>,
    /// The digest of the values that the artifact was rendered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub values_digest: Option<String>,
    /// The digest of all inputs of rendering. The hub renders again only when they change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub input_digest: Option<String>,
    /// The digest of the packaged chart, if it came from a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::digest())]
    pub chart_digest: Option<String>,
    /// The objects of the revision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4096))]
    pub inventory: Vec<ObjectName>,
    /// The hooks of the revision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub hooks: Vec<ObjectName>,
}

/// Compares numbers, because the API server cannot bound the cost of converting one to a string.
fn name_is_made_of_its_parts() -> kube::core::Rule {
    rules::of_name(&Rule::new(
        "self.metadata.name.matches('^[^.]+[.][1-9][0-9]*$') && self.metadata.name.startsWith(self.spec.instance + '.') \
         && int(self.metadata.name.substring(size(self.spec.instance) + 1)) == self.spec.number",
        "the name of an ExtensionRevision is INSTANCE.NUMBER, made of its spec.instance and spec.number",
    ))
}

impl ExtensionRevisionSpec {
    /// The digests of the content that the revision names: the pack with its definition, its artifact and its chart.
    pub fn contents(&self) -> impl Iterator<Item = &String> {
        [&self.pack_digest, &self.artifact_digest, &self.chart_digest].into_iter().flatten()
    }
}

fn only_an_uninstall_renders_nothing() -> Rule {
    Rule::new(
        "self.action == 'Uninstall' || (has(self.artifactDigest) && has(self.valuesDigest))",
        "every revision but an Uninstall names its 'artifactDigest' and its 'valuesDigest'",
    )
}

impl ExtensionRevision {
    /// The result of the revision, given the number of the installed revision of its instance.
    pub fn outcome(&self, installed: Option<u32>) -> Outcome {
        match installed.map(|installed| self.spec.number.cmp(&installed)) {
            None | Some(Ordering::Greater) => Outcome::Running,
            Some(Ordering::Equal) => Outcome::Succeeded,
            Some(Ordering::Less) => Outcome::Superseded,
        }
    }

    /// The name of the `ExtensionRevision` object for a revision of an instance.
    pub fn name_of(instance: &str, number: u32) -> String {
        format!("{}{number}", Self::names_of(instance))
    }

    /// The prefix that the names of all revisions of an instance have, and no others.
    pub fn names_of(instance: &str) -> String {
        format!("{instance}.")
    }
}

/// The action of a revision.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Installs the extension for the first time.
    Install,
    /// Installs another version or other values.
    Upgrade,
    /// Installs an earlier revision again.
    Rollback,
    /// Records a revision of the release that another client wrote.
    Adopt,
    /// Uninstalls the extension.
    Uninstall,
}

/// The identity of an object on a cluster.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// The API group and version.
    #[schemars(length(min = 1, max = 253))]
    pub api_version: String,
    /// The kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// The namespace; absent for a cluster-scoped object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
    /// The name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// The result of a revision.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The change is in progress.
    Running,
    /// The change is complete.
    Succeeded,
    /// The change failed.
    Failed,
    /// A later revision replaced it.
    Superseded,
}

/// The observed state of a revision.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionRevisionStatus {
    /// The generation that the hub last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest conditions, one of each type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// The result: `Running`, `Succeeded`, `Failed` or `Superseded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Outcome>,
    /// The time of the first write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// The time at which the change was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Time>,
}
