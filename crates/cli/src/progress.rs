//! The progress and the status of an instance, as text.

use std::fmt::Write;

use fitout_api::{ExtensionInstance, ExtensionInstanceStatus, ObjectCount, conditions, reasons};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;

use crate::commands::instance::withdrawal::Withdrawal;
use crate::output::Paint;
use crate::tables;

/// The width of a progress bar in text.
const BAR: u32 = 20;

/// Reasons of conditions that are not true yet, and become true without a user's action.
const PROGRESSING_REASONS: [&str; 6] = [
    reasons::ready::PROGRESSING,
    reasons::ready::WAITING,
    reasons::applied::APPLYING,
    reasons::applied::DEPENDENCY_NOT_READY,
    reasons::applied::OUTSIDE_WINDOW,
    reasons::healthy::STARTING,
];

/// The current progress in one line, without the instance's name.
pub(crate) fn line(instance: &ExtensionInstance) -> String {
    let empty = ExtensionInstanceStatus::default();
    // A status of an earlier generation would look like an answer to the current one.
    let is_current = |status: &&ExtensionInstanceStatus| status.observed_generation >= instance.metadata.generation;
    let status = instance.status.as_ref().filter(is_current).unwrap_or(&empty);
    let ready = conditions::find(&status.conditions, conditions::READY);
    // The cause of a failure is more useful than the step that is retried.
    let failed = ready.filter(|ready| ready.reason == reasons::ready::FAILED).map(|ready| ready.message.clone());
    let detail = failed.or_else(|| step_with_cause(status)).or_else(|| unhealthy(status));
    detail.or_else(|| ready.map(|ready| ready.message.clone())).unwrap_or_else(|| "waiting for the hub".to_owned())
}

/// How many objects are ready, if known.
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

/// The current step, and why it has not ended yet, if known.
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

/// The whole status of an instance, on several lines.
pub(crate) fn view(
    instance: &ExtensionInstance,
    withdrawn: Option<&Withdrawal>,
    now: Timestamp,
    paint: Paint,
) -> String {
    let spec = &instance.spec;
    let mut text = format!(
        "{}: {} on cluster {}, in namespace {}\n",
        paint.bold(&instance.name_any()),
        spec.extension.name,
        spec.cluster,
        spec.namespace
    );
    let empty = ExtensionInstanceStatus::default();
    let status = instance.status.as_ref().unwrap_or(&empty);
    // A security problem is seen first.
    if let Some(withdrawn) = withdrawn {
        let note = withdrawn.note.as_ref().map_or_else(String::new, |note| format!(": {note}"));
        let line = format!("{:<10} {}{note}", "Withdrawn", withdrawn.version);
        let _ = writeln!(text, "  {}\n  {:<10} {}", paint.red(&line), "Move", withdrawn.remedy);
    }
    for (label, content) in facts(instance, status) {
        let _ = writeln!(text, "  {label:<10} {content}");
    }
    if status.conditions.is_empty() {
        text += "\nThe hub has not reported a status yet.\n";
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
        facts.push(("Rollback", format!("to revision {revision}")));
    }
    if instance.spec.suspend {
        facts.push(("Suspended", "the hub watches it and writes nothing".to_owned()));
    }
    facts.extend(step(status).map(|step| ("Progress", step)));
    if let Some(objects) = objects(instance) {
        facts.push(("Objects", format!("{} {} of {} ready", bar(objects), objects.ready, objects.total)));
    }
    facts.extend(unhealthy(status).map(|unhealthy| ("Unhealthy", unhealthy)));
    facts.extend(status.test.as_ref().map(|test| ("Tests", format!("revision {}: {}", test.revision, test.message))));
    facts
}

fn version(status: &ExtensionInstanceStatus) -> String {
    // The condition `Resolved` mostly has the same message a few lines below.
    let repeated = |why: &&String| status.conditions.iter().any(|condition| condition.message == **why);
    let why = status.why.as_ref().filter(|why| !repeated(why)).map(|why| format!(" ({why})")).unwrap_or_default();
    match (&status.version, &status.wanted_version) {
        (Some(version), Some(desired)) if version != desired => format!("{version}, changing to {desired}{why}"),
        (Some(version), _) => format!("{version}{why}"),
        (None, Some(desired)) => format!("none yet, installing {desired}{why}"),
        (None, None) => "none yet".to_owned(),
    }
}

fn bar(objects: ObjectCount) -> String {
    let full = (objects.ready.min(objects.total) * BAR) / objects.total.max(1);
    format!("[{}{}]", "#".repeat(full as usize), "-".repeat((BAR - full) as usize))
}

