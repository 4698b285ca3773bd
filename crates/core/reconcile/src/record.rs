//! The release record of a revision, as Helm would write it.

use std::collections::BTreeMap;

use fitout_helm_release::{ApplyMethod, Chart, Hook, HookEvent, Metadata, Release, SharedChart, Status};
use fitout_plan::{Owner, RenderedRelease};
use serde_json::Map;
use time::OffsetDateTime;

use crate::{HookPhase, HookRun, RecordStatus};

/// The parts of earlier records that a new record keeps.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// The time of the first install.
    pub first_deployed: Option<OffsetDateTime>,
    /// The labels of the release, unless the instance sets others.
    pub labels: BTreeMap<String, String>,
    /// The chart of the revision that is rolled back to.
    pub chart: Option<SharedChart>,
    /// The values of the revision that is rolled back to.
    pub config: Option<Map<String, serde_json::Value>>,
}

/// The record of a revision of a rendered release.
pub fn release(
    extension: &str,
    owner: Owner,
    prepared: &RenderedRelease,
    revision: u32,
    earlier: Earlier,
    now: OffsetDateTime,
) -> Release {
    let described = || {
        let metadata = Metadata {
            name: extension.to_owned(),
            version: prepared.version.clone(),
            app_version: prepared.app_version.clone(),
            api_version: "v2".to_owned(),
            ..Metadata::default()
        };
        Chart::new(metadata, Map::new()).into()
    };
    let config = || prepared.values.as_object().cloned().unwrap_or_default();
    let mut release = Release {
        name: owner.name.to_owned(),
        namespace: owner.namespace.to_owned(),
        revision: revision.into(),
        chart: Some(earlier.chart.or_else(|| chart(prepared)).unwrap_or_else(described)),
        config: earlier.config.unwrap_or_else(config),
        manifest: prepared.content.manifest(),
        hooks: prepared.content.hooks.iter().map(|kept| kept.hook.clone()).collect(),
        apply_method: Some(ApplyMethod::ServerSide),
        ..Release::default()
    };
    release.labels = earlier.labels;
    release.info.first_deployed = earlier.first_deployed.or(Some(now));
    release.info.last_deployed = Some(now);
    release.info.notes.clone_from(&prepared.content.notes);
    release.info.rollback_revision = prepared.artifact.rolls_back_to.map(Into::into);
    release
}

/// The chart of a rendered release, if it was rendered from one.
pub fn chart(prepared: &RenderedRelease) -> Option<SharedChart> {
    let chosen = prepared.chosen.as_ref()?;
    fitout_engines::recorded_chart(&chosen.package.definition, chosen.files())
}

/// Sets a hook run in a record.
pub fn set_run(release: &mut Release, hook: usize, run: &HookRun, now: OffsetDateTime) {
    let Some(hook) = release.hooks.get_mut(hook) else { return };
    let started_at = hook.last_run.started_at.filter(|_| run.phase != HookPhase::Running).or(Some(now));
    let (phase, completed_at) = match run.phase {
        HookPhase::Running => (fitout_helm_release::HookPhase::Running, None),
        HookPhase::Succeeded => (fitout_helm_release::HookPhase::Succeeded, Some(now)),
        HookPhase::Failed => (fitout_helm_release::HookPhase::Failed, Some(now)),
    };
    hook.last_run = fitout_helm_release::HookRun { started_at, completed_at, phase };
    hook.set_ran_for(&run.event);
}

/// Clears the test runs of a record.
pub fn forget_tests(release: &mut Release) {
    for hook in &mut release.hooks {
        if hook.ran_for() == Some(HookEvent::Test.as_str()) {
            hook.forget_run();
        }
    }
}

/// The hook runs of a record.
pub fn runs(release: &Release) -> BTreeMap<usize, HookRun> {
    let run = |hook: &Hook| {
        let event = hook.ran_for()?.to_owned().into();
        let phase = match hook.last_run.phase {
            fitout_helm_release::HookPhase::Succeeded => HookPhase::Succeeded,
            fitout_helm_release::HookPhase::Failed => HookPhase::Failed,
            _ => HookPhase::Running,
        };
        Some(HookRun { event, phase })
    };
    release.hooks.iter().enumerate().filter_map(|(place, hook)| Some((place, run(hook)?))).collect()
}

