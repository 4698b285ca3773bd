//! The session of one instance: asks what comes next, carries it out, reports.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use fitout_api::{
    Choice, ExtensionInstance, ExtensionInstanceStatus, ExtensionRevision, FINALIZER, FailurePolicy, ObjectName, Scope,
    Test, TestResult,
};
use fitout_change::{
    Action, Effect, Next, Outcome, RecordStatus, Recorded, Revision, Run, Settling, Tested, Wanted, failed_hook,
    record, running, unsettled,
};
use fitout_model::{Digest, Gvk, ObjectId};
use fitout_plan::{Ignore, Prepared, Unprepared};
use fitout_release::Release;
use fitout_target::{AbortOnDrop, Contact, Hearing, Interest, Owner, Target};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::{Api, ResourceExt};
use time::OffsetDateTime;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::sleep;
use tracing::Instrument;

use crate::measures::{Counted, RUNNING, WAITING};
use crate::progress::Progress;
use crate::trouble::{Outdated, Patience, Retry, Trouble};
use crate::{Hub, SYSTEM, status};

/// How often the status of an instance is written while it is being worked on.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// How long the answers to calls are waited for that were under way when contact was lost, once there is contact again. A
/// write that nobody waits for may be done later than what is then looked at.
const SETTLE: Duration = Duration::from_millis(300);

pub(crate) struct Session {
    pub(crate) hub: Arc<Hub>,
    pub(crate) target: Arc<Target>,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Only this session writes them, so it need not wait for the index to see its own writes.
    pub(crate) recorded: Recorded,
    pub(crate) records: BTreeMap<u32, RecordStatus>,
    /// The newest of them, where somebody else wrote it.
    pub(crate) foreign: Option<u32>,
    /// How the hooks of the newest revision went.
    pub(crate) runs: BTreeMap<usize, Run>,
    /// The version of each record, as we read or wrote it.
    pub(crate) record_versions: Mutex<BTreeMap<u32, u64>>,
    /// Tells of whatever anybody writes to the records.
    pub(crate) hearing: Hearing,
    /// When the release was first installed.
    pub(crate) first_deployed: Option<OffsetDateTime>,
    /// The labels that the release had.
    pub(crate) labels: BTreeMap<String, String>,
    /// When a hook that has failed is tried again.
    pub(crate) patience: Patience,
    pub(crate) versions: BTreeMap<u32, String>,
    /// When each revision was begun.
    pub(crate) times: BTreeMap<u32, Time>,
    /// Every object that matters to it.
    pub(crate) interest: Interest,
    /// Those of them that are still to be looked at.
    pub(crate) unlooked: BTreeSet<ObjectId>,
    /// What others may take of them, as far as a person says so, when they were looked at.
    pub(crate) ignore: Vec<Ignore>,
    /// Which namespaces are there, as far as that was asked since the session last slept.
    pub(crate) namespaces: BTreeMap<String, bool>,
    reported: Option<Instant>,
    /// After how long what goes on is told, where that is too soon now.
    untold: Option<Duration>,
    /// Held while there is something to write, and not while something is waited for.
    leave: Option<(OwnedSemaphorePermit, Counted)>,
    progress: Progress,
    /// The record that was written last, so that it need not be read to be changed.
    pub(crate) written: Mutex<Option<Release>>,
    /// What was said last: the index may not have heard it yet, and it is not to be said again.
    pub(crate) said: Mutex<Option<ExtensionInstanceStatus>>,
    /// What was prepared last, and from what.
    pub(crate) prepared: Option<(Digest, Result<Arc<Prepared>, Unprepared>)>,
    /// When what could not be prepared is prepared again, although nothing that we know of has changed.
    pub(crate) due: Mutex<Option<Instant>>,
    /// What was rendered from what, as far as that is on record.
    pub(crate) inputs: BTreeMap<u32, String>,
    /// Objects that have to be made anew: the cluster has refused to change them.
    pub(crate) fixed: BTreeSet<ObjectId>,
    /// Why the hook that failed last did.
    pub(crate) hook_cause: Mutex<Option<String>>,
    /// The object that was found to be unhealthy, why, and when that was asked.
    pub(crate) cause: Mutex<Option<Cause>>,
    /// When the object that is not healthy is asked for again.
    relook: Retry,
    /// The objects that no other watch shows, as long as they are waited for.
    pub(crate) followed: BTreeMap<ObjectId, AbortOnDrop>,
}

