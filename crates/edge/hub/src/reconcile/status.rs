//! The status of an instance, and when it is written.

use std::time::{Duration, Instant};

use fitout_api::conditions::{self, ConditionStatus, ConditionUpdate};
use fitout_api::{ExtensionInstance, ExtensionInstanceStatus, ObjectCount, RevisionSummary, Step, Unhealthy, reasons};
use fitout_cluster_client::Disconnected;
use fitout_health::Health;
use fitout_model::ObjectId;
use fitout_reconcile::{Next, Revision, SummaryInput, conditions as conditions_of, current_step, summarize};
use kube::runtime::events::{Event, EventType};
use kube::{Api, Resource, ResourceExt};

use crate::Hub;
use crate::cache::indexes::key;
use crate::reconcile::convert::{self, owner};
use crate::reconcile::worker::{Round, Worker};
use crate::storage::api_writes;

/// How long a workload may take to become healthy before the cluster is asked for the cause.
const GRACE: Duration = Duration::from_secs(1);

/// How long the cause of an unhealthy workload stays valid.
const CAUSE_VALID_FOR: Duration = Duration::from_secs(2);

/// The status that a worker has written, and what it reports next.
#[derive(Default)]
pub(crate) struct StatusReporter {
    /// The last status: the cache may not have it yet.
    last: Option<ExtensionInstanceStatus>,
    /// When progress was last reported.
    reported_at: Option<Instant>,
    /// The first unhealthy workload.
    cause: Option<Cause>,
    /// A message for the user about what stays after a removal.
    notice: Option<String>,
}

/// Why a workload is not healthy, and when the cluster is asked next.
struct Cause {
    object: ObjectId,
    message: Option<String>,
    due: Instant,
}

impl StatusReporter {
    pub(crate) fn new(last: Option<ExtensionInstanceStatus>) -> Self {
        Self { last, ..Self::default() }
    }

    /// The status as it was written last.
    pub(crate) fn last(&self) -> Option<&ExtensionInstanceStatus> {
        self.last.as_ref()
    }

    /// Notes a status that was written.
    pub(crate) fn note_written(&mut self, status: ExtensionInstanceStatus) {
        self.last = Some(status);
    }

    /// Adds a message to the status, which is reported at once.
    pub(crate) fn set_notice(&mut self, notice: String) {
        self.notice = Some(notice);
        self.reported_at = None;
    }

    /// The time since progress was last reported, or counted as reported.
    pub(crate) fn since_last(&self) -> Option<Duration> {
        self.reported_at.map(|at| at.elapsed())
    }

    /// Starts the report interval now: a change that ends within it is reported once, at its end.
    pub(crate) fn start_interval(&mut self) {
        self.reported_at = Some(Instant::now());
    }

    /// Starts the report interval, unless it has started.
    pub(crate) fn start_interval_once(&mut self) {
        self.reported_at.get_or_insert_with(Instant::now);
    }

    /// Whether a workload is unhealthy.
    pub(crate) fn has_unhealthy_workload(&self) -> bool {
        self.cause.is_some()
    }

    /// The cause why an object is not healthy, as far as the cluster was asked.
    fn cause(&self, id: &ObjectId) -> Option<String> {
        self.cause.as_ref().filter(|cause| cause.object == *id).and_then(|cause| cause.message.clone())
    }
}

impl Worker {
    /// Writes the status of the instance if it has changed. Returns whether the hub's API server has the current one.
    pub(crate) async fn report(&mut self, round: &Round<'_>) -> bool {
        let instance = round.instance;
        self.reporter.start_interval();
        // Without the finalizer, the instance no longer exists.
        if instance.metadata.deletion_timestamp.is_some() && !self.recorded.has_finalizer {
            return true;
        }
        self.ask_for_cause().await;
        let before = self.reporter.last.clone().unwrap_or_default();
        let status = self.status(before.clone(), round);
        if status == before {
            return true;
        }
        let written = publish(&self.hub, instance, &before, &status).await;
        if written {
            self.reporter.last = Some(status);
        }
        written
    }

