//! The state machine of one instance: from its desired, recorded and observed state to the next effects.
//!
//! [`next`] is asked again after every effect and every observation. It is stateless: a crash after any effect costs time and
//! nothing else, because everything it needs is recorded before it is needed.
//!
//! An install or upgrade adds the finalizer, writes the revision with its inventory to the hub and the release record to the
//! target cluster, runs the `pre-` hooks, applies the objects phase by phase, deletes objects that are no longer part of the
//! release, runs the `post-` hooks, and marks the record and then the revision as deployed. An uninstall runs in reverse order.

mod conditions;
mod crd_safety;
mod failure;
mod hooks;
mod install;
pub mod namespace;
mod next;
mod plan;
pub mod record;
mod release_conflict;
mod schedule;
mod simulate;
mod state;
mod summary;
mod uninstall;

pub use conditions::{ConditionState, conditions};
pub use crd_safety::{crds_to_check, refuse_crd_change};
pub use failure::{Restore, give_up, restore};
pub use next::{Effect, Next, next};
pub use plan::{LiveObject, PlanInput, detect_applied, plan};
pub use release_conflict::{Claim, release_owner};
pub use schedule::{Notification, Pause, PauseInput, pause, report_delay, wakes};
pub use simulate::{End, Simulation, note, simulate};
pub use state::{
    Action, FailurePolicy, HealthDeadline, HookPhase, HookRun, ObjectState, Observed, Outcome, Presence, Progress,
    RecordStatus, Recorded, Revision, Takeover, Tested, Wanted,
};
pub use summary::{Step, Summary, SummaryInput, current_step, health_timeout_message, hook_failure_message, summarize};
