//! Whether a Kubernetes object has become what it was asked to be, and what it waits for.
//!
//! The rules are those of kstatus, which Flux and Helm go by. On top of them come the cause, in a sentence that a
//! person understands, and three things kstatus has no rule for: an `APIService` is current once it is available, a
//! `Namespace` ends as its phase says, and a pod phase that is not known is in progress instead of an error.
//!
//! ```
//! use fitout_health::{Health, health};
//!
//! let object = serde_json::json!({
//!     "apiVersion": "apps/v1", "kind": "Deployment",
//!     "spec": { "replicas": 3 },
//!     "status": { "replicas": 3, "updatedReplicas": 3, "availableReplicas": 2 },
//! });
//! let Health::InProgress(cause) = health(&object) else { panic!() };
//! assert_eq!(cause.message, "2 of 3 replicas are available");
//! ```
//!
//! Where an object alone does not tell, [`cause`] finds the reason in its pods, their events and their last words.
//!
//! It is pure: an object comes in as JSON, and the time as a value.

mod cause;
mod generic;
mod job;
mod kinds;
mod pod;
pub mod reasons;
mod registration;
mod run;
mod sentence;
mod view;
mod workload;

use std::fmt;

use serde_json::Value;
use time::OffsetDateTime;

use crate::view::View;

pub use crate::cause::{LogOf, cause, log_wanted, suspects};
pub use crate::kinds::shown_by_metadata;
pub use crate::run::run;

/// How an object is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It is what it was asked to be.
    Current,
    /// It is on its way, and nothing says that it will not arrive.
    InProgress(Cause),
    /// It will not arrive by itself.
    Failed(Cause),
    /// It is being deleted.
    Terminating(Cause),
}

/// Why an object is not current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// One word for machines: one of [`reasons`], or what the object itself says.
    pub reason: String,
    /// What to tell a person, to be put after the object's name and a colon.
    pub message: String,
}

/// How this object is doing, as far as it can be told without knowing the time.
///
/// It never fails: what is missing counts as not yet there, and a field of the wrong type as missing. A pod that cannot
/// be scheduled is in progress, however long that has lasted: see [`health_at`].
pub fn health(object: &Value) -> Health {
    judge(View::new(object), None)
}

/// How this object is doing at this time: as [`health`], and a pod that no node takes has failed 15 seconds after it
/// was made.
pub fn health_at(object: &Value, now: OffsetDateTime) -> Health {
    judge(View::new(object), Some(now))
}

fn judge(object: View<'_>, now: Option<OffsetDateTime>) -> Health {
    // What an object says of itself in the common words comes before what is known about its kind.
    if let Some(health) = generic::common(object) {
        return health;
    }
    kinds::by_kind(object, now).unwrap_or_else(|| generic::ready(object))
}

impl Health {
    pub(crate) fn in_progress(reason: &str, message: impl Into<String>) -> Self {
        Self::InProgress(Cause { reason: reason.to_owned(), message: message.into() })
    }

    pub(crate) fn failed(reason: &str, message: impl Into<String>) -> Self {
        Self::Failed(Cause { reason: reason.to_owned(), message: message.into() })
    }

    pub(crate) fn terminating(message: impl Into<String>) -> Self {
        Self::Terminating(Cause { reason: reasons::TERMINATING.to_owned(), message: message.into() })
    }

    /// Whether it is what it was asked to be.
    pub fn is_current(&self) -> bool {
        *self == Self::Current
    }

    /// Why it is not current.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Self::Current => None,
            Self::InProgress(cause) | Self::Failed(cause) | Self::Terminating(cause) => Some(cause),
        }
    }

    /// The word that kstatus has for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Current => "Current",
            Self::InProgress(_) => "InProgress",
            Self::Failed(_) => "Failed",
            Self::Terminating(_) => "Terminating",
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause() {
            None => f.write_str(self.as_str()),
            Some(cause) => write!(f, "{}: {}", self.as_str(), cause.message),
        }
    }
}
