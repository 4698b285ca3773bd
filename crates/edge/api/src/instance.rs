//! `ExtensionInstance`: one extension on one cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use fitout_model::free_form;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules::{self, Rule};
use crate::{Action, FreeForm, Outcome, conditions};

/// The desired state of an instance.
#[derive(CustomResource, JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "fitout.dev",
    version = "v1alpha1",
    kind = "ExtensionInstance",
    doc = "An ExtensionInstance installs one extension on one cluster. Deleting it uninstalls the extension.",
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
    /// The cluster to install on, in the same namespace. Immutable.
    #[schemars(
        length(max = 253),
        transform = rules::label("a cluster", 63),
        transform = rules::fixed("the cluster of an instance cannot be changed: make another instance for the other cluster"),
    )]
    pub cluster: String,
    /// The extension to install. Immutable.
    #[schemars(
        transform = rules::fixed("the extension of an instance cannot be changed: make another instance for the other extension"),
    )]
    pub extension: ExtensionReference,
    /// The name of the Helm release. Defaults to the extension's name. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), transform = rules::label("a release", 53))]
    pub release_name: Option<String>,
    /// The namespace of the release on the cluster. Immutable.
    #[schemars(
        length(max = 253),
        transform = rules::label("a namespace", 63),
        transform = rules::fixed("the namespace of an instance cannot be changed: make another instance, and delete this one"),
    )]
    pub namespace: String,
    /// The range of accepted versions. Defaults to any that fits the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), transform = rules::range())]
    pub version: Option<String>,
    /// Values with the highest precedence. Maps are merged, lists are replaced, null deletes a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_form::object")]
    pub values: Option<FreeForm>,
    /// Secrets with values. A later entry overrides an earlier one, and `values` overrides all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub values_from: Vec<ValuesSource>,
    /// When the hub upgrades the instance to another version.
    #[serde(default)]
    pub upgrade: Upgrade,
    /// Whether reconciliation is suspended. The hub then still reports status, and writes nothing to the cluster.
    #[serde(default)]
    pub suspend: bool,
    /// Which out-of-band changes on the cluster the hub keeps instead of reverting.
    #[serde(default, skip_serializing_if = "Drift::is_default")]
    pub drift: Drift,
    /// The revision to roll back to. The hub records the rollback as a new revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rollback_to: Option<u32>,
    /// The reaction to a failed change: `Retry` with backoff, `Rollback` to the previous revision, or `Stop`.
    #[serde(default, skip_serializing_if = "FailurePolicy::is_default")]
    pub on_failure: FailurePolicy,
    /// The seconds in which a new revision must become healthy before it counts as failed. Defaults to 300. It has no
    /// effect if `onFailure` is `Retry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86400))]
    pub healthy_within_seconds: Option<u32>,
    /// Objects, each as KIND/NAME, that the hub may delete and recreate when an immutable field changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 3, max = 320)))]
    pub recreate: Vec<String>,
    /// Names of CRDs that may change even if stored data is lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)))]
    pub allow_data_loss: Vec<String>,
    /// The user's decision about a release that another client has changed or installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takeover: Option<Takeover>,
    /// Labels of the release's records, as set by `helm install --labels`. Defaults to the labels that the release has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(
        extend("maxProperties" = 32, "additionalProperties" = { "type": "string", "maxLength": 63, "pattern": LABEL_VALUE }),
        transform = rules::release_labels(),
    )]
    pub release_labels: BTreeMap<String, String>,
    /// Whether to skip the hooks on uninstall, for example because they can no longer succeed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_delete_hooks: bool,
    /// Whether an uninstall keeps the namespace on the cluster, even if the hub created it and nothing else is in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_namespace: bool,
    /// Runs the tests of the installed revision once each time this number changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub test_run: Option<u32>,
}

/// The pattern of a label's value.
const LABEL_VALUE: &str = "^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$";

/// The reaction to a failed change.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailurePolicy {
    /// Retries indefinitely with exponential backoff, which any change of the instance resets.
    #[default]
    Retry,
    /// Rolls back to the previous revision, which stays until the desired state changes.
    Rollback,
    /// Does nothing until the desired state changes.
    Stop,
}

impl FailurePolicy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The user's decision about a release that another client has changed or installed.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Takeover {
    /// The decision: `Adopt` keeps the release as it is, `Reassert` installs the desired state over it.
    pub choice: Choice,
    /// The revision that the decision applies to; a later revision needs a new decision. Absent if the release existed
    /// before the instance had a revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revision: Option<u32>,
}

/// The decision about a release that another client has changed.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// Keeps the release as it is until the desired state changes.
    Adopt,
    /// Installs the desired state over it.
    Reassert,
}

/// Compares the effective release name, so that the default can be written out and removed again.
fn release_name_is_fixed() -> Rule {
    let name = |of: &str| format!("(has({of}.releaseName) ? {of}.releaseName : {of}.extension.name)");
    let sentence = "the release name of an instance cannot be changed: make another instance, and delete this one";
    Rule::new(format!("{} == {}", name("self"), name("oldSelf")), sentence).at(".releaseName")
}

impl ExtensionInstance {
    /// Creates an instance that already has the finalizer, which saves the hub a write.
    pub fn with_finalizer(namespace: &str, name: &str, spec: ExtensionInstanceSpec) -> Self {
        let mut instance = Self::new(name, spec);
        instance.metadata.namespace = Some(namespace.to_owned());
        instance.metadata.finalizers = Some(vec![crate::FINALIZER.to_owned()]);
        instance
    }
}