    /// Asks the cluster why the first unhealthy workload is unhealthy: its pod, the event, the last log lines.
    async fn ask_for_cause(&mut self) {
        let unhealthy = |id: &&ObjectId| {
            let workload = ["apps", "batch"].contains(&id.gvk.group.as_str()) || id.gvk.kind == "Pod";
            workload && self.health(id).is_some_and(|health| health != Health::Current)
        };
        let Some(object) = self.inventory().iter().find(unhealthy).cloned() else {
            self.reporter.cause = None;
            return;
        };
        let now = Instant::now();
        let (message, due) = match self.reporter.cause.take().filter(|cause| cause.object == object) {
            Some(Cause { message, due, .. }) => (message, due),
            None => (None, now + GRACE),
        };
        let (message, due) = if due <= now {
            (self.target.cause(&object).await.ok().flatten(), now + CAUSE_VALID_FOR)
        } else {
            (message, due)
        };
        self.reporter.cause = Some(Cause { object, message, due });
    }

    fn health(&self, id: &ObjectId) -> Option<Health> {
        self.target.object_cache().get(id).map(|cached| cached.health)
    }

    /// The first unhealthy object, with the cause. Objects that exist come first: missing ones wait for them.
    fn first_unhealthy(&self) -> Option<(&ObjectId, String)> {
        let unhealthy = self.inventory().iter().find_map(|id| match self.health(id)? {
            Health::Current => None,
            health => {
                let cause = self.reporter.cause(id).or_else(|| Some(health.cause()?.message.clone()));
                Some((id, cause.unwrap_or_default()))
            }
        });
        let missing = || self.inventory().iter().find(|id| self.health(id).is_none());
        unhealthy.or_else(|| missing().map(|id| (id, "the object does not exist".to_owned())))
    }

    fn status(&self, mut status: ExtensionInstanceStatus, round: &Round) -> ExtensionInstanceStatus {
        let instance = round.instance;
        let generation = instance.metadata.generation;
        let removing = instance.metadata.deletion_timestamp.is_some();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let ids = self.inventory();
        let deployed = self.recorded.deployed();
        let unhealthy = self.first_unhealthy();
        let ready = ids.iter().filter(|id| self.health(id) == Some(Health::Current)).count();
        status.objects = Some(ObjectCount { total: count(ids.len()), ready: count(ready) }).filter(|all| all.total > 0);
        status.first_unhealthy =
            unhealthy.as_ref().map(|(id, message)| Unhealthy { object: id.to_string(), message: message.clone() });
        status.foreign_revision = match round.next {
            Next::ForeignRevision(newest) => newest.or(deployed.map(|revision| revision.number)),
            Next::ReleaseExists(newest) => Some(*newest),
            _ => None,
        };
        status.revision = deployed.map(|revision| revision.number);
        status.version = deployed.map(|revision| revision.version.clone());
        if let Ok(rendered) = round.rendered {
            // The reason of the choice stays until another version or spec is chosen.
            if status.wanted_version.as_ref() != Some(&rendered.version) || generation != status.observed_generation {
                status.why = Some(rendered.why.clone()).filter(|why| !why.is_empty());
            }
            status.wanted_version = Some(rendered.version.clone());
        }
        status.revisions =
            self.recorded.revisions.iter().rev().map(|revision| self.revision_summary(revision)).collect();
        status.observed_generation = generation;
        status.step = current_step(round.next, ids, removing).map(|step| Step {
            index: count(step.index),
            of: count(step.of),
            name: step.name,
            object: step.object.map(|id| id.to_string()),
        });
        let is_at_work = matches!(round.next, Next::Do(_) | Next::Await(_));
        let failure = round.failure.map(ToString::to_string);
        let unhealthy = unhealthy.map(|(id, message)| format!("{id}: {message}"));
        let summary = summarize(&SummaryInput {
            release: owner(instance),
            removing,
            suspended: instance.spec.suspend,
            waits_for_node: self.recorded.revisions.is_empty() && self.target.info().nodes.ready == 0,
            unprepared: round.rendered.as_ref().err(),
            failure: failure.as_deref(),
            // A test does not change what is installed.
            next: if self.recorded.is_testing() && is_at_work { &Next::Done } else { round.next },
            notice: self.reporter.notice.as_deref(),
            unhealthy: unhealthy.as_deref(),
        });
        let version = round.rendered.as_ref().map(|rendered| rendered.version.clone()).unwrap_or_default();
        let all = conditions_of(&summary, &version, &status.why.clone().unwrap_or_default());
        for type_ in [conditions::STALLED, conditions::RECONCILING] {
            if all.iter().all(|state| state.type_ != type_) {
                conditions::clear(&mut status.conditions, type_);
            }
        }
        let now = api_writes::now();
        for state in all {
            let update = ConditionUpdate {
                type_: state.type_,
                status: state.status,
                reason: state.reason,
                message: state.message,
                generation,
            };
            conditions::set(&mut status.conditions, update, &now);
        }
        status
    }