/// The label of a release record that the hub has written: the revision and the status that it had then.
///
/// Helm keeps the labels of a record that it changes, and copies them to the records of later revisions. Therefore the label
/// has a value that no longer matches once Helm changes the status or adds a revision. `helm test`, which changes neither,
/// leaves the record the hub's.
pub const WRITTEN: &str = "fitout.dev/written";

/// Part of the description of records from before [`WRITTEN`].
const FORMER_MARK: &str = "by Fitout";

/// Labels a record as written by the hub. Called whenever the hub writes a record.
pub fn mark(release: &mut Release) {
    let value = written(release);
    release.labels.insert(WRITTEN.to_owned(), value);
}

/// Whether the hub was the last to change the status of a record.
pub fn is_ours(release: &Release) -> bool {
    match release.labels.get(WRITTEN) {
        Some(value) => *value == written(release),
        None => release.info.description.contains(FORMER_MARK),
    }
}

fn written(release: &Release) -> String {
    format!("{}.{}", release.revision, release.info.status)
}

/// Sets the status of a record.
pub fn advance(release: &mut Release, status: RecordStatus) {
    let (status, description) = match status {
        RecordStatus::PendingInstall => (Status::PendingInstall, "Install in progress (Fitout)"),
        RecordStatus::PendingUpgrade => (Status::PendingUpgrade, "Upgrade in progress (Fitout)"),
        RecordStatus::PendingRollback => (Status::PendingRollback, "Rollback in progress (Fitout)"),
        RecordStatus::Deployed => (Status::Deployed, "Deployed (Fitout)"),
        RecordStatus::Superseded => (Status::Superseded, "Superseded (Fitout)"),
        RecordStatus::Uninstalling => (Status::Uninstalling, "Uninstall in progress (Fitout)"),
        RecordStatus::Failed => (Status::Failed, "Failed (Fitout)"),
    };
    release.info.status = status;
    description.clone_into(&mut release.info.description);
}

/// The status of a record. A status that only other clients write counts as failed.
pub fn status(release: &Release) -> RecordStatus {
    match release.info.status {
        Status::PendingInstall => RecordStatus::PendingInstall,
        Status::PendingUpgrade => RecordStatus::PendingUpgrade,
        Status::PendingRollback => RecordStatus::PendingRollback,
        Status::Deployed => RecordStatus::Deployed,
        Status::Superseded => RecordStatus::Superseded,
        Status::Uninstalling => RecordStatus::Uninstalling,
        _ => RecordStatus::Failed,
    }
}

#[cfg(test)]
mod tests {
    use fitout_plan::from_stored_content;

    use super::*;

    #[test]
    fn label_tells_the_hubs_records_from_those_that_helm_changed() {
        let mut record = Release { revision: 3, ..Release::default() };
        assert!(!is_ours(&record));
        advance(&mut record, RecordStatus::Deployed);
        mark(&mut record);
        assert_eq!(record.labels[WRITTEN], "3.deployed");
        assert!(is_ours(&record));
        let next = Release { revision: 4, ..record.clone() };
        assert!(!is_ours(&next), "Helm copies the labels to the next revision");
        record.info.status = Status::Uninstalling;
        assert!(!is_ours(&record), "Helm keeps the labels of a record that it changes");
    }

    #[test]
    fn record_from_before_the_label_is_known_by_its_description() {
        let mut record = Release::default();
        "Deployed by Fitout".clone_into(&mut record.info.description);
        assert!(is_ours(&record));
        advance(&mut record, RecordStatus::Uninstalling);
        assert!(!is_ours(&record), "today's descriptions do not tell");
    }

    #[test]
    fn record_has_every_status_that_it_was_advanced_to() {
        let content = r#"{"objects":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}]}"#;
        let prepared = from_stored_content(content, None).unwrap();
        let owner = Owner { name: "web", namespace: "shop" };
        let mut record = release("web", owner, &prepared, 3, Earlier::default(), OffsetDateTime::UNIX_EPOCH);
        assert_eq!((record.revision, record.namespace.as_str()), (3, "shop"));
        assert_eq!(record.manifest, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n");
        for said in [
            RecordStatus::PendingInstall,
            RecordStatus::PendingUpgrade,
            RecordStatus::PendingRollback,
            RecordStatus::Deployed,
            RecordStatus::Superseded,
            RecordStatus::Uninstalling,
            RecordStatus::Failed,
        ] {
            advance(&mut record, said);
            assert_eq!(status(&record), said);
        }
    }
}
