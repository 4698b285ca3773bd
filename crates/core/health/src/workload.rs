//! Workloads with a number of pods: `Deployment`, `ReplicaSet`, `StatefulSet` and `DaemonSet`.
//!
//! The counts are compared in kstatus' order, so that the message is about the earliest step that is not complete.

use crate::sentence::{because, several, share};
use crate::view::View;
use crate::{Health, reasons};

pub(crate) fn deployment(object: View<'_>) -> Health {
    let progressing = object.condition("Progressing");
    if progressing.is_some_and(|condition| condition.reason == reasons::PROGRESS_DEADLINE_EXCEEDED) {
        return Health::failed(reasons::PROGRESS_DEADLINE_EXCEEDED, with_failure(object, deadline_exceeded(object)));
    }
    let want = desired(object);
    let have = |count: &str| object.count(&format!("/status/{count}"));
    let (exist, updated, available) = (have("replicas"), have("updatedReplicas"), have("availableReplicas"));
    let in_progress =
        |reason, sentence| Health::in_progress(reason, with_failure(object, with_pause(object, sentence)));
    if want > exist {
        return in_progress(reasons::TOO_FEW_REPLICAS, share(exist, want, "replica", "created"));
    }
    if want > updated {
        return in_progress(reasons::TOO_FEW_UPDATED, share(updated, want, "replica", "updated"));
    }
    if exist > want {
        return in_progress(reasons::TOO_MANY_REPLICAS, surplus_sentence(exist - want));
    }
    if updated > available {
        return in_progress(reasons::TOO_FEW_AVAILABLE, share(available, updated, "replica", "available"));
    }
    if want > have("readyReplicas") {
        return in_progress(reasons::TOO_FEW_READY, share(have("readyReplicas"), want, "replica", "ready"));
    }
    let complete =
        progressing.is_some_and(|condition| condition.status == "True" && condition.reason == "NewReplicaSetAvailable");
    // Without a deadline the controller reports no progress.
    if !complete && has_deadline(object) {
        let sentence = format!("{}, and the rollout is not complete", share(want, want, "replica", "ready"));
        return in_progress(reasons::ROLLOUT_NOT_COMPLETE, sentence);
    }
    match object.condition("Available") {
        Some(condition) if condition.status == "True" => Health::Current,
        condition => {
            let sentence =
                format!("{}, and the Deployment is not available yet", share(want, want, "replica", "ready"));
            in_progress(reasons::NOT_AVAILABLE, because(sentence, condition.map_or("", |condition| condition.message)))
        }
    }
}

pub(crate) fn replica_set(object: View<'_>) -> Health {
    if failure(object).is_some() {
        let created = share(object.count("/status/replicas"), desired(object), "replica", "created");
        return Health::in_progress(reasons::REPLICA_FAILURE, with_failure(object, created));
    }
    let want = desired(object);
    let steps = [
        ("fullyLabeledReplicas", reasons::TOO_FEW_LABELLED, "labelled"),
        ("availableReplicas", reasons::TOO_FEW_AVAILABLE, "available"),
        ("readyReplicas", reasons::TOO_FEW_READY, "ready"),
    ];
    let short = first_short(object, want, "replica", &steps);
    short.or_else(|| surplus(object, want)).unwrap_or(Health::Current)
}

