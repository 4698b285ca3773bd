//! How a session lives: it asks what comes next, has it carried out, reports, and sleeps until there is word.

use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use fitout_api::{ExtensionInstance, FailurePolicy};
use fitout_cluster_client::{ClusterClient, Connectivity};
use fitout_plan::{RenderError, RenderedRelease};
use fitout_reconcile::{
    Action, Effect, Next, RecordStatus, current_step, health_timeout_message, hook_failure_message,
};
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::Instrument;

use crate::Hub;
use crate::metrics::{RUNNING, WAITING};
use crate::reconcile::progress::Progress;
use crate::reconcile::retry::{ReconcileError, Retry};
use crate::reconcile::state::{Round, Worker};
use crate::reconcile::status;

/// How often the status of an instance is written while it is being worked on.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// The same where others wait for their turn: each word is a write that they wait for too.
const REPORT_SELDOM: Duration = Duration::from_secs(5);

/// How long the answers to calls are waited for that were under way when connectivity was lost, once there is connectivity again. A
/// write that nobody waits for may be done later than what is then looked at.
const SETTLE: Duration = Duration::from_millis(300);

/// Why a session ended.
enum Ended {
    /// The instance is gone.
    Gone,
    /// The cluster did not answer.
    Lost,
    /// Nobody knows what came of a write: what is on record and on the cluster has to be read again, after a while.
    Unsure,
    /// It has to be read again now.
    Again,
}

/// Runs until the instance is gone. What a session knows is never more than what is on record and on the cluster, so it
/// can end anywhere and another one begins in its place.
pub(crate) async fn run(hub: Arc<Hub>, target: Arc<ClusterClient>, namespace: String, name: String) {
    let mut retry = Retry::default();
    loop {
        let lost = watch::Sender::new(false);
        let ended = {
            let mut session = pin!(begin(&hub, &target, &namespace, &name, lost.subscribe(), &mut retry));
            tokio::select! {
                ended = &mut session => ended,
                reason = target.connectivity().until_lost() => {
                    lost.send_replace(true);
                    if let Some(instance) = hub.cache.instance(&namespace, &name) {
                        let span = Progress::new(hub.metrics.clone(), &instance).span();
                        status::lost(&hub, &instance, &reason).instrument(span).await;
                    }
                    settle(target.connectivity(), session).await;
                    Ended::Lost
                }
            }
        };
        match ended {
            Ended::Gone => return,
            Ended::Lost => retry = Retry::default(),
            Ended::Unsure => sleep(retry.pause()).await,
            Ended::Again => {}
        }
    }
}

/// Waits until there is connectivity again and the session has ended, or has had time for it.
async fn settle(connectivity: &Connectivity, session: impl Future<Output = Ended>) {
    let late = async {
        connectivity.until_connected().await;
        sleep(SETTLE).await;
    };
    tokio::select! {
        _ = session => connectivity.until_connected().await,
        () = late => {}
    }
}

async fn begin(
    hub: &Arc<Hub>,
    target: &Arc<ClusterClient>,
    namespace: &str,
    name: &str,
    lost: watch::Receiver<bool>,
    retry: &mut Retry,
) -> Ended {
    let Some(instance) = hub.cache.instance(namespace, name) else { return Ended::Gone };
    let opened = async {
        hub.write_ahead_log.settle(hub, &(namespace.to_owned(), name.to_owned())).await?;
        let (instance, revisions) = hub.read_consistent(&instance).await?;
        Worker::open(hub, target, &instance, &revisions).await
    };
    match opened.await {
        Ok(mut session) => session.live(lost, retry).await,
        Err(error) => {
            let span = Progress::new(hub.metrics.clone(), &instance).span();
            status::failed(hub, &instance, &format!("{error:#}")).instrument(span).await;
            Ended::Unsure
        }
    }
}

