//! The release records of one instance: Helm's Secrets on the target cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_api::{ExtensionInstance, ExtensionRevision};
use fitout_cluster_client::{ClusterClient, ClusterError, Record, ReleaseSubscription};
use fitout_helm_release::{Release, SharedChart, Stamp, fitting_secret};
use fitout_model::ResourceVersion;
use fitout_plan::RenderedRelease;
use fitout_reconcile::record::{self, Earlier};
use fitout_reconcile::{HookRun, RecordStatus};
use serde_json::Value;
use time::OffsetDateTime;

use crate::blocking::run_blocking;
use crate::reconcile::convert::owner;
use crate::reconcile::retry::ReconcileError;
use crate::reconcile::worker::Worker;

/// The release records of an instance, as the worker has read or written them.
pub(crate) struct Records {
    /// The status of each record, by revision.
    pub(crate) statuses: BTreeMap<u32, RecordStatus>,
    /// The newest record, if another client wrote it.
    pub(crate) foreign: Option<u32>,
    /// The hook runs of the newest revision, by index in its artifact.
    pub(crate) runs: BTreeMap<usize, HookRun>,
    /// The resource version of each record.
    versions: BTreeMap<u32, ResourceVersion>,
    subscription: ReleaseSubscription,
    first_deployed: Option<OffsetDateTime>,
    labels: BTreeMap<String, String>,
    /// The record that was written last, so that its next update needs no read.
    last_written: Option<Release>,
}

/// A release record that an effect has written.
pub(crate) struct WrittenRecord {
    number: u32,
    version: ResourceVersion,
    /// The record, if it is likely to be updated soon.
    release: Option<Release>,
}

impl Records {
    /// Reads the records of a release, unless its namespace does not exist.
    pub(crate) async fn load(
        target: &ClusterClient,
        instance: &ExtensionInstance,
        revisions: &[Arc<ExtensionRevision>],
        namespace_exists: bool,
    ) -> Result<Self, ClusterError> {
        let (name, namespace) = (instance.spec.release_name(), &instance.spec.namespace);
        // Subscribed before the read, so that no write in between is missed.
        let subscription = target.subscribe_release(name, namespace);
        let found = if namespace_exists { target.records(name, namespace).await? } else { BTreeMap::new() };
        let newest = found.last_key_value();
        let newest_revision = revisions.iter().map(|revision| revision.spec.number).max();
        let runs = newest_revision.and_then(|number| found.get(&number)).map(|found| record::runs(&found.release));
        let foreign = newest.filter(|(number, found)| !is_ours(**number, found, revisions)).map(|(number, _)| *number);
        Ok(Self {
            statuses: found.iter().map(|(number, found)| (*number, record::status(&found.release))).collect(),
            foreign,
            runs: runs.unwrap_or_default(),
            versions: found.iter().map(|(number, found)| (*number, found.version)).collect(),
            subscription,
            first_deployed: found.values().find_map(|found| found.release.info.first_deployed),
            labels: newest.map(|(_, found)| labels(&found.release)).unwrap_or_default(),
            last_written: None,
        })
    }

    /// Waits for the next write to a record, by any client.
    pub(crate) async fn changed(&self) {
        self.subscription.changed().await;
    }

    /// Whether another client has written a record since the worker read or wrote it.
    pub(crate) fn is_outdated(&self) -> bool {
        self.subscription.has_changes(&self.versions)
    }

    /// Whether these are the resource versions that the worker knows. Removed records do not count.
    pub(crate) fn matches(&self, versions: &BTreeMap<u32, ResourceVersion>) -> bool {
        versions.iter().eq(self.versions.iter().filter(|(_, version)| **version != ResourceVersion::NEWEST))
    }

    /// Notes a record that was written.
    pub(crate) fn note(&mut self, written: WrittenRecord) {
        self.versions.insert(written.number, written.version);
        self.last_written = written.release;
    }
}

impl WrittenRecord {
    /// A record that was removed: the watch shows its deletion, and nothing newer.
    pub(crate) fn removed(number: u32) -> Self {
        Self { number, version: ResourceVersion::NEWEST, release: None }
    }
}

/// The labels of a release that the user gave it.
fn labels(release: &Release) -> BTreeMap<String, String> {
    let mut labels = release.labels.clone();
    labels.remove(record::WRITTEN);
    labels
}

/// Whether the hub wrote a record, or has adopted it. A record that another client is uninstalling is not adopted.
fn is_ours(number: u32, found: &Record, revisions: &[Arc<ExtensionRevision>]) -> bool {
    let adopted = |revision: &Arc<ExtensionRevision>| {
        revision.spec.number == number && revision.spec.action == fitout_api::Action::Adopt
    };
    let stays = record::status(&found.release) != RecordStatus::Uninstalling;
    record::is_ours(&found.release) || stays && revisions.iter().any(adopted)
}

