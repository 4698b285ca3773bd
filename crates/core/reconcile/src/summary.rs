//! The summary of an instance for people: its state in a sentence, and the running step.

use std::collections::BTreeSet;

use fitout_helm_release::HookEvent;
use fitout_model::ObjectId;
use fitout_plan::{Owner, Phase, RenderError, phase};

use crate::{Effect, Next, RecordStatus};

/// The inputs of [`summarize`].
#[derive(Clone, Copy, Debug)]
pub struct SummaryInput<'a> {
    /// The release of the instance.
    pub release: Owner<'a>,
    /// Whether the instance is being deleted.
    pub removing: bool,
    /// Whether the instance is suspended.
    pub suspended: bool,
    /// Whether the install waits for a Ready node.
    pub waits_for_node: bool,
    /// Why no artifact could be determined.
    pub unprepared: Option<&'a RenderError>,
    /// The failure of this round.
    pub failure: Option<&'a str>,
    /// The decision of this round.
    pub next: &'a Next,
    /// A notice about what stays after the removal.
    pub notice: Option<&'a str>,
    /// The first unhealthy object, with the cause.
    pub unhealthy: Option<&'a str>,
}

/// The state of an instance, with a sentence where it needs one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summary {
    /// The instance is being removed, with a notice about what stays.
    Removing(Option<String>),
    /// No version fits.
    Unresolved(String),
    /// The release cannot be rendered.
    Invalid(String),
    /// An object or release of another owner is in the way.
    Blocked(String),
    /// Another client has changed the release, and the user must choose.
    ForeignRevision(String),
    /// The change failed.
    Failed(String),
    /// The instance is suspended: it is watched and nothing is written.
    Suspended,
    /// The install waits for a Ready node.
    NoReadyNode,
    /// Objects are being applied.
    Applying,
    /// All objects are applied, and one is not healthy.
    Progressing(String),
    /// All objects are applied and healthy.
    Installed,
}

/// Summarizes the state of an instance: the most important fact comes first.
pub fn summarize(now: &SummaryInput) -> Summary {
    let failed = || now.failure.map(|failure| Summary::Failed(failure.to_owned()));
    if now.removing {
        return failed().unwrap_or(Summary::Removing(now.notice.map(str::to_owned)));
    }
    match now.unprepared {
        Some(RenderError::Unresolved(sentence)) => return Summary::Unresolved(sentence.clone()),
        Some(RenderError::Invalid(sentence)) => return Summary::Invalid(sentence.clone()),
        Some(RenderError::Unavailable(sentence)) => return Summary::Failed(sentence.clone()),
        None => {}
    }
    if let Some(failed) = failed() {
        return failed;
    }
    if now.suspended {
        return Summary::Suspended;
    }
    match now.next {
        Next::Blocked { object, owner } => Summary::Blocked(not_ours(object, owner.as_deref())),
        Next::ReleaseExists(newest) => Summary::Blocked(taken(now.release, *newest)),
        Next::ForeignRevision(newest) => Summary::ForeignRevision(changed(now.release, *newest)),
        Next::HookFailed { object, event } => Summary::Failed(hook_failure_message(object, event, None)),
        Next::HealthTimeout(object) => Summary::Failed(health_timeout_message(object, None)),
        Next::Do(_) | Next::Await(_) => Summary::Applying,
        Next::Done if now.waits_for_node => Summary::NoReadyNode,
        Next::Done => now.unhealthy.map_or(Summary::Installed, |unhealthy| Summary::Progressing(unhealthy.to_owned())),
    }
}

/// The message about an object of another owner.
pub(crate) fn not_ours(object: &ObjectId, owner: Option<&str>) -> String {
    match owner {
        Some(owner) => {
            format!("{object} already exists and belongs to {owner}; delete it, or choose another release name")
        }
        None => format!(
            "{object} already exists and belongs to no Helm release; delete it, or install into another namespace"
        ),
    }
}

/// The message about a release that does not belong to the instance.
pub(crate) fn taken(release: Owner, newest: u32) -> String {
    let Owner { name, namespace } = release;
    format!(
        "release {name} already exists in namespace {namespace}, at revision {newest}, and does not belong to this instance; take \
         it over with `fitout adopt`, remove it with `helm uninstall {name} --namespace {namespace}`, or choose another release name"
    )
}

