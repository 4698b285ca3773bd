//! Jobs. As in kstatus, a Job is current once it has started, and failed if it fails later.

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

/// The message of a failed Job; none where it has not failed.
pub(crate) fn failed(object: View<'_>) -> Option<String> {
    let condition = object.conditions().find(|condition| condition.is("Failed", "True"))?;
    (object.text("/kind") == "Job").then(|| failure(object, condition.message))
}

fn failure(object: View<'_>, message: &str) -> String {
    because(completions(object), message)
}

/// The completions and failures of a failed Job.
fn completions(object: View<'_>) -> String {
    // Without `completions`, one pod that succeeds completes the Job.
    let desired = object.int("/spec/completions").or(object.int("/spec/parallelism")).unwrap_or(1);
    let done = share(object.count("/status/succeeded"), desired, "completion", "reached");
    match object.count("/status/failed") {
        0 => format!("{done}, and it has failed"),
        1 => format!("{done}, and 1 pod failed"),
        failed => format!("{done}, and {failed} pods failed"),
    }
}
