//! The worker of one instance: in each round it observes, decides, acts and reports, and then waits for a notification.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use fitout_api::{Choice, ExtensionInstance, ExtensionRevision, FINALIZER, FailurePolicy};
use fitout_cluster_client::{ClusterClient, Connectivity, Slot};
use fitout_model::ObjectId;
use fitout_plan::{RenderError, RenderedRelease};
use fitout_reconcile::{
    Action, Effect, HealthDeadline, Next, Notification, Pause, PauseInput, Recorded, Wanted, current_step, give_up,
    health_timeout_message, hook_failure_message, next, pause, report_delay, wakes,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tracing::Instrument;

use crate::Hub;
use crate::controllers::finalizers;
use crate::metrics::{GaugeGuard, RUNNING, WAITING};
use crate::reconcile::convert;
use crate::reconcile::observe::Objects;
use crate::reconcile::progress::Progress;
use crate::reconcile::records::Records;
use crate::reconcile::render::RenderCache;
use crate::reconcile::retry::{Backoff, ReconcileError, RetryState};
use crate::reconcile::status::{self, StatusReporter};

/// How long calls that were in flight when connectivity was lost may take once it is back. The cluster may carry out such a
/// write after a later read.
const IN_FLIGHT: Duration = Duration::from_millis(300);

/// The state of one instance. It is never more than what is recorded and on the cluster, so a worker can end at any time and
/// another one takes over.
pub(crate) struct Worker {
    pub(crate) hub: Arc<Hub>,
    pub(crate) target: Arc<ClusterClient>,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The recorded state. Only this worker writes it, so it need not wait for the cache.
    pub(crate) recorded: Recorded,
    /// The newest revision number, also after the revision is removed.
    pub(crate) newest_revision: u32,
    /// When each revision was started.
    pub(crate) started: BTreeMap<u32, Time>,
    pub(crate) records: Records,
    pub(crate) objects: Objects,
    pub(crate) render_cache: RenderCache,
    pub(crate) reporter: StatusReporter,
    pub(crate) retry: RetryState,
    /// Held while the worker changes the cluster, but not while it waits for objects.
    slot: Option<(Slot, GaugeGuard)>,
    progress: Progress,
}

/// The result of a round, as input of the report.
pub(crate) struct Round<'a> {
    pub(crate) instance: &'a ExtensionInstance,
    pub(crate) rendered: &'a Result<Arc<RenderedRelease>, RenderError>,
    pub(crate) next: &'a Next,
    pub(crate) failure: Option<&'a ReconcileError>,
}

/// The result of a round, as far as the pause depends on it.
struct Outcome {
    next: Next,
    failure: Option<ReconcileError>,
    /// The time left until the progress may be reported.
    report: Option<Duration>,
}

/// Why a worker ended.
enum Ended {
    /// The instance is gone.
    Gone,
    /// The cluster does not answer.
    Lost,
    /// The result of a write is unknown: everything is read again after a pause.
    Unsure,
    /// Another client has changed the release: everything is read again now.
    Outdated,
}

/// Runs the worker of an instance until the instance is gone.
pub(crate) async fn run(hub: Arc<Hub>, target: Arc<ClusterClient>, namespace: String, name: String) {
    let mut backoff = Backoff::default();
    let mut known = None;
    loop {
        known = hub.cache.instance(&namespace, &name).or(known);
        let lost = watch::Sender::new(false);
        let ended = {
            let mut worker = pin!(run_worker(&hub, &target, &namespace, &name, lost.subscribe(), &mut backoff));
            tokio::select! {
                ended = &mut worker => ended,
                reason = target.connectivity().until_lost() => {
                    lost.send_replace(true);
                    if let Some(instance) = hub.cache.instance(&namespace, &name) {
                        let span = Progress::new(hub.metrics.clone(), &instance).span();
                        status::lost(&hub, &instance, &reason).instrument(span).await;
                    }
                    until_connected(target.connectivity(), worker).await;
                    Ended::Lost
                }
            }
        };
        match ended {
            Ended::Gone => {
                if let Some(instance) = &known
                    && let Err(error) = finalizers::remove_unapplied_revisions(&hub, &target, instance).await
                {
                    tracing::warn!(instance = name, %error, "failed to remove revisions of deleted instance");
                }
                return;
            }
            Ended::Lost => backoff = Backoff::default(),
            Ended::Unsure => sleep(backoff.next_pause()).await,
            Ended::Outdated => {}
        }
    }
}

