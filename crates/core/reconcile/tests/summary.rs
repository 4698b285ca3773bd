//! The summary of an instance: which condition it has in which situation, case by case.

#![allow(clippy::unwrap_used, clippy::too_many_lines, reason = "a table of cases")]

use fitout_helm_release::HookEvent;
use fitout_model::conditions::{ConditionStatus, READY};
use fitout_model::{Gvk, ObjectId};
use fitout_plan::{Owner, RenderError};
use fitout_reconcile::{ConditionState, Effect, Next, RecordStatus, SummaryInput, conditions, summarize};

fn id(api_version: &str, kind: &str, name: &str) -> ObjectId {
    ObjectId { gvk: Gvk::new(api_version, kind), namespace: "shop".to_owned(), name: name.to_owned() }
}

fn of(next: &Next) -> SummaryInput<'_> {
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

/// One line for all conditions but their messages, and then the message of `Ready`.
fn line(input: &SummaryInput) -> (String, String) {
    let all = conditions(&summarize(input), "1.2.3", "1.2.3 is the newest version that fits");
    let text = |condition: &ConditionState| {
        let mark = match condition.status {
            ConditionStatus::True => "+",
            ConditionStatus::False => "-",
            ConditionStatus::Unknown => "?",
        };
        format!("{mark}{}:{}", condition.type_, condition.reason)
    };
    let ready = all.iter().find(|condition| condition.type_ == READY).unwrap();
    (all.iter().map(text).collect::<Vec<_>>().join(" "), ready.message.clone())
}

const INSTALLED: &str = "+Resolved:Resolved +Applied:Applied +Healthy:Healthy +Ready:Installed";
const STARTING: &str = "+Resolved:Resolved +Applied:Applied -Healthy:Starting -Ready:Progressing +Reconciling:Changed";
const APPLYING: &str = "+Resolved:Resolved -Applied:Applying ?Healthy:Starting -Ready:Progressing +Reconciling:Changed";
const FAILED: &str = "+Resolved:Resolved -Applied:Refused ?Healthy:Starting -Ready:Failed +Reconciling:Changed";
const INVALID: &str = "+Resolved:Resolved -Applied:Refused ?Healthy:Starting -Ready:Failed +Stalled:InvalidSpec";
const UNRESOLVED: &str = "-Resolved:NothingFits ?Applied:Applying ?Healthy:Starting -Ready:Failed +Stalled:InvalidSpec";
const DECISION: &str =
    "+Resolved:Resolved -Applied:ForeignRevision ?Healthy:Starting -Ready:Failed +Stalled:NeedsDecision";
const SUSPENDED: &str = "+Resolved:Resolved ?Applied:Applying ?Healthy:Starting -Ready:Suspended";
const WAITING: &str = "+Resolved:Resolved ?Applied:Applying ?Healthy:Starting -Ready:Waiting";
const REMOVING: &str = "-Applied:Applying ?Healthy:Starting -Ready:Removing +Reconciling:Changed";
const NOT_REMOVED: &str = "+Resolved:Resolved -Applied:Refused ?Healthy:Starting -Ready:Failed +Reconciling:Changed";

