//! Pods: the rules of kstatus, and which container is the cause.

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::sentence::{because, share};
use crate::view::View;
use crate::{Cause, Health, image, reasons};

/// How long a pod may be without a node before that counts as failed.
const SCHEDULING: Duration = Duration::seconds(15);

/// A terminated pod is current, even if it failed: it will not change any more, and its owner decides whether that is an
/// error.
pub(crate) fn pod(object: View<'_>, now: Option<OffsetDateTime>) -> Health {
    match object.text("/status/phase") {
        "Succeeded" | "Failed" => Health::Current,
        "Running" => running(object),
        "Pending" => pending(object, now),
        "" => Health::in_progress(reasons::POD_NOT_OBSERVED, "the kubelet has not reported on it yet"),
        phase => Health::in_progress(reasons::POD_NOT_OBSERVED, format!("its phase is {phase}")),
    }
}

fn running(object: View<'_>) -> Health {
    if object.conditions().any(|condition| condition.is("Ready", "True")) {
        return Health::Current;
    }
    let crashing =
        object.items("/status/containerStatuses").find(|container| waiting(*container) == reasons::CRASH_LOOP);
    if let Some(container) = crashing {
        return Health::failed(reasons::CRASH_LOOP, crash("container", container));
    }
    Health::InProgress(blocked_container(object).unwrap_or_else(|| unready(object)))
}

fn pending(object: View<'_>, now: Option<OffsetDateTime>) -> Health {
    let unscheduled = object.conditions().find(|condition| condition.is("PodScheduled", "False"));
    if let Some(condition) = unscheduled {
        if condition.reason != reasons::UNSCHEDULABLE {
            let sentence = because("it is not scheduled", condition.message);
            return Health::in_progress(condition.reason_or(reasons::NOT_SCHEDULED), sentence);
        }
        let sentence = because("it cannot be scheduled", condition.message);
        if now.is_some_and(|now| now - SCHEDULING >= created(object)) {
            return Health::failed(reasons::UNSCHEDULABLE, sentence);
        }
        return Health::in_progress(reasons::UNSCHEDULABLE, sentence);
    }
    Health::InProgress(blocked_container(object).unwrap_or_else(|| starting(object)))
}

/// When the pod was created; long ago where it does not say.
fn created(object: View<'_>) -> OffsetDateTime {
    OffsetDateTime::parse(object.text("/metadata/creationTimestamp"), &Rfc3339).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// The first container that does not run, init containers before the others.
fn blocked_container(object: View<'_>) -> Option<Cause> {
    let (reason, message) = containers(object).find_map(|(role, container)| blocked(role, container))?;
    Some(Cause { reason: reason.to_owned(), message })
}

/// The message of a failed pod.
pub(crate) fn failure(object: View<'_>) -> String {
    blocked_container(object)
        .map_or_else(|| because("it has failed", object.text("/status/message")), |cause| cause.message)
}

/// The status of each container with its role: init containers before the others.
pub(crate) fn containers(object: View<'_>) -> impl Iterator<Item = (&'static str, View<'_>)> {
    let init = object.items("/status/initContainerStatuses").map(|container| ("init container", container));
    init.chain(object.items("/status/containerStatuses").map(|container| ("container", container)))
}

/// Why a container does not run, as a reason and a sentence.
pub(crate) fn blocked<'a>(role: &str, container: View<'a>) -> Option<(&'a str, String)> {
    let name = container.text("/name");
    let message = container.text("/state/waiting/message");
    let reason = waiting(container);
    let sentence = match reason {
        "ContainerCreating" | "PodInitializing" => return None,
        "" => {
            let code = container.int("/state/terminated/exitCode").filter(|code| *code != 0)?;
            return Some((
                reasons::CONTAINER_ENDED,
                format!("{role} {name} ended with {}", ending(container, "state", code)),
            ));
        }
        reasons::CRASH_LOOP => return Some((reason, crash(role, container))),
        reason if image::is_image_reason(reason) => {
            return Some((reason, image::sentence(role, container, reason, message)));
        }
        "CreateContainerConfigError"
        | "CreateContainerError"
        | "RunContainerError"
        | "PreCreateHookError"
        | "PreStartHookError"
        | "PostStartHookError" => format!("{role} {name} cannot be started"),
        other => format!("{role} {name} is waiting ({other})"),
    };
    Some((reason, because(sentence, message)))
}

/// The restarts of a container, and how it last ended.
pub(crate) fn crash(role: &str, container: View<'_>) -> String {
    let name = container.text("/name");
    let restarts = match container.count("/restartCount") {
        1 => "was restarted once".to_owned(),
        count => format!("was restarted {count} times"),
    };
    match container.int("/lastState/terminated/exitCode") {
        Some(code) => format!("{role} {name} {restarts} and last ended with {}", ending(container, "lastState", code)),
        None => format!("{role} {name} {restarts} and keeps exiting"),
    }
}

/// `exit code 137 (OOMKilled)`, followed by the termination message.
fn ending(container: View<'_>, state: &str, code: i64) -> String {
    let reason = container.text(&format!("/{state}/terminated/reason"));
    // The kubelet writes `Error` for any code but 0, which adds nothing.
    let code = match reason {
        // 128 + n: the signal n ended it.
        "" | "Error" if (129..160).contains(&code) => format!("exit code {code} (signal {})", code - 128),
        "" | "Error" | "Completed" => format!("exit code {code}"),
        reason => format!("exit code {code} ({reason})"),
    };
    because(code, container.text(&format!("/{state}/terminated/message")))
}

pub(crate) fn unready(object: View<'_>) -> Cause {
    let containers = || object.items("/status/containerStatuses");
    let all = containers().count();
    let ready = containers().filter(|container| container.is_true("/ready")).count();
    let message = object.condition("Ready").map_or("", |condition| condition.message);
    let message = if ready == all {
        because("it is running but not ready", message)
    } else {
        let names: Vec<_> = containers().filter(|one| !one.is_true("/ready")).map(|one| one.text("/name")).collect();
        because(share(number(ready), number(all), "container", "ready"), &format!("waiting for {}", names.join(", ")))
    };
    Cause { reason: reasons::NOT_READY.to_owned(), message }
}

fn starting(object: View<'_>) -> Cause {
    let mut init = object.items("/status/initContainerStatuses");
    let current = init.find(|container| container.has("/state/running"));
    let (reason, message) = match current {
        Some(container) => (reasons::STARTING, format!("init container {} is running", container.text("/name"))),
        None if object.conditions().any(|condition| condition.is("PodScheduled", "True")) => {
            (reasons::STARTING, "its containers are being started".to_owned())
        }
        None => (reasons::NOT_SCHEDULED, "it is not scheduled yet".to_owned()),
    };
    Cause { reason: reason.to_owned(), message }
}

pub(crate) fn waiting(container: View<'_>) -> &str {
    container.text("/state/waiting/reason")
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
