//! What a person sees of an instance.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use fitout_api::conditions::{self, ConditionStatus, ConditionUpdate};
use fitout_api::{ExtensionInstance, ExtensionInstanceStatus, ObjectCount, RevisionSummary, Step, Unhealthy, reasons};
use fitout_cluster_client::{ClusterClient, Disconnected};
use fitout_health::Health;
use fitout_model::ObjectId;
use fitout_reconcile::{Action, Next, Outcome, Revision, Summary, SummaryInput, current_step, summarize};
use kube::runtime::events::{Event, EventType};
use kube::{Api, Resource, ResourceExt};

use crate::Hub;
use crate::cache::indexes::key;
use crate::reconcile::state::{Cause, Round, Worker, owner};
use crate::storage::api_writes;

/// Writes the status of an instance, if there is anything new to say. Says whether that worked.
pub(crate) async fn report(hub: &Hub, target: &ClusterClient, session: &Worker, round: &Round<'_>) -> bool {
    let instance = round.instance;
    // Once it is let go, there is nobody left to tell.
    if instance.metadata.deletion_timestamp.is_some() && !session.recorded.has_finalizer {
        return true;
    }
    ask_why(target, session).await;
    let said = || session.said.lock().unwrap_or_else(PoisonError::into_inner);
    let before = said().clone().unwrap_or_default();
    let status = status(before.clone(), target, session, round);
    if status == before {
        return true;
    }
    let told = publish(hub, instance, &before, &status).await;
    if told {
        *said() = Some(status);
    }
    told
}

/// How long something may take to become healthy before the cluster is asked why it is not.
const GRACE: Duration = Duration::from_secs(1);

/// How long an answer to why something is not healthy is good for.
const GOOD_FOR: Duration = Duration::from_secs(2);

/// Asks the cluster why the first workload that is not healthy is not: the pod, its event, its last words.
async fn ask_why(target: &ClusterClient, session: &Worker) {
    let ill = |id: &&ObjectId| {
        let workload = ["apps", "batch"].contains(&id.gvk.group.as_str()) || id.gvk.kind == "Pod";
        let health = target.object_cache().get(id).map(|cached| cached.health);
        workload && health.is_some_and(|health| health != Health::Current)
    };
    let known = || session.cause.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(object) = session.inventory().iter().find(ill).cloned() else {
        *known() = None;
        return;
    };
    let now = Instant::now();
    let (sentence, due) = match known().take().filter(|cause| cause.object == object) {
        Some(Cause { sentence, due, .. }) => (sentence, due),
        None => (None, now + GRACE),
    };
    let (sentence, due) =
        if due <= now { (target.cause(&object).await.ok().flatten(), now + GOOD_FOR) } else { (sentence, due) };
    *known() = Some(Cause { object, sentence, due });
}

/// Says of an instance that its cluster does not answer.
pub(crate) async fn lost(hub: &Hub, instance: &ExtensionInstance, reason: &Disconnected) {
    let sentence = format!("cluster {}: {reason}; it goes on when the cluster answers", instance.spec.cluster);
    say(hub, instance, reasons::ready::WAITING, &sentence).await;
}

/// Says of an instance that it could not even be looked at.
pub(crate) async fn failed(hub: &Hub, instance: &ExtensionInstance, sentence: &str) {
    say(hub, instance, reasons::ready::FAILED, sentence).await;
}

/// Says why an instance is not Ready, and leaves all else as it was said.
async fn say(hub: &Hub, instance: &ExtensionInstance, reason: &'static str, sentence: &str) {
    // What was said since this one was heard of is not to be unsaid.
    let now = hub.now(instance).await.ok().flatten();
    let instance = now.as_deref().unwrap_or(instance);
    let mut status = instance.status.clone().unwrap_or_default();
    let before = status.clone();
    for (type_, holds, reason) in [
        (conditions::READY, ConditionStatus::False, reason),
        (conditions::RECONCILING, ConditionStatus::True, reasons::reconciling::CHANGED),
    ] {
        let finding = ConditionUpdate {
            type_,
            status: holds,
            reason,
            message: sentence.to_owned(),
            generation: instance.metadata.generation,
        };
        conditions::set(&mut status.conditions, finding, &api_writes::now());
    }
    status.observed_generation = instance.metadata.generation;
    if status != before {
        publish(hub, instance, &before, &status).await;
    }
}

/// Writes a status, and an event where it is worth one. Says whether it was written.
async fn publish(
    hub: &Hub,
    instance: &ExtensionInstance,
    before: &ExtensionInstanceStatus,
    status: &ExtensionInstanceStatus,
) -> bool {
    let api: Api<ExtensionInstance> = Api::namespaced(hub.client.clone(), &instance.namespace().unwrap_or_default());
    match api_writes::replace_status(&hub.client, &api, instance, status).await {
        Ok(version) => hub.cache.expect_instance(&key(instance), version),
        Err(error) => {
            tracing::warn!(instance = instance.name_any(), %error, "status");
            return false;
        }
    }
    if let Some(event) = transition(before, status) {
        tracing::info!(reason = event.reason, "{}", event.note.as_deref().unwrap_or_default());
        hub.deferred_writes.tell(event, instance.object_ref(&()));
    }
    true
}

