//! Why a workload does not become what it was asked to be: found in its pods, in events, and in what containers said last.

use std::cmp::Reverse;

use serde_json::Value;

use crate::job;
use crate::pod::{blocked, containers, crash, unready, waiting};
use crate::reasons;
use crate::sentence::because;
use crate::view::View;

/// The log that would say more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOf {
    /// The name of the pod.
    pub pod: String,
    /// The name of the container.
    pub container: String,
    /// Whether it is that of the container before the one that there is now.
    pub previous: bool,
}

/// One sentence that names the pod, the container and the cause; none where nothing is known to be wrong. The log is that
/// of [`log_wanted`], for the same pods.
pub fn cause(object: &Value, pods: &[Value], events: &[Value], logs: Option<&str>) -> Option<String> {
    let (view, events) = (View::new(object), Events(events));
    if view.text("/kind") == "PersistentVolumeClaim" {
        return claim(view, events);
    }
    let pods = suspects(pods);
    let mut pods = pods.iter().map(|pod| View::new(pod));
    let found = pods.clone().find_map(|pod| Some(about(pod, &grave(pod, events, logs)?)));
    let found = found.or_else(|| refused(view, events));
    let found = found.or_else(|| pods.find_map(|pod| Some(about(pod, &light(pod, events)?))));
    match job::failed(view) {
        Some(failure) => Some(found.map_or(failure.clone(), |found| format!("{failure}; {found}"))),
        None => found,
    }
}

/// The pods that are not what they should be, those that tell most first: the worst, and of two as bad the newest.
pub fn suspects(pods: &[Value]) -> Vec<&Value> {
    let well = |pod: View<'_>| {
        let ready = pod.conditions().any(|condition| condition.is("Ready", "True"));
        ready || pod.text("/status/phase") == "Succeeded" || pod.has("/metadata/deletionTimestamp")
    };
    let mut found: Vec<View<'_>> = pods.iter().map(View::new).filter(|pod| !well(*pod)).collect();
    let hopeless = |pod: View<'_>| grave(pod, Events(&[]), None).is_some();
    found.sort_by_key(|pod| Reverse((hopeless(*pod), pod.text("/metadata/creationTimestamp"))));
    found.into_iter().map(View::value).collect()
}

/// The log of the container that ended, if one did.
pub fn log_wanted(pods: &[Value]) -> Option<LogOf> {
    suspects(pods).into_iter().map(View::new).find_map(|pod| {
        let (_, container) = containers(pod).find(|(_, container)| has_ended(*container))?;
        let name = |view: View<'_>, path| view.text(path).to_owned();
        let previous = !container.has("/state/terminated");
        Some(LogOf { pod: name(pod, "/metadata/name"), container: name(container, "/name"), previous })
    })
}

fn about(pod: View<'_>, sentence: &str) -> String {
    format!("pod {}: {sentence}", pod.text("/metadata/name"))
}

/// What a pod does not recover from by itself.
fn grave(pod: View<'_>, events: Events<'_>, logs: Option<&str>) -> Option<String> {
    if let Some(condition) = pod.conditions().find(|condition| condition.is("PodScheduled", "False")) {
        return Some(because("no node takes it", condition.message))
            .filter(|_| condition.reason == reasons::UNSCHEDULABLE);
    }
    let of_container = containers(pod).find_map(|(role, container)| stuck(role, container, pod, events, logs));
    of_container.or_else(|| {
        // Put out by its node, for example.
        let failed = pod.text("/status/phase") == "Failed";
        failed.then(|| because(format!("it failed ({})", pod.text("/status/reason")), pod.text("/status/message")))
    })
}

