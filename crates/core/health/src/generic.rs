//! Rules for any kind: deletion, the observed generation, and the conditions `Reconciling`, `Stalled` and `Ready`.

use crate::sentence::because;
use crate::view::View;
use crate::{Health, kinds, reasons};

/// The health that follows from metadata and common conditions, whatever the kind; none where they do not decide.
pub(crate) fn common(object: View<'_>) -> Option<Health> {
    if !object.text("/metadata/deletionTimestamp").is_empty() {
        return Some(deleted(object));
    }
    unobserved(object).or_else(|| reconciling_or_stalled(object))
}

/// The health of an object whose kind has no rules: current unless its `Ready` condition is not `True`.
///
/// An object without status is current by this rule, as in kstatus.
pub(crate) fn ready(object: View<'_>) -> Health {
    let known = |status: &str| ["True", "False", "Unknown"].contains(&status);
    let found = object.conditions().find(|condition| condition.kind == "Ready" && known(condition.status));
    let Some(condition) = found else {
        return Health::Current;
    };
    let sentence = match condition.status {
        "True" => return Health::Current,
        "False" => "it is not ready",
        _ => "its readiness is unknown",
    };
    Health::in_progress(condition.reason_or(reasons::NOT_READY), because(sentence, condition.message))
}

/// Being deleted, with the finalizers or the content that delay it.
pub(crate) fn deleted(object: View<'_>) -> Health {
    if let Some(sentence) = kinds::remains(object) {
        return Health::terminating(sentence);
    }
    let finalizers = object.texts("/metadata/finalizers");
    let sentence = match finalizers[..] {
        [] => "it is being deleted".to_owned(),
        [one] => format!("it is being deleted and waits for the finalizer {one}"),
        _ => format!("it is being deleted and waits for {} finalizers: {}", finalizers.len(), finalizers.join(", ")),
    };
    Health::terminating(sentence)
}

fn unobserved(object: View<'_>) -> Option<Health> {
    let (generation, observed) = (object.int("/metadata/generation")?, object.int("/status/observedGeneration")?);
    (generation != observed).then(|| {
        let sentence =
            format!("it is at generation {generation}, and its controller has observed generation {observed}");
        Health::in_progress(reasons::NOT_OBSERVED, sentence)
    })
}

fn reconciling_or_stalled(object: View<'_>) -> Option<Health> {
    object.conditions().find_map(|condition| {
        if condition.is("Reconciling", "True") {
            let sentence = because("its controller is reconciling it", condition.message);
            return Some(Health::in_progress(condition.reason_or(reasons::RECONCILING), sentence));
        }
        if condition.is("Stalled", "True") {
            let sentence = because("its controller has stalled", condition.message);
            return Some(Health::failed(condition.reason_or(reasons::STALLED), sentence));
        }
        None
    })
}
