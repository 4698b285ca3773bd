//! What is written to the hub, made from what was typed.

use std::time::Duration;

use fitout_api::{
    Choice, Drift, ExtensionInstance, ExtensionInstanceSpec, ExtensionReference, FailurePolicy, FreeForm, Scope,
    Takeover, Upgrade,
};
use kube::ResourceExt;
use serde_json::Value;

use crate::arguments;
use crate::failure::Failure;

/// The longest name of an object that other names are made from.
const LONGEST_NAME: usize = 63;

/// The longest name of a release that Helm takes: what charts make of it is to fit into a label.
const LONGEST_RELEASE: usize = 53;

/// The instance that an install asks for.
pub(crate) fn wanted(
    install: &arguments::Install,
    namespace: &str,
    scope: Scope,
    values: FreeForm,
) -> Result<ExtensionInstance, Failure> {
    let extension = &install.extension;
    let name = install.name.clone().unwrap_or_else(|| format!("{}-{extension}", install.cluster));
    if name.len() > LONGEST_NAME {
        let sentence = format!("the name {name} is too long for an instance: it may have {LONGEST_NAME} characters");
        return Err(Failure::new(sentence).hint("give it another with --name"));
    }
    let release = install.release_name.as_ref().unwrap_or(extension);
    if release.len() > LONGEST_RELEASE {
        let sentence =
            format!("the name {release} is too long for a release: it may have {LONGEST_RELEASE} characters");
        return Err(Failure::new(sentence).hint("give it another with --release-name"));
    }
    let spec = ExtensionInstanceSpec {
        cluster: install.cluster.clone(),
        extension: ExtensionReference { name: extension.clone(), catalog: install.catalog.clone(), scope },
        release_name: install.release_name.clone(),
        namespace: install.namespace.clone().unwrap_or_else(|| extension.clone()),
        version: install.version.clone(),
        values: (!values.is_empty()).then_some(values),
        values_from: vec![],
        upgrade: Upgrade::default(),
        suspend: false,
        drift: Drift::default(),
        rollback_to: None,
        on_failure: install.cautions.on_failure.map(Into::into).unwrap_or_default(),
        recreate: install.cautions.recreate.clone(),
        allow_data_loss: install.cautions.allow_data_loss.clone(),
        healthy_within_seconds: install.cautions.healthy_within.map(seconds),
        release_labels: install.labels.iter().cloned().collect(),
        skip_delete_hooks: false,
        takeover: install.adopt.then_some(Takeover { choice: Choice::Adopt, revision: None }),
        test_run: None,
    };
    Ok(ExtensionInstance::held(namespace, &name, spec))
}

/// Refuses an instance that would share a release with another of the same cluster: they would undo each other's work.
pub(crate) fn alone(wanted: &ExtensionInstance, others: &[ExtensionInstance]) -> Result<(), Failure> {
    let (name, spec) = (wanted.name_any(), &wanted.spec);
    let shares = |other: &&ExtensionInstance| {
        other.spec.namespace == spec.namespace && other.spec.release_name() == spec.release_name()
    };
    let Some(other) = others.iter().filter(|other| other.name_any() != name).find(shares) else { return Ok(()) };
    let (other, release, namespace) = (other.name_any(), spec.release_name(), &spec.namespace);
    let sentence = format!(
        "instance {other} already is the release {release} in namespace {namespace} of cluster {}",
        spec.cluster
    );
    Err(Failure::new(sentence).hint("give the new one another with --namespace or --release-name"))
}

