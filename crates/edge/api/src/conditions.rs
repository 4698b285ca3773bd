//! What an object's status says of one aspect of it, and how that changes.
//!
//! `Ready` sums up. `Reconciling` and `Stalled` exist only while they are true: set them with [`set`], end them with
//! [`clear`].

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::{Schema, SchemaGenerator, json_schema};

/// All is as it is wanted. On every kind.
pub const READY: &str = "Ready";
/// The hub is at work on it. On every kind, while true.
pub const RECONCILING: &str = "Reconciling";
/// The hub cannot go on without a person. On every kind, while true.
pub const STALLED: &str = "Stalled";
/// A version was found that fits. On an instance.
pub const RESOLVED: &str = "Resolved";
/// A person has approved what it needs. On an instance.
pub const APPROVED: &str = "Approved";
/// Its objects are on the cluster. On an instance and on a revision.
pub const APPLIED: &str = "Applied";
/// Its objects do what they are for. On an instance and on a revision.
pub const HEALTHY: &str = "Healthy";
/// The hub speaks with it. On a cluster.
pub const CONNECTED: &str = "Connected";
/// Its planned Kubernetes version suits all that is installed. On a cluster.
pub const UPGRADE_READY: &str = "UpgradeReady";
/// Its definitions were read. On a catalog.
pub const SYNCED: &str = "Synced";

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    /// It does.
    True,
    /// It does not.
    False,
    /// Nobody can say yet.
    Unknown,
}

impl ConditionStatus {
    /// The word that Kubernetes has for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// What was found out about one aspect of an object. When it last changed is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionUpdate {
    /// The condition's type, such as [`READY`].
    pub type_: &'static str,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// One of [`crate::reasons`].
    pub reason: &'static str,
    /// A sentence for a person.
    pub message: String,
    /// The generation of the object that was looked at.
    pub generation: Option<i64>,
}

/// Puts a finding in the place of what was said before about the same aspect, and says whether that changed anything.
///
/// The time of the last transition stays what it was unless the truth changed, as `metav1.Condition` asks for: a new reason
/// or sentence is no transition. Where nothing changed, there is nothing to write.
pub fn set(conditions: &mut Vec<Condition>, finding: ConditionUpdate, now: &Time) -> bool {
    let before = conditions.iter_mut().find(|condition| condition.type_ == finding.type_);
    let since = match &before {
        Some(before) if before.status == finding.status.as_str() => before.last_transition_time.clone(),
        _ => now.clone(),
    };
    let condition = Condition {
        last_transition_time: since,
        message: finding.message,
        observed_generation: finding.generation,
        reason: finding.reason.to_owned(),
        status: finding.status.as_str().to_owned(),
        type_: finding.type_.to_owned(),
    };
    match before {
        Some(before) if *before == condition => false,
        Some(before) => {
            *before = condition;
            true
        }
        None => {
            conditions.push(condition);
            true
        }
    }
}

/// Takes away what was said about an aspect, and says whether there was anything.
pub fn clear(conditions: &mut Vec<Condition>, type_: &str) -> bool {
    let before = conditions.len();
    conditions.retain(|condition| condition.type_ != type_);
    conditions.len() != before
}

/// What is said about an aspect.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Whether it is said that an aspect holds. Silence is no.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| condition.status == ConditionStatus::True.as_str())
}

/// The shape of `status.conditions`: one of each type.
pub(crate) fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
            "properties": {
                "lastTransitionTime": {
                    "description": "Since when the status is what it is.",
                    "type": "string", "format": "date-time"
                },
                "message": { "description": "A sentence for a person.", "type": "string", "maxLength": 32768 },
                "observedGeneration": {
                    "description": "The generation of the object that was looked at.",
                    "type": "integer", "format": "int64", "minimum": 0
                },
                "reason": {
                    "description": "Why, in one word for programs.",
                    "type": "string", "minLength": 1, "maxLength": 1024, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
                },
                "status": {
                    "description": "Whether it holds.", "type": "string", "enum": ["True", "False", "Unknown"]
                },
                "type": { "description": "The type of the condition.", "type": "string", "maxLength": 316 },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reasons;

    fn at(second: i64) -> Time {
        Time(k8s_openapi::jiff::Timestamp::from_second(second).unwrap())
    }

    fn ready(status: ConditionStatus, message: &str) -> ConditionUpdate {
        let reason = reasons::ready::INSTALLED;
        ConditionUpdate { type_: READY, status, reason, message: message.to_owned(), generation: Some(1) }
    }

    #[test]
    fn a_change_of_truth_is_a_transition() {
        let mut conditions = vec![];
        assert!(set(&mut conditions, ready(ConditionStatus::False, "no"), &at(1)));
        assert!(set(&mut conditions, ready(ConditionStatus::True, "yes"), &at(2)));
        assert_eq!(conditions.len(), 1);
        assert_eq!(conditions[0].last_transition_time, at(2));
    }

    #[test]
    fn a_new_sentence_is_a_change_but_no_transition() {
        let mut conditions = vec![];
        set(&mut conditions, ready(ConditionStatus::False, "2 of 3 are ready"), &at(1));
        assert!(set(&mut conditions, ready(ConditionStatus::False, "1 of 3 is ready"), &at(2)));
        assert_eq!((conditions[0].message.as_str(), &conditions[0].last_transition_time), ("1 of 3 is ready", &at(1)));
    }

    #[test]
    fn a_new_generation_is_a_change_but_no_transition() {
        let mut conditions = vec![];
        set(&mut conditions, ready(ConditionStatus::True, "yes"), &at(1));
        assert!(set(
            &mut conditions,
            ConditionUpdate { generation: Some(2), ..ready(ConditionStatus::True, "yes") },
            &at(2)
        ));
        assert_eq!((conditions[0].observed_generation, &conditions[0].last_transition_time), (Some(2), &at(1)));
    }

    #[test]
    fn the_same_said_again_is_no_change() {
        let mut conditions = vec![];
        set(&mut conditions, ready(ConditionStatus::True, "yes"), &at(1));
        assert!(!set(&mut conditions, ready(ConditionStatus::True, "yes"), &at(2)));
        assert_eq!(conditions[0].last_transition_time, at(1));
    }

    #[test]
    fn others_stay_where_they_are() {
        let mut conditions = vec![];
        let healthy = ConditionUpdate { type_: HEALTHY, ..ready(ConditionStatus::True, "yes") };
        set(&mut conditions, ready(ConditionStatus::True, "yes"), &at(1));
        set(&mut conditions, healthy, &at(1));
        set(&mut conditions, ready(ConditionStatus::False, "no"), &at(2));
        let said: Vec<_> = conditions.iter().map(|condition| condition.type_.as_str()).collect();
        assert_eq!(said, [READY, HEALTHY]);
        assert!(!is_true(&conditions, READY) && is_true(&conditions, HEALTHY));
    }

    #[test]
    fn what_is_cleared_is_gone() {
        let mut conditions = vec![];
        set(
            &mut conditions,
            ConditionUpdate { type_: RECONCILING, ..ready(ConditionStatus::True, "working") },
            &at(1),
        );
        assert!(clear(&mut conditions, RECONCILING));
        assert!(!clear(&mut conditions, RECONCILING));
        assert!(find(&conditions, RECONCILING).is_none() && !is_true(&conditions, RECONCILING));
    }
}