/// Waits until the cluster answers again and the calls in flight have ended.
async fn until_connected(connectivity: &Connectivity, worker: impl Future<Output = Ended>) {
    let late = async {
        connectivity.until_connected().await;
        sleep(IN_FLIGHT).await;
    };
    tokio::select! {
        _ = worker => connectivity.until_connected().await,
        () = late => {}
    }
}

/// Reads the recorded state of an instance and works on it.
async fn run_worker(
    hub: &Arc<Hub>,
    target: &Arc<ClusterClient>,
    namespace: &str,
    name: &str,
    lost: watch::Receiver<bool>,
    backoff: &mut Backoff,
) -> Ended {
    let Some(instance) = hub.cache.instance(namespace, name) else { return Ended::Gone };
    let opened = async {
        hub.write_ahead_log.create_revision(hub, &(namespace.to_owned(), name.to_owned())).await?;
        let (instance, revisions) = hub.read_consistent(&instance).await?;
        Worker::open(hub, target, &instance, &revisions).await
    };
    match opened.await {
        Ok(mut worker) => worker.work(lost, backoff).await,
        Err(error) => {
            let span = Progress::new(hub.metrics.clone(), &instance).span();
            status::failed(hub, &instance, &error.to_string()).instrument(span).await;
            Ended::Unsure
        }
    }
}

impl Worker {
    /// Creates a worker from the recorded state of its instance.
    pub(crate) async fn open(
        hub: &Arc<Hub>,
        target: &Arc<ClusterClient>,
        instance: &ExtensionInstance,
        revisions: &[Arc<ExtensionRevision>],
    ) -> Result<Self, ReconcileError> {
        let namespace = &instance.spec.namespace;
        let namespace_exists = target.has_namespace(namespace).await?;
        let records = Records::load(target, instance, revisions, namespace_exists).await?;
        let mut objects = Objects::new(target);
        objects.namespaces.insert(namespace.clone(), namespace_exists);
        let mut revisions = revisions.to_vec();
        revisions.sort_by_key(|revision| revision.spec.number);
        let status = instance.status.as_ref();
        let deployed = status.and_then(|status| status.revision);
        let started = |revision: &Arc<ExtensionRevision>| Some((revision.spec.number, revision.creation_timestamp()?));
        Ok(Self {
            hub: Arc::clone(hub),
            target: Arc::clone(target),
            namespace: instance.namespace().unwrap_or_default(),
            name: instance.name_any(),
            recorded: Recorded {
                has_finalizer: instance.finalizers().iter().any(|finalizer| finalizer == FINALIZER),
                revisions: revisions.iter().map(|revision| convert::revision(revision, deployed)).collect(),
                tested: status.and_then(|status| status.test.as_ref()).map(convert::tested),
                namespace_handled: false,
            },
            newest_revision: revisions.last().map_or(0, |revision| revision.spec.number),
            started: revisions.iter().filter_map(started).collect(),
            records,
            objects,
            render_cache: RenderCache::default(),
            reporter: StatusReporter::new(instance.status.clone()),
            retry: RetryState::default(),
            slot: None,
            progress: Progress::new(hub.metrics.clone(), instance),
        })
    }