fn stuck(role: &str, container: View<'_>, pod: View<'_>, events: Events<'_>, logs: Option<&str>) -> Option<String> {
    let name = container.text("/name");
    if has_ended(container) {
        let sentence = match blocked(role, container) {
            Some((_, sentence)) => sentence,
            // It runs again, and nobody knows for how long.
            None => crash(role, container),
        };
        let probe =
            events.newest(pod, |event| is_probe(event, name) && !event.text("/message").starts_with("Readiness"));
        let probed = probe.map_or(String::new(), |event| format!(", because {}", lowered(event.text("/message"))));
        let said = logs.map(last_words).filter(|words| !words.is_empty());
        let said = said.map_or(String::new(), |words| format!("; it said last: {words}"));
        return Some(format!("{sentence}{probed}{said}"));
    }
    let (_, sentence) = blocked(role, container)?;
    // The kubelet says now why, now only that it waits before it tries again.
    let pull = format!("Failed to pull image \"{}\": ", container.text("/image"));
    let pulled = events.newest(pod, |event| event.text("/message").starts_with(&pull));
    Some(match pulled {
        Some(event) if waiting(container).contains("Image") => {
            let words = event.text("/message").strip_prefix(&pull).unwrap_or_default();
            because(format!("image {} of {role} {name} cannot be had", container.text("/image")), words)
        }
        _ => sentence,
    })
}

/// A container that ended and should not have, and may have been started again since.
fn has_ended(container: View<'_>) -> bool {
    let badly = container.int("/state/terminated/exitCode").is_some_and(|code| code != 0);
    let before = container.has("/lastState/terminated") && !container.is_true("/ready");
    // One that has to be pulled anew has that trouble now.
    badly || (before && !container.has("/state/terminated") && !waiting(container).contains("Image"))
}

/// What a pod may recover from.
fn light(pod: View<'_>, events: Events<'_>) -> Option<String> {
    let mount =
        |event: View<'_>| ["FailedMount", "FailedAttachVolume", "FailedMapVolume"].contains(&event.text("/reason"));
    if let Some(event) = events.newest(pod, mount) {
        return Some(because("a volume cannot be mounted", event.text("/message")));
    }
    if let Some(event) = events.newest(pod, |event| event.text("/reason") == "FailedCreatePodSandBox") {
        return Some(because("its sandbox cannot be made", event.text("/message")));
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

/// Whoever makes the pods is not allowed to.
fn refused(object: View<'_>, events: Events<'_>) -> Option<String> {
    let making = |event: &View<'_>| ["FailedCreate", "SuccessfulCreate"].contains(&event.text("/reason"));
    let made = events.all().filter(making).max_by_key(|event| (time(*event), event.text("/reason") == "FailedCreate"));
    let of_event = made.filter(|event| event.text("/reason") == "FailedCreate").map(|event| event.text("/message"));
    let of_condition = object.conditions().find(|condition| condition.is("ReplicaFailure", "True"));
    let message = of_condition.map(|condition| condition.message).or(of_event)?;
    Some(because("pods cannot be created", message))
}

fn claim(claim: View<'_>, events: Events<'_>) -> Option<String> {
    if claim.text("/status/phase") == "Bound" {
        return None;
    }
    let event = events.all().max_by_key(|event| time(*event));
    let known = event.map(|event| event.text("/message"));
    Some(because("it is not bound to a volume", known.unwrap_or_default()))
}

/// Events of an object and of what belongs to it.
#[derive(Clone, Copy)]
struct Events<'a>(&'a [Value]);

impl<'a> Events<'a> {
    fn all(self) -> impl Iterator<Item = View<'a>> {
        self.0.iter().map(View::new)
    }

    /// The newest of a pod's that is meant.
    fn newest(self, pod: View<'_>, is: impl Fn(View<'_>) -> bool) -> Option<View<'a>> {
        let name = pod.text("/metadata/name");
        let of_pod = self.all().filter(|event| event.text("/involvedObject/name") == name && is(*event));
        of_pod.max_by_key(|event| time(*event))
    }
}

/// When an event was last seen. All are in the same zone and of the same form.
fn time(event: View<'_>) -> &str {
    let known = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];
    known.into_iter().map(|path| event.text(path)).find(|time| !time.is_empty()).unwrap_or_default()
}

/// The most lines and characters of a log that are part of a sentence.
const MOST_LINES: usize = 5;
const MOST_CHARACTERS: usize = 500;

/// The end of a log, in one line.
fn last_words(log: &str) -> String {
    let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(MOST_LINES)..].join(" | ");
    let length = last.chars().count();
    if length <= MOST_CHARACTERS {
        return last;
    }
    // The end says more than the beginning.
    let end: String = last.chars().skip(length - MOST_CHARACTERS + 1).collect();
    format!("…{end}")
}

/// Words of somebody else in the middle of a sentence.
fn lowered(words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}