/// What a session found out in one round, for the report.
pub(crate) struct Round<'a> {
    pub(crate) instance: &'a ExtensionInstance,
    pub(crate) prepared: &'a Result<Arc<Prepared>, Unprepared>,
    pub(crate) next: &'a Next,
    pub(crate) failure: Option<&'a str>,
}

/// A revision that another hand made, as it is on record.
pub(crate) struct Adopted {
    pub(crate) revision: Revision,
    pub(crate) version: String,
    pub(crate) inputs: Option<Digest>,
}

/// Why an object is not healthy, as far as that was asked, and when it is asked next.
pub(crate) struct Cause {
    pub(crate) object: ObjectId,
    pub(crate) sentence: Option<String>,
    pub(crate) due: Instant,
}

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
pub(crate) async fn run(hub: Arc<Hub>, target: Arc<Target>, namespace: String, name: String) {
    let mut retry = Retry::default();
    loop {
        let lost = watch::Sender::new(false);
        let ended = {
            let mut session = pin!(begin(&hub, &target, &namespace, &name, lost.subscribe(), &mut retry));
            tokio::select! {
                ended = &mut session => ended,
                reason = target.contact().until_lost() => {
                    lost.send_replace(true);
                    if let Some(instance) = hub.index.instance(&namespace, &name) {
                        let span = Progress::new(hub.measures.clone(), &instance).span();
                        status::lost(&hub, &instance, &reason).instrument(span).await;
                    }
                    settle(target.contact(), session).await;
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

/// Waits until there is contact again and the session has ended, or has had time for it.
async fn settle(contact: &Contact, session: impl Future<Output = Ended>) {
    let late = async {
        contact.until_restored().await;
        sleep(SETTLE).await;
    };
    tokio::select! {
        _ = session => contact.until_restored().await,
        () = late => {}
    }
}

async fn begin(
    hub: &Arc<Hub>,
    target: &Arc<Target>,
    namespace: &str,
    name: &str,
    lost: watch::Receiver<bool>,
    retry: &mut Retry,
) -> Ended {
    let Some(instance) = hub.index.instance(namespace, name) else { return Ended::Gone };
    let of_instance =
        |found: &Arc<ExtensionRevision>| found.namespace().as_deref() == Some(namespace) && found.spec.instance == name;
    let known: Vec<_> = hub.index.revisions.state().into_iter().filter(of_instance).collect();
    let opened = async {
        let revisions = if instance.status.is_none() { still_there(hub, known).await? } else { known };
        Session::open(hub, target, &instance, &revisions).await
    };
    match opened.await {
        Ok(mut session) => session.live(lost, retry).await,
        Err(error) => {
            let span = Progress::new(hub.measures.clone(), &instance).span();
            status::failed(hub, &instance, &format!("{error:#}")).instrument(span).await;
            Ended::Unsure
        }
    }
}

/// Of a new instance there are revisions only where one of the same name went without them. The index may not have heard
/// yet that they are gone.
async fn still_there(hub: &Hub, known: Vec<Arc<ExtensionRevision>>) -> Result<Vec<Arc<ExtensionRevision>>> {
    let mut found = Vec::new();
    for revision in known {
        let api: Api<ExtensionRevision> =
            Api::namespaced(hub.client.clone(), &revision.namespace().unwrap_or_default());
        if api.get_opt(&revision.name_any()).await?.is_some_and(|now| now.uid() == revision.uid()) {
            found.push(revision);
        }
    }
    Ok(found)
}

/// Refuses to go on where there is a revision that the index has not heard of: what has no revision would be somebody
/// else's.
pub(crate) async fn ensure_known(hub: &Hub, instance: &ExtensionInstance, number: u32) -> Result<()> {
    let (namespace, name) = (instance.namespace().unwrap_or_default(), instance.name_any());
    let revisions: Api<ExtensionRevision> = Api::namespaced(hub.client.clone(), &namespace);
    let of = ExtensionRevision::name_of(&name, number);
    match revisions.get_opt(&of).await?.filter(|found| found.spec.instance == name) {
        Some(_) => Err(Outdated(format!("ExtensionRevision/{of} was not known")).into()),
        None => Ok(()),
    }
}

impl Session {
    /// Begins with what is on record, of which these are the revisions.
    pub(crate) async fn open(
        hub: &Arc<Hub>,
        target: &Arc<Target>,
        instance: &ExtensionInstance,
        revisions: &[Arc<ExtensionRevision>],
    ) -> Result<Self> {
        let (namespace, name) = (instance.namespace().unwrap_or_default(), instance.name_any());
        let own = &instance.spec.namespace;
        // Where there is no namespace, there is nothing in it to ask for.
        let absent = !target.has_namespace(own).await?;
        let hearing = target.hearing(instance.spec.release_name(), own);
        let found = if absent { BTreeMap::new() } else { target.records(instance.spec.release_name(), own).await? };
        let records: BTreeMap<u32, RecordStatus> =
            found.iter().map(|(number, found)| (*number, record::status(&found.release))).collect();
        let newest = found.last_key_value();
        let number = revisions.iter().map(|revision| revision.spec.number).max();
        let runs =
            number.and_then(|number| found.get(&number)).map(|found| record::runs(&found.release)).unwrap_or_default();
        let first_deployed = found.values().find_map(|found| found.release.info.first_deployed);
        let labels = newest.map(|(_, found)| found.release.labels.clone()).unwrap_or_default();
        let record_versions = found.iter().map(|(number, found)| (*number, found.version)).collect();
        let foreign =
            newest.filter(|(number, found)| !is_ours(**number, &found.release, revisions)).map(|(number, _)| *number);
        if let (true, Some((newest, _))) = (revisions.is_empty(), newest) {
            ensure_known(hub, instance, *newest).await?;
        }
        let mut revisions = revisions.to_vec();
        revisions.sort_by_key(|revision| revision.spec.number);
        let installed = instance.status.as_ref().and_then(|status| status.revision);
        Ok(Self {
            hub: Arc::clone(hub),
            target: Arc::clone(target),
            namespace,
            name,
            versions: revisions.iter().map(|found| (found.spec.number, found.spec.version.clone())).collect(),
            times: revisions
                .iter()
                .filter_map(|found| Some((found.spec.number, found.metadata.creation_timestamp.clone()?)))
                .collect(),
            recorded: Recorded {
                held: instance.finalizers().iter().any(|finalizer| finalizer == FINALIZER),
                revisions: revisions.iter().map(|revision| read_revision(revision, installed)).collect(),
                tested: instance.status.as_ref().and_then(|status| status.test.as_ref()).map(tested),
            },
            inputs: revisions
                .iter()
                .filter_map(|found| Some((found.spec.number, found.spec.input_digest.clone()?)))
                .collect(),
            records,
            foreign,
            runs,
            record_versions: Mutex::new(record_versions),
            hearing,
            first_deployed,
            labels,
            patience: Patience::default(),
            fixed: BTreeSet::new(),
            hook_cause: Mutex::default(),
            cause: Mutex::default(),
            relook: Retry::default(),
            followed: BTreeMap::new(),
            interest: target.interest(),
            unlooked: BTreeSet::new(),
            ignore: vec![],
            namespaces: [(own.clone(), !absent)].into(),
            reported: None,
            untold: None,
            leave: None,
            progress: Progress::new(hub.measures.clone(), instance),
            written: Mutex::default(),
            said: Mutex::new(instance.status.clone()),
            prepared: None,
            due: Mutex::default(),
        })
    }

    async fn live(&mut self, mut lost: watch::Receiver<bool>, retry: &mut Retry) -> Ended {
        let bell = self.hub.index.bell(&self.namespace, &self.name);
        let mut others = self.hub.index.others();
        let mut facts = self.target.facts_changes();
        let mut offers = self.hub.catalogs.changes();
        loop {
            offers.mark_unchanged();
            others.mark_unchanged();
            facts.mark_unchanged();
            let Some(instance) = self.hub.index.instance(&self.namespace, &self.name) else { return Ended::Gone };
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
                None if self.is_ill() => Some(self.relook.pause().min(left.unwrap_or(Duration::MAX))),
                None => [left, due].into_iter().flatten().min(),
            };
            // Others wake us as well: sleep on until it is about us.
            let woken = async {
                loop {
                    tokio::select! {
                        _ = lost.changed() => return true,
                        () = self.interest.changed() => return true,
                        () = self.hearing.changed() => {
                            if self.is_outdated() {
                                return true;
                            }
                            continue;
                        }
                        ended = facts.changed() => return ended.is_ok(),
                        ended = offers.changed() => return ended.is_ok(),
                        ended = others.changed() => return ended.is_ok(),
                        () = bell.rings() => {}
                    }
                    let now = self.hub.index.instance(&self.namespace, &self.name);
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
                    self.relook = Retry::default();
                }
                Some(false) => return Ended::Gone,
                // The pause is over: the next one is longer.
                None => {}
            }
        }
    }

    /// Asks once what comes next, and does it.
    async fn round(&mut self, instance: &ExtensionInstance, lost: &watch::Receiver<bool>) -> (Next, Option<Trouble>) {
        self.progress.wake();
        let span = self.progress.span();
        let prepared = self.prepared_for(instance).instrument(span.clone()).await;
        let (next, failure) = match self.decide(instance, &prepared).instrument(span).await {
            // What is there stays as it is, and it is asked for again.
            Ok(next @ Next::Done) if let Err(Unprepared::Waiting(sentence)) = &prepared => {
                (next, Some(Trouble { sentence: sentence.clone(), unsure: false, terminal: false }))
            }
            Ok(next) => {
                if matches!(next, Next::Do(_)) {
                    self.take_leave().await;
                }
                if let Some(trouble) = self.other_hand(&next, instance).await {
                    return (next, Some(trouble));
                }
                self.enter(&next, instance);
                self.follow(&next);
                let span = self.progress.span();
                let failure = match &next {
                    Next::Do(effects) => {
                        self.carry_out(effects, instance, prepared.as_ref().ok()).instrument(span).await
                    }
                    Next::Failed { object, event } => {
                        if instance.spec.on_failure == FailurePolicy::Retry {
                            self.patience.fail(Instant::now());
                        }
                        let cause = self.hook_cause.lock().unwrap_or_else(PoisonError::into_inner).clone();
                        Some(Trouble {
                            sentence: failed_hook(object, event, cause.as_deref()),
                            unsure: false,
                            terminal: true,
                        })
                    }
                    Next::Unsettled(object) => {
                        let cause = self.target.cause(object).await.ok().flatten();
                        let cause = cause.or_else(|| {
                            self.target.sightings().get(object)?.health.cause().map(|cause| cause.message.clone())
                        });
                        let sentence = unsettled(object, cause.as_deref());
                        Some(Trouble { sentence, unsure: false, terminal: true })
                    }
                    _ => None,
                };
                (next, failure)
            }
            Err(error) => (Next::Done, Some(Trouble::of(&error))),
        };
        if failure.as_ref().is_some_and(|trouble| trouble.terminal) {
            self.give_up(instance).await;
        }
        if !matches!(next, Next::Do(_)) || failure.is_some() {
            self.leave = None;
        }
        if *lost.borrow() {
            return (next, failure);
        }
        // While work goes on, a person sees it often enough; the end of it is always told.
        self.untold = None;
        if failure.is_none() && self.is_passing(&next) {
            let told = self.reported.and_then(|at| REPORT_EVERY.checked_sub(at.elapsed()));
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
        let silent = || Trouble {
            sentence: "the hub's API server did not take the status".to_owned(),
            unsure: true,
            terminal: false,
        };
        (next, failure.or_else(|| (!told).then(silent)))
    }

    /// Waits for a turn to change the cluster, where it has none.
    async fn take_leave(&mut self) {
        if self.leave.is_none() {
            self.progress.enter(Some("wait for a turn"));
            let waiting = self.hub.measures.change(WAITING);
            let leave = self.target.leave_to_change().await;
            drop(waiting);
            self.leave = leave.map(|leave| (leave, self.hub.measures.change(RUNNING)));
            // What takes less than that is told once, at its end.
            self.reported = Some(Instant::now());
        }
    }

    fn enter(&mut self, next: &Next, instance: &ExtensionInstance) {
        let removing = instance.metadata.deletion_timestamp.is_some();
        let step = running(next, self.inventory(), removing);
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

    /// Whether the newest revision has failed, as its record says.
    pub(crate) fn has_failed(&self) -> bool {
        let last = self.recorded.revisions.last().filter(|last| last.outcome.is_none());
        last.is_some_and(|last| self.records.get(&last.number) == Some(&RecordStatus::Failed))
    }

    /// Whether what is installed is being tested, and nothing else is done to it.
    pub(crate) fn is_testing(&self) -> bool {
        let installed = self.recorded.revisions.last().is_some_and(|last| last.outcome.is_some());
        installed && self.recorded.tested.is_some_and(|tested| !tested.over)
    }

    /// Whether what is to be said now is soon to be something else.
    fn is_passing(&self, next: &Next) -> bool {
        let healthy = |id| self.target.sightings().get(id).is_some_and(|sighting| sighting.health.is_current());
        match next {
            Next::Do(_) | Next::Await(_) => true,
            Next::Done => !self.inventory().iter().all(healthy),
            _ => false,
        }
    }

    fn is_ill(&self) -> bool {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The objects of the newest revision.
    pub(crate) fn inventory(&self) -> &[ObjectId] {
        self.recorded.revisions.last().map_or(&[], |last| &last.inventory)
    }

    /// What a person wants of the instance, given what it comes to.
    pub(crate) fn wanted(&self, instance: &ExtensionInstance, prepared: Option<&Prepared>) -> Wanted {
        let present = instance.metadata.deletion_timestamp.is_none();
        Wanted {
            present,
            suspended: instance.spec.suspend || self.held_back(prepared),
            artifact: prepared.map(|prepared| prepared.artifact.clone()),
            retry: self.patience.left() == Some(Duration::ZERO),
            takeover: instance.spec.takeover.as_ref().map(|takeover| fitout_change::Takeover {
                revision: takeover.revision,
                keep: takeover.choice == Choice::Adopt,
            }),
            test: instance.spec.test_run,
            history: self.hub.options.history,
            settling: match (instance.spec.healthy_within(), self.time_left(instance)) {
                (None, _) => Settling::Free,
                (Some(_), Some(Duration::ZERO)) => Settling::Overdue,
                (Some(_), _) => Settling::Awaited,
            },
        }
    }

    /// How long the revision that is under way still has to become healthy, where that has an end.
    fn time_left(&self, instance: &ExtensionInstance) -> Option<Duration> {
        let within = instance.spec.healthy_within()?;
        let last = self.recorded.revisions.last().filter(|last| last.outcome.is_none())?;
        let took = Timestamp::now().duration_since(self.times.get(&last.number)?.0);
        Some(within.saturating_sub(took.unsigned_abs()))
    }

    /// Whether it is not begun, for want of a Ready node.
    pub(crate) fn held_back(&self, prepared: Option<&Prepared>) -> bool {
        let early = self.recorded.revisions.is_empty() && self.target.facts().nodes.ready == 0;
        early && prepared.is_some_and(|prepared| !prepared.bootstrap)
    }
}

/// Whether a record was written by us, or is of a revision that we adopted. What is being removed is in another hand.
fn is_ours(number: u32, release: &Release, revisions: &[Arc<ExtensionRevision>]) -> bool {
    let adopted = |revision: &Arc<ExtensionRevision>| {
        revision.spec.number == number && revision.spec.action == fitout_api::Action::Adopt
    };
    let stays = record::status(release) != RecordStatus::Uninstalling;
    record::is_ours(release) || stays && revisions.iter().any(adopted)
}

/// The namespace of the catalog that an instance names.
pub(crate) fn catalog_namespace(instance: &ExtensionInstance) -> String {
    match instance.spec.extension.scope {
        Scope::Shared => SYSTEM.to_owned(),
        Scope::Organization => instance.namespace().unwrap_or_default(),
    }
}

/// The release that an instance is on its cluster.
pub(crate) fn owner(instance: &ExtensionInstance) -> fitout_plan::Owner<'_> {
    fitout_plan::Owner { name: instance.spec.release_name(), namespace: &instance.spec.namespace }
}

/// The same, as it is known on its cluster.
pub(crate) fn release(instance: &ExtensionInstance) -> Owner {
    Owner { name: instance.spec.release_name().to_owned(), namespace: instance.spec.namespace.clone() }
}

fn tested(test: &Test) -> Tested {
    Tested { run: test.run, over: test.result != TestResult::Running }
}

fn read_revision(revision: &ExtensionRevision, installed: Option<u32>) -> Revision {
    let id = |name: &ObjectName| ObjectId {
        gvk: Gvk::new(&name.api_version, &name.kind),
        namespace: name.namespace.clone().unwrap_or_default(),
        name: name.name.clone(),
    };
    let spec = &revision.spec;
    Revision {
        number: spec.number,
        action: match spec.action {
            fitout_api::Action::Upgrade => Action::Upgrade,
            fitout_api::Action::Rollback => Action::Rollback,
            fitout_api::Action::Adopt => Action::Adopt,
            fitout_api::Action::Install | fitout_api::Action::Uninstall => Action::Install,
        },
        artifact: spec.artifact_digest.clone().unwrap_or_default().into(),
        inventory: spec.inventory.iter().map(id).collect(),
        hooks: spec.hooks.iter().map(id).collect(),
        outcome: match revision.outcome(installed) {
            fitout_api::Outcome::Succeeded => Some(Outcome::Deployed),
            fitout_api::Outcome::Superseded => Some(Outcome::Superseded),
            fitout_api::Outcome::Running | fitout_api::Outcome::Failed => None,
        },
    }
}