/// Makes of an instance, as the hub has it, what an upgrade asks for. Fields that are not mentioned stay, even those that
/// only a newer hub knows.
pub(crate) fn upgrade(instance: &mut Value, version: Option<&str>, values: FreeForm) {
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

/// Says in an instance, as the hub has it, what may happen when something goes wrong, or has to be lost.
pub(crate) fn caution(instance: &mut Value, cautions: &arguments::SafetyArgs) {
    let Some(spec) = instance.get_mut("spec").and_then(Value::as_object_mut) else { return };
    if let Some(policy) = cautions.on_failure {
        spec.insert("onFailure".to_owned(), serde_json::json!(FailurePolicy::from(policy)));
    }
    if let Some(within) = cautions.healthy_within {
        spec.insert("healthyWithinSeconds".to_owned(), seconds(within).into());
    }
    // What was allowed once was for one change.
    for (field, names) in [("recreate", &cautions.recreate), ("allowDataLoss", &cautions.allow_data_loss)] {
        if names.is_empty() {
            spec.remove(field);
        } else {
            spec.insert(field.to_owned(), serde_json::json!(names));
        }
    }
}

fn seconds(of: Duration) -> u32 {
    u32::try_from(of.as_secs()).unwrap_or(u32::MAX)
}

/// Gives the release of an instance, as the hub has it, these labels beside those that were given before.
pub(crate) fn label(instance: &mut Value, labels: &[(String, String)]) {
    if let Some(spec) = instance.get_mut("spec").filter(|_| !labels.is_empty()) {
        for (name, value) in labels {
            spec["releaseLabels"][name] = value.as_str().into();
        }
    }
}

/// Makes of an instance, as the hub has it, one whose hooks are left out when it goes.
pub(crate) fn skip_hooks(instance: &mut Value) {
    instance["spec"]["skipDeleteHooks"] = true.into();
}

/// Makes of an instance, as the hub has it, one that goes back to a revision.
pub(crate) fn roll_back(instance: &mut Value, revision: u32) {
    if let Some(spec) = instance.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("rollbackTo".to_owned(), revision.into());
    }
}

/// Makes of an instance, as the hub has it, one for which a person has chosen what becomes of another hand's revision.
pub(crate) fn take_over(name: &str, instance: &mut Value, choice: Choice) -> Result<u32, Failure> {
    let Some(revision) = instance["status"]["foreignRevision"].as_u64().and_then(|found| u32::try_from(found).ok())
    else {
        let sentence = format!("there is nothing to choose for instance {name}: no other hand has changed its release");
        return Err(Failure::new(sentence).hint(format!("see how it is doing with `fitout status {name}`")));
    };
    if let Some(spec) = instance.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("takeover".to_owned(), serde_json::json!({ "choice": choice, "revision": revision }));
        // What another hand made came after it.
        spec.remove("rollbackTo");
    }
    Ok(revision)
}

/// Makes of an instance, as the hub has it, one that is to be tested once more.
pub(crate) fn test(instance: &mut Value) {
    let run = instance["spec"]["testRun"].as_u64().unwrap_or_default() + 1;
    if let Some(spec) = instance.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("testRun".to_owned(), run.into());
    }
}