/// An event for each time that `Ready` comes to another end than before: what a person would want to be told of.
fn transition(before: &ExtensionInstanceStatus, after: &ExtensionInstanceStatus) -> Option<Event> {
    let reason = |status: &ExtensionInstanceStatus| {
        conditions::find(&status.conditions, conditions::READY)
            .map(|ready| (ready.reason.clone(), ready.message.clone()))
    };
    let (now, message) = reason(after)?;
    // That work goes on is in the status; that it has ended is worth an event.
    if now == reasons::ready::PROGRESSING || reason(before).is_some_and(|(earlier, _)| earlier == now) {
        return None;
    }
    let type_ = if now == reasons::ready::FAILED { EventType::Warning } else { EventType::Normal };
    Some(Event { type_, reason: now, note: Some(message), action: "Reconcile".to_owned(), secondary: None })
}

fn status(
    mut status: ExtensionInstanceStatus,
    target: &ClusterClient,
    session: &Worker,
    round: &Round,
) -> ExtensionInstanceStatus {
    let deployed = session.recorded.revisions.iter().rev().find(|revision| revision.outcome == Some(Outcome::Deployed));
    let ids = session.inventory();
    // What is there and not well comes before what is not there yet: that waits for it.
    let ill = ids.iter().find_map(|id| match target.object_cache().get(id).map(|cached| cached.health)? {
        Health::Current => None,
        health => {
            let cause = session.cause.lock().unwrap_or_else(PoisonError::into_inner);
            let why = cause.as_ref().filter(|cause| cause.object == *id).and_then(|cause| cause.sentence.clone());
            Some((id, why.or_else(|| Some(health.cause()?.message.clone())).unwrap_or_default()))
        }
    });
    let missing = || ids.iter().find(|id| target.object_cache().get(id).is_none());
    let unhealthy = ill.or_else(|| missing().map(|id| (id, "it is not there".to_owned())));
    let ready =
        ids.iter().filter(|id| target.object_cache().get(id).is_some_and(|cached| cached.health == Health::Current));
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    status.objects =
        Some(ObjectCount { total: count(ids.len()), ready: count(ready.count()) }).filter(|all| all.total > 0);
    status.first_unhealthy =
        unhealthy.as_ref().map(|(id, message)| Unhealthy { object: id.to_string(), message: message.clone() });
    status.foreign_revision = match round.next {
        Next::ForeignRevision(newest) => newest.or(deployed.map(|revision| revision.number)),
        Next::ReleaseExists(newest) => Some(*newest),
        _ => None,
    };
    status.revision = deployed.map(|revision| revision.number);
    status.version = deployed.and_then(|revision| session.versions.get(&revision.number).cloned());
    if let Ok(prepared) = round.prepared {
        // Why it was chosen stays true once it is installed.
        if status.wanted_version.as_ref() != Some(&prepared.version)
            || round.instance.metadata.generation != status.observed_generation
        {
            status.why = Some(prepared.why.clone()).filter(|why| !why.is_empty());
        }
        status.wanted_version = Some(prepared.version.clone());
    }
    status.revisions = session.recorded.revisions.iter().rev().map(|revision| summary(revision, session)).collect();
    status.observed_generation = round.instance.metadata.generation;
    let removing = round.instance.metadata.deletion_timestamp.is_some();
    status.step = current_step(round.next, ids, removing).map(|step| Step {
        index: count(step.index),
        of: count(step.of),
        name: step.name,
        object: step.object.map(|id| id.to_string()),
    });
    let is_at_work = matches!(round.next, Next::Do(_) | Next::Await(_));
    let unhealthy = unhealthy.map(|(id, message)| format!("{id}: {message}"));
    let summarize = summarize(&SummaryInput {
        release: owner(round.instance),
        removing,
        suspended: round.instance.spec.suspend,
        waits_for_node: session.recorded.revisions.is_empty() && target.info().nodes.ready == 0,
        unprepared: round.prepared.as_ref().err(),
        failure: round.failure,
        // A test is no change of what is installed.
        next: if session.is_testing() && is_at_work { &Next::Done } else { round.next },
        unhealthy: unhealthy.as_deref(),
    });
    describe(&mut status, round, &summarize);
    status
}

fn summary(revision: &Revision, session: &Worker) -> RevisionSummary {
    RevisionSummary {
        number: revision.number,
        version: session.versions.get(&revision.number).cloned().unwrap_or_default(),
        action: match revision.action {
            Action::Install => fitout_api::Action::Install,
            Action::Upgrade => fitout_api::Action::Upgrade,
            Action::Rollback => fitout_api::Action::Rollback,
            Action::Adopt => fitout_api::Action::Adopt,
        },
        result: match revision.outcome {
            None => fitout_api::Outcome::Running,
            Some(Outcome::Deployed) => fitout_api::Outcome::Succeeded,
            Some(Outcome::Superseded) => fitout_api::Outcome::Superseded,
        },
        at: session.times.get(&revision.number).cloned(),
    }
}

