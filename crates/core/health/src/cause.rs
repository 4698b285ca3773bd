//! Why a workload is not healthy: found in its pods, in events, and in the ends of container logs.

use std::cmp::Reverse;

use serde_json::Value;

use crate::pod::{blocked, containers, crash, unready, waiting};
use crate::sentence::because;
use crate::view::View;
use crate::{image, job, reasons};

/// A container log that may show the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOf {
    /// The name of the pod.
    pub pod: String,
    /// The name of the container.
    pub container: String,
    /// Whether it is the log of the previous instance of the container, as in `kubectl logs --previous`.
    pub previous: bool,
}

/// One sentence that names the pod, the container and the cause; none where no cause is known. `logs` is the log that
/// [`log_wanted`] names for the same pods.
pub fn cause(object: &Value, pods: &[Value], events: &[Value], logs: Option<&str>) -> Option<String> {
    let (view, events) = (View::new(object), Events(events));
    if view.text("/kind") == "PersistentVolumeClaim" {
        return unbound_claim(view, events);
    }
    let pods = suspects(pods);
    let mut pods = pods.iter().map(|pod| View::new(pod));
    let found = pods.clone().find_map(|pod| Some(in_pod(pod, &lasting(pod, events, logs)?)));
    let found = found.or_else(|| create_failure(view, events));
    let found = found.or_else(|| pods.find_map(|pod| Some(in_pod(pod, &transient(pod, events)?))));
    match job::failed(view) {
        Some(failure) => Some(found.map_or(failure.clone(), |found| format!("{failure}; {found}"))),
        None => found,
    }
}

/// The pods that are not healthy: those with a lasting problem first, then the newest.
pub fn suspects(pods: &[Value]) -> Vec<&Value> {
    let is_healthy = |pod: View<'_>| {
        let ready = pod.conditions().any(|condition| condition.is("Ready", "True"));
        ready || pod.text("/status/phase") == "Succeeded" || pod.has("/metadata/deletionTimestamp")
    };
    let mut found: Vec<View<'_>> = pods.iter().map(View::new).filter(|pod| !is_healthy(*pod)).collect();
    let is_lasting = |pod: View<'_>| lasting(pod, Events(&[]), None).is_some();
    found.sort_by_key(|pod| Reverse((is_lasting(*pod), pod.text("/metadata/creationTimestamp"))));
    found.into_iter().map(View::value).collect()
}

/// The log of the first container that ended and should not have.
pub fn log_wanted(pods: &[Value]) -> Option<LogOf> {
    suspects(pods).into_iter().map(View::new).find_map(|pod| {
        let (_, container) = containers(pod).find(|(_, container)| has_ended(*container))?;
        let name = |view: View<'_>, path| view.text(path).to_owned();
        let previous = !container.has("/state/terminated");
        Some(LogOf { pod: name(pod, "/metadata/name"), container: name(container, "/name"), previous })
    })
}

fn in_pod(pod: View<'_>, sentence: &str) -> String {
    format!("pod {}: {sentence}", pod.text("/metadata/name"))
}

/// A problem that a pod does not recover from by itself.
fn lasting(pod: View<'_>, events: Events<'_>, logs: Option<&str>) -> Option<String> {
    if let Some(condition) = pod.conditions().find(|condition| condition.is("PodScheduled", "False")) {
        return Some(because("it cannot be scheduled", condition.message))
            .filter(|_| condition.reason == reasons::UNSCHEDULABLE);
    }
    let container = containers(pod).find_map(|(role, container)| container_cause(role, container, pod, events, logs));
    container.or_else(|| {
        // Evicted, for example.
        let failed = pod.text("/status/phase") == "Failed";
        failed.then(|| because(format!("it failed ({})", pod.text("/status/reason")), pod.text("/status/message")))
    })
}

fn container_cause(
    role: &str,
    container: View<'_>,
    pod: View<'_>,
    events: Events<'_>,
    logs: Option<&str>,
) -> Option<String> {
    let name = container.text("/name");
    if has_ended(container) {
        let sentence = match blocked(role, container) {
            Some((_, sentence)) => sentence,
            // It runs again, perhaps not for long.
            None => crash(role, container),
        };
        // Only the message says which probe it was. A failed readiness probe does not end a container.
        let probe =
            events.newest(pod, |event| is_probe(event, name) && !event.text("/message").starts_with("Readiness"));
        let probed = probe.map_or(String::new(), |event| format!(", because {}", lowered(event.text("/message"))));
        let log = logs.map(last_lines).filter(|lines| !lines.is_empty());
        let log = log.map_or(String::new(), |lines| format!("; last log lines: {lines}"));
        return Some(format!("{sentence}{probed}{log}"));
    }
    let (_, sentence) = blocked(role, container)?;
    let reason = waiting(container);
    if !image::is_pull_reason(reason) {
        return Some(sentence);
    }
    // During the back-off the status of older kubelets does not say why the pull failed. The event always does.
    let pull = format!("Failed to pull image \"{}\": ", container.text("/image"));
    let event = events.newest(pod, |event| event.text("/message").starts_with(&pull));
    Some(event.map_or(sentence, |event| image::sentence(role, container, reason, event.text("/message"))))
}