#[test]
fn conditions_of_every_situation() {
    let deployment = || id("apps/v1", "Deployment", "web");
    let (done, nothing_awaited) = (Next::Done, Next::Await(vec![]));
    let awaited = Next::Await(vec![deployment()]);
    let apply = Next::Do(vec![Effect::Apply(deployment())]);
    let delete = Next::Do(vec![Effect::Delete(deployment())]);
    let hold = Next::Do(vec![Effect::AddFinalizer]);
    let record = Next::Do(vec![Effect::WriteRecord { number: 1, status: RecordStatus::PendingInstall }]);
    let tests = Next::Do(vec![Effect::BeginTests { number: 1, run: 1 }]);
    let release_namespace = Next::Do(vec![Effect::DeleteUnusedNamespace]);
    let blocked = Next::Blocked { object: deployment(), owner: None };
    let blocked_by = Next::Blocked { object: deployment(), owner: Some("release a in namespace b".to_owned()) };
    let exists = Next::ReleaseExists(3);
    let changed = Next::ForeignRevision(Some(4));
    let removed = Next::ForeignRevision(None);
    let hook = Next::HookFailed { object: id("batch/v1", "Job", "migrate"), event: HookEvent::PreUpgrade };
    let timeout = Next::HealthTimeout(deployment());
    let unresolved = RenderError::Unresolved("no version fits".to_owned());
    let invalid = RenderError::Invalid("the chart refuses replicas".to_owned());
    let unavailable = RenderError::Unavailable("the repository does not answer".to_owned());

    let exists_already = "Deployment/shop/web already exists and belongs to ";
    let rows: Vec<(&str, SummaryInput, &str, &str)> = vec![
        // A change that goes well.
        ("installed", of(&done), INSTALLED, "1.2.3 is installed"),
        ("finalizer", of(&hold), APPLYING, "1.2.3 is being installed"),
        ("record", of(&record), APPLYING, "1.2.3 is being installed"),
        ("apply", of(&apply), APPLYING, "1.2.3 is being installed"),
        ("prune", of(&delete), APPLYING, "1.2.3 is being installed"),
        ("wait", of(&awaited), APPLYING, "1.2.3 is being installed"),
        ("wait for nothing", of(&nothing_awaited), APPLYING, "1.2.3 is being installed"),
        ("tests", of(&tests), APPLYING, "1.2.3 is being installed"),
        ("unhealthy", SummaryInput { unhealthy: Some("a: b"), ..of(&done) }, STARTING, "a: b"),
        (
            "unhealthy while applying",
            SummaryInput { unhealthy: Some("a: b"), ..of(&apply) },
            APPLYING,
            "1.2.3 is being installed",
        ),
        ("notice without removal", SummaryInput { notice: Some("n"), ..of(&done) }, INSTALLED, "1.2.3 is installed"),
        // Waits.
        (
            "no node",
            SummaryInput { waits_for_node: true, ..of(&done) },
            WAITING,
            "the cluster has no Ready node; the install starts when it has one",
        ),
        (
            "no node, unhealthy",
            SummaryInput { waits_for_node: true, unhealthy: Some("a"), ..of(&done) },
            WAITING,
            "the cluster has no Ready node; the install starts when it has one",
        ),
        ("no node, at work", SummaryInput { waits_for_node: true, ..of(&apply) }, APPLYING, "1.2.3 is being installed"),
        (
            "suspended",
            SummaryInput { suspended: true, ..of(&done) },
            SUSPENDED,
            "the instance is suspended: nothing is written",
        ),
        (
            "suspended, unhealthy",
            SummaryInput { suspended: true, unhealthy: Some("a"), ..of(&done) },
            SUSPENDED,
            "the instance is suspended: nothing is written",
        ),
        (
            "suspended, no node",
            SummaryInput { suspended: true, waits_for_node: true, ..of(&done) },
            SUSPENDED,
            "the instance is suspended: nothing is written",
        ),
        // Failures.
        ("failure", SummaryInput { failure: Some("denied"), ..of(&apply) }, FAILED, "denied"),
        ("failure at rest", SummaryInput { failure: Some("denied"), ..of(&done) }, FAILED, "denied"),
        (
            "failure, suspended",
            SummaryInput { failure: Some("denied"), suspended: true, ..of(&done) },
            FAILED,
            "denied",
        ),
        (
            "failure, unhealthy",
            SummaryInput { failure: Some("denied"), unhealthy: Some("a"), ..of(&done) },
            FAILED,
            "denied",
        ),
        (
            "failure, no node",
            SummaryInput { failure: Some("denied"), waits_for_node: true, ..of(&done) },
            FAILED,
            "denied",
        ),
        ("hook", of(&hook), FAILED, "pre-upgrade hook Job/shop/migrate failed"),
        (
            "hook with cause",
            SummaryInput { failure: Some("pre-upgrade hook failed: exit code 1"), ..of(&hook) },
            FAILED,
            "pre-upgrade hook failed: exit code 1",
        ),
        (
            "deadline",
            of(&timeout),
            FAILED,
            "Deployment/shop/web did not become healthy in time; correct the values, or give it \
            longer with healthyWithinSeconds",
        ),
        ("deadline with cause", SummaryInput { failure: Some("no image"), ..of(&timeout) }, FAILED, "no image"),
        // Another owner, or another client.
        (
            "object of no release",
            of(&blocked),
            INVALID,
            "Deployment/shop/web already exists and belongs to no Helm release; \
            delete it, or install into another namespace",
        ),
        (
            "object of a release",
            of(&blocked_by),
            INVALID,
            "Deployment/shop/web already exists and belongs to release a in \
            namespace b; delete it, or choose another release name",
        ),
        ("blocked, failure", SummaryInput { failure: Some("denied"), ..of(&blocked) }, FAILED, "denied"),
        (
            "release exists",
            of(&exists),
            INVALID,
            "release web already exists in namespace shop, at revision 3, and does not belong \
            to this instance; take it over with `fitout adopt`, remove it with `helm uninstall web --namespace shop`, or choose \
            another release name",
        ),
        (
            "release changed",
            of(&changed),
            DECISION,
            "release web in namespace shop was changed out of band, to revision 4; \
            `fitout adopt` keeps that revision, `fitout reassert` restores the desired one",
        ),
        (
            "release removed",
            of(&removed),
            DECISION,
            "release web in namespace shop was removed out of band; `fitout reassert` \
            installs it again, `fitout uninstall` removes the instance, too",
        ),
        (
            "release changed, suspended",
            SummaryInput { suspended: true, ..of(&changed) },
            SUSPENDED,
            "the instance is suspended: nothing is written",
        ),
        // No release to install.
        ("unresolved", SummaryInput { unprepared: Some(&unresolved), ..of(&done) }, UNRESOLVED, "no version fits"),
        (
            "unresolved, suspended",
            SummaryInput { unprepared: Some(&unresolved), suspended: true, ..of(&done) },
            UNRESOLVED,
            "no version fits",
        ),
        ("invalid", SummaryInput { unprepared: Some(&invalid), ..of(&done) }, INVALID, "the chart refuses replicas"),
        (
            "invalid, failure",
            SummaryInput { unprepared: Some(&invalid), failure: Some("x"), ..of(&done) },
            INVALID,
            "the chart refuses replicas",
        ),
        (
            "invalid, unhealthy",
            SummaryInput { unprepared: Some(&invalid), unhealthy: Some("x"), ..of(&done) },
            INVALID,
            "the chart refuses replicas",
        ),
        (
            "unavailable",
            SummaryInput { unprepared: Some(&unavailable), ..of(&done) },
            FAILED,
            "the repository does not answer",
        ),
        (
            "unavailable, failure",
            SummaryInput { unprepared: Some(&unavailable), failure: Some("x"), ..of(&done) },
            FAILED,
            "the repository does not answer",
        ),
        // Removal.
        ("removal", SummaryInput { removing: true, ..of(&delete) }, REMOVING, "the instance is being removed"),
        (
            "removal, waiting",
            SummaryInput { removing: true, ..of(&awaited) },
            REMOVING,
            "the instance is being removed",
        ),
        (
            "removal, invalid",
            SummaryInput { removing: true, unprepared: Some(&invalid), ..of(&delete) },
            REMOVING,
            "the instance is being removed",
        ),
        (
            "removal, suspended",
            SummaryInput { removing: true, suspended: true, ..of(&delete) },
            REMOVING,
            "the instance is being removed",
        ),
        (
            "removal, namespace",
            SummaryInput { removing: true, ..of(&release_namespace) },
            REMOVING,
            "the instance is being removed",
        ),
        (
            "removal, namespace stays",
            SummaryInput { removing: true, notice: Some("namespace shop stays"), ..of(&done) },
            REMOVING,
            "the instance is being removed; namespace shop stays",
        ),
        (
            "removal, failure",
            SummaryInput { removing: true, failure: Some("denied"), ..of(&delete) },
            NOT_REMOVED,
            "denied",
        ),
    ];
    assert!(rows.len() >= 40, "{} cases", rows.len());
    for (name, input, expected, message) in &rows {
        assert_eq!(line(input), ((*expected).to_owned(), (*message).to_owned()), "{name}");
    }
    assert!(rows.iter().any(|(.., message)| message.starts_with(exists_already)));
}

#[test]
fn resolved_condition_has_the_reason_of_the_choice() {
    let all = conditions(&summarize(&of(&Next::Done)), "1.2.3", "1.2.3 is the newest version that fits");
    assert_eq!(all[0].message, "1.2.3 is the newest version that fits");
}
