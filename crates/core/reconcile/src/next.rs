//! Which effect comes next.

use fitout_helm_release::HookEvent;
use fitout_model::ObjectId;

use crate::{Action, HookRun, Observed, RecordStatus, Recorded, Wanted, install, uninstall};

/// One write. Each can be done again without harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Holds the instance until the target is clean.
    AddFinalizer,
    /// Lets the instance go.
    RemoveFinalizer,
    /// Records a new revision of the wanted artifact on the hub.
    WriteRevision {
        /// Its number.
        number: u32,
        /// Why it is made.
        action: Action,
    },
    /// Records on the hub a revision that another hand made, as the target has it.
    Adopt {
        /// Its number.
        number: u32,
        /// Whether it is what is wanted.
        keep: bool,
    },
    /// Says on the hub that this revision is what is installed; what came before it is superseded.
    FinishRevision(u32),
    /// Removes a revision from the hub.
    RemoveRevision(u32),
    /// Writes a release record on the target, or changes its status.
    WriteRecord {
        /// The revision it is of.
        number: u32,
        /// What it is to say.
        status: RecordStatus,
    },
    /// Removes a release record from the target.
    RemoveRecord(u32),
    /// Says in the newest release record how a hook of the wanted artifact goes.
    WriteHookRun {
        /// The revision whose record it is.
        number: u32,
        /// The hook's place in the artifact.
        hook: usize,
        /// How it goes.
        run: HookRun,
    },
    /// Makes the object of a hook of the wanted artifact.
    CreateHook(usize),
    /// Says in the newest release record that no test has run, then on the hub that they are begun.
    BeginTests {
        /// The revision that is tested.
        number: u32,
        /// Which of the times it is that a person wanted it tested.
        run: u32,
    },
    /// Says on the hub how the tests went.
    EndTests {
        /// The one that failed.
        failed: Option<ObjectId>,
    },
    /// Applies an object of the wanted artifact.
    Apply(ObjectId),
    /// Deletes an object that is ours.
    Delete(ObjectId),
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// These effects, side by side; then ask again.
    Do(Vec<Effect>),
    /// Nothing until the target changes: these objects are waited for.
    Await(Vec<ObjectId>),
    /// Nothing until a person decides: this object is not ours.
    Blocked {
        /// The object.
        object: ObjectId,
        /// Whose it is; none where it is no release's.
        owner: Option<String>,
    },
    /// Nothing until a person decides: there is a release of this name, and it is not ours. This is its newest revision.
    ReleaseExists(u32),
    /// Nothing until a person decides: another hand has changed the release. This is its newest revision; none where it was
    /// removed.
    ForeignRevision(Option<u32>),
    /// Nothing until somebody wants it tried again: this hook has failed.
    HookFailed {
        /// Its object.
        object: ObjectId,
        /// What it ran for.
        event: HookEvent,
    },
    /// Nothing until something else is wanted, or this object becomes healthy after all: it had its time.
    HealthTimeout(ObjectId),
    /// Nothing: it is as it is wanted.
    Done,
}

/// Decides what is to be done now for an instance.
pub fn next(wanted: &Wanted, recorded: &Recorded, observed: &Observed) -> Next {
    if !wanted.present {
        return uninstall::next(wanted, recorded, observed);
    }
    if !recorded.has_finalizer {
        return Next::Do(vec![Effect::AddFinalizer]);
    }
    match &wanted.artifact {
        Some(artifact) if !wanted.suspended => install::next(wanted, artifact, recorded, observed),
        _ => Next::Done,
    }
}
