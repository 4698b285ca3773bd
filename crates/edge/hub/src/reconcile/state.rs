//! The session of one instance: all that it knows while it lives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Result;
use fitout_api::{
    Choice, ExtensionInstance, ExtensionInstanceStatus, ExtensionRevision, FINALIZER, ObjectName, Scope, Test,
    TestResult,
};
use fitout_cluster_client::{AbortOnDrop, ClusterClient, Owner, ReleaseSubscription, Subscription};
use fitout_helm_release::Release;
use fitout_model::{Digest, Gvk, ObjectId};
use fitout_plan::{Ignore, RenderError, RenderedRelease};
use fitout_reconcile::{
    Action, HealthDeadline, HookRun, Next, Outcome, RecordStatus, Recorded, Revision, Tested, Wanted, record,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use time::OffsetDateTime;
use tokio::sync::OwnedSemaphorePermit;

use crate::metrics::GaugeGuard;
use crate::reconcile::progress::Progress;
use crate::reconcile::retry::{Backoff, Retry};
use crate::{Hub, SYSTEM};

pub(crate) struct Worker {
    pub(crate) hub: Arc<Hub>,
    pub(crate) target: Arc<ClusterClient>,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Only this session writes them, so it need not wait for the index to see its own writes.
    pub(crate) recorded: Recorded,
    pub(crate) records: BTreeMap<u32, RecordStatus>,
    /// The newest of them, where somebody else wrote it.
    pub(crate) foreign: Option<u32>,
    /// How the hooks of the newest revision went.
    pub(crate) runs: BTreeMap<usize, HookRun>,
    /// The version of each record, as we read or wrote it.
    pub(crate) record_versions: Mutex<BTreeMap<u32, u64>>,
    /// Tells of whatever anybody writes to the records.
    pub(crate) release_subscription: ReleaseSubscription,
    /// When the release was first installed.
    pub(crate) first_deployed: Option<OffsetDateTime>,
    /// The labels that the release had.
    pub(crate) labels: BTreeMap<String, String>,
    /// When a hook that has failed is tried again.
    pub(crate) patience: Backoff,
    pub(crate) versions: BTreeMap<u32, String>,
    /// When each revision was begun.
    pub(crate) times: BTreeMap<u32, Time>,
    /// Every object that matters to it.
    pub(crate) subscription: Subscription,
    /// Those of them that are still to be looked at.
    pub(crate) unprimed: BTreeSet<ObjectId>,
    /// What others may take of them, as far as a person says so, when they were looked at.
    pub(crate) ignore: Vec<Ignore>,
    /// Which namespaces are there, as far as that was asked since the session last slept.
    pub(crate) namespaces: BTreeMap<String, bool>,
    pub(crate) reported: Option<Instant>,
    /// After how long what goes on is told, where that is too soon now.
    pub(crate) untold: Option<Duration>,
    /// Held while there is something to write, and not while something is waited for.
    pub(crate) slot: Option<(OwnedSemaphorePermit, GaugeGuard)>,
    pub(crate) progress: Progress,
    /// The record that was written last, so that it need not be read to be changed.
    pub(crate) written: Mutex<Option<Release>>,
    /// What was said last: the index may not have heard it yet, and it is not to be said again.
    pub(crate) said: Mutex<Option<ExtensionInstanceStatus>>,
    /// What was prepared last, and from what.
    pub(crate) prepared: Option<(Digest, Result<Arc<RenderedRelease>, RenderError>)>,
    /// When what could not be prepared is prepared again, although nothing that we know of has changed.
    pub(crate) due: Mutex<Option<Instant>>,
    /// What was rendered from what, as far as that is on record.
    pub(crate) inputs: BTreeMap<u32, String>,
    /// Objects that have to be made recreate: the cluster has refused to change them.
    pub(crate) fixed: BTreeSet<ObjectId>,
    /// Why the hook that failed last did.
    pub(crate) hook_cause: Mutex<Option<String>>,
    /// The object that was found to be unhealthy, why, and when that was asked.
    pub(crate) cause: Mutex<Option<Cause>>,
    /// When the object that is not healthy is asked for again.
    pub(crate) cause_backoff: Retry,
    /// The objects that no other watch shows, as long as they are waited for.
    pub(crate) single_watches: BTreeMap<ObjectId, AbortOnDrop>,
}

/// What a session found out in one round, for the report.
pub(crate) struct Round<'a> {
    pub(crate) instance: &'a ExtensionInstance,
    pub(crate) prepared: &'a Result<Arc<RenderedRelease>, RenderError>,
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

impl Worker {
    /// Begins with what is on record, of which these are the revisions.
    pub(crate) async fn open(
        hub: &Arc<Hub>,
        target: &Arc<ClusterClient>,
        instance: &ExtensionInstance,
        revisions: &[Arc<ExtensionRevision>],
    ) -> Result<Self> {
        let (namespace, name) = (instance.namespace().unwrap_or_default(), instance.name_any());
        let own = &instance.spec.namespace;
        // Where there is no namespace, there is nothing in it to ask for.
        let absent = !target.has_namespace(own).await?;
        let release_subscription = target.subscribe_release(instance.spec.release_name(), own);
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
                has_finalizer: instance.finalizers().iter().any(|finalizer| finalizer == FINALIZER),
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
            release_subscription,
            first_deployed,
            labels,
            patience: Backoff::default(),
            fixed: BTreeSet::new(),
            hook_cause: Mutex::default(),
            cause: Mutex::default(),
            cause_backoff: Retry::default(),
            single_watches: BTreeMap::new(),
            subscription: target.subscribe(),
            unprimed: BTreeSet::new(),
            ignore: vec![],
            namespaces: [(own.clone(), !absent)].into(),
            reported: None,
            untold: None,
            slot: None,
            progress: Progress::new(hub.metrics.clone(), instance),
            written: Mutex::default(),
            said: Mutex::new(instance.status.clone()),
            prepared: None,
            due: Mutex::default(),
        })
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

    /// The objects of the newest revision.
    pub(crate) fn inventory(&self) -> &[ObjectId] {
        self.recorded.revisions.last().map_or(&[], |last| &last.inventory)
    }

    /// What a person wants of the instance, given what it comes to.
    pub(crate) fn wanted(&self, instance: &ExtensionInstance, prepared: Option<&RenderedRelease>) -> Wanted {
        let present = instance.metadata.deletion_timestamp.is_none();
        Wanted {
            present,
            suspended: instance.spec.suspend || self.waits_for_node(prepared),
            artifact: prepared.map(|prepared| prepared.artifact.clone()),
            retry: self.patience.left() == Some(Duration::ZERO),
            takeover: instance.spec.takeover.as_ref().map(|takeover| fitout_reconcile::Takeover {
                revision: takeover.revision,
                keep: takeover.choice == Choice::Adopt,
            }),
            test: instance.spec.test_run,
            history: self.hub.options.history,
            health_deadline: match (instance.spec.healthy_within(), self.time_left(instance)) {
                (None, _) => HealthDeadline::None,
                (Some(_), Some(Duration::ZERO)) => HealthDeadline::Exceeded,
                (Some(_), _) => HealthDeadline::Pending,
            },
        }
    }

    /// How long the revision that is under way still has to become healthy, where that has an end.
    pub(crate) fn time_left(&self, instance: &ExtensionInstance) -> Option<Duration> {
        let within = instance.spec.healthy_within()?;
        let last = self.recorded.revisions.last().filter(|last| last.outcome.is_none())?;
        let took = Timestamp::now().duration_since(self.times.get(&last.number)?.0);
        Some(within.saturating_sub(took.unsigned_abs()))
    }

    /// Whether it is not begun, for want of a Ready node.
    pub(crate) fn waits_for_node(&self, prepared: Option<&RenderedRelease>) -> bool {
        let early = self.recorded.revisions.is_empty() && self.target.info().nodes.ready == 0;
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
