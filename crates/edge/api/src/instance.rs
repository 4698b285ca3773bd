//! `ExtensionInstance`: one extension, wanted on one cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use fitout_model::free_form;
use fitout_plan::Ignore;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules::{self, Rule};
use crate::{Action, FreeForm, Outcome, conditions};

/// What is wanted.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "ExtensionInstance",
    doc = "One extension, wanted on one cluster. Deleting it uninstalls the extension.",
    namespaced,
    status = "ExtensionInstanceStatus",
    derive = "PartialEq",
    shortname = "inst",
    shortname = "exti",
    category = "fitout",
    selectable = ".spec.cluster",
    selectable = ".spec.extension.name",
    validation = rules::object_name("an instance", 63),
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"),
    printcolumn(name = "Extension", type_ = "string", json_path = ".spec.extension.name"),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Status", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].message"#),
    printcolumn(name = "Wanted", type_ = "string", json_path = ".status.wantedVersion", priority = 1),
    printcolumn(name = "Why", type_ = "string", json_path = ".status.why", priority = 1),
    printcolumn(name = "Revision", type_ = "integer", json_path = ".status.revision", priority = 1),
    printcolumn(name = "Policy", type_ = "string", json_path = ".spec.upgrade.policy", priority = 1),
    printcolumn(name = "Suspended", type_ = "boolean", json_path = ".spec.suspend", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = release_name_is_fixed())]
pub struct ExtensionInstanceSpec {
    /// The cluster it is wanted on, in the same namespace. It cannot be changed.
    #[schemars(
        length(max = 253),
        transform = rules::label("a cluster", 63),
        transform = rules::fixed("the cluster of an instance cannot be changed: make another instance for the other cluster"),
    )]
    pub cluster: String,
    /// The extension that is wanted. It cannot be changed.
    #[schemars(
        transform = rules::fixed("the extension of an instance cannot be changed: make another instance for the other extension"),
    )]
    pub extension: ExtensionReference,
    /// The name of the Helm release; absent: the extension's name. It cannot be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), transform = rules::label("a release", 53))]
    pub release_name: Option<String>,
    /// The namespace on the cluster. It cannot be changed.
    #[schemars(
        length(max = 253),
        transform = rules::label("a namespace", 63),
        transform = rules::fixed("the namespace of an instance cannot be changed: make another instance, and delete this one"),
    )]
    pub namespace: String,
    /// The range of versions that will do; absent: whatever fits the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub version: Option<String>,
    /// Values that come after all others. Maps merge, lists replace, null deletes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::object")]
    pub values: Option<FreeForm>,
    /// Values from secrets, in their order; those in `values` come after them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub values_from: Vec<ValuesSource>,
    /// When it moves to another version.
    #[serde(default)]
    pub upgrade: Upgrade,
    /// Whether it is only watched and reported on, and nothing is written.
    #[serde(default)]
    pub suspend: bool,
    /// What is put back where somebody changes it, and what is not.
    #[serde(default, skip_serializing_if = "Drift::is_default")]
    pub drift: Drift,
    /// The revision to go back to. The hub makes a new revision of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rollback_to: Option<u32>,
    /// What is done where a change fails.
    #[serde(default, skip_serializing_if = "FailurePolicy::is_default")]
    pub on_failure: FailurePolicy,
    /// How long a new revision may take to become healthy before it has failed; absent: five minutes. Where a failure is tried
    /// again for ever, it may take as long as it likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86400))]
    pub healthy_within_seconds: Option<u32>,
    /// Objects that may be deleted and made anew where a field changes that cannot, each as KIND/NAME.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 3, max = 320)))]
    pub recreate: Vec<String>,
    /// Definitions of custom resources, by name, that may change although what is stored would be lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)))]
    pub allow_data_loss: Vec<String>,
    /// What is done where another hand has changed the release, or made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takeover: Option<Takeover>,
    /// Labels on the records of the release, as `helm install --labels` sets them; absent: those that it has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(
        extend("maxProperties" = 32, "additionalProperties" = { "type": "string", "maxLength": 63, "pattern": LABEL_VALUE }),
        transform = rules::release_labels(),
    )]
    pub release_labels: BTreeMap<String, String>,
    /// Whether hooks are left out when it is removed: for one that cannot succeed any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_delete_hooks: bool,
    /// Another number than before has what is installed tested, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub test_run: Option<u32>,
}

/// What a label may say.
const LABEL_VALUE: &str = "^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$";

/// What is done where a change fails.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailurePolicy {
    /// It is tried again, ever more slowly, for ever; any change begins anew.
    #[default]
    Retry,
    /// What was installed before comes back, and stays until something else is wanted.
    Rollback,
    /// Nothing, until something else is wanted.
    Stop,
}

impl FailurePolicy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a person has chosen where another hand has changed a release.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Takeover {
    /// What is done.
    pub choice: Choice,
    /// The revision that it is about: a later one needs another choice. Absent: the one that is there before the instance has
    /// any of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revision: Option<u32>,
}

/// What is done about a release that another hand has changed.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// It stays as it is, until something else is wanted.
    Adopt,
    /// What is wanted is installed over it.
    Reassert,
}

/// What counts is the name that is used: the default may be written out later, and taken away again.
fn release_name_is_fixed() -> Rule {
    let name = |of: &str| format!("(has({of}.releaseName) ? {of}.releaseName : {of}.extension.name)");
    let sentence = "the release name of an instance cannot be changed: make another instance, and delete this one";
    Rule::new(format!("{} == {}", name("self"), name("oldSelf")), sentence).at(".releaseName")
}

