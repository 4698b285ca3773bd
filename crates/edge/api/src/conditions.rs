//! Conditions in the status of an object, as in `metav1.Condition`.
//!
//! `Ready` is the summary. `Reconciling` and `Stalled` exist only while they are true: [`set`] adds them, [`clear`]
//! removes them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::{Schema, SchemaGenerator, json_schema};

pub use fitout_model::conditions::*;

/// A new value for one condition, without the time of its last transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionUpdate {
    /// The condition's type, such as [`READY`].
    pub type_: &'static str,
    /// Whether the condition holds.
    pub status: ConditionStatus,
    /// One of [`crate::reasons`].
    pub reason: &'static str,
    /// A sentence for users.
    pub message: String,
    /// The generation of the object that the update is based on.
    pub generation: Option<i64>,
}

/// Adds or replaces the condition of the same type, and returns whether anything changed.
///
/// As `metav1.Condition` requires, `lastTransitionTime` changes only with `status`: a new reason or message is no
/// transition.
pub fn set(conditions: &mut Vec<Condition>, update: ConditionUpdate, now: &Time) -> bool {
    let before = conditions.iter_mut().find(|condition| condition.type_ == update.type_);
    let since = match &before {
        Some(before) if before.status == update.status.as_str() => before.last_transition_time.clone(),
        _ => now.clone(),
    };
    let condition = Condition {
        last_transition_time: since,
        message: update.message,
        observed_generation: update.generation,
        reason: update.reason.to_owned(),
        status: update.status.as_str().to_owned(),
        type_: update.type_.to_owned(),
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

/// Removes the condition of a type, and returns whether it existed.
pub fn clear(conditions: &mut Vec<Condition>, type_: &str) -> bool {
    let before = conditions.len();
    conditions.retain(|condition| condition.type_ != type_);
    conditions.len() != before
}

/// The condition of a type.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Whether the condition of a type is `True`; false if it does not exist.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| condition.status == ConditionStatus::True.as_str())
}

/// The schema of `status.conditions`: a list with one condition of each type.
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
                    "description": "The time at which the status last changed.",
                    "type": "string", "format": "date-time"
                },
                "message": { "description": "A sentence for users.", "type": "string", "maxLength": 32768 },
                "observedGeneration": {
                    "description": "The generation of the object that the condition is based on.",
                    "type": "integer", "format": "int64", "minimum": 0
                },
                "reason": {
                    "description": "The reason for the status, in one word for programs.",
                    "type": "string", "minLength": 1, "maxLength": 1024, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
                },
                "status": {
                    "description": "Whether the condition holds.", "type": "string", "enum": ["True", "False", "Unknown"]
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
    fn changed_status_is_a_transition() {
        let mut conditions = vec![];
        assert!(set(&mut conditions, ready(ConditionStatus::False, "no"), &at(1)));
        assert!(set(&mut conditions, ready(ConditionStatus::True, "yes"), &at(2)));
        assert_eq!(conditions.len(), 1);
        assert_eq!(conditions[0].last_transition_time, at(2));
    }

    #[test]
    fn changed_message_is_no_transition() {
        let mut conditions = vec![];
        set(&mut conditions, ready(ConditionStatus::False, "2 of 3 are ready"), &at(1));
        assert!(set(&mut conditions, ready(ConditionStatus::False, "1 of 3 is ready"), &at(2)));
        assert_eq!((conditions[0].message.as_str(), &conditions[0].last_transition_time), ("1 of 3 is ready", &at(1)));
    }

    #[test]
    fn changed_generation_is_no_transition() {
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
    fn repeated_update_changes_nothing() {
        let mut conditions = vec![];
        set(&mut conditions, ready(ConditionStatus::True, "yes"), &at(1));
        assert!(!set(&mut conditions, ready(ConditionStatus::True, "yes"), &at(2)));
        assert_eq!(conditions[0].last_transition_time, at(1));
    }

    #[test]
    fn conditions_of_other_types_stay_in_place() {
        let mut conditions = vec![];
        let healthy = ConditionUpdate { type_: HEALTHY, ..ready(ConditionStatus::True, "yes") };
        set(&mut conditions, ready(ConditionStatus::True, "yes"), &at(1));
        set(&mut conditions, healthy, &at(1));
        set(&mut conditions, ready(ConditionStatus::False, "no"), &at(2));
        let types: Vec<_> = conditions.iter().map(|condition| condition.type_.as_str()).collect();
        assert_eq!(types, [READY, HEALTHY]);
        assert!(!is_true(&conditions, READY) && is_true(&conditions, HEALTHY));
    }

    #[test]
    fn cleared_condition_is_removed() {
        let mut conditions = vec![];
        set(&mut conditions, ConditionUpdate { type_: RECONCILING, ..ready(ConditionStatus::True, "working") }, &at(1));
        assert!(clear(&mut conditions, RECONCILING));
        assert!(!clear(&mut conditions, RECONCILING));
        assert!(find(&conditions, RECONCILING).is_none() && !is_true(&conditions, RECONCILING));
    }
}
