//! What every object may say of itself: that it is being deleted, that it was not looked at, that somebody is at work.

use crate::sentence::because;
use crate::view::View;
use crate::{Health, kinds, reasons};

/// The answer that holds for any kind, if the object gives one.
pub(crate) fn common(object: View<'_>) -> Option<Health> {
    if !object.text("/metadata/deletionTimestamp").is_empty() {
        return Some(deleted(object));
    }
    unobserved(object).or_else(|| at_work(object))
}

/// The answer for an object whose kind has no rules: it is current unless it says that it is not ready.
///
/// An object on which nobody has reported yet is current by this rule, as kstatus has it.
pub(crate) fn ready(object: View<'_>) -> Health {
    let known = |status: &str| ["True", "False", "Unknown"].contains(&status);
    let found = object.conditions().find(|condition| condition.kind == "Ready" && known(condition.status));
    let Some(condition) = found else {
        return Health::Current;
    };
    let sentence = match condition.status {
        "True" => return Health::Current,
        "False" => "it is not ready",
        _ => "it is not known to be ready",
    };
    Health::in_progress(condition.reason_or(reasons::NOT_READY), because(sentence, condition.message))
}

/// Being deleted, with those who hold it back.
pub(crate) fn deleted(object: View<'_>) -> Health {
    if let Some(sentence) = kinds::remains(object) {
        return Health::terminating(sentence);
    }
    let held_by = object.texts("/metadata/finalizers");
    let sentence = match held_by[..] {
        [] => "it is being deleted".to_owned(),
        [one] => format!("it is being deleted and waits for the finalizer {one}"),
        _ => format!("it is being deleted and waits for {} finalizers: {}", held_by.len(), held_by.join(", ")),
    };
    Health::terminating(sentence)
}

fn unobserved(object: View<'_>) -> Option<Health> {
    let (wanted, seen) = (object.int("/metadata/generation")?, object.int("/status/observedGeneration")?);
    (wanted != seen).then(|| {
        let sentence = format!("it is at generation {wanted}, and its controller has seen generation {seen}");
        Health::in_progress(reasons::NOT_OBSERVED, sentence)
    })
}

fn at_work(object: View<'_>) -> Option<Health> {
    object.conditions().find_map(|condition| {
        if condition.is("Reconciling", "True") {
            let sentence = because("its controller is at work", condition.message);
            return Some(Health::in_progress(condition.reason_or(reasons::RECONCILING), sentence));
        }
        if condition.is("Stalled", "True") {
            let sentence = because("its controller has given up", condition.message);
            return Some(Health::failed(condition.reason_or(reasons::STALLED), sentence));
        }
        None
    })
}