impl ExtensionInstance {
    /// An instance that is held from the start, so that the hub need not write to it before it begins.
    pub fn held(namespace: &str, name: &str, spec: ExtensionInstanceSpec) -> Self {
        let mut instance = Self::new(name, spec);
        instance.metadata.namespace = Some(namespace.to_owned());
        instance.metadata.finalizers = Some(vec![crate::FINALIZER.to_owned()]);
        instance
    }
}

impl ExtensionInstanceSpec {
    /// How long a new revision may take to become healthy; none where it may take as long as it likes.
    pub fn healthy_within(&self) -> Option<Duration> {
        /// As long as Helm waits.
        const DEFAULT: u32 = 300;
        let seconds = self.healthy_within_seconds.unwrap_or(DEFAULT);
        (self.on_failure != FailurePolicy::Retry).then(|| Duration::from_secs(seconds.into()))
    }

    /// The name of the Helm release, be it said or not.
    pub fn release_name(&self) -> &str {
        self.release_name.as_deref().unwrap_or(&self.extension.name)
    }
}

/// Which extension, and of which catalog.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionReference {
    /// The extension's name. The release has this name too, unless it is given another.
    #[schemars(length(max = 253), transform = rules::label("an extension", 63))]
    pub name: String,
    /// The catalog's name.
    #[schemars(length(max = 253), transform = rules::label("a catalog", 63))]
    pub catalog: String,
    /// Whose catalog it is.
    #[serde(default)]
    pub scope: Scope,
}

/// Whose a catalog is.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// Everybody's, in `fitout-system`.
    #[default]
    Shared,
    /// The organization's own, in `org-NAME`.
    Organization,
}

/// Where values are.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValuesSource {
    /// A key of a secret of type `fitout.dev/values`, in the same namespace.
    pub secret_key_ref: SecretKeyReference,
}

/// A key of a secret.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretKeyReference {
    /// The secret's name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The key under which the values are.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
}

/// What is done about fields that others change.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// Fields that others may take: once somebody else sets one, it is theirs. Everything else is put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub ignore: Vec<IgnoredFields>,
}

impl Drift {
    fn is_default(&self) -> bool {
        self.ignore.is_empty()
    }
}

/// Fields of some objects of an instance.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IgnoredFields {
    /// The kind of the objects, such as `Deployment`.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// The name of the object; absent: all of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// The fields, as JSON pointers, such as `/spec/template/spec/containers/*/image`: `*` stands for each field or item.
    #[schemars(length(min = 1, max = 32), inner(length(max = 512)), transform = rules::pointers())]
    pub pointers: Vec<String>,
}

impl From<&IgnoredFields> for Ignore {
    fn from(fields: &IgnoredFields) -> Self {
        let IgnoredFields { kind, name, pointers } = fields.clone();
        Self { kind, name, pointers }
    }
}

/// When an instance moves to another version.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upgrade {
    /// What makes it move.
    #[serde(default)]
    pub policy: Policy,
    /// When it may move, such as `Sat 02:00-05:00 Europe/Amsterdam`; absent: at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::window())]
    pub window: Option<String>,
}

/// What makes an instance move to another version.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    /// Kubernetes, a dependency or a withdrawal, when it cannot stay where it is.
    #[default]
    Follow,
    /// These, and each new version that fits.
    Latest,
    /// A person: the hub shows what it would do, and waits.
    Manual,
}

/// What the hub says about an instance.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionInstanceStatus {
    /// The generation that the hub has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// What holds and what does not, each with a sentence: `Resolved`, `Approved`, `Applied`, `Healthy`, `Ready`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// The version that is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The revision that another hand made and that waits for a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_revision: Option<u32>,
    /// The version that is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_version: Option<String>,
    /// Why that version is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The number of the revision that is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// The step that is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
    /// How many objects it has on the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectCount>,
    /// The first object that is not healthy, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_unhealthy: Option<Unhealthy>,
    /// How what is installed did in its tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// The last revisions, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<RevisionSummary>,
}

/// One time that what is installed was tested.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// Which one, as `testRun` had it.
    pub run: u32,
    /// The revision that was tested.
    pub revision: u32,
    /// How it went.
    pub result: TestResult,
    /// The same in a sentence.
    pub message: String,
    /// When it was begun.
    pub at: Time,
}

/// How tests went.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TestResult {
    /// They are not over.
    Running,
    /// All did what they were to do.
    Passed,
    /// One did not, and none was run after it.
    Failed,
}

/// A step of a plan.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Which one it is, from 1.
    pub index: u32,
    /// How many there are.
    pub of: u32,
    /// What it does.
    pub name: String,
    /// The object it is at, as KIND/NAMESPACE/NAME.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

/// How many objects there are.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectCount {
    /// All of them.
    pub total: u32,
    /// Those that are ready.
    pub ready: u32,
}

/// An object that is not healthy.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unhealthy {
    /// The object, as KIND/NAMESPACE/NAME.
    pub object: String,
    /// What is wrong with it, from the place where it went wrong.
    pub message: String,
}

/// A revision in a line.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionSummary {
    /// Its number.
    pub number: u32,
    /// The version that it installed or removed.
    pub version: String,
    /// What was done.
    pub action: Action,
    /// What came of it.
    pub result: Outcome,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
}