fn describe(status: &mut ExtensionInstanceStatus, round: &Round, summarize: &Summary) {
    let generation = round.instance.metadata.generation;
    let now = api_writes::now();
    let why = status.why.clone();
    let mut say = |type_, holds, reason, message: &str| {
        let finding = ConditionUpdate { type_, status: holds, reason, message: message.to_owned(), generation };
        conditions::set(&mut status.conditions, finding, &now);
    };
    let version = round.prepared.as_ref().map(|prepared| prepared.version.clone()).unwrap_or_default();
    match summarize {
        Summary::Unresolved(message) => {
            say(conditions::RESOLVED, ConditionStatus::False, reasons::resolved::NOTHING_FITS, message);
        }
        Summary::Removing => {}
        _ => {
            let why = why.unwrap_or_default();
            say(conditions::RESOLVED, ConditionStatus::True, reasons::resolved::RESOLVED, &why);
        }
    }
    match summarize {
        Summary::Installed | Summary::Progressing(_) => {
            say(
                conditions::APPLIED,
                ConditionStatus::True,
                reasons::applied::APPLIED,
                "every object is on the cluster",
            );
        }
        Summary::ForeignRevision(message) => {
            say(conditions::APPLIED, ConditionStatus::False, reasons::applied::FOREIGN_REVISION, message);
        }
        Summary::Failed(message) | Summary::Blocked(message) | Summary::Invalid(message) => {
            say(conditions::APPLIED, ConditionStatus::False, reasons::applied::REFUSED, message);
        }
        Summary::Unresolved(_) | Summary::Suspended | Summary::NoReadyNode => {
            say(conditions::APPLIED, ConditionStatus::Unknown, reasons::applied::APPLYING, "nothing is being written");
        }
        Summary::Applying => {
            say(conditions::APPLIED, ConditionStatus::False, reasons::applied::APPLYING, "objects are being written");
        }
        Summary::Removing => {
            say(conditions::APPLIED, ConditionStatus::False, reasons::applied::APPLYING, "objects are being removed");
        }
    }
    match summarize {
        Summary::Installed => {
            say(conditions::HEALTHY, ConditionStatus::True, reasons::healthy::HEALTHY, "every object is healthy");
        }
        Summary::Progressing(message) => {
            say(conditions::HEALTHY, ConditionStatus::False, reasons::healthy::STARTING, message);
        }
        _ => say(
            conditions::HEALTHY,
            ConditionStatus::Unknown,
            reasons::healthy::STARTING,
            "not everything is applied yet",
        ),
    }
    let (holds, reason, message) = match summarize {
        Summary::Installed => (ConditionStatus::True, reasons::ready::INSTALLED, format!("{version} is installed")),
        Summary::Progressing(message) => (ConditionStatus::False, reasons::ready::PROGRESSING, message.clone()),
        Summary::Applying => {
            (ConditionStatus::False, reasons::ready::PROGRESSING, format!("{version} is being installed"))
        }
        Summary::Suspended => {
            (ConditionStatus::False, reasons::ready::SUSPENDED, "it is suspended: nothing is written".to_owned())
        }
        Summary::NoReadyNode => {
            let message = "the cluster has no Ready node; it goes on when there is one";
            (ConditionStatus::False, reasons::ready::WAITING, message.to_owned())
        }
        Summary::Removing => (ConditionStatus::False, reasons::ready::REMOVING, "it is being removed".to_owned()),
        Summary::Failed(message)
        | Summary::ForeignRevision(message)
        | Summary::Blocked(message)
        | Summary::Invalid(message)
        | Summary::Unresolved(message) => (ConditionStatus::False, reasons::ready::FAILED, message.clone()),
    };
    say(conditions::READY, holds, reason, &message);
    let undecided = matches!(summarize, Summary::ForeignRevision(_));
    let stalled = undecided || matches!(summarize, Summary::Invalid(_) | Summary::Blocked(_) | Summary::Unresolved(_));
    let working =
        matches!(summarize, Summary::Applying | Summary::Progressing(_) | Summary::Failed(_) | Summary::Removing);
    if stalled {
        let reason = if undecided { reasons::stalled::NEEDS_DECISION } else { reasons::stalled::INVALID_SPEC };
        say(conditions::STALLED, ConditionStatus::True, reason, &message);
    } else {
        conditions::clear(&mut status.conditions, conditions::STALLED);
    }
    if working {
        let finding = ConditionUpdate {
            type_: conditions::RECONCILING,
            status: ConditionStatus::True,
            reason: reasons::reconciling::CHANGED,
            message,
            generation,
        };
        conditions::set(&mut status.conditions, finding, &now);
    } else {
        conditions::clear(&mut status.conditions, conditions::RECONCILING);
    }
}