    /// Runs rounds until the worker has to end.
    async fn work(&mut self, mut lost: watch::Receiver<bool>, backoff: &mut Backoff) -> Ended {
        let instance_changes = self.hub.cache.instance_changes(&self.namespace, &self.name);
        let mut dependencies = self.hub.cache.others();
        let mut info = self.target.info_changes();
        let mut catalogs = self.hub.catalogs.changes();
        loop {
            catalogs.mark_unchanged();
            dependencies.mark_unchanged();
            info.mark_unchanged();
            let Some(instance) = self.hub.cache.instance(&self.namespace, &self.name) else { return Ended::Gone };
            if self.records.is_outdated() {
                return Ended::Outdated;
            }
            let outcome = self.round(&instance, &lost).await;
            if *lost.borrow() {
                return Ended::Lost;
            }
            match &outcome.failure {
                None if matches!(outcome.next, Next::Do(_)) => continue,
                None => {}
                Some(error) => {
                    self.progress.span().in_scope(|| tracing::warn!(%error, "round failed"));
                    if !error.is_outcome_known() {
                        return Ended::Unsure;
                    }
                }
            }
            // Namespaces may be created or deleted during the pause.
            self.objects.namespaces.clear();
            let pause = self.pause(&instance, &outcome, backoff);
            let woken = async {
                loop {
                    let notification = tokio::select! {
                        _ = lost.changed() => return Some(Ended::Lost),
                        () = self.objects.subscription.changed() => Notification::Object,
                        () = self.records.changed() => {
                            Notification::Record { out_of_band: self.records.is_outdated() }
                        }
                        changed = info.changed() => match changed {
                            Ok(()) => Notification::ClusterInfo,
                            Err(_) => return Some(Ended::Gone),
                        },
                        changed = catalogs.changed() => match changed {
                            Ok(()) => Notification::Catalog,
                            Err(_) => return Some(Ended::Gone),
                        },
                        changed = dependencies.changed() => match changed {
                            Ok(()) => Notification::Dependency,
                            Err(_) => return Some(Ended::Gone),
                        },
                        () = instance_changes.changed() => {
                            let now = self.hub.cache.instance(&self.namespace, &self.name);
                            Notification::Instance { changed: !now.is_some_and(|now| Arc::ptr_eq(&now, &instance)) }
                        }
                    };
                    if wakes(notification) {
                        return None;
                    }
                }
            };
            let notified = match pause {
                Some(pause) => timeout(pause, woken).await.ok(),
                None => Some(woken.await),
            };
            match notified {
                Some(Some(ended)) => return ended,
                // Another notification may have come first.
                Some(None) if *lost.borrow() => return Ended::Lost,
                Some(None) => {
                    *backoff = Backoff::default();
                    self.retry.health = Backoff::default();
                }
                // The pause is over: the next one is longer.
                None => {}
            }
        }
    }

    /// How long the worker waits for a notification; `None`: without limit.
    fn pause(&mut self, instance: &ExtensionInstance, outcome: &Outcome, backoff: &mut Backoff) -> Option<Duration> {
        let input = PauseInput {
            failed: outcome.failure.is_some(),
            stopped: instance.spec.on_failure == FailurePolicy::Stop && self.has_failed(),
            hook_retry: self.retry.hook.left(),
            fetch_retry: self.render_cache.retry_in(),
            deadline: self.time_left(instance),
            report: outcome.report,
            unhealthy: self.reporter.has_unhealthy_workload(),
        };
        match pause(&input) {
            Pause::UntilNotified => None,
            Pause::For(pause) => Some(pause),
            Pause::Backoff => Some(backoff.next_pause()),
            Pause::HealthCheck { at_most } => {
                Some(self.retry.health.next_pause().min(at_most.unwrap_or(Duration::MAX)))
            }
        }
    }

