//! The health of a Kubernetes object: whether it matches its specification, and if not, why.
//!
//! The rules are those of kstatus, which Flux and Helm use. This crate adds the cause in a sentence, and three rules that
//! kstatus does not have: an `APIService` is current once it is available, a `Namespace` is terminating when its phase says
//! so, and an unknown pod phase is in progress instead of an error.
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
//! If the object alone does not show the cause, [`cause`] finds it in its pods, their events and the ends of their logs.
//!
//! The crate is pure: an object is JSON, and the time is a parameter.

mod cause;
mod generic;
mod image;
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

/// The health of an object, with the states of kstatus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It matches its specification.
    Current,
    /// It is being reconciled, and nothing shows that this will fail.
    InProgress(Cause),
    /// It will not become current without a change.
    Failed(Cause),
    /// It is being deleted.
    Terminating(Cause),
}

/// Why an object is not current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// A reason for programs: one of [`reasons`], or the reason that the object gives.
    pub reason: String,
    /// A message for users, to follow the object's name and a colon.
    pub message: String,
}

/// The health of an object, without regard to the time.
///
/// It never fails: a field of the wrong type counts as missing. A pod that cannot be scheduled is in progress, however long
/// that has lasted; see [`health_at`].
pub fn health(object: &Value) -> Health {
    evaluate(View::new(object), None)
}

/// The health of an object at a time: as [`health`], but an unschedulable pod has failed 15 seconds after its creation.
pub fn health_at(object: &Value, now: OffsetDateTime) -> Health {
    evaluate(View::new(object), Some(now))
}

fn evaluate(object: View<'_>, now: Option<OffsetDateTime>) -> Health {
    // Metadata and common conditions take precedence over the rules of the kind.
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

    /// Whether it matches its specification.
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

    /// The name of the state in kstatus.
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
