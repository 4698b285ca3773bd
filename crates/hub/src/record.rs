//! The release record of a revision, as Helm would have written it.

use fitout_api::ExtensionInstance;
use fitout_change::RecordStatus;
use fitout_release::{ApplyMethod, Chart, Metadata, Release, Status};
use serde_json::{Map, Value};
use time::OffsetDateTime;

use crate::artifact::Prepared;

/// The record of a revision of what is prepared.
pub(crate) fn release(
    instance: &ExtensionInstance,
    prepared: &Prepared,
    revision: u32,
    now: OffsetDateTime,
) -> Release {
    let values = prepared.values.as_object().cloned().unwrap_or_default();
    let metadata = Metadata {
        name: instance.spec.extension.name.clone(),
        version: prepared.version.clone(),
        app_version: prepared.app_version.clone(),
        api_version: "v2".to_owned(),
        ..Metadata::default()
    };
    let mut release = Release {
        name: instance.spec.release_name().to_owned(),
        namespace: instance.spec.namespace.clone(),
        revision: revision.into(),
        chart: Some(Chart::new(metadata, Map::new())),
        config: values,
        manifest: manifest(prepared),
        apply_method: Some(ApplyMethod::ServerSide),
        ..Release::default()
    };
    release.info.first_deployed = Some(now);
    release.info.last_deployed = Some(now);
    release
}

fn manifest(prepared: &Prepared) -> String {
    let objects: Vec<Value> = serde_json::from_str(&prepared.content).unwrap_or_default();
    let documents: Vec<String> =
        objects.iter().map(|object| format!("---\n{}", fitout_goyaml::to_yaml(object))).collect();
    documents.concat()
}

/// Brings a record to a status, with the words that Helm has for it.
pub(crate) fn advance(release: &mut Release, status: RecordStatus) {
    let (status, description) = match status {
        RecordStatus::PendingInstall => (Status::PendingInstall, "Initial install underway"),
        RecordStatus::PendingUpgrade => (Status::PendingUpgrade, "Preparing upgrade"),
        RecordStatus::PendingRollback => (Status::PendingRollback, "Preparing rollback"),
        RecordStatus::Deployed => (Status::Deployed, "Deployed by Fitout"),
        RecordStatus::Superseded => (Status::Superseded, "Superseded by Fitout"),
        RecordStatus::Uninstalling => (Status::Uninstalling, "Deletion in progress"),
        RecordStatus::Failed => (Status::Failed, "Failed"),
    };
    release.info.status = status;
    description.clone_into(&mut release.info.description);
}

/// What a record says, in the words of the core. A status that the core has no word for is one that Helm left behind.
pub(crate) fn status(release: &Release) -> RecordStatus {
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