    /// One round: observe, decide, act, report.
    async fn round(&mut self, instance: &ExtensionInstance, lost: &watch::Receiver<bool>) -> Outcome {
        self.progress.wake();
        let span = self.progress.span();

        // Observe: the desired release and the state of the cluster.
        let rendered = self.render(instance).instrument(span.clone()).await;
        let release = rendered.as_ref().ok();
        let desired = self.desired(instance, release.map(AsRef::as_ref));
        let observed = self.observe(instance, &desired, release.map(AsRef::as_ref)).instrument(span).await;

        // Decide and act.
        let (next, failure) = match observed {
            Ok(observed) => {
                let next = next(&desired, &self.recorded, &observed);
                self.enter(&next, release).await;
                if let Err(error) = self.ensure_no_out_of_band_change(&next, instance).await {
                    // Not reported: the worker reads the records again, and then reports what it finds.
                    self.slot = None;
                    return Outcome { next, failure: Some(error), report: None };
                }
                let failure = self.act(&next, instance, &rendered).await.err();
                (next, failure)
            }
            Err(error) => (Next::Done, Some(error)),
        };
        if failure.as_ref().is_some_and(ReconcileError::is_terminal) {
            self.give_up(instance).await;
        }
        if !matches!(next, Next::Do(_)) || failure.is_some() {
            self.slot = None;
        }
        if *lost.borrow() {
            return Outcome { next, failure, report: None };
        }

        // Report: results at once, progress at an interval.
        let transient = failure.is_none() && self.is_transient(&next);
        let report = report_delay(transient, self.reporter.since_last(), self.target.changes().is_contended());
        if report.is_some() {
            return Outcome { next, failure, report };
        }
        let span = self.progress.span();
        let round = Round { instance, rendered: &rendered, next: &next, failure: failure.as_ref() };
        let written = self.report(&round).instrument(span).await;
        let failure = failure.or_else(|| (!written).then_some(ReconcileError::StatusNotWritten));
        Outcome { next, failure, report: None }
    }

    /// Prepares to act on a decision: acquires a slot if effects change the cluster.
    async fn enter(&mut self, next: &Next, release: Option<&Arc<RenderedRelease>>) {
        if let Next::Do(effects) = next {
            if self.needs_no_slot(effects, release) {
                self.reporter.start_interval_once();
            } else {
                self.acquire_slot().await;
            }
        }
    }

    /// Acts on a decision: carries out effects, or fails where nothing more can be done.
    async fn act(
        &mut self,
        next: &Next,
        instance: &ExtensionInstance,
        rendered: &Result<Arc<RenderedRelease>, RenderError>,
    ) -> Result<(), ReconcileError> {
        let removing = instance.metadata.deletion_timestamp.is_some();
        let step = current_step(next, self.inventory(), removing);
        self.progress.enter(step.as_ref().map(|step| step.name.as_str()));
        self.objects.follow(&self.target, next);
        match next {
            Next::Do(effects) => {
                let span = self.progress.span();
                self.carry_out(effects, instance, rendered.as_ref().ok()).instrument(span).await
            }
            Next::HookFailed { object, event } => {
                if instance.spec.on_failure == FailurePolicy::Retry {
                    self.retry.hook.fail(std::time::Instant::now());
                }
                let cause = self.retry.hook_cause.as_deref();
                Err(ReconcileError::HookFailed(hook_failure_message(object, event, cause)))
            }
            Next::HealthTimeout(object) => {
                let cause = self.target.cause(object).await.ok().flatten();
                let cause = cause.or_else(|| {
                    self.target.object_cache().get(object)?.health.cause().map(|cause| cause.message.clone())
                });
                Err(ReconcileError::HealthTimeout(health_timeout_message(object, cause.as_deref())))
            }
            // What is installed stays as it is, and the missing input is asked for again.
            Next::Done => match rendered {
                Err(error @ RenderError::Unavailable(_)) => Err(error.clone().into()),
                _ => Ok(()),
            },
            Next::Await(_) | Next::Blocked { .. } | Next::ReleaseExists(_) | Next::ForeignRevision(_) => Ok(()),
        }
    }

    /// Marks the release record as failed, if the core decides to give up.
    async fn give_up(&mut self, instance: &ExtensionInstance) {
        let policy = convert::failure_policy(instance.spec.on_failure);
        if let Some(effect) = give_up(policy, &self.recorded, &self.records.statuses)
            && let Err(error) = self.carry_out(&[effect], instance, None).await
        {
            tracing::warn!(%error, "failed to mark the release record as failed");
        }
    }

