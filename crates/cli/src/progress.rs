//! How an instance is doing, in words.

use std::fmt::Write;

use fitout_api::{ExtensionInstance, ExtensionInstanceStatus, ObjectCount, conditions, reasons};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;

use crate::output::Paint;
use crate::tables;

/// The width of a bar that is drawn as text.
const BAR: u32 = 20;

/// Reasons for which something does not hold yet, and will without anybody's doing.
const ON_ITS_WAY: [&str; 6] = [
    reasons::ready::PROGRESSING,
    reasons::ready::WAITING,
    reasons::applied::APPLYING,
    reasons::applied::DEPENDENCY_NOT_READY,
    reasons::applied::OUTSIDE_WINDOW,
    reasons::healthy::STARTING,
];

/// What is going on, in a line without the instance's name.
pub(crate) fn line(instance: &ExtensionInstance) -> String {
    let nothing = ExtensionInstanceStatus::default();
    // What was said of an earlier wish would look like an answer to this one.
    let fresh = |status: &&ExtensionInstanceStatus| status.observed_generation >= instance.metadata.generation;
    let status = instance.status.as_ref().filter(fresh).unwrap_or(&nothing);
    let ready = conditions::find(&status.conditions, conditions::READY);
    // Which step is tried again is of less use than why it did not go well.
    let failed = ready.filter(|ready| ready.reason == reasons::ready::FAILED).map(|ready| ready.message.clone());
    let said = failed.or_else(|| step_with_cause(status)).or_else(|| unhealthy(status));
    said.or_else(|| ready.map(|ready| ready.message.clone())).unwrap_or_else(|| "waiting for the hub".to_owned())
}

/// How many objects are ready, as far as that is known.
pub(crate) fn objects(instance: &ExtensionInstance) -> Option<ObjectCount> {
    instance.status.as_ref()?.objects.filter(|objects| objects.total > 0)
}

fn step(status: &ExtensionInstanceStatus) -> Option<String> {
    let step = status.step.as_ref()?;
    let mut text = format!("step {} of {}: {}", step.index, step.of, step.name);
    if let Some(object) = &step.object {
        let _ = write!(text, " ({object})");
    }
    Some(text)
}

/// The step that is running, and why it has not ended yet, where that is known.
fn step_with_cause(status: &ExtensionInstanceStatus) -> Option<String> {
    let object = status.step.as_ref()?.object.as_ref();
    let unhealthy = status.first_unhealthy.as_ref().filter(|unhealthy| Some(&unhealthy.object) == object);
    let cause = unhealthy.map(|unhealthy| format!(": {}", unhealthy.message)).unwrap_or_default();
    step(status).map(|step| step + &cause)
}

fn unhealthy(status: &ExtensionInstanceStatus) -> Option<String> {
    let unhealthy = status.first_unhealthy.as_ref()?;
    Some(format!("{}: {}", unhealthy.object, unhealthy.message))
}

/// All there is to say about an instance, on several lines.
pub(crate) fn view(instance: &ExtensionInstance, now: Timestamp, paint: Paint) -> String {
    let spec = &instance.spec;
    let mut text = format!(
        "{}: {} on cluster {}, in namespace {}\n",
        paint.bold(&instance.name_any()),
        spec.extension.name,
        spec.cluster,
        spec.namespace
    );
    let nothing = ExtensionInstanceStatus::default();
    let status = instance.status.as_ref().unwrap_or(&nothing);
    for (label, content) in facts(instance, status) {
        let _ = writeln!(text, "  {label:<10} {content}");
    }
    if status.conditions.is_empty() {
        text += "\nThe hub has said nothing about it yet.\n";
        return text;
    }
    text += "\n";
    for condition in in_order(&status.conditions) {
        let line = format!("  {} {:<11} {}", mark(condition, paint), condition.type_, condition.message);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if !status.revisions.is_empty() {
        text += "\n";
        text += &tables::summaries(&status.revisions, now);
    }
    text
}

fn facts(instance: &ExtensionInstance, status: &ExtensionInstanceStatus) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Version", version(status))];
    if let Some(range) = &instance.spec.version {
        facts.push(("Range", range.clone()));
    }
    if let Some(revision) = status.revision {
        facts.push(("Revision", revision.to_string()));
    }
    if let Some(revision) = instance.spec.rollback_to {
        facts.push(("Back to", format!("revision {revision}")));
    }
    if instance.spec.suspend {
        facts.push(("Suspended", "it is watched, and nothing is written".to_owned()));
    }
    facts.extend(step(status).map(|step| ("Doing", step)));
    if let Some(objects) = objects(instance) {
        facts.push(("Objects", format!("{} {} of {} ready", bar(objects), objects.ready, objects.total)));
    }
    facts.extend(unhealthy(status).map(|unhealthy| ("Unhealthy", unhealthy)));
    facts.extend(status.test.as_ref().map(|test| ("Tests", format!("revision {}: {}", test.revision, test.message))));
    facts
}