impl ExtensionInstanceSpec {
    /// The time in which a new revision must become healthy; none where it is unlimited.
    pub fn healthy_within(&self) -> Option<Duration> {
        /// Helm's default timeout.
        const DEFAULT: u32 = 300;
        let seconds = self.healthy_within_seconds.unwrap_or(DEFAULT);
        (self.on_failure != FailurePolicy::Retry).then(|| Duration::from_secs(seconds.into()))
    }

    /// The effective name of the Helm release.
    pub fn release_name(&self) -> &str {
        self.release_name.as_deref().unwrap_or(&self.extension.name)
    }
}

/// A reference to an extension of a catalog.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionReference {
    /// The extension's name. It is also the default of `releaseName`.
    #[schemars(length(max = 253), transform = rules::label("an extension", 63))]
    pub name: String,
    /// The catalog's name.
    #[schemars(length(max = 253), transform = rules::label("a catalog", 63))]
    pub catalog: String,
    /// The owner of the catalog: `Shared` for one in fitout-system, `Organization` for one in org-NAME.
    #[serde(default)]
    pub scope: Scope,
}

/// The owner of a catalog.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// All organizations share the catalog, in `fitout-system`.
    #[default]
    Shared,
    /// The catalog belongs to the organization, in `org-NAME`.
    Organization,
}

/// A source of values.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ValuesSource {
    /// A key of a Secret of type `fitout.dev/values`, in the same namespace.
    pub secret_key_ref: SecretKeyReference,
}

/// A key of a Secret.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretKeyReference {
    /// The Secret's name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The key that holds the values, as YAML.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
}

/// Which out-of-band changes the hub keeps.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// Fields that the hub no longer applies once another field manager owns them. It reverts changes of all other
    /// fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub ignore: Vec<IgnoredFields>,
}

impl Drift {
    fn is_default(&self) -> bool {
        self.ignore.is_empty()
    }
}

/// Fields of objects of an instance.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IgnoredFields {
    /// The kind of the objects, such as `Deployment`.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// The name of the object. Defaults to all objects of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// The fields, as JSON pointers such as `/spec/template/spec/containers/*/image`. `*` matches every field or item.
    #[schemars(length(min = 1, max = 32), inner(length(max = 512)), transform = rules::pointers())]
    pub pointers: Vec<String>,
}

/// When the hub upgrades an instance to another version.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upgrade {
    /// The trigger of an upgrade. `Follow`: the installed version no longer fits Kubernetes or a dependency, or was
    /// withdrawn. `Latest`: also each new version that fits. `Manual`: only a user.
    #[serde(default)]
    pub policy: Policy,
    /// The maintenance window, such as `Sat 02:00-05:00 Europe/Amsterdam`. Defaults to any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128), transform = rules::window())]
    pub window: Option<String>,
}

/// The trigger of an upgrade.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    /// The installed version no longer fits Kubernetes or a dependency, or was withdrawn.
    #[default]
    Follow,
    /// The triggers of `Follow`, and each new version that fits.
    Latest,
    /// Only a user: the hub reports the upgrade and waits.
    Manual,
}

/// The observed state of an instance.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionInstanceStatus {
    /// The generation that the hub last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The latest conditions, one of each type: `Resolved`, `Approved`, `Applied`, `Healthy`, `Ready`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "conditions::schema")]
    pub conditions: Vec<Condition>,
    /// The installed version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The revision that another client wrote and that waits for a decision in `spec.takeover`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_revision: Option<u32>,
    /// The desired version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_version: Option<String>,
    /// Why that version is desired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The number of the installed revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// The step in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
    /// The number of objects on the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectCount>,
    /// The first unhealthy object, and why it is unhealthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_unhealthy: Option<Unhealthy>,
    /// The result of the last test run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// The most recent revisions, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<RevisionSummary>,
}

/// One test run of the installed revision.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// The number of the run, from `spec.testRun`.
    pub run: u32,
    /// The revision that was tested.
    pub revision: u32,
    /// The result of the run.
    pub result: TestResult,
    /// The result in a sentence.
    pub message: String,
    /// The time at which the run started.
    pub at: Time,
}

/// The result of a test run.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TestResult {
    /// The tests are running.
    Running,
    /// All tests succeeded.
    Passed,
    /// A test failed; the tests after it were not run.
    Failed,
}

/// A step of a plan.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The number of the step, from 1.
    pub index: u32,
    /// The number of steps.
    pub of: u32,
    /// The name of the step.
    pub name: String,
    /// The object in progress, as KIND/NAMESPACE/NAME.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

/// The number of objects.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectCount {
    /// The number of all objects.
    pub total: u32,
    /// The number of ready objects.
    pub ready: u32,
}

/// An unhealthy object.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unhealthy {
    /// The object, as KIND/NAMESPACE/NAME.
    pub object: String,
    /// Why it is unhealthy, from the object that is the cause.
    pub message: String,
}

/// The summary of a revision.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionSummary {
    /// The number of the revision.
    pub number: u32,
    /// The version that the revision installs or removes.
    pub version: String,
    /// The action of the revision.
    pub action: Action,
    /// The result of the revision.
    pub result: Outcome,
    /// The time at which the revision started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
}