    /// Waits for a slot to change the cluster, unless the worker has one.
    async fn acquire_slot(&mut self) {
        if self.slot.is_none() {
            self.progress.enter(Some("wait for a slot"));
            let waiting = self.hub.metrics.change(WAITING);
            let slot = self.target.changes().acquire().await;
            drop(waiting);
            self.slot = slot.map(|slot| (slot, self.hub.metrics.change(RUNNING)));
            self.reporter.start_interval();
        }
    }

    pub(crate) fn has_slot(&self) -> bool {
        self.slot.is_some()
    }

    /// Whether effects do not change the cluster. While other changes wait for a slot, the first revision goes to the
    /// write-ahead log without one, unless the chart that it names would have to be stored first.
    fn needs_no_slot(&self, effects: &[Effect], release: Option<&Arc<RenderedRelease>>) -> bool {
        match (effects, release) {
            ([Effect::AddFinalizer], _) => true,
            ([Effect::WriteRevision { number: 1, action: Action::Install }], Some(release)) => {
                let archive = release.chosen.as_ref().and_then(|chosen| chosen.archive.as_ref());
                !self.has_slot()
                    && self.target.changes().is_contended()
                    && archive.is_none_or(|archive| self.hub.cache.names_content(&archive.digest))
                    && self.hub.write_ahead_log.is_new(&self.key())
            }
            _ => false,
        }
    }

    /// Whether the status of this round is likely to change soon.
    fn is_transient(&self, next: &Next) -> bool {
        let healthy = |id| self.target.object_cache().get(id).is_some_and(|cached| cached.health.is_current());
        match next {
            Next::Do(_) | Next::Await(_) => true,
            Next::Done => !self.inventory().iter().all(healthy),
            _ => false,
        }
    }

    /// Whether the revision in progress has failed for good.
    fn has_failed(&self) -> bool {
        self.recorded.has_failed(&self.records.statuses)
    }

    /// The objects of the newest revision.
    pub(crate) fn inventory(&self) -> &[ObjectId] {
        self.recorded.revisions.last().map_or(&[], |last| &last.inventory)
    }

    /// The desired state of the instance, with its rendered release.
    pub(crate) fn desired(&self, instance: &ExtensionInstance, rendered: Option<&RenderedRelease>) -> Wanted {
        let spec = &instance.spec;
        Wanted {
            present: instance.metadata.deletion_timestamp.is_none(),
            suspended: spec.suspend || self.waits_for_node(rendered),
            artifact: rendered.map(|rendered| rendered.artifact.clone()),
            retry: self.retry.hook.left() == Some(Duration::ZERO),
            takeover: spec.takeover.as_ref().map(|takeover| fitout_reconcile::Takeover {
                revision: takeover.revision,
                keep: takeover.choice == Choice::Adopt,
            }),
            test: spec.test_run,
            history: self.hub.options.history,
            health_deadline: match (spec.healthy_within(), self.time_left(instance)) {
                (None, _) => HealthDeadline::None,
                (Some(_), Some(Duration::ZERO)) => HealthDeadline::Exceeded,
                (Some(_), _) => HealthDeadline::Pending,
            },
            keep_namespace: spec.keep_namespace,
        }
    }

    /// The time left for the revision in progress to become healthy, if it has a deadline.
    fn time_left(&self, instance: &ExtensionInstance) -> Option<Duration> {
        let within = instance.spec.healthy_within()?;
        let revision = self.recorded.in_progress()?;
        let took = Timestamp::now().duration_since(self.started.get(&revision.number)?.0);
        Some(within.saturating_sub(took.unsigned_abs()))
    }

    /// Whether the install waits for a Ready node.
    pub(crate) fn waits_for_node(&self, rendered: Option<&RenderedRelease>) -> bool {
        let early = self.recorded.revisions.is_empty() && self.target.info().nodes.ready == 0;
        early && rendered.is_some_and(|rendered| !rendered.bootstrap)
    }
}