fn version(status: &ExtensionInstanceStatus) -> String {
    // Mostly `Resolved` says it a few lines below.
    let said = |why: &&String| status.conditions.iter().any(|condition| condition.message == **why);
    let why = status.why.as_ref().filter(|why| !said(why)).map(|why| format!(" ({why})")).unwrap_or_default();
    match (&status.version, &status.wanted_version) {
        (Some(version), Some(wanted)) if version != wanted => format!("{version}, going to {wanted}{why}"),
        (Some(version), _) => format!("{version}{why}"),
        (None, Some(wanted)) => format!("none yet, going to {wanted}{why}"),
        (None, None) => "none yet".to_owned(),
    }
}

fn bar(objects: ObjectCount) -> String {
    let full = (objects.ready.min(objects.total) * BAR) / objects.total.max(1);
    format!("[{}{}]", "#".repeat(full as usize), "-".repeat((BAR - full) as usize))
}

/// In the order in which an instance gets ready; what only repeats `Ready` is left out.
fn in_order(said: &[Condition]) -> Vec<&Condition> {
    const ORDER: [&str; 7] = [
        conditions::RESOLVED,
        conditions::APPROVED,
        conditions::APPLIED,
        conditions::HEALTHY,
        conditions::READY,
        conditions::RECONCILING,
        conditions::STALLED,
    ];
    let ready = conditions::find(said, conditions::READY).map(|ready| &ready.message);
    let repeats = |condition: &Condition| {
        matches!(condition.type_.as_str(), conditions::RECONCILING | conditions::STALLED)
            && Some(&condition.message) == ready
    };
    let mut said: Vec<_> = said.iter().filter(|condition| !repeats(condition)).collect();
    said.sort_by_key(|condition| ORDER.iter().position(|type_| *type_ == condition.type_));
    said
}

fn mark(condition: &Condition, paint: Paint) -> String {
    match (condition.type_.as_str(), condition.status.as_str()) {
        (conditions::STALLED, "True") => paint.red("✗"),
        (conditions::RECONCILING, "True") | (_, "Unknown") => paint.yellow("…"),
        (_, "True") => paint.green("✓"),
        _ if ON_ITS_WAY.contains(&condition.reason.as_str()) => paint.yellow("…"),
        _ => paint.red("✗"),
    }
}

#[cfg(test)]
pub(crate) mod fixtures;

#[cfg(test)]
mod tests {
    use super::*;
    use fitout_api::Unhealthy;
    use insta::assert_snapshot;

    fn shown(instance: &ExtensionInstance) -> String {
        format!("{}\n{}", line(instance), view(instance, fixtures::now(), Paint::new(false)))
    }

    #[test]
    fn what_the_hub_has_not_seen_yet_is_pending() {
        assert_snapshot!(shown(&fixtures::pending()));
    }

    #[test]
    fn an_install_under_way_says_which_step_and_how_many_objects() {
        assert_snapshot!(shown(&fixtures::installing()));
    }

    #[test]
    fn an_unhealthy_instance_says_which_object_and_why() {
        assert_snapshot!(shown(&fixtures::unhealthy()));
    }

    #[test]
    fn a_step_that_waits_says_for_what_and_why() {
        let mut waiting = fixtures::installing();
        let cause = "Pod/cert-manager/cert-manager-7d9f: image quay.io/jetstack/x cannot be pulled: not found";
        waiting.status.as_mut().unwrap().first_unhealthy =
            Some(Unhealthy { object: "Deployment/cert-manager/cert-manager".to_owned(), message: cause.to_owned() });
        let step = "step 3 of 4: apply objects (Deployment/cert-manager/cert-manager)";
        assert_eq!(line(&waiting), format!("{step}: {cause}"));
        waiting.status.as_mut().unwrap().first_unhealthy.as_mut().unwrap().object = "Job/x/y".to_owned();
        assert_eq!(line(&waiting), step, "what is not waited for yet is no cause");
    }

    #[test]
    fn an_answer_to_an_earlier_wish_is_not_shown_to_who_waits() {
        let mut changed = fixtures::ready();
        changed.metadata.generation = Some(2);
        assert_eq!(line(&changed), "waiting for the hub");
    }

    #[test]
    fn a_failure_that_is_tried_again_is_told_before_the_step() {
        assert_snapshot!(shown(&fixtures::failing()));
    }

    #[test]
    fn a_ready_instance_says_what_is_installed_and_why() {
        assert_snapshot!(shown(&fixtures::ready()));
    }

    #[test]
    fn a_stalled_instance_says_what_a_person_has_to_do() {
        assert_snapshot!(shown(&fixtures::stalled()));
    }

    #[test]
    fn bars_are_never_longer_than_they_are() {
        assert_eq!(bar(ObjectCount { total: 4, ready: 9 }), "[####################]");
        assert_eq!(bar(ObjectCount { total: 4, ready: 1 }), "[#####---------------]");
    }
}
