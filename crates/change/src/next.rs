//! Which effect comes next.

use fitout_model::ObjectId;
use fitout_release::HookEvent;

use crate::{Action, Observed, RecordStatus, Recorded, Run, Wanted, install, uninstall};

/// One write. Each can be done again without harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Holds the instance until the target is clean.
    Hold,
    /// Lets the instance go.
    Release,
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
    WriteRun {
        /// The revision whose record it is.
        number: u32,
        /// The hook's place in the artifact.
        hook: usize,
        /// How it goes.
        run: Run,
    },
    /// Makes the object of a hook of the wanted artifact.
    Run(usize),
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
    Taken(u32),
    /// Nothing until a person decides: another hand has changed the release. This is its newest revision; none where it was
    /// removed.
    Foreign(Option<u32>),
    /// Nothing until somebody wants it tried again: this hook has failed.
    Failed {
        /// Its object.
        object: ObjectId,
        /// What it ran for.
        event: HookEvent,
    },
    /// Nothing until something else is wanted, or this object becomes healthy after all: it had its time.
    Unsettled(ObjectId),
    /// Nothing: it is as it is wanted.
    Done,
}

/// Decides what is to be done now for an instance.
pub fn next(wanted: &Wanted, recorded: &Recorded, observed: &Observed) -> Next {
    if !wanted.present {
        return uninstall::next(wanted, recorded, observed);
    }
    if !recorded.held {
        return Next::Do(vec![Effect::Hold]);
    }
    match &wanted.artifact {
        Some(artifact) if !wanted.suspended => install::next(wanted, artifact, recorded, observed),
        _ => Next::Done,
    }
}
