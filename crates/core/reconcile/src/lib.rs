//! The state machine of one instance: from what is wanted, recorded and observed to the effects that come next.
//!
//! [`next`] is asked again after every effect and every observation. It remembers nothing: a crash after any effect
//! changes nothing but the time it takes, because what it needs to know is on record before it is needed.
//!
//! The order of an install or upgrade: the instance is held, the revision with its inventory is written to the hub, the
//! release record to the target, then what runs before, then come the objects in phases, then those that are no longer part
//! of it go, then what runs after, then the record says `deployed`, then the revision its result. An uninstall goes the
//! other way.

mod hooks;
mod install;
mod next;
mod plan;
pub mod record;
mod simulate;
mod state;
mod summary;
mod uninstall;

pub use next::{Effect, Next, next};
pub use plan::{LiveObject, PlanInput, detect_applied, plan};
pub use simulate::{End, Simulation, note, simulate};
pub use state::{
    Action, HealthDeadline, HookPhase, HookRun, ObjectState, Observed, Outcome, Presence, Progress, RecordStatus,
    Recorded, Revision, Takeover, Tested, Wanted,
};
pub use summary::{Step, Summary, SummaryInput, current_step, health_timeout_message, hook_failure_message, summarize};
