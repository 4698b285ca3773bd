//! The release record of a revision, as Helm would have written it.

use fitout_plan::{Owner, Prepared};
use fitout_release::{ApplyMethod, Chart, Metadata, Release, Status};
use serde_json::{Map, Value};
use time::OffsetDateTime;

use crate::RecordStatus;

/// The record of a revision of what is prepared.
pub fn release(extension: &str, owner: Owner, prepared: &Prepared, revision: u32, now: OffsetDateTime) -> Release {
    let metadata = Metadata {
        name: extension.to_owned(),
        version: prepared.version.clone(),
        app_version: prepared.app_version.clone(),
        api_version: "v2".to_owned(),
        ..Metadata::default()
    };
    let mut release = Release {
        name: owner.name.to_owned(),
        namespace: owner.namespace.to_owned(),
        revision: revision.into(),
        chart: Some(Chart::new(metadata, Map::new())),
        config: prepared.values.as_object().cloned().unwrap_or_default(),
        manifest: manifest(prepared),
        apply_method: Some(ApplyMethod::ServerSide),
        ..Release::default()
    };
    release.info.first_deployed = Some(now);
    release.info.last_deployed = Some(now);
    release
}

fn manifest(prepared: &Prepared) -> String {
    // In the order in which they are applied, which the content keeps.
    let objects: Vec<Value> = serde_json::from_str(&prepared.content).unwrap_or_default();
    let documents: Vec<String> =
        objects.iter().map(|object| format!("---\n{}", fitout_goyaml::to_yaml(object))).collect();
    documents.concat()
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
        let prepared = kept(r#"[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}]"#.to_owned(), None);
        let owner = Owner { name: "web", namespace: "shop" };
        let mut record = release("web", owner, &prepared, 3, OffsetDateTime::UNIX_EPOCH);
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