/// The conditions in the order in which they become true, without those that only repeat `Ready`.
fn in_order(all: &[Condition]) -> Vec<&Condition> {
    const ORDER: [&str; 7] = [
        conditions::RESOLVED,
        conditions::APPROVED,
        conditions::APPLIED,
        conditions::HEALTHY,
        conditions::READY,
        conditions::RECONCILING,
        conditions::STALLED,
    ];
    let ready = conditions::find(all, conditions::READY).map(|ready| &ready.message);
    let repeats = |condition: &Condition| {
        matches!(condition.type_.as_str(), conditions::RECONCILING | conditions::STALLED)
            && Some(&condition.message) == ready
    };
    let mut sorted: Vec<_> = all.iter().filter(|condition| !repeats(condition)).collect();
    sorted.sort_by_key(|condition| ORDER.iter().position(|type_| *type_ == condition.type_));
    sorted
}

fn mark(condition: &Condition, paint: Paint) -> String {
    match (condition.type_.as_str(), condition.status.as_str()) {
        (conditions::STALLED, "True") => paint.red("✗"),
        (conditions::RECONCILING, "True") | (_, "Unknown") => paint.yellow("…"),
        (_, "True") => paint.green("✓"),
        _ if PROGRESSING_REASONS.contains(&condition.reason.as_str()) => paint.yellow("…"),
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
        format!("{}\n{}", line(instance), view(instance, None, fixtures::now(), Paint::new(false)))
    }

    #[test]
    fn unobserved_instance_is_pending() {
        assert_snapshot!(shown(&fixtures::pending()));
    }

    #[test]
    fn install_shows_its_step_and_objects() {
        assert_snapshot!(shown(&fixtures::installing()));
    }

    #[test]
    fn unhealthy_instance_names_the_object_and_cause() {
        assert_snapshot!(shown(&fixtures::unhealthy()));
    }

    #[test]
    fn waiting_step_shows_its_cause() {
        let mut waiting = fixtures::installing();
        let cause = "Pod/cert-manager/cert-manager-7d9f: image quay.io/jetstack/x cannot be pulled: not found";
        waiting.status.as_mut().unwrap().first_unhealthy =
            Some(Unhealthy { object: "Deployment/cert-manager/cert-manager".to_owned(), message: cause.to_owned() });
        let step = "step 3 of 4: apply objects (Deployment/cert-manager/cert-manager)";
        assert_eq!(line(&waiting), format!("{step}: {cause}"));
        waiting.status.as_mut().unwrap().first_unhealthy.as_mut().unwrap().object = "Job/x/y".to_owned();
        assert_eq!(line(&waiting), step, "an object that no step waits for is no cause");
    }

    #[test]
    fn status_of_an_earlier_generation_is_not_shown() {
        let mut changed = fixtures::ready();
        changed.metadata.generation = Some(2);
        assert_eq!(line(&changed), "waiting for the hub");
    }

    #[test]
    fn retried_failure_is_shown_before_the_step() {
        assert_snapshot!(shown(&fixtures::failing()));
    }

    #[test]
    fn ready_instance_shows_its_version_and_reason() {
        assert_snapshot!(shown(&fixtures::ready()));
    }

    #[test]
    fn withdrawn_version_is_shown_first_with_the_move() {
        let withdrawal = Withdrawal {
            version: "1.21.2".to_owned(),
            note: Some("CVE-2026-1".to_owned()),
            remedy: "the hub moves it to 1.21.3".to_owned(),
        };
        let text = |paint| view(&fixtures::ready(), Some(&withdrawal), fixtures::now(), paint);
        let first = text(Paint::new(false)).lines().take(4).collect::<Vec<_>>().join("\n");
        assert_snapshot!(first, @r"
        foo-cert-manager: cert-manager on cluster foo, in namespace cert-manager
          Withdrawn  1.21.2: CVE-2026-1
          Move       the hub moves it to 1.21.3
          Version    1.21.2 (the newest that fits Kubernetes 1.36.3)
        ");
        assert!(text(Paint::new(true)).contains("\u{1b}[1;31mWithdrawn  1.21.2: CVE-2026-1\u{1b}[0m"));
    }

    #[test]
    fn stalled_instance_shows_the_decision_to_make() {
        assert_snapshot!(shown(&fixtures::stalled()));
    }

    #[test]
    fn bars_have_a_fixed_width() {
        assert_eq!(bar(ObjectCount { total: 4, ready: 9 }), "[####################]");
        assert_eq!(bar(ObjectCount { total: 4, ready: 1 }), "[#####---------------]");
    }
}
