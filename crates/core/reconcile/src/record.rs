//! The release record of a revision, as Helm would write it.

use std::collections::BTreeMap;

use fitout_helm_release::{ApplyMethod, Chart, Hook, HookEvent, Metadata, Release, SharedChart, Status};
use fitout_plan::{Owner, RenderedRelease};
use serde_json::{Map, Value};
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

/// The annotation on the Secret of a release record that the hub wrote last: the namespace and name of the instance.
///
/// Helm builds the Secret anew when it writes a record, without annotations. So the annotation tells the hub's records from
/// those that Helm has created or changed. A label would not: Helm copies labels to the records of later revisions.
pub const WRITTEN_FOR: &str = "fitout.dev/instance";

/// The description of records from before [`WRITTEN_FOR`].
const FORMER_MARK: &str = "by Fitout";

/// Adds [`WRITTEN_FOR`] to the Secret of a record.
pub fn mark(secret: &mut Value, namespace: &str, instance: &str) {
    secret["metadata"]["annotations"][WRITTEN_FOR] = format!("{namespace}/{instance}").into();
}

/// Whether the hub was the last to write a record, given the annotations of its Secret.
pub fn is_ours(annotations: Option<&BTreeMap<String, String>>, release: &Release) -> bool {
    let marked = annotations.is_some_and(|annotations| annotations.contains_key(WRITTEN_FOR));
    marked || release.info.description.contains(FORMER_MARK)
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
    use fitout_plan::kept;

    use super::*;

    #[test]
    fn annotation_tells_the_hubs_records_from_those_of_helm() {
        let mut record = Release::default();
        assert!(!is_ours(None, &record));
        let mut secret = serde_json::json!({ "metadata": { "name": "sh.helm.release.v1.web.v1" } });
        mark(&mut secret, "org-acme", "foo-web");
        assert_eq!(secret["metadata"]["annotations"][WRITTEN_FOR], "org-acme/foo-web");
        let annotations = serde_json::from_value(secret["metadata"]["annotations"].clone()).unwrap();
        assert!(is_ours(Some(&annotations), &record));
        assert!(!is_ours(Some(&BTreeMap::new()), &record));
        "Deployed by Fitout".clone_into(&mut record.info.description);
        assert!(is_ours(None, &record), "a record from before the annotation");
        advance(&mut record, RecordStatus::Uninstalling);
        assert!(!is_ours(None, &record), "descriptions no longer tell");
    }

    #[test]
    fn record_has_every_status_that_it_was_advanced_to() {
        let content = r#"{"objects":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}]}"#;
        let prepared = kept(content, None).unwrap();
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
