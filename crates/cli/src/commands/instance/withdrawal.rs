//! Installed versions that their catalog has withdrawn, and how instances leave them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fitout_api::{Cluster, Extension, ExtensionInstance, Policy, Scope, VersionState};
use fitout_resolve::{Question, choose};
use futures::StreamExt;
use futures::stream::iter;
use kube::api::ListParams;
use kube::{Api, ResourceExt};

use crate::commands::extension::candidates::candidates;
use crate::connection::{SHARED, Session};
use crate::output::Paint;

/// How many extensions are read at the same time.
const READS: usize = 8;

/// The withdrawal of an installed version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Withdrawal {
    /// The installed version.
    pub(crate) version: String,
    /// The reason of the withdrawal.
    pub(crate) note: Option<String>,
    /// The way to another version, or the reason why there is none.
    pub(crate) remedy: String,
}

/// The withdrawals of instances, by the name of the instance.
pub(crate) type Withdrawals = BTreeMap<String, Withdrawal>;

/// The instances whose installed version is withdrawn. Extensions that the user cannot read count as not withdrawn.
pub(crate) async fn of_instances(session: &Session, instances: &[ExtensionInstance]) -> Withdrawals {
    let keys: BTreeSet<(String, String)> = instances.iter().map(|instance| key(session, instance)).collect();
    let read = async |(namespace, name): (String, String)| {
        let api: Api<Extension> = Api::namespaced(session.client.clone(), &namespace);
        let extension = api.get_opt(&name).await.ok().flatten()?;
        let is_withdrawn = extension.spec.versions.iter().any(|version| version.state == VersionState::Withdrawn);
        is_withdrawn.then_some(((namespace, name), extension))
    };
    let read: Vec<_> = iter(keys).map(read).buffer_unordered(READS).collect().await;
    let extensions: BTreeMap<_, _> = read.into_iter().flatten().collect();
    if extensions.is_empty() {
        return Withdrawals::new();
    }
    let clusters = session.all(session.own::<Cluster>(), &ListParams::default()).await.unwrap_or_default();
    let found = instances.iter().filter_map(|instance| {
        let extension = extensions.get(&key(session, instance))?;
        let cluster = clusters.iter().find(|cluster| cluster.name_any() == instance.spec.cluster);
        let kubernetes = cluster.and_then(|cluster| cluster.status.as_ref()?.version.as_deref());
        Some((instance.name_any(), withdrawal(instance, extension, kubernetes)?))
    });
    found.collect()
}

/// Namespace and name of the `Extension` of an instance.
fn key(session: &Session, instance: &ExtensionInstance) -> (String, String) {
    let extension = &instance.spec.extension;
    let namespace = match extension.scope {
        Scope::Shared => SHARED.to_owned(),
        Scope::Organization => session.namespace.clone(),
    };
    (namespace, Extension::name_of(&extension.catalog, &extension.name))
}

/// The withdrawal of the installed version; none where the catalog has not withdrawn it.
fn withdrawal(instance: &ExtensionInstance, extension: &Extension, kubernetes: Option<&str>) -> Option<Withdrawal> {
    let installed = instance.status.as_ref()?.version.as_deref()?;
    let candidates = candidates(extension, kubernetes);
    let is_it = |version: &str, state| version == installed && state == VersionState::Withdrawn;
    let version = candidates.iter().find(|candidate| is_it(candidate.version, candidate.state))?;
    let note = version.note.map(str::to_owned);
    let remedy = match kubernetes {
        Some(kubernetes) => remedy(instance, extension, installed, kubernetes),
        None => "the hub does not know the Kubernetes version of the cluster yet".to_owned(),
    };
    Some(Withdrawal { version: installed.to_owned(), note, remedy })
}

/// The way of an instance to another version than its withdrawn one, or the reason why there is none.
fn remedy(instance: &ExtensionInstance, extension: &Extension, installed: &str, kubernetes: &str) -> String {
    let (name, spec) = (instance.name_any(), &instance.spec);
    let candidates = candidates(extension, Some(kubernetes));
    let chosen = |wanted: Option<&str>, installed: Option<&str>| {
        let question = Question {
            extension: &extension.spec.extension,
            versions: &candidates,
            wanted,
            kubernetes,
            installed,
            latest: false,
            stays_on_withdrawn: false,
        };
        choose(&question).ok().map(|choice| candidates[choice.index].version)
    };
    let other = |wanted| chosen(wanted, Some(installed)).filter(|version| *version != installed);
    let in_range = other(spec.version.as_deref());
    let status = instance.status.clone().unwrap_or_default();
    let desired = status.wanted_version.filter(|desired| desired != installed);
    if instance.metadata.deletion_timestamp.is_some() {
        return "it is being uninstalled".to_owned();
    }
    if spec.suspend {
        return "it is suspended, so the hub does not move it; unset `spec.suspend` first".to_owned();
    }
    if let Some(desired) = desired {
        return format!("the hub moves it to {desired}");
    }
    let offer = match in_range.or_else(|| other(None)) {
        Some(version) => format!("`fitout upgrade {name} --version {version}` moves it"),
        // Which versions can replace another major version is not listed.
        None => match chosen(None, None) {
            Some(version) => {
                format!("`fitout upgrade {name} --version {version} --dry-run` shows whether it can be moved")
            }
            None => format!("no other version fits Kubernetes {kubernetes}"),
        },
    };
    match (spec.rollback_to, spec.upgrade.policy, in_range) {
        (Some(revision), ..) => format!("it is rolled back to revision {revision}, and stays there; {offer}"),
        (None, Policy::Manual, _) => format!("policy Manual: {offer}"),
        (None, _, Some(version)) => {
            let why = status.why.map_or_else(String::new, |why| format!(": {why}"));
            format!("the hub has not moved it to {version} yet{why}; {offer}")
        }
        (None, _, None) => match &spec.version {
            Some(range) => format!("the hub does not move it, because no other version in {range} fits; {offer}"),
            None => format!("the hub does not move it, because no other version fits; {offer}"),
        },
    }
}