impl Worker {
    /// Creates the record of a revision, or updates its status.
    pub(crate) async fn write_record(
        &self,
        instance: &ExtensionInstance,
        rendered: Option<&Arc<RenderedRelease>>,
        number: u32,
        status: RecordStatus,
    ) -> Result<WrittenRecord, ReconcileError> {
        let now = OffsetDateTime::now_utc();
        let exists = self.records.statuses.contains_key(&number);
        let mut release = if exists {
            self.read_record(instance, number, rendered).await?
        } else {
            let rendered = rendered.ok_or_else(|| ReconcileError::Incomplete("artifact".to_owned()))?;
            let earlier = self.earlier_records(instance, rendered).await?;
            record::release(&instance.spec.extension.name, owner(instance), rendered, number, earlier, now)
        };
        record::advance(&mut release, status);
        let written = if exists {
            self.replace_record(release, number, now).await?
        } else {
            // The record is in the release's namespace.
            self.ensure_namespace(instance).await?;
            let secret = Self::encode(&mut release, Stamp::Created(now))?;
            WrittenRecord { number, version: self.target.create_record(&secret).await?, release: Some(release) }
        };
        // A deployed record stays so for long: it is not worth its memory.
        let soon = status != RecordStatus::Deployed;
        Ok(WrittenRecord { release: written.release.filter(|_| soon), ..written })
    }

    /// Changes the record of a revision.
    pub(crate) async fn update_record(
        &self,
        instance: &ExtensionInstance,
        rendered: Option<&Arc<RenderedRelease>>,
        number: u32,
        change: impl FnOnce(&mut Release, OffsetDateTime),
    ) -> Result<WrittenRecord, ReconcileError> {
        let now = OffsetDateTime::now_utc();
        let mut release = self.read_record(instance, number, rendered).await?;
        change(&mut release, now);
        self.replace_record(release, number, now).await
    }

    /// The record of a revision: from memory if the worker wrote it last, else from the cluster. A record without the files of
    /// its chart gets them from the rendered release.
    pub(crate) async fn read_record(
        &self,
        instance: &ExtensionInstance,
        number: u32,
        rendered: Option<&Arc<RenderedRelease>>,
    ) -> Result<Release, ReconcileError> {
        if let Some(release) = self.records.last_written.as_ref().filter(|last| last.revision == u64::from(number)) {
            return Ok(release.clone());
        }
        let mut found = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await?;
        let found =
            found.remove(&number).ok_or_else(|| ReconcileError::Stale(format!("release record {number} is gone")))?;
        let mut release = found.release;
        let artifact = self.recorded.revisions.iter().find(|revision| revision.number == number);
        let artifact = artifact.map(|revision| &revision.artifact);
        let rendered = rendered.filter(|rendered| artifact == Some(&rendered.artifact.digest));
        if let Some(rendered) = rendered.filter(|_| release.chart.as_ref().is_some_and(SharedChart::is_brief)) {
            let chart = self.earlier_records(instance, rendered).await?.chart.or_else(|| record::chart(rendered));
            release.chart = chart.or(release.chart);
        }
        Ok(release)
    }

    /// The parts of earlier records that a new one keeps. A rollback keeps the chart and the values of its revision.
    async fn earlier_records(
        &self,
        instance: &ExtensionInstance,
        rendered: &RenderedRelease,
    ) -> Result<Earlier, ReconcileError> {
        let given = &instance.spec.release_labels;
        let labels = if given.is_empty() { &self.records.labels } else { given }.clone();
        let earlier = Earlier { first_deployed: self.records.first_deployed, labels, ..Earlier::default() };
        let Some(number) = rendered.artifact.rolls_back_to else { return Ok(earlier) };
        let mut found = self.target.records(instance.spec.release_name(), &instance.spec.namespace).await?;
        let Some(record) = found.remove(&number) else { return Ok(earlier) };
        Ok(Earlier { chart: record.release.chart, config: Some(record.release.config), ..earlier })
    }

    async fn replace_record(
        &self,
        mut release: Release,
        number: u32,
        now: OffsetDateTime,
    ) -> Result<WrittenRecord, ReconcileError> {
        let known = self.records.versions.get(&number).copied();
        let secret = Self::encode(&mut release, Stamp::Modified(now))?;
        let version = self.target.replace_record(secret, known).await?;
        Ok(WrittenRecord { number, version, release: Some(release) })
    }

    /// The Secret of a record.
    fn encode(release: &mut Release, stamp: Stamp) -> Result<Value, ReconcileError> {
        record::mark(release);
        Ok(run_blocking(release.size(), || fitting_secret(release, stamp))?)
    }
}
