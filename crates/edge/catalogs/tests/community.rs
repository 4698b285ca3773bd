//! The built-in catalog is consistent.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fitout_catalogs::embedded;
use fitout_helm_ranges::{Range, Version};
use fitout_model::{AccessRule, Definition, Engine, FreeForm, Package, VersionState};
use fitout_resolve::{Candidate, Choice, Question, choose};

/// A patch version of each minor version that Fitout supports.
const KUBERNETES: [&str; 4] = ["v1.33.4", "v1.34.2", "v1.35.4", "v1.36.3"];

fn community() -> Vec<Arc<Package>> {
    let packages = embedded("community");
    assert!(packages.problems.is_empty(), "{:?}", packages.problems);
    packages.packages
}

fn definitions(packages: &[Arc<Package>]) -> impl Iterator<Item = &Definition> {
    packages.iter().map(|package| &package.definition)
}

fn named(definition: &Definition) -> String {
    format!("{} {}", definition.extension, definition.version)
}

/// The version that the hub chooses on a cluster, or the reason why it chooses none.
fn chosen(
    packages: &[Arc<Package>],
    extension: &str,
    kubernetes: &str,
    installed: Option<&str>,
) -> Result<String, String> {
    let offered: Vec<&Definition> =
        definitions(packages).filter(|definition| definition.extension == extension).collect();
    let versions: Vec<String> = offered.iter().map(|definition| definition.version.to_string()).collect();
    let candidates: Vec<Candidate<'_>> = offered
        .iter()
        .zip(&versions)
        .map(|(definition, version)| Candidate {
            version,
            kubernetes: definition.kubernetes.as_deref(),
            replaces: definition.upgrade_from.as_deref(),
            state: VersionState::Listed,
            note: None,
            offered: true,
        })
        .collect();
    let question = Question {
        extension,
        versions: &candidates,
        wanted: None,
        kubernetes,
        installed,
        latest: false,
        stays_on_withdrawn: false,
    };
    choose(&question).map(|Choice { index, .. }| versions[index].clone()).map_err(|error| error.to_string())
}

#[test]
fn newest_supported_version_is_chosen_for_each_kubernetes() {
    let none = "-";
    let rows = [
        ("cert-manager", ["1.21.2", "1.21.2", "1.21.2", "1.21.2"]),
        ("descheduler", ["0.35.1", "0.36.0", "0.36.0", "0.36.0"]),
        ("flagger", ["1.44.0", "1.44.0", "1.44.0", "1.44.0"]),
        ("gatekeeper", ["3.22.2", "3.23.0", "3.23.0", "3.23.0"]),
        ("hello", ["1.1.0", "1.1.0", "1.1.0", "1.1.0"]),
        ("ingress-nginx", ["4.15.1", "4.15.1", "4.15.1", none]),
        ("metrics-server", ["3.13.1", "3.13.1", "3.13.1", "3.13.1"]),
        ("podinfo", ["6.14.1", "6.14.1", "6.14.1", "6.14.1"]),
        ("trust-manager", ["0.25.0", "0.25.0", "0.25.0", "0.25.0"]),
    ];
    let packages = community();
    let all: BTreeSet<&str> = definitions(&packages).map(|definition| definition.extension.as_str()).collect();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), rows.map(|(extension, _)| extension));
    for (extension, expected) in rows {
        let found = KUBERNETES.map(|kubernetes| chosen(&packages, extension, kubernetes, None));
        assert_eq!(found.map(|found| found.unwrap_or_else(|_| none.to_owned())), expected, "{extension}");
    }
}

#[test]
fn installed_version_changes_when_kubernetes_leaves_its_range() {
    let rows = [
        ("cert-manager", "1.20.3", "v1.35.4", "1.20.3"),
        ("cert-manager", "1.20.3", "v1.36.3", "1.21.2"),
        ("cert-manager", "1.21.2", "v1.32.9", "1.20.3"),
        ("descheduler", "0.34.0", "v1.35.4", "0.36.0"),
        ("descheduler", "0.36.0", "v1.33.4", "0.35.1"),
        ("gatekeeper", "3.23.0", "v1.33.4", "3.22.2"),
        ("ingress-nginx", "4.13.9", "v1.34.2", "4.15.1"),
        ("ingress-nginx", "4.15.1", "v1.30.9", "4.14.5"),
        ("metrics-server", "3.13.1", "v1.30.9", "3.12.2"),
    ];
    let packages = community();
    for (extension, installed, kubernetes, expected) in rows {
        let found = chosen(&packages, extension, kubernetes, Some(installed));
        assert_eq!(found.as_deref(), Ok(expected), "{extension} {installed} on {kubernetes}");
    }
    // cert-manager's documentation requires one minor version at a time.
    let far = chosen(&packages, "cert-manager", "v1.36.3", Some("1.18.0")).unwrap_err();
    assert!(far.contains("cert-manager 1.21.2 does not replace 1.18.0 in place"), "{far}");
    let retired = chosen(&packages, "ingress-nginx", "v1.36.3", Some("4.15.1")).unwrap_err();
    assert!(retired.contains("ingress-nginx 4.15.1 needs Kubernetes >=1.31 <1.36"), "{retired}");
}