/// Two lines for each withdrawal, to follow a table of instances.
pub(crate) fn notices(withdrawals: &Withdrawals, paint: Paint) -> String {
    let mut text = String::new();
    for (name, Withdrawal { version, note, remedy }) in withdrawals {
        let note = note.as_ref().map_or_else(String::new, |note| format!(": {note}"));
        let line = format!("{name}: {version} is withdrawn{note}");
        let _ = write!(text, "\n{}\n  {remedy}\n", paint.red(&line));
    }
    text
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use super::*;

    const KUBERNETES: Option<&str> = Some("v1.36.3");

    fn extension() -> Extension {
        let digest = format!("sha256:{}", "0".repeat(64));
        let withdrawn = json!({ "state": "Withdrawn", "note": "CVE-2026-1; 1.2.3 has the fix" });
        let version = |(version, rest): (&str, Value)| {
            let mut value = json!({ "version": version, "digest": digest });
            value.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            value
        };
        let versions = [
            ("3.0.0", json!({ "kubernetes": ">=1.40" })),
            ("2.0.0", json!({})),
            ("1.2.3", json!({})),
            ("1.1.0", withdrawn.clone()),
            ("0.9.0", json!({ "state": "Withdrawn" })),
        ];
        serde_json::from_value(json!({
            "apiVersion": "fitout.dev/v1alpha1", "kind": "Extension", "metadata": { "name": "apps.web" },
            "spec": { "catalog": "apps", "extension": "web", "versions": versions.map(version) },
        }))
        .unwrap()
    }

    fn instance(spec: &Value, status: &Value) -> ExtensionInstance {
        let mut all = json!({
            "cluster": "prod", "namespace": "web", "extension": { "name": "web", "catalog": "apps" },
        });
        all.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        serde_json::from_value(json!({
            "apiVersion": "fitout.dev/v1alpha1", "kind": "ExtensionInstance", "metadata": { "name": "prod-web" },
            "spec": all, "status": status,
        }))
        .unwrap()
    }

    fn remedy_of(spec: &Value, status: &Value, kubernetes: Option<&str>) -> String {
        withdrawal(&instance(spec, status), &extension(), kubernetes).unwrap().remedy
    }

    #[test]
    fn a_withdrawn_version_names_the_move() {
        let installed = json!({ "version": "1.1.0", "wantedVersion": "1.1.0", "why": "1.1.0 is installed" });
        let manual = json!({ "upgrade": { "policy": "Manual" } });
        let command = "`fitout upgrade prod-web --version 1.2.3` moves it";
        let rows = [
            (
                json!({}),
                json!({ "version": "1.1.0", "wantedVersion": "1.2.3" }),
                "the hub moves it to 1.2.3".to_owned(),
            ),
            (manual.clone(), installed.clone(), format!("policy Manual: {command}")),
            (json!({ "rollbackTo": 3 }), installed.clone(), {
                format!("it is rolled back to revision 3, and stays there; {command}")
            }),
            (json!({ "version": "1.1.x" }), installed.clone(), {
                format!("the hub does not move it, because no other version in 1.1.x fits; {command}")
            }),
            (json!({ "version": "1.x" }), installed.clone(), {
                format!("the hub has not moved it to 1.2.3 yet: 1.1.0 is installed; {command}")
            }),
            (json!({ "suspend": true }), installed, {
                "it is suspended, so the hub does not move it; unset `spec.suspend` first".to_owned()
            }),
            (manual, json!({ "version": "0.9.0" }), {
                "policy Manual: `fitout upgrade prod-web --version 2.0.0 --dry-run` shows whether it can be \
                 moved"
                    .to_owned()
            }),
        ];
        for (spec, status, expected) in rows {
            assert_eq!(remedy_of(&spec, &status, KUBERNETES), expected, "{spec}");
        }
        let unknown = remedy_of(&json!({}), &json!({ "version": "1.1.0" }), None);
        assert!(unknown.starts_with("the hub does not know the Kubernetes version"), "{unknown}");
    }

    #[test]
    fn other_versions_are_not_withdrawn() {
        for status in [json!({}), json!({ "version": "1.2.3" }), json!({ "version": "1.0.0" })] {
            assert_eq!(withdrawal(&instance(&json!({}), &status), &extension(), KUBERNETES), None, "{status}");
        }
    }

    #[test]
    fn notices_follow_the_table() {
        let status = json!({ "version": "1.1.0", "wantedVersion": "1.2.3" });
        let found = withdrawal(&instance(&json!({}), &status), &extension(), KUBERNETES).unwrap();
        let all = Withdrawals::from([("prod-web".to_owned(), found)]);
        assert_snapshot!(notices(&all, Paint::new(false)), @r"

        prod-web: 1.1.0 is withdrawn: CVE-2026-1; 1.2.3 has the fix
          the hub moves it to 1.2.3
        ");
        assert!(notices(&all, Paint::new(true)).starts_with("\n\u{1b}[1;31mprod-web: 1.1.0 is withdrawn"));
    }
}