    fn revision_summary(&self, revision: &Revision) -> RevisionSummary {
        RevisionSummary {
            number: revision.number,
            version: revision.version.clone(),
            action: convert::action(revision.action),
            result: convert::outcome(revision.outcome),
            at: self.started.get(&revision.number).cloned(),
        }
    }
}

/// Reports that the cluster of an instance does not answer.
pub(crate) async fn lost(hub: &Hub, instance: &ExtensionInstance, reason: &Disconnected) {
    let message = format!("cluster {}: {reason}; the change continues when the cluster answers", instance.spec.cluster);
    report_not_ready(hub, instance, reasons::ready::WAITING, &message).await;
}

/// Reports that the state of an instance could not be read.
pub(crate) async fn failed(hub: &Hub, instance: &ExtensionInstance, message: &str) {
    report_not_ready(hub, instance, reasons::ready::FAILED, message).await;
}

/// Writes why an instance is not ready, and changes nothing else of its status.
async fn report_not_ready(hub: &Hub, instance: &ExtensionInstance, reason: &'static str, message: &str) {
    // The cache may be behind the status that the worker wrote last.
    let current = hub.now(instance).await.ok().flatten();
    let instance = current.as_deref().unwrap_or(instance);
    let mut status = instance.status.clone().unwrap_or_default();
    let before = status.clone();
    for (type_, holds, reason) in [
        (conditions::READY, ConditionStatus::False, reason),
        (conditions::RECONCILING, ConditionStatus::True, reasons::reconciling::CHANGED),
    ] {
        let generation = instance.metadata.generation;
        let update = ConditionUpdate { type_, status: holds, reason, message: message.to_owned(), generation };
        conditions::set(&mut status.conditions, update, &api_writes::now());
    }
    status.observed_generation = instance.metadata.generation;
    if status != before {
        publish(hub, instance, &before, &status).await;
    }
}

/// Writes a status, and an event for a transition. Returns whether the status was written.
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
            tracing::warn!(instance = instance.name_any(), %error, "failed to write status");
            return false;
        }
    }
    if let Some(event) = transition(before, status) {
        tracing::info!(reason = event.reason, "{}", event.note.as_deref().unwrap_or_default());
        hub.deferred_writes.tell(event, instance.object_ref(&()));
    }
    true
}

/// The event for a change of the reason of `Ready`. Progress is no event; its end is one.
fn transition(before: &ExtensionInstanceStatus, after: &ExtensionInstanceStatus) -> Option<Event> {
    let ready = |status: &ExtensionInstanceStatus| {
        conditions::find(&status.conditions, conditions::READY)
            .map(|ready| (ready.reason.clone(), ready.message.clone()))
    };
    let (reason, message) = ready(after)?;
    if reason == reasons::ready::PROGRESSING || ready(before).is_some_and(|(earlier, _)| earlier == reason) {
        return None;
    }
    let type_ = if reason == reasons::ready::FAILED { EventType::Warning } else { EventType::Normal };
    Some(Event { type_, reason, note: Some(message), action: "Reconcile".to_owned(), secondary: None })
}