/// The values that an instance, as the hub has it, carries itself.
pub(crate) fn values(instance: &Value) -> FreeForm {
    instance["spec"]["values"].as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use crate::output::Paint;
    use clap::Parser;
    use insta::assert_snapshot;
    use serde_json::json;

    fn install(words: &str) -> Result<String, Failure> {
        Ok(fitout_go_yaml::to_yaml(&serde_json::to_value(parsed(words)?).unwrap()))
    }

    fn parsed(words: &str) -> Result<ExtensionInstance, Failure> {
        let words = ["fitout", "install"].into_iter().chain(words.split(' '));
        let Command::Install(install) = Arguments::try_parse_from(words).unwrap().command else { unreachable!() };
        let values = crate::settings::layered(FreeForm::new(), &crate::settings::read(&install.values)?)?;
        wanted(&install, "org-acme", Scope::Shared, values)
    }

    #[test]
    fn names_follow_from_cluster_and_extension() {
        assert_snapshot!(install("cert-manager --cluster foo").unwrap(), @r"
        apiVersion: fitout.dev/v1alpha1
        kind: ExtensionInstance
        metadata:
          finalizers:
          - fitout.dev/installed
          name: foo-cert-manager
          namespace: org-acme
        spec:
          cluster: foo
          extension:
            catalog: community
            name: cert-manager
            scope: Shared
          namespace: cert-manager
          suspend: false
          upgrade:
            policy: Follow
        ");
    }

    #[test]
    fn everything_can_be_said() {
        let words =
            "podinfo -c foo --catalog own -n web --name shop --release-name shop-web --version 6.x --set ui.color=#fff";
        assert_snapshot!(install(words).unwrap(), @r"
        apiVersion: fitout.dev/v1alpha1
        kind: ExtensionInstance
        metadata:
          finalizers:
          - fitout.dev/installed
          name: shop
          namespace: org-acme
        spec:
          cluster: foo
          extension:
            catalog: own
            name: podinfo
            scope: Shared
          namespace: web
          releaseName: shop-web
          suspend: false
          upgrade:
            policy: Follow
          values:
            ui:
              color: '#fff'
          version: 6.x
        ");
    }

    #[test]
    fn a_name_that_would_be_too_long_has_to_be_given() {
        let refused = |words: &str| install(words).unwrap_err().shown(Paint::new(false));
        let long = "c".repeat(60);
        assert_snapshot!(refused(&format!("podinfo -c {long}")), @r"
        error: the name cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc-podinfo is too long for an instance: it may have 63 characters
        hint: give it another with --name
        ");
        let sentences = "error: the name cccccccccccccccccccccccccccccccccccccccccccccccccccccc is too long for a release: it may \
                         have 53 characters\nhint: give it another with --release-name\n";
        let (fits, long) = (&long[..53], &long[..54]);
        assert_eq!(refused(&format!("{long} -c foo")), sentences);
        assert_eq!(refused(&format!("podinfo -c foo --release-name {long}")), sentences);
        install(&format!("{fits} -c foo")).unwrap();
        install(&format!("{long} -c foo --release-name {fits}")).unwrap();
    }

    #[test]
    fn a_release_belongs_to_one_instance() {
        let others = [parsed("podinfo -c foo").unwrap()];
        let alone = |words| alone(&parsed(words).unwrap(), &others);
        assert_snapshot!(alone("podinfo -c foo --name two").unwrap_err().shown(Paint::new(false)), @r"
        error: instance foo-podinfo already is the release podinfo in namespace podinfo of cluster foo
        hint: give the new one another with --namespace or --release-name
        ");
        alone("podinfo -c foo --name two -n two").unwrap();
        alone("podinfo -c foo --name two --release-name two").unwrap();
        alone("podinfo -c foo").unwrap();
    }

    #[test]
    fn an_upgrade_keeps_what_is_not_mentioned_and_ends_a_rollback() {
        let mut instance = json!({ "spec": { "version": "1.x", "rollbackTo": 2, "new": true, "values": { "a": 1 } } });
        let values = values(&instance);
        upgrade(&mut instance, None, values);
        assert_eq!(instance, json!({ "spec": { "version": "1.x", "new": true, "values": { "a": 1 } } }));
        upgrade(&mut instance, Some("2.x"), FreeForm::new());
        assert_eq!(instance, json!({ "spec": { "version": "2.x", "new": true } }));
    }

    #[test]
    fn a_choice_is_about_the_revision_that_waits_for_one() {
        let mut instance = json!({
            "metadata": { "name": "web" }, "spec": { "rollbackTo": 1 }, "status": { "foreignRevision": 4 },
        });
        assert_eq!(take_over("web", &mut instance, Choice::Reassert).unwrap(), 4);
        assert_eq!(instance["spec"], json!({ "takeover": { "choice": "Reassert", "revision": 4 } }));
        instance["status"] = json!({});
        assert_snapshot!(take_over("web", &mut instance, Choice::Adopt).unwrap_err().shown(Paint::new(false)), @r"
        error: there is nothing to choose for instance web: no other hand has changed its release
        hint: see how it is doing with `fitout status web`
        ");
    }

    #[test]
    fn a_rollback_only_says_where_to() {
        let mut instance = json!({ "spec": { "version": "1.x" } });
        roll_back(&mut instance, 3);
        assert_eq!(instance, json!({ "spec": { "version": "1.x", "rollbackTo": 3 } }));
    }
}
