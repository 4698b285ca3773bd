//! Jobs. One that has started is current: whether it ends well is known later, and shows as failed if it does not.

use crate::sentence::{because, share};
use crate::view::View;
use crate::{Health, reasons};

pub(crate) fn job(object: View<'_>) -> Health {
    for condition in object.conditions() {
        if condition.is("Complete", "True") {
            return Health::Current;
        }
        if condition.is("Failed", "True") {
            return Health::failed(condition.reason_or(reasons::JOB_FAILED), failure(object, condition.message));
        }
    }
    if !object.text("/status/startTime").is_empty() {
        return Health::Current;
    }
    if object.is_true("/spec/suspend") {
        return Health::in_progress(reasons::SUSPENDED, "it is suspended: set spec.suspend to false to start it");
    }
    Health::in_progress(reasons::NOT_STARTED, "it has not started yet")
}

/// How a Job failed, if it did.
pub(crate) fn failed(object: View<'_>) -> Option<String> {
    let condition = object.conditions().find(|condition| condition.is("Failed", "True"))?;
    (object.text("/kind") == "Job").then(|| failure(object, condition.message))
}

fn failure(object: View<'_>, message: &str) -> String {
    because(on_request(object), message)
}

/// How far a failed Job came.
fn on_request(object: View<'_>) -> String {
    // Without a number of completions, one worker that succeeds is enough for all.
    let wanted = object.int("/spec/completions").or(object.int("/spec/parallelism")).unwrap_or(1);
    let done = share(object.count("/status/succeeded"), wanted, "completion", "reached");
    match object.count("/status/failed") {
        0 => format!("{done}, and it has failed"),
        1 => format!("{done}, and 1 pod failed"),
        failed => format!("{done}, and {failed} pods failed"),
    }
}
