//! The inputs of [`crate::next`]: desired, recorded and observed state.

use std::collections::BTreeMap;

use fitout_helm_release::HookEvent;
use fitout_model::{Digest, ObjectId};
use fitout_plan::Artifact;

/// The desired state of an instance.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings of an instance")]
pub struct Wanted {
    /// Whether the instance is to be installed; otherwise it is removed.
    pub present: bool,
    /// Watch and report, but write nothing.
    pub suspended: bool,
    /// The artifact to install. `None` where it could not be determined: then nothing changes. During an uninstall, the
    /// installed artifact, for its delete hooks.
    pub artifact: Option<Artifact>,
    /// Whether a failed hook runs again.
    pub retry: bool,
    /// The user's choice after an out-of-band change of the release.
    pub takeover: Option<Takeover>,
    /// The number of the newest requested test run.
    pub test: Option<u32>,
    /// How many revisions are kept besides the deployed one.
    pub history: usize,
    /// Whether a new revision must be healthy before it counts as installed.
    pub health_deadline: HealthDeadline,
    /// Whether an uninstall keeps the release's namespace even if the hub created it.
    pub keep_namespace: bool,
}

/// The reaction to a failed install or upgrade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Retry with backoff, without end.
    #[default]
    Retry,
    /// Restore the last deployed revision.
    Rollback,
    /// Do nothing until the desired state changes.
    Stop,
}

/// Whether a new revision must be healthy before it counts as installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HealthDeadline {
    /// It counts once all its objects are applied.
    #[default]
    None,
    /// It must be healthy, and the deadline is in the future.
    Pending,
    /// It must be healthy, and the deadline has passed.
    Exceeded,
}

/// The user's choice after an out-of-band change of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takeover {
    /// The revision that the choice applies to. `None`: the newest, before the instance has a revision of its own.
    pub revision: Option<u32>,
    /// Whether to keep the out-of-band revision until the desired state changes; otherwise the desired artifact is
    /// installed over it.
    pub keep: bool,
}

/// The state that the hub has recorded.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Whether the instance has the hub's finalizer.
    pub has_finalizer: bool,
    /// All kept revisions, oldest first.
    pub revisions: Vec<Revision>,
    /// The newest test run.
    pub tested: Option<Tested>,
    /// Whether an uninstall has deleted the release's namespace, or has found that it stays.
    pub namespace_handled: bool,
}

impl Recorded {
    /// Marks a revision as deployed and all older ones as superseded.
    pub fn finish(&mut self, number: u32) {
        for revision in self.revisions.iter_mut().filter(|revision| revision.number <= number) {
            let last = revision.number == number;
            revision.outcome = Some(if last { Outcome::Deployed } else { Outcome::Superseded });
        }
    }

    /// The deployed revision.
    pub fn deployed(&self) -> Option<&Revision> {
        self.revisions.iter().rev().find(|revision| revision.outcome == Some(Outcome::Deployed))
    }

    /// The newest revision, if it has no outcome yet.
    pub fn in_progress(&self) -> Option<&Revision> {
        self.revisions.last().filter(|last| last.outcome.is_none())
    }

    /// Whether the release record of the revision in progress says that it failed.
    pub fn has_failed(&self, records: &BTreeMap<u32, RecordStatus>) -> bool {
        self.in_progress().is_some_and(|last| records.get(&last.number) == Some(&RecordStatus::Failed))
    }

    /// Whether a test of the deployed revision is running.
    pub fn is_testing(&self) -> bool {
        let deployed = self.revisions.last().is_some_and(|last| last.outcome.is_some());
        deployed && self.tested.is_some_and(|tested| !tested.over)
    }

    /// The number of the next revision. A revision that was never begun is replaced, not followed.
    pub fn next_number(&self, records: &BTreeMap<u32, RecordStatus>) -> u32 {
        let begun = |last: &Revision| last.outcome.is_some() || records.contains_key(&last.number);
        self.revisions.last().map_or(1, |last| last.number + u32::from(begun(last)))
    }
}

/// A test run of the installed release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tested {
    /// The requested number of the run.
    pub run: u32,
    /// Whether the run has ended.
    pub over: bool,
}

/// A revision of an instance, recorded on the hub before its first write to the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The revision number, from 1.
    pub number: u32,
    /// The kind of change.
    pub action: Action,
    /// The version of the extension.
    pub version: String,
    /// The digest of the definition and its files.
    pub definition: Digest,
    /// The content that has the definition and its files, if known.
    pub pack: Option<Digest>,
    /// The digest of the inputs that the artifact was rendered from, if known.
    pub inputs: Option<Digest>,
    /// The digest of the artifact.
    pub artifact: Digest,
    /// Every object that it may have applied.
    pub inventory: Vec<ObjectId>,
    /// Every hook object that it may have created.
    pub hooks: Vec<ObjectId>,
    /// The result; `None` while the revision is in progress.
    pub outcome: Option<Outcome>,
}

/// The kind of change that a revision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The first revision, or a reinstall.
    Install,
    /// Another artifact over an earlier one.
    Upgrade,
    /// The artifact of an earlier revision.
    Rollback,
    /// Records a release that another client wrote; applies nothing.
    Adopt,
}

/// The result of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All its objects are applied.
    Deployed,
    /// A newer revision replaced it, before or after it was deployed.
    Superseded,
}

/// The status of a release record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "Helm's words")]
pub enum RecordStatus {
    PendingInstall,
    PendingUpgrade,
    PendingRollback,
    Deployed,
    Superseded,
    Uninstalling,
    Failed,
}

/// The state of the target cluster.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The status of each release record, by revision.
    pub records: BTreeMap<u32, RecordStatus>,
    /// The newest record, if another client wrote it.
    pub foreign: Option<u32>,
    /// The hook runs of the newest revision, by index in its artifact.
    pub runs: BTreeMap<usize, HookRun>,
    /// The objects that exist, of those named by any revision or the desired artifact.
    pub objects: BTreeMap<ObjectId, ObjectState>,
}

/// The last run of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    /// The event that it ran for.
    pub event: HookEvent,
    /// The phase of the run.
    pub phase: HookPhase,
}

/// The phase of a hook run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookPhase {
    /// The hook object is about to be created, or exists.
    Running,
    /// The hook succeeded.
    Succeeded,
    /// The hook failed.
    Failed,
}

/// The state of an object on the target cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectState {
    /// Whether it exists as applied, and who owns it.
    pub state: Presence,
    /// Its health.
    pub progress: Progress,
    /// Whether `helm.sh/resource-policy: keep` protects it from deletion.
    pub keep: bool,
    /// Whether it is deleted and created again, because an immutable field changes and the user allows it.
    pub recreate: bool,
}

impl ObjectState {
    /// The state of an object that was just written.
    pub fn fresh(state: Presence) -> Self {
        Self { state, progress: Progress::Underway, keep: false, recreate: false }
    }
}

/// The health of an object, as far as [`crate::next`] needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Healthy.
    Healthy,
    /// Not healthy yet.
    Underway,
    /// Failed; it does not become healthy by itself.
    Failed,
}

/// The ownership and content of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Unchanged since it was applied with this digest.
    Applied(Digest),
    /// Owned by the release, but changed by another client, or not compared yet.
    Changed,
    /// Being deleted.
    Terminating,
    /// Owned by another release, or by none.
    Foreign(Option<String>),
}