#[test]
fn dependencies_support_each_kubernetes_of_their_dependents() {
    let packages = community();
    let mut checked = 0;
    for dependent in definitions(&packages) {
        for dependency in dependent.dependencies.iter().filter(|dependency| !dependency.optional) {
            let satisfies = |offered: &&Definition| {
                let version = Version::parse(&offered.version.to_string()).unwrap();
                let range = dependency.version.as_deref().map(|range| Range::parse(range).unwrap());
                (offered.extension == dependency.name || offered.provides.contains(&dependency.name))
                    && range.is_none_or(|range| range.matches(&version))
            };
            let fits = |definition: &Definition, kubernetes: &str| {
                let cluster = fitout_helm_ranges::kubernetes(kubernetes).unwrap();
                definition.kubernetes.as_deref().is_none_or(|range| Range::parse(range).unwrap().matches(&cluster))
            };
            for kubernetes in KUBERNETES.into_iter().filter(|kubernetes| fits(dependent, kubernetes)) {
                let found = definitions(&packages).filter(satisfies).any(|offered| fits(offered, kubernetes));
                assert!(found, "{} on {kubernetes}: no {}", named(dependent), dependency.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 0, "no definition has dependencies");
}

#[test]
fn charts_are_pinned_and_their_kubernetes_range_is_documented() {
    for definition in definitions(&community()) {
        let Some(Engine::Helm(helm)) = definition.engine() else { continue };
        let name = named(definition);
        assert_eq!(helm.chart, definition.extension, "{name}");
        let version = helm.version.as_deref().unwrap();
        assert_eq!(version.trim_start_matches('v'), definition.version.to_string(), "{name}");
        let repository = helm.repository.as_deref().unwrap();
        // A registry addresses content by digest; a chart of an index needs one.
        let pinned = repository.starts_with("https://") && helm.digest.is_some();
        assert!(pinned || repository.starts_with("oci://"), "{name}: {repository}");
        assert!(definition.kubernetes.is_some(), "{name}");
        assert!(definition.links.iter().any(|link| link.name == "Supported Kubernetes"), "{name}");
        let requirements = definition.requirements.as_ref().unwrap();
        assert!(requirements.namespaces.contains(&definition.extension), "{name}");
        assert!(!requirements.registries.is_empty(), "{name}");
    }
}

/// The kinds in a menu, each with whether the menu edits it. Asserts that a menu has nothing else.
fn listed(menu: &FreeForm, name: &str) -> Vec<(String, bool)> {
    let mut listed = Vec::new();
    for (place, entries) in menu {
        assert!(["cluster", "project"].contains(&place.as_str()), "{name}: {place}");
        for entry in entries.as_array().unwrap() {
            let fields: BTreeSet<&str> = entry.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(fields, BTreeSet::from(["crd", "detail", "edit", "list"]), "{name}");
            assert!(entry["list"] == true && entry["detail"] == true, "{name}: {entry}");
            listed.push((entry["crd"].as_str().unwrap().to_owned(), entry["edit"].as_bool().unwrap()));
        }
    }
    listed
}

fn allows(rules: &[AccessRule], verb: &str, crd: &str) -> bool {
    let (resource, group) = crd.split_once('.').unwrap();
    let has = |all: &[String], one: &str| all.iter().any(|each| each == one);
    rules.iter().any(|rule| has(&rule.api_groups, group) && has(&rule.resources, resource) && has(&rule.verbs, verb))
}

#[test]
fn roles_allow_what_the_menu_shows_and_edits() {
    let mut with_menu = BTreeSet::new();
    for definition in definitions(&community()) {
        let name = named(definition);
        let roles: BTreeMap<&str, &[AccessRule]> =
            definition.roles.iter().map(|role| (role.name.as_str(), role.rules.as_slice())).collect();
        assert_eq!(definition.menu.is_some(), !roles.is_empty(), "{name}");
        let Some(menu) = &definition.menu else { continue };
        with_menu.insert(definition.extension.clone());
        for (crd, edited) in listed(menu, &name) {
            assert!(allows(roles["viewer"], "list", &crd), "{name}: {crd}");
            assert!(!allows(roles["viewer"], "update", &crd), "{name}: {crd}");
            assert!(!edited || allows(roles["editor"], "update", &crd), "{name}: {crd}");
        }
    }
    let expected = ["cert-manager", "flagger", "gatekeeper", "trust-manager"].map(str::to_owned);
    assert_eq!(with_menu, BTreeSet::from(expected));
}

#[test]
fn documentation_lists_every_version() {
    let page = include_str!("../../../../docs/catalog.md");
    let documented: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|row| row.split(" | ").take(3).collect::<Vec<_>>().join(" | "))
        .filter(|row| !row.starts_with("extension"))
        .collect();
    let offered: BTreeSet<String> = definitions(&community())
        .map(|definition| {
            let range = definition.kubernetes.as_deref().unwrap();
            format!("{} | {} | `{range}`", definition.extension, definition.version)
        })
        .collect();
    assert_eq!(documented, offered);
}
