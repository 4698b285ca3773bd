//! The decision which effects come next.

use fitout_helm_release::HookEvent;
use fitout_model::ObjectId;

use crate::{Action, HookRun, Observed, RecordStatus, Recorded, Wanted, install, uninstall};

/// One write. Every effect is idempotent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Adds the hub's finalizer to the instance.
    AddFinalizer,
    /// Removes the hub's finalizer from the instance.
    RemoveFinalizer,
    /// Records a new revision of the desired artifact on the hub.
    WriteRevision {
        /// The number of the revision.
        number: u32,
        /// The kind of change.
        action: Action,
    },
    /// Records on the hub a release that another client wrote, as the target cluster has it.
    Adopt {
        /// The number of the revision.
        number: u32,
        /// Whether it becomes the desired state.
        keep: bool,
    },
    /// Marks a revision as deployed on the hub, and all older ones as superseded.
    FinishRevision(u32),
    /// Removes a revision from the hub.
    RemoveRevision(u32),
    /// Creates a release record on the target cluster, or updates its status.
    WriteRecord {
        /// The revision of the record.
        number: u32,
        /// The new status.
        status: RecordStatus,
    },
    /// Removes a release record from the target cluster.
    RemoveRecord(u32),
    /// Records a hook run in the newest release record.
    WriteHookRun {
        /// The revision of the record.
        number: u32,
        /// The index of the hook in the desired artifact.
        hook: usize,
        /// The run.
        run: HookRun,
    },
    /// Creates the object of a hook, by its index in the desired artifact.
    CreateHook(usize),
    /// Clears the test runs in the newest release record, then reports on the hub that the tests run.
    BeginTests {
        /// The revision under test.
        number: u32,
        /// The requested number of the run.
        run: u32,
    },
    /// Reports the result of the tests on the hub.
    EndTests {
        /// The test that failed.
        failed: Option<ObjectId>,
    },
    /// Applies an object of the desired artifact.
    Apply(ObjectId),
    /// Deletes an object that the release owns.
    Delete(ObjectId),
    /// Deletes the release's namespace, if the hub created it and nothing else is in it.
    DeleteUnusedNamespace,
}

/// The decision of [`next`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Carry out these effects concurrently, then ask again.
    Do(Vec<Effect>),
    /// Wait until these objects are healthy, or deleted.
    Await(Vec<ObjectId>),
    /// Wait for the user: an object to apply is not owned by the release.
    Blocked {
        /// The object.
        object: ObjectId,
        /// The owner; `None` where no release owns it.
        owner: Option<String>,
    },
    /// Wait for the user: the release exists already and does not belong to the instance. Its newest revision.
    ReleaseExists(u32),
    /// Wait for the user: another client changed the release. Its newest revision; `None` where it was removed.
    ForeignRevision(Option<u32>),
    /// Wait for a retry: a hook failed.
    HookFailed {
        /// The object of the hook.
        object: ObjectId,
        /// The event that it ran for.
        event: HookEvent,
    },
    /// Wait for another desired state: this object did not become healthy in time.
    HealthTimeout(ObjectId),
    /// Nothing to do.
    Done,
}

/// Decides what to do next for an instance.
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