/// Whether a container ended that should not have; it may have been restarted since.
fn has_ended(container: View<'_>) -> bool {
    let failed = container.int("/state/terminated/exitCode").is_some_and(|code| code != 0);
    let before = container.has("/lastState/terminated") && !container.is_true("/ready");
    // The image of a restarted container may have to be pulled again: then that is the cause.
    failed || (before && !container.has("/state/terminated") && !image::is_image_reason(waiting(container)))
}

/// A problem that a pod may recover from.
fn transient(pod: View<'_>, events: Events<'_>) -> Option<String> {
    let mount =
        |event: View<'_>| ["FailedMount", "FailedAttachVolume", "FailedMapVolume"].contains(&event.text("/reason"));
    if let Some(event) = events.newest(pod, mount) {
        return Some(because("a volume cannot be mounted", event.text("/message")));
    }
    if let Some(event) = events.newest(pod, |event| event.text("/reason") == "FailedCreatePodSandBox") {
        return Some(because("the pod sandbox cannot be created", event.text("/message")));
    }
    let unready_ones = containers(pod).filter(|(_, container)| !container.is_true("/ready"));
    for (role, container) in unready_ones {
        let name = container.text("/name");
        if let Some(event) = events.newest(pod, |event| is_probe(event, name)) {
            return Some(format!("{role} {name} is not ready: {}", lowered(event.text("/message"))));
        }
    }
    (pod.text("/status/phase") == "Running").then(|| unready(pod).message)
}

/// Whether an event says that a probe of this container failed.
fn is_probe(event: View<'_>, container: &str) -> bool {
    event.text("/reason") == "Unhealthy"
        && event.text("/involvedObject/fieldPath").contains(&format!("{{{container}}}"))
}

/// Why the controller cannot create pods.
fn create_failure(object: View<'_>, events: Events<'_>) -> Option<String> {
    let is_creation = |event: &View<'_>| ["FailedCreate", "SuccessfulCreate"].contains(&event.text("/reason"));
    let newest =
        events.all().filter(is_creation).max_by_key(|event| (time(*event), event.text("/reason") == "FailedCreate"));
    let from_event = newest.filter(|event| event.text("/reason") == "FailedCreate").map(|event| event.text("/message"));
    let from_condition = object.conditions().find(|condition| condition.is("ReplicaFailure", "True"));
    let message = from_condition.map(|condition| condition.message).or(from_event)?;
    Some(because("pods cannot be created", message))
}

fn unbound_claim(claim: View<'_>, events: Events<'_>) -> Option<String> {
    if claim.text("/status/phase") == "Bound" {
        return None;
    }
    let event = events.all().max_by_key(|event| time(*event));
    let message = event.map(|event| event.text("/message"));
    Some(because("it is not bound to a volume", message.unwrap_or_default()))
}

/// The events of an object and of its pods.
#[derive(Clone, Copy)]
struct Events<'a>(&'a [Value]);

impl<'a> Events<'a> {
    fn all(self) -> impl Iterator<Item = View<'a>> {
        self.0.iter().map(View::new)
    }

    /// The newest event of a pod that matches.
    fn newest(self, pod: View<'_>, is: impl Fn(View<'_>) -> bool) -> Option<View<'a>> {
        let name = pod.text("/metadata/name");
        let of_pod = self.all().filter(|event| event.text("/involvedObject/name") == name && is(*event));
        of_pod.max_by_key(|event| time(*event))
    }
}

/// When an event was last seen. All times have the same zone and format, so they compare as strings.
fn time(event: View<'_>) -> &str {
    let known = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];
    known.into_iter().map(|path| event.text(path)).find(|time| !time.is_empty()).unwrap_or_default()
}

/// The limits of a log in a message.
const MAX_LINES: usize = 5;
const MAX_CHARACTERS: usize = 500;

/// The last lines of a log, joined to one.
fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(MAX_LINES)..].join(" | ");
    let length = last.chars().count();
    if length <= MAX_CHARACTERS {
        return last;
    }
    let end: String = last.chars().skip(length - MAX_CHARACTERS + 1).collect();
    format!("…{end}")
}

/// A message of the kubelet in the middle of a sentence: one line, without its capital.
fn lowered(words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}