/// The message about an out-of-band change of the release.
pub(crate) fn changed(release: Owner, newest: Option<u32>) -> String {
    let Owner { name, namespace } = release;
    match newest {
        Some(newest) => format!(
            "release {name} in namespace {namespace} was changed out of band, to revision {newest}; `fitout adopt` keeps that revision, \
             `fitout reassert` restores the desired one"
        ),
        None => format!(
            "release {name} in namespace {namespace} was removed out of band; `fitout reassert` installs it again, `fitout uninstall` \
             removes the instance, too"
        ),
    }
}

/// The message about a failed hook, with the cause where it is known.
pub fn hook_failure_message(object: &ObjectId, event: &HookEvent, cause: Option<&str>) -> String {
    match cause {
        Some(cause) => format!("{event} hook {object} failed: {cause}"),
        None => format!("{event} hook {object} failed"),
    }
}

/// The remedy for a health deadline that has passed.
const REMEDY: &str = "correct the values, or give it longer with healthyWithinSeconds";

/// The message about an object that missed its health deadline, with the cause where it is known.
pub fn health_timeout_message(object: &ObjectId, cause: Option<&str>) -> String {
    match cause {
        Some(cause) => format!("{object} did not become healthy in time: {cause}; {REMEDY}"),
        None => format!("{object} did not become healthy in time; {REMEDY}"),
    }
}

/// The position of a hook event among the steps: `pre-` events are with the first, all others with the last.
fn at_hook(event: &HookEvent, last: usize) -> usize {
    if event.as_str().starts_with("pre-") { 0 } else { last }
}

/// A step of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The position of the step, from 1.
    pub index: usize,
    /// The number of steps.
    pub of: usize,
    /// The name of the step.
    pub name: String,
    /// The object that is being processed.
    pub object: Option<ObjectId>,
}

/// The running step of a change to these objects, if one is running.
pub fn current_step(next: &Next, objects: &[ObjectId], removing: bool) -> Option<Step> {
    let mut phases: Vec<Phase> = objects.iter().map(|id| phase(&id.gvk)).collect::<BTreeSet<_>>().into_iter().collect();
    if removing {
        phases.reverse();
    }
    let last = phases.len() + 1;
    let at = |id: &ObjectId| phases.iter().position(|&found| found == phase(&id.gvk)).map_or(last, |place| place + 1);
    let (place, name, object) = match next {
        Next::Done
        | Next::Blocked { .. }
        | Next::ReleaseExists(_)
        | Next::ForeignRevision(_)
        | Next::HookFailed { .. }
        | Next::HealthTimeout(_) => return None,
        Next::Await(ids) => {
            let id = ids.first()?;
            let gone = if removing { " to be gone" } else { "" };
            (at(id), format!("wait for {}{gone}", words(phase(&id.gvk))), Some(id))
        }
        Next::Do(effects) => match effects.first()? {
            Effect::Apply(id) => (at(id), format!("apply {}", words(phase(&id.gvk))), Some(id)),
            Effect::WriteHookRun { run, .. } => (at_hook(&run.event, last), format!("run {} hooks", run.event), None),
            Effect::CreateHook(_) => (0, "run hooks".to_owned(), None),
            Effect::BeginTests { .. } => (last, "run tests".to_owned(), None),
            Effect::Delete(id) if removing => (at(id), format!("remove {}", words(phase(&id.gvk))), Some(id)),
            Effect::DeleteUnusedNamespace => (last, "remove the namespace".to_owned(), None),
            Effect::Delete(id) => (last, "remove objects that are no longer part of the release".to_owned(), Some(id)),
            Effect::AddFinalizer
            | Effect::Adopt { .. }
            | Effect::WriteRevision { .. }
            | Effect::WriteRecord {
                status:
                    RecordStatus::PendingInstall
                    | RecordStatus::PendingUpgrade
                    | RecordStatus::PendingRollback
                    | RecordStatus::Uninstalling,
                ..
            } => (0, "record the change".to_owned(), None),
            _ => (last, "record the result".to_owned(), None),
        },
    };
    Some(Step { index: place + 1, of: last + 1, name, object: object.cloned() })
}

fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::NamespacesAndCrds => "namespaces and CRDs",
        Phase::Config => "accounts, roles and configuration",
        Phase::Services => "services",
        Phase::Workloads => "workloads",
        Phase::Webhooks => "webhooks and API services",
        Phase::CustomResources => "custom resources",
    }
}

#[cfg(test)]
mod tests {
    use fitout_model::Gvk;

    use super::*;

    fn id(api_version: &str, kind: &str) -> ObjectId {
        ObjectId { gvk: Gvk::new(api_version, kind), namespace: "shop".to_owned(), name: "web".to_owned() }
    }

