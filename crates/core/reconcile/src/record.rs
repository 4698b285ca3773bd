//! The release record of a revision, as Helm would have written it.

use std::collections::BTreeMap;

use fitout_helm_release::{ApplyMethod, Chart, Hook, HookEvent, Metadata, Release, SharedChart, Status};
use fitout_plan::{Owner, RenderedRelease};
use serde_json::Map;
use time::OffsetDateTime;

use crate::{HookPhase, HookRun, RecordStatus};

/// What of an earlier record goes on in a new one.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// When the first revision was installed.
    pub first_deployed: Option<OffsetDateTime>,
    /// The labels that the release has, unless others are given.
    pub labels: BTreeMap<String, String>,
    /// The chart of what is installed again.
    pub chart: Option<SharedChart>,
    /// The values of what is installed again.
    pub config: Option<Map<String, serde_json::Value>>,
}

/// The record of a revision of what is prepared.
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

/// The chart of what is prepared, where it is one and is at hand.
pub fn chart(prepared: &RenderedRelease) -> Option<SharedChart> {
    let chosen = prepared.chosen.as_ref()?;
    fitout_engines::recorded_chart(&chosen.package.definition, chosen.files())
}

/// Says in a record how a hook goes.
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

/// Says in a record that no test has run.
pub fn forget_tests(release: &mut Release) {
    for hook in &mut release.hooks {
        if hook.ran_for() == Some(HookEvent::Test.as_str()) {
            hook.forget_run();
        }
    }
}

/// How the hooks of a record went, as far as we ran them.
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

/// What tells our records from those of Helm.
const OURS: &str = "by Fitout";

/// Whether a record was last written by us, or by a hub that knew of it once.
pub fn is_ours(release: &Release) -> bool {
    release.info.description.contains(OURS)
}

/// Brings a record to a status.
pub fn advance(release: &mut Release, status: RecordStatus) {
    let (status, description) = match status {
        RecordStatus::PendingInstall => (Status::PendingInstall, "Install by Fitout underway"),
        RecordStatus::PendingUpgrade => (Status::PendingUpgrade, "Upgrade by Fitout underway"),
        RecordStatus::PendingRollback => (Status::PendingRollback, "Rollback by Fitout underway"),
        RecordStatus::Deployed => (Status::Deployed, "Deployed by Fitout"),
        RecordStatus::Superseded => (Status::Superseded, "Superseded by Fitout"),
        RecordStatus::Uninstalling => (Status::Uninstalling, "Removal by Fitout underway"),
        RecordStatus::Failed => (Status::Failed, "Failed by Fitout"),
    };
    release.info.status = status;
    description.clone_into(&mut release.info.description);
}

/// What a record says, in the words of the core. A status that the core has no word for is one that Helm left behind.
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
    fn a_record_goes_to_every_status_and_tells_it_back() {
        let content = r#"{"objects":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}]}"#;
        let prepared = kept(content, None).unwrap();
        let owner = Owner { name: "web", namespace: "shop" };
        let mut record = release("web", owner, &prepared, 3, Earlier::default(), OffsetDateTime::UNIX_EPOCH);
        assert!(!is_ours(&record));
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
            assert!(is_ours(&record), "{said:?}");
        }
    }
}
