//! What the next effect is decided from.

use std::collections::BTreeMap;

use fitout_helm_release::HookEvent;
use fitout_model::{Digest, ObjectId};
use fitout_plan::Artifact;

/// What a person wants of an instance.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Installed, or gone.
    pub present: bool,
    /// Watch and report, write nothing.
    pub suspended: bool,
    /// What is to be installed; none where it could not be worked out, and then everything stays as it is. Where nothing is
    /// wanted any more: what is installed, for what has to run when it goes.
    pub artifact: Option<Artifact>,
    /// What has failed is tried again.
    pub retry: bool,
    /// What a person has chosen where another hand changed the release.
    pub takeover: Option<Takeover>,
    /// The last time that what is installed was to be tested.
    pub test: Option<u32>,
    /// How many revisions are kept beside the one that is deployed.
    pub history: usize,
    /// Whether a new revision has to be healthy before it counts as installed.
    pub health_deadline: HealthDeadline,
}

/// Whether a new revision has to be healthy before it counts as installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HealthDeadline {
    /// It counts once all of it is applied, however long it then takes.
    #[default]
    None,
    /// It has to be, and there is still time.
    Pending,
    /// It has to be, and the time for it is over.
    Exceeded,
}

/// What is done about a release that another hand changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takeover {
    /// The revision that it is about; none: whichever there is before there is one of ours.
    pub revision: Option<u32>,
    /// Whether what the other hand made stays, until something else is wanted; otherwise what is wanted is installed over
    /// it.
    pub keep: bool,
}

/// What the hub has on record.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Whether the instance is held until the target is clean.
    pub has_finalizer: bool,
    /// Every revision that is kept, oldest first.
    pub revisions: Vec<Revision>,
    /// The last time that what is installed was tested.
    pub tested: Option<Tested>,
}

impl Recorded {
    /// Notes that a revision is what is installed: what came before it is superseded.
    pub fn finish(&mut self, number: u32) {
        for revision in self.revisions.iter_mut().filter(|revision| revision.number <= number) {
            let last = revision.number == number;
            revision.outcome = Some(if last { Outcome::Deployed } else { Outcome::Superseded });
        }
    }
}

/// One time that what is installed was tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tested {
    /// Which one, as it was wanted.
    pub run: u32,
    /// Whether it has come to its end.
    pub over: bool,
}

/// One revision of an instance, as the hub recorded it before the first write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// From 1.
    pub number: u32,
    /// Why it was made.
    pub action: Action,
    /// What it installs.
    pub artifact: Digest,
    /// All it may have written to the target.
    pub inventory: Vec<ObjectId>,
    /// What it may have run there.
    pub hooks: Vec<ObjectId>,
    /// What came of it; none while it is under way.
    pub outcome: Option<Outcome>,
}

/// Why a revision was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The first.
    Install,
    /// Something new over something older.
    Upgrade,
    /// Something older again.
    Rollback,
    /// Nothing but to know what another hand made.
    Adopt,
}

/// What came of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All its objects were applied.
    Deployed,
    /// Another one took its place, before or after it was deployed.
    Superseded,
}

/// The status in a release record, in Helm's words.
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

/// What is on the target.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The release records by revision.
    pub records: BTreeMap<u32, RecordStatus>,
    /// The newest of them, where it is somebody else's.
    pub foreign: Option<u32>,
    /// How the hooks of the newest revision went, by their place in its artifact.
    pub runs: BTreeMap<usize, HookRun>,
    /// The objects that exist, of those that any revision names.
    pub objects: BTreeMap<ObjectId, ObjectState>,
}

/// The last run of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    /// What it ran for.
    pub event: HookEvent,
    /// How far it has come.
    pub phase: HookPhase,
}

/// How far a hook has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookPhase {
    /// It is about to be made, or was.
    Running,
    /// It did what it was to do.
    Succeeded,
    /// It did not.
    Failed,
}

/// An object on the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectState {
    /// Whether it is ours, and as what.
    pub state: Presence,
    /// How far it has come.
    pub progress: Progress,
    /// Whether it stays when its release goes.
    pub keep: bool,
    /// Whether it has to be made recreate, because a field has to change that cannot, and may be.
    pub recreate: bool,
}

impl ObjectState {
    /// An object that was just written.
    pub fn fresh(state: Presence) -> Self {
        Self { state, progress: Progress::Underway, keep: false, recreate: false }
    }
}

/// How far an object has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is as healthy as it gets.
    Healthy,
    /// It is on its way.
    Underway,
    /// It never will be healthy by itself.
    Failed,
}

/// Whose an object is, and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It holds what was applied with this digest, and nobody has changed that since.
    Applied(Digest),
    /// It is ours, but it is not known to hold what was applied: somebody changed it, or we have only just started.
    Changed,
    /// It is on its way out.
    Terminating,
    /// It belongs to somebody else, or to no release at all.
    Foreign(Option<String>),
}
