//! The state machine of one instance: from what is wanted, recorded and observed to the effects that come next.
//!
//! [`next`] is asked again after every effect and every observation. It remembers nothing: a crash after any effect
//! changes nothing but the time it takes, because what it needs to know is on record before it is needed.
//!
//! The order of an install or upgrade: the instance is held, the revision with its inventory is written to the hub, the
//! release record to the target, then what runs before, then come the objects in phases, then those that are no longer part
//! of it go, then what runs after, then the record says `deployed`, then the revision its result. An uninstall goes the
//! other way.

mod foresee;
mod hooks;
mod install;
mod next;
mod observed;
mod planning;
pub mod record;
mod standing;
mod uninstall;

pub use foresee::{End, Foreseen, foresee, note};
pub use next::{Effect, Next, next};
pub use observed::{
    Action, Observed, Outcome, Progress, RecordStatus, Recorded, Revision, Run, RunPhase, Seen, Settling, State,
    Takeover, Tested, Wanted,
};
pub use planning::{Found, Question, plan, recognise};
pub use standing::{Situation, Standing, Step, failed_hook, running, standing, unsettled};