    fn quiet(next: &Next) -> SummaryInput<'_> {
        SummaryInput {
            release: Owner { name: "web", namespace: "shop" },
            removing: false,
            suspended: false,
            waits_for_node: false,
            unprepared: None,
            failure: None,
            next,
            notice: None,
            unhealthy: None,
        }
    }

    #[test]
    fn the_first_thing_a_person_must_know_comes_first() {
        let (done, work) = (Next::Done, Next::Await(vec![]));
        let wrong = RenderError::Invalid("no".to_owned());
        let unresolved = RenderError::Unresolved("none".to_owned());
        let blocked = Next::Blocked { object: id("v1", "ConfigMap"), owner: Some("release a in b".to_owned()) };
        let taken = Next::ReleaseExists(3);
        let helms = "release web already exists in namespace shop, at revision 3, and does not belong to this instance; take it over with `fitout \
                     adopt`, remove it with `helm uninstall web --namespace shop`, or choose another release name";
        let remedy = "ConfigMap/shop/web already exists and belongs to release a in b; delete it, or choose another release name";
        let rows = [
            (quiet(&done), Summary::Installed),
            (quiet(&work), Summary::Applying),
            (quiet(&blocked), Summary::Blocked(remedy.to_owned())),
            (quiet(&taken), Summary::Blocked(helms.to_owned())),
            (SummaryInput { unhealthy: Some("ill"), ..quiet(&done) }, Summary::Progressing("ill".to_owned())),
            (SummaryInput { waits_for_node: true, unhealthy: Some("ill"), ..quiet(&done) }, Summary::NoReadyNode),
            (SummaryInput { suspended: true, waits_for_node: true, ..quiet(&done) }, Summary::Suspended),
            (
                SummaryInput { failure: Some("denied"), suspended: true, ..quiet(&work) },
                Summary::Failed("denied".to_owned()),
            ),
            (
                SummaryInput { unprepared: Some(&wrong), failure: Some("x"), ..quiet(&done) },
                Summary::Invalid("no".to_owned()),
            ),
            (SummaryInput { unprepared: Some(&unresolved), ..quiet(&done) }, Summary::Unresolved("none".to_owned())),
            (SummaryInput { removing: true, unprepared: Some(&wrong), ..quiet(&work) }, Summary::Removing(None)),
            (
                SummaryInput { removing: true, failure: Some("denied"), ..quiet(&work) },
                Summary::Failed("denied".to_owned()),
            ),
        ];
        for (situation, expected) in rows {
            assert_eq!(summarize(&situation), expected, "{situation:?}");
        }
    }

    #[test]
    fn steps_count_up_to_the_last() {
        let (map, deployment) = (id("v1", "ConfigMap"), id("apps/v1", "Deployment"));
        let objects = [map.clone(), deployment.clone()];
        let said = |next: &Next, removing| {
            current_step(next, &objects, removing).map(|step| {
                let object = step.object.map(|id| format!(" at {id}")).unwrap_or_default();
                format!("{} of {}: {}{object}", step.index, step.of, step.name)
            })
        };
        let one = |effect: Effect| Next::Do(vec![effect]);
        let record = |status| one(Effect::WriteRecord { number: 1, status });
        let installing = [
            (one(Effect::AddFinalizer), "1 of 4: record the change"),
            (record(RecordStatus::PendingInstall), "1 of 4: record the change"),
            (one(Effect::Apply(map.clone())), "2 of 4: apply accounts, roles and configuration at ConfigMap/shop/web"),
            (Next::Await(vec![deployment.clone()]), "3 of 4: wait for workloads at Deployment/shop/web"),
            (
                one(Effect::Delete(id("v1", "Secret"))),
                "4 of 4: remove objects that are no longer part of the release at Secret/shop/web",
            ),
            (record(RecordStatus::Deployed), "4 of 4: record the result"),
        ];
        for (next, expected) in installing {
            assert_eq!(said(&next, false).as_deref(), Some(expected));
        }
        let removing = [
            (record(RecordStatus::Uninstalling), "1 of 4: record the change"),
            (one(Effect::Delete(deployment)), "2 of 4: remove workloads at Deployment/shop/web"),
            (
                Next::Await(vec![map]),
                "3 of 4: wait for accounts, roles and configuration to be gone at ConfigMap/shop/web",
            ),
            (one(Effect::RemoveFinalizer), "4 of 4: record the result"),
        ];
        for (next, expected) in removing {
            assert_eq!(said(&next, true).as_deref(), Some(expected));
        }
        assert_eq!(said(&Next::Done, false), None);
    }
}
