//! `fitout upgrade`.

use clap::Args;
use fitout_api::{FailurePolicy, FreeForm};
use serde_json::{Value, json};

use super::{change, decode, dry_run, finish};
use crate::arguments::{SafetyArgs, ValuesArgs, Waiting, parse_label};
use crate::connection::Session;
use crate::failure::Failure;
use crate::{Answer, durations, settings};

#[derive(Args)]
pub(crate) struct Upgrade {
    /// The name of the instance
    instance: String,
    /// The new range of versions, such as 1.x
    #[arg(long, value_name = "RANGE")]
    version: Option<String>,
    #[command(flatten)]
    values: ValuesArgs,
    #[command(flatten)]
    safety: SafetyArgs,
    /// A label of the Helm release; may be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = parse_label)]
    labels: Vec<(String, String)>,
    /// Discard the current values of the instance, and use only those that are given
    #[arg(long)]
    reset_values: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    waiting: Waiting,
}

pub(crate) async fn run(session: &Session, upgrade: &Upgrade) -> Result<Answer, Failure> {
    let name = &upgrade.instance;
    let given = settings::read(&upgrade.values)?;
    let changed = change(session, name, upgrade.dry_run, |object| {
        let before = if upgrade.reset_values { FreeForm::new() } else { own_values(object) };
        let values = settings::layered(before, &given)?;
        set_version_and_values(object, upgrade.version.as_deref(), values);
        set_safety(object, &upgrade.safety);
        add_labels(object, &upgrade.labels);
        Ok(())
    })
    .await?;
    if upgrade.dry_run {
        return dry_run(session, &changed).await;
    }
    let begun = format!("changed instance {name}: the hub carries it out");
    finish(session, decode(&changed)?, &upgrade.waiting, &format!("upgraded {name}"), &begun).await
}

/// The values in the spec of an instance.
fn own_values(instance: &Value) -> FreeForm {
    instance["spec"]["values"].as_object().cloned().unwrap_or_default()
}

/// Sets the version, if one is given, and the values of an instance, and cancels a rollback. Other fields are kept, even
/// those that only a newer hub knows.
fn set_version_and_values(instance: &mut Value, version: Option<&str>, values: FreeForm) {
    let Some(spec) = instance.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(version) = version {
        spec.insert("version".to_owned(), version.into());
    }
    if values.is_empty() {
        spec.remove("values");
    } else {
        spec.insert("values".to_owned(), values.into());
    }
    spec.remove("rollbackTo");
}

/// Sets the failure policy, and what this one change may recreate or lose.
fn set_safety(instance: &mut Value, safety: &SafetyArgs) {
    let Some(spec) = instance.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(policy) = safety.on_failure {
        spec.insert("onFailure".to_owned(), json!(FailurePolicy::from(policy)));
    }
    if let Some(within) = safety.healthy_within {
        spec.insert("healthyWithinSeconds".to_owned(), durations::seconds(within).into());
    }
    // Permissions of an earlier change do not apply to this one.
    for (field, names) in [("recreate", &safety.recreate), ("allowDataLoss", &safety.allow_data_loss)] {
        if names.is_empty() {
            spec.remove(field);
        } else {
            spec.insert(field.to_owned(), json!(names));
        }
    }
}

/// Adds labels to those that the release of an instance has.
fn add_labels(instance: &mut Value, labels: &[(String, String)]) {
    if let Some(spec) = instance.get_mut("spec").filter(|_| !labels.is_empty()) {
        for (name, value) in labels {
            spec["releaseLabels"][name] = value.as_str().into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upgrade_keeps_other_fields_and_ends_a_rollback() {
        let mut instance = json!({ "spec": { "version": "1.x", "rollbackTo": 2, "new": true, "values": { "a": 1 } } });
        let values = own_values(&instance);
        set_version_and_values(&mut instance, None, values);
        assert_eq!(instance, json!({ "spec": { "version": "1.x", "new": true, "values": { "a": 1 } } }));
        set_version_and_values(&mut instance, Some("2.x"), FreeForm::new());
        assert_eq!(instance, json!({ "spec": { "version": "2.x", "new": true } }));
    }
}