pub(crate) fn stateful_set(object: View<'_>) -> Health {
    // With `OnDelete` a user replaces the pods: the controller has nothing left to do.
    if object.text("/spec/updateStrategy/type") == "OnDelete" {
        return Health::Current;
    }
    let want = desired(object);
    let steps =
        [("replicas", reasons::TOO_FEW_REPLICAS, "created"), ("readyReplicas", reasons::TOO_FEW_READY, "ready")];
    if let Some(health) = first_short(object, want, "replica", &steps).or_else(|| surplus(object, want)) {
        return health;
    }
    let updated = object.count("/status/updatedReplicas");
    if let Some(partition) = object.int("/spec/updateStrategy/rollingUpdate/partition") {
        let beyond = want - partition;
        if updated < beyond {
            return Health::in_progress(reasons::TOO_FEW_UPDATED, share(updated, beyond, "replica", "updated"));
        }
        return Health::Current;
    }
    let steps = [("currentReplicas", reasons::TOO_FEW_UPDATED, "of the current revision")];
    if let Some(health) = first_short(object, want, "replica", &steps) {
        return health;
    }
    let (current, newest) = (object.text("/status/currentRevision"), object.text("/status/updateRevision"));
    if current != newest {
        let sentence = format!("revision {newest} is not rolled out yet: the current revision is {current}");
        return Health::in_progress(reasons::ROLLOUT_NOT_COMPLETE, sentence);
    }
    Health::Current
}

pub(crate) fn daemon_set(object: View<'_>) -> Health {
    // The controller always writes the generation it observed. Without it, the counts mean nothing.
    if !object.has("/metadata/generation") || !object.has("/status/observedGeneration") {
        return Health::in_progress(reasons::NOT_OBSERVED, "its controller has not observed it yet");
    }
    let Some(want) = object.int("/status/desiredNumberScheduled") else {
        return Health::in_progress(reasons::NOT_OBSERVED, "its controller has not counted the nodes yet");
    };
    let steps = [
        ("currentNumberScheduled", reasons::TOO_FEW_REPLICAS, "created"),
        ("updatedNumberScheduled", reasons::TOO_FEW_UPDATED, "updated"),
        ("numberAvailable", reasons::TOO_FEW_AVAILABLE, "available"),
        ("numberReady", reasons::TOO_FEW_READY, "ready"),
    ];
    first_short(object, want, "pod", &steps).unwrap_or(Health::Current)
}

/// The number of desired replicas. The API server defaults it to 1.
fn desired(object: View<'_>) -> i64 {
    object.int("/spec/replicas").unwrap_or(1)
}

/// The first of these counts that is less than the desired number.
fn first_short(object: View<'_>, want: i64, thing: &str, steps: &[(&str, &str, &str)]) -> Option<Health> {
    steps.iter().find_map(|(count, reason, state)| {
        let have = object.count(&format!("/status/{count}"));
        (want > have).then(|| Health::in_progress(reason, share(have, want, thing, state)))
    })
}

fn surplus(object: View<'_>, want: i64) -> Option<Health> {
    let extra = object.count("/status/replicas") - want;
    (extra > 0).then(|| Health::in_progress(reasons::TOO_MANY_REPLICAS, surplus_sentence(extra)))
}

fn surplus_sentence(extra: i64) -> String {
    format!("{} still to be removed", several(extra, "replica"))
}

/// The controller treats the largest number as no deadline.
fn has_deadline(object: View<'_>) -> bool {
    object.int("/spec/progressDeadlineSeconds").is_some_and(|seconds| seconds != i64::from(i32::MAX))
}

fn deadline_exceeded(object: View<'_>) -> String {
    let available = share(object.count("/status/availableReplicas"), desired(object), "replica", "available");
    match object.int("/spec/progressDeadlineSeconds") {
        Some(seconds) => format!("no progress for {seconds} seconds, {available}"),
        None => format!("no progress for too long, {available}"),
    }
}

fn with_pause(object: View<'_>, sentence: String) -> String {
    if object.is_true("/spec/paused") { format!("{sentence}, and the rollout is paused") } else { sentence }
}

/// Why pods cannot be created: a quota, an admission webhook, a missing service account.
fn failure(object: View<'_>) -> Option<&str> {
    let found = object.conditions().find(|condition| condition.is("ReplicaFailure", "True"));
    found.map(|condition| condition.message)
}

fn with_failure(object: View<'_>, sentence: String) -> String {
    match failure(object) {
        Some(message) => because(format!("{sentence}, and pods cannot be created"), message),
        None => sentence,
    }
}