impl Worker {
    /// Round after round, until it ends.
    async fn live(&mut self, mut lost: watch::Receiver<bool>, retry: &mut Retry) -> Ended {
        let own_changes = self.hub.cache.instance_changes(&self.namespace, &self.name);
        let mut others = self.hub.cache.others();
        let mut info = self.target.info_changes();
        let mut offers = self.hub.catalogs.changes();
        loop {
            offers.mark_unchanged();
            others.mark_unchanged();
            info.mark_unchanged();
            let Some(instance) = self.hub.cache.instance(&self.namespace, &self.name) else { return Ended::Gone };
            if self.is_outdated() {
                return Ended::Again;
            }
            let (next, trouble) = self.round(&instance, &lost).await;
            if *lost.borrow() {
                return Ended::Lost;
            }
            if trouble.is_none() && matches!(next, Next::Do(_)) {
                continue;
            }
            // By the time it goes on they may have come or gone.
            self.namespaces.clear();
            let due = *self.due.lock().unwrap_or_else(PoisonError::into_inner);
            let due = due.map(|due| due.saturating_duration_since(Instant::now()));
            // What is over has been heeded: only time that is still to come is waited for.
            let left = self.time_left(&instance).filter(|left| !left.is_zero());
            let pause = match trouble {
                Some(trouble) => {
                    let patience = self.patience.left().filter(|left| !left.is_zero());
                    let pause = patience.or(due).unwrap_or_else(|| retry.pause());
                    let why = &trouble.sentence;
                    self.progress.span().in_scope(|| tracing::warn!(why, "trying again in {pause:?}"));
                    if trouble.unsure {
                        return Ended::Unsure;
                    }
                    Some(pause).filter(|_| instance.spec.on_failure != FailurePolicy::Stop || !self.has_failed())
                }
                None if self.untold.is_some() => self.untold,
                // Why something is not healthy shows in pods and events, which nobody watches.
                None if self.is_ill() => Some(self.cause_backoff.pause().min(left.unwrap_or(Duration::MAX))),
                None => [left, due].into_iter().flatten().min(),
            };
            // Others wake us as well: sleep on until it is about us.
            let woken = async {
                loop {
                    tokio::select! {
                        _ = lost.changed() => return true,
                        () = self.subscription.changed() => return true,
                        () = self.release_subscription.changed() => {
                            if self.is_outdated() {
                                return true;
                            }
                            continue;
                        }
                        ended = info.changed() => return ended.is_ok(),
                        ended = offers.changed() => return ended.is_ok(),
                        ended = others.changed() => return ended.is_ok(),
                        () = own_changes.changed() => {}
                    }
                    let now = self.hub.cache.instance(&self.namespace, &self.name);
                    if !now.is_some_and(|now| Arc::ptr_eq(&now, &instance)) {
                        return true;
                    }
                }
            };
            let went_on = match pause {
                Some(pause) => tokio::time::timeout(pause, woken).await.ok(),
                None => Some(woken.await),
            };
            match went_on {
                Some(true) if *lost.borrow() => return Ended::Lost,
                Some(true) => {
                    *retry = Retry::default();
                    self.cause_backoff = Retry::default();
                }
                Some(false) => return Ended::Gone,
                // The pause is over: the next one is longer.
                None => {}
            }
        }
    }

    /// Asks once what comes next, and does it.
    async fn round(
        &mut self,
        instance: &ExtensionInstance,
        lost: &watch::Receiver<bool>,
    ) -> (Next, Option<ReconcileError>) {
        self.progress.wake();
        let span = self.progress.span();
        let prepared = self.rendered_for(instance).instrument(span.clone()).await;
        let (next, failure) = match self.decide(instance, &prepared).instrument(span).await {
            // What is there stays as it is, and it is asked for again.
            Ok(next @ Next::Done) if let Err(RenderError::Unavailable(sentence)) = &prepared => {
                (next, Some(ReconcileError { sentence: sentence.clone(), unsure: false, terminal: false }))
            }
            Ok(next) => {
                if let Next::Do(effects) = &next {
                    if self.is_of_the_hub(effects, prepared.as_ref().ok()) {
                        self.reported.get_or_insert_with(Instant::now);
                    } else {
                        self.acquire_slot().await;
                    }
                }
                if let Some(trouble) = self.out_of_band_change(&next, instance).await {
                    return (next, Some(trouble));
                }
                self.enter(&next, instance);
                self.follow(&next);
                let span = self.progress.span();
                let failure = match &next {
                    Next::Do(effects) => {
                        self.carry_out(effects, instance, prepared.as_ref().ok()).instrument(span).await
                    }
                    Next::HookFailed { object, event } => {
                        if instance.spec.on_failure == FailurePolicy::Retry {
                            self.patience.fail(Instant::now());
                        }
                        let cause = self.hook_cause.lock().unwrap_or_else(PoisonError::into_inner).clone();
                        Some(ReconcileError {
                            sentence: hook_failure_message(object, event, cause.as_deref()),
                            unsure: false,
                            terminal: true,
                        })
                    }
                    Next::HealthTimeout(object) => {
                        let cause = self.target.cause(object).await.ok().flatten();
                        let cause = cause.or_else(|| {
                            self.target.object_cache().get(object)?.health.cause().map(|cause| cause.message.clone())
                        });
                        let sentence = health_timeout_message(object, cause.as_deref());
                        Some(ReconcileError { sentence, unsure: false, terminal: true })
                    }
                    _ => None,
                };
                (next, failure)
            }
            Err(error) => (Next::Done, Some(ReconcileError::of(&error))),
        };
        if failure.as_ref().is_some_and(|trouble| trouble.terminal) {
            self.give_up(instance).await;
        }
        if !matches!(next, Next::Do(_)) || failure.is_some() {
            self.slot = None;
        }
        if *lost.borrow() {
            return (next, failure);
        }
        // While work goes on, a person sees it often enough; the end of it is always told.
        self.untold = None;
        if failure.is_none() && self.is_passing(&next) {
            let every = if self.hub.metrics.anybody_waits() { REPORT_SELDOM } else { REPORT_EVERY };
            let told = self.reported.and_then(|at| every.checked_sub(at.elapsed()));
            if let Some(left) = told.filter(|left| !left.is_zero()) {
                self.untold = Some(left);
                return (next, failure);
            }
        }
        self.reported = Some(Instant::now());
        let round = Round {
            instance,
            prepared: &prepared,
            next: &next,
            failure: failure.as_ref().map(|trouble| trouble.sentence.as_str()),
        };
        let told = status::report(&self.hub, &self.target, self, &round).instrument(self.progress.span()).await;
        let silent = || ReconcileError {
            sentence: "the hub's API server did not take the status".to_owned(),
            unsure: true,
            terminal: false,
        };
        (next, failure.or_else(|| (!told).then(silent)))
    }

