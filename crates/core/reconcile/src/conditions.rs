//! The conditions of an instance, from its summary.

use fitout_model::conditions::{APPLIED, ConditionStatus, HEALTHY, READY, RECONCILING, RESOLVED, STALLED};
use fitout_model::reasons;

use crate::Summary;

/// A condition of an instance, without the time of its last transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionState {
    /// One of [`fitout_model::conditions`].
    pub type_: &'static str,
    /// Whether the condition holds.
    pub status: ConditionStatus,
    /// One of [`fitout_model::reasons`].
    pub reason: &'static str,
    /// A sentence for users.
    pub message: String,
}

/// The conditions of an instance with this summary. A condition of these types that is not returned is removed, except for
/// `Resolved`, which keeps its last value during an uninstall.
///
/// `version` is the desired version and `why` the reason why it was chosen.
pub fn conditions(summary: &Summary, version: &str, why: &str) -> Vec<ConditionState> {
    let (ready, reason, message) = ready(summary, version);
    let state =
        |type_, status, reason, message: &str| ConditionState { type_, status, reason, message: message.to_owned() };
    let mut all: Vec<ConditionState> = Vec::new();
    all.extend(resolved(summary, why));
    all.extend([applied(summary), healthy(summary), state(READY, ready, reason, &message)]);
    match summary {
        Summary::ForeignRevision(_) => {
            all.push(state(STALLED, ConditionStatus::True, reasons::stalled::NEEDS_DECISION, &message));
        }
        Summary::Invalid(_) | Summary::Blocked(_) | Summary::Unresolved(_) => {
            all.push(state(STALLED, ConditionStatus::True, reasons::stalled::INVALID_SPEC, &message));
        }
        Summary::Applying | Summary::Progressing(_) | Summary::Failed(_) | Summary::Removing(_) => {
            all.push(state(RECONCILING, ConditionStatus::True, reasons::reconciling::CHANGED, &message));
        }
        Summary::Suspended | Summary::NoReadyNode | Summary::Installed => {}
    }
    all
}

fn resolved(summary: &Summary, why: &str) -> Option<ConditionState> {
    let (status, reason, message) = match summary {
        Summary::Removing(_) => return None,
        Summary::Unresolved(message) => (ConditionStatus::False, reasons::resolved::NOTHING_FITS, message.as_str()),
        _ => (ConditionStatus::True, reasons::resolved::RESOLVED, why),
    };
    Some(ConditionState { type_: RESOLVED, status, reason, message: message.to_owned() })
}

fn applied(summary: &Summary) -> ConditionState {
    let (status, reason, message) = match summary {
        Summary::Installed | Summary::Progressing(_) => {
            (ConditionStatus::True, reasons::applied::APPLIED, "all objects are applied")
        }
        Summary::ForeignRevision(message) => {
            (ConditionStatus::False, reasons::applied::FOREIGN_REVISION, message.as_str())
        }
        Summary::Failed(message) | Summary::Blocked(message) | Summary::Invalid(message) => {
            (ConditionStatus::False, reasons::applied::REFUSED, message.as_str())
        }
        Summary::Unresolved(_) | Summary::Suspended | Summary::NoReadyNode => {
            (ConditionStatus::Unknown, reasons::applied::APPLYING, "no object is being written")
        }
        Summary::Applying => (ConditionStatus::False, reasons::applied::APPLYING, "objects are being applied"),
        Summary::Removing(_) => (ConditionStatus::False, reasons::applied::APPLYING, "objects are being removed"),
    };
    ConditionState { type_: APPLIED, status, reason, message: message.to_owned() }
}

fn healthy(summary: &Summary) -> ConditionState {
    let (status, reason, message) = match summary {
        Summary::Installed => (ConditionStatus::True, reasons::healthy::HEALTHY, "all objects are healthy"),
        Summary::Progressing(message) => (ConditionStatus::False, reasons::healthy::STARTING, message.as_str()),
        _ => (ConditionStatus::Unknown, reasons::healthy::STARTING, "not all objects are applied yet"),
    };
    ConditionState { type_: HEALTHY, status, reason, message: message.to_owned() }
}

fn ready(summary: &Summary, version: &str) -> (ConditionStatus, &'static str, String) {
    let (reason, message) = match summary {
        Summary::Installed => {
            return (ConditionStatus::True, reasons::ready::INSTALLED, format!("{version} is installed"));
        }
        Summary::Progressing(message) => (reasons::ready::PROGRESSING, message.clone()),
        Summary::Applying => (reasons::ready::PROGRESSING, format!("{version} is being installed")),
        Summary::Suspended => (reasons::ready::SUSPENDED, "the instance is suspended: nothing is written".to_owned()),
        Summary::NoReadyNode => {
            let message = "the cluster has no Ready node; the install starts when it has one";
            (reasons::ready::WAITING, message.to_owned())
        }
        Summary::Removing(notice) => {
            let notice = notice.as_ref().map(|notice| format!("; {notice}")).unwrap_or_default();
            (reasons::ready::REMOVING, format!("the instance is being removed{notice}"))
        }
        Summary::Failed(message)
        | Summary::ForeignRevision(message)
        | Summary::Blocked(message)
        | Summary::Invalid(message)
        | Summary::Unresolved(message) => (reasons::ready::FAILED, message.clone()),
    };
    (ConditionStatus::False, reason, message)
}
