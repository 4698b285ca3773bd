//! How an instance stands, and the step it is at, for people.

use std::collections::BTreeSet;

use fitout_helm_release::HookEvent;
use fitout_model::ObjectId;
use fitout_plan::{Owner, Phase, RenderError, phase};

use crate::{Effect, Next, RecordStatus};

/// What is known of an instance when it is asked how it stands.
#[derive(Clone, Copy, Debug)]
pub struct SummaryInput<'a> {
    /// The release that it is.
    pub release: Owner<'a>,
    /// Nobody wants it any more.
    pub removing: bool,
    /// It is watched, and nothing is written.
    pub suspended: bool,
    /// It was not begun, for want of a Ready node.
    pub waits_for_node: bool,
    /// Why there is nothing to install.
    pub unprepared: Option<&'a RenderError>,
    /// What went wrong just now.
    pub failure: Option<&'a str>,
    /// What is to be done now.
    pub next: &'a Next,
    /// The first object that is not healthy, and why.
    pub unhealthy: Option<&'a str>,
}

/// How an instance stands, with a sentence where there is something to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summary {
    /// It goes.
    Removing,
    /// No version fits.
    Unresolved(String),
    /// What was found cannot be rendered.
    Invalid(String),
    /// Something of somebody else's is in the way.
    Blocked(String),
    /// Another hand has changed the release, and a person has to choose.
    ForeignRevision(String),
    /// A write failed, and is tried again.
    Failed(String),
    /// It is watched, and nothing is written.
    Suspended,
    /// It waits for a node.
    NoReadyNode,
    /// Objects are being written.
    Applying,
    /// All is written, and not all of it is healthy.
    Progressing(String),
    /// All is written and healthy.
    Installed,
}

/// The answer to the first question a person has.
pub fn summarize(now: &SummaryInput) -> Summary {
    let failed = || now.failure.map(|failure| Summary::Failed(failure.to_owned()));
    if now.removing {
        return failed().unwrap_or(Summary::Removing);
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

/// What to do about an object that is not ours.
pub(crate) fn not_ours(object: &ObjectId, owner: Option<&str>) -> String {
    match owner {
        Some(owner) => format!("{object} belongs to {owner}; remove it, or choose another release name"),
        None => format!("{object} is there and no release's; remove it, or install into another namespace"),
    }
}

/// What to do about a release that is not ours.
pub(crate) fn taken(release: Owner, newest: u32) -> String {
    let Owner { name, namespace } = release;
    format!(
        "release {name} is in {namespace} already, at revision {newest}, and is not this instance's; take it over with \
         `fitout adopt`, remove it with `helm uninstall {name} --namespace {namespace}`, or choose another release name"
    )
}

/// What to do about a release that another hand changed.
pub(crate) fn changed(release: Owner, newest: Option<u32>) -> String {
    let Owner { name, namespace } = release;
    match newest {
        Some(newest) => format!(
            "release {name} in {namespace} is at revision {newest}, which another hand made; `fitout adopt` keeps that, \
             `fitout reassert` installs again what is wanted here"
        ),
        None => format!(
            "release {name} in {namespace} was removed by another hand; `fitout reassert` installs it again, `fitout \
             uninstall` lets it go"
        ),
    }
}

/// What to say of a hook that failed, and why it did where that is known.
pub fn hook_failure_message(object: &ObjectId, event: &HookEvent, cause: Option<&str>) -> String {
    match cause {
        Some(cause) => format!("{event} hook {object} failed: {cause}"),
        None => format!("{event} hook {object} failed"),
    }
}

/// What to do about it.
const REMEDY: &str = "correct the values, or give it longer with healthyWithinSeconds";

/// What to say of an object that did not become healthy in its time, and why where that is known.
pub fn health_timeout_message(object: &ObjectId, cause: Option<&str>) -> String {
    match cause {
        Some(cause) => format!("{object} did not become healthy in time: {cause}; {REMEDY}"),
        None => format!("{object} did not become healthy in time; {REMEDY}"),
    }
}

/// The place of a moment among the steps: with what comes before them all, or after.
fn at_hook(event: &HookEvent, last: usize) -> usize {
    if event.as_str().starts_with("pre-") { 0 } else { last }
}

/// One of the steps that a change goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which one it is, from 1.
    pub index: usize,
    /// How many there are.
    pub of: usize,
    /// What it does.
    pub name: String,
    /// The object it is at.
    pub object: Option<ObjectId>,
}

/// The step that is running, of a change to these objects; none when nothing is.
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
            Effect::Delete(id) => (last, "remove what is no longer part of it".to_owned(), Some(id)),
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
            } => (0, "record what is going to be done".to_owned(), None),
            _ => (last, "record what was done".to_owned(), None),
        },
    };
    Some(Step { index: place + 1, of: last + 1, name, object: object.cloned() })
}

fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::NamespacesAndCrds => "namespaces and definitions",
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
        let helms = "release web is in shop already, at revision 3, and is not this instance's; take it over with `fitout \
                     adopt`, remove it with `helm uninstall web --namespace shop`, or choose another release name";
        let remedy = "ConfigMap/shop/web belongs to release a in b; remove it, or choose another release name";
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
            (SummaryInput { removing: true, unprepared: Some(&wrong), ..quiet(&work) }, Summary::Removing),
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
            (one(Effect::AddFinalizer), "1 of 4: record what is going to be done"),
            (record(RecordStatus::PendingInstall), "1 of 4: record what is going to be done"),
            (one(Effect::Apply(map.clone())), "2 of 4: apply accounts, roles and configuration at ConfigMap/shop/web"),
            (Next::Await(vec![deployment.clone()]), "3 of 4: wait for workloads at Deployment/shop/web"),
            (one(Effect::Delete(id("v1", "Secret"))), "4 of 4: remove what is no longer part of it at Secret/shop/web"),
            (record(RecordStatus::Deployed), "4 of 4: record what was done"),
        ];
        for (next, expected) in installing {
            assert_eq!(said(&next, false).as_deref(), Some(expected));
        }
        let removing = [
            (record(RecordStatus::Uninstalling), "1 of 4: record what is going to be done"),
            (one(Effect::Delete(deployment)), "2 of 4: remove workloads at Deployment/shop/web"),
            (
                Next::Await(vec![map]),
                "3 of 4: wait for accounts, roles and configuration to be gone at ConfigMap/shop/web",
            ),
            (one(Effect::RemoveFinalizer), "4 of 4: record what was done"),
        ];
        for (next, expected) in removing {
            assert_eq!(said(&next, true).as_deref(), Some(expected));
        }
        assert_eq!(said(&Next::Done, false), None);
    }
}