    /// Waits for a turn to change the cluster, where it has none.
    async fn acquire_slot(&mut self) {
        if self.slot.is_none() {
            self.progress.enter(Some("wait for a turn"));
            let waiting = self.hub.metrics.change(WAITING);
            let slot = self.target.acquire_slot().await;
            drop(waiting);
            self.slot = slot.map(|slot| (slot, self.hub.metrics.change(RUNNING)));
            // What takes less than that is told once, at its end.
            self.reported = Some(Instant::now());
        }
    }

    /// Whether the cluster is not concerned by what comes next, so that it need not wait for a turn there. Where others do,
    /// what the first revision is going to be is written down with theirs; what it names has to be kept by then.
    fn is_of_the_hub(&self, effects: &[Effect], prepared: Option<&Arc<RenderedRelease>>) -> bool {
        match (effects, prepared) {
            ([Effect::AddFinalizer], _) => true,
            ([Effect::WriteRevision { number: 1, action: Action::Install }], Some(prepared)) => {
                let archive = prepared.chosen.as_ref().and_then(|chosen| chosen.archive.as_ref());
                self.slot.is_none()
                    && self.hub.metrics.anybody_waits()
                    && archive.is_none_or(|archive| self.hub.cache.names_content(&archive.digest))
                    && self.hub.write_ahead_log.is_new(&self.key())
            }
            _ => false,
        }
    }

    fn enter(&mut self, next: &Next, instance: &ExtensionInstance) {
        let removing = instance.metadata.deletion_timestamp.is_some();
        let step = current_step(next, self.inventory(), removing);
        self.progress.enter(step.as_ref().map(|step| step.name.as_str()));
    }

    /// Says in the record of the newest revision that it has failed, where it is not tried for ever.
    async fn give_up(&mut self, instance: &ExtensionInstance) {
        let last = self.recorded.revisions.last().filter(|last| last.outcome.is_none());
        let pending = last.filter(|last| self.records.contains_key(&last.number) && !self.has_failed());
        let Some(number) = pending.map(|last| last.number) else { return };
        if instance.spec.on_failure != FailurePolicy::Retry {
            let effect = Effect::WriteRecord { number, status: RecordStatus::Failed };
            if self.perform(&effect, instance, None).await.is_ok() {
                self.note(&effect, None);
            }
        }
    }

    /// Whether what is to be said now is soon to be something else.
    fn is_passing(&self, next: &Next) -> bool {
        let healthy = |id| self.target.object_cache().get(id).is_some_and(|cached| cached.health.is_current());
        match next {
            Next::Do(_) | Next::Await(_) => true,
            Next::Done => !self.inventory().iter().all(healthy),
            _ => false,
        }
    }

    fn is_ill(&self) -> bool {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
