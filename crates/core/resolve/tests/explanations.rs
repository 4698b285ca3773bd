//! Explanations as people read them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use fitout_model::VersionState;
use fitout_resolve::cluster::{
    Capability, Dependencies, Dependency, Extension, ExtensionVersion, Index, Instance, Member, Outcome, Policy,
    Problem, Requirement, Resolution, resolve,
};
use insta::assert_snapshot;

/// The resolution of a cluster in lines. A catalog has a line for each version, and a cluster one for each instance.
fn resolved(catalog: &[&str], cluster: &str, instances: &[&str]) -> String {
    let extensions = catalog.iter().map(|line| extension(line));
    let index = Index::new(extensions);
    let mut problem = self::cluster(cluster);
    problem.instances = instances.iter().map(|line| instance(line)).collect();
    let resolution = resolve(&index, &problem).unwrap();
    let mut lines = Vec::new();
    for (instance, resolved) in problem.instances.iter().zip(&resolution.instances) {
        let label = if instance.name == instance.extension {
            instance.name.to_owned()
        } else {
            format!("{} ({})", instance.extension, instance.name)
        };
        lines.push(match &resolved.outcome {
            Outcome::Version { version, hops, why } => {
                let over = if hops.is_empty() { String::new() } else { format!(" by way of {}", hops.join(", ")) };
                format!("{label} {version}{over}: {}", why.text("prod-eu"))
            }
            Outcome::SetAside { why, .. } => format!("{label} set aside: {}", why.text("prod-eu")),
        });
        let unneeded = if resolved.is_unneeded { vec![format!("{label} is unneeded")] } else { vec![] };
        let suggests = resolved.suggests.iter().map(|it| format!("{label} suggests {it}"));
        lines.extend(unneeded.into_iter().chain(suggests));
    }
    for addition in &resolution.additions {
        let names: Vec<&str> = addition.needed_by.iter().map(|it| name(*it, &problem, &resolution)).collect();
        let why = addition.why.text("prod-eu");
        lines.push(format!("+ {} {} for {}: {why}", addition.extension, addition.version, names.join(", ")));
    }
    lines.join("\n")
}

fn name<'a>(member: Member, problem: &'a Problem, resolution: &'a Resolution) -> &'a str {
    match member {
        Member::Instance(at) => problem.instances[at].name,
        Member::Addition(at) => &resolution.additions[at].extension,
    }
}

/// The word that a part of a line begins with, and the rest.
fn parts(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split(" | ").map(|part| part.split_once(' ').unwrap_or((part, "")))
}

fn requirement(text: &str) -> Requirement<'_> {
    text.split_once(' ')
        .map_or(Requirement { name: text, version: None }, |(name, range)| Requirement { name, version: Some(range) })
}

fn extension(line: &str) -> Extension<'_> {
    let mut all = parts(line);
    let (name, version) = all.next().unwrap();
    let mut it = ExtensionVersion { version, singleton: true, ..ExtensionVersion::default() };
    for (word, rest) in all {
        let dependency = |optional| Dependency { any_of: rest.split(" or ").map(requirement).collect(), optional };
        match word {
            "kubernetes" => it.kubernetes = Some(rest),
            "platform" => it.platform = Some(rest),
            "from" => it.upgrade_from = Some(rest),
            "side" => it.singleton = false,
            "needs" => it.dependencies.push(dependency(false)),
            "maybe" => it.dependencies.push(dependency(true)),
            "conflicts" => it.conflicts.push(requirement(rest)),
            "provides" => it.provides.push(rest),
            "suggests" => it.suggests.push(rest),
            "capability" => it.capabilities.push(rest),
            "yanked" => (it.state, it.note) = (VersionState::Yanked, Some(rest)),
            "withdrawn" => (it.state, it.note) = (VersionState::Withdrawn, Some(rest)),
            word => panic!("{word}"),
        }
    }
    Extension { catalog: "community", name, versions: vec![it] }
}

fn cluster(line: &str) -> Problem<'_> {
    let mut all = parts(line);
    let mut it = Problem { kubernetes: all.next().unwrap().0, catalogs: vec!["community"], ..Problem::default() };
    for (word, rest) in all {
        match word {
            "platform" => it.platform = Some(rest),
            "absent" => it.capabilities.push((rest, Capability::Absent)),
            word => panic!("{word}"),
        }
    }
    it
}

fn instance(line: &str) -> Instance<'_> {
    let mut all = parts(line);
    let extension = all.next().unwrap().0;
    let mut it = Instance { name: extension, catalog: "community", extension, ..Instance::default() };
    for (word, rest) in all {
        match word {
            "name" => it.name = rest,
            "version" => it.version = Some(rest),
            "installed" => it.installed = Some(rest),
            "manual" => it.policy = Policy::Manual,
            "suspended" => it.suspended = true,
            "require" => it.dependencies = Dependencies::Require,
            "ignore" => it.dependencies = Dependencies::Ignore,
            "dependency" => it.is_dependency = true,
            word => panic!("{word}"),
        }
    }
    it
}

#[test]
fn a_range_without_versions() {
    let catalog = &["web 1.0.0", "web 1.1.0"];
    let text = resolved(catalog, "v1.36.3", &["web | version 3.x"]);
    assert_snapshot!(text, @"web set aside: no version of web is in 3.x, available: 1.1.0, 1.0.0");
}

#[test]
fn an_extension_that_the_catalog_does_not_have() {
    let catalog = &["web 1.0.0"];
    let text = resolved(catalog, "v1.36.3", &["shop"]);
    assert_snapshot!(text, @"shop set aside: catalog community has no version of shop");
}

#[test]
fn kubernetes_is_too_old() {
    let catalog = &["web 1.0.0 | kubernetes >=1.33"];
    let text = resolved(catalog, "v1.28.4", &["web"]);
    assert_snapshot!(text, @"web set aside: web 1.0.0 needs Kubernetes >=1.33, cluster prod-eu is v1.28.4");
}

#[test]
fn kubernetes_is_too_new_for_all_of_many() {
    let catalog = &["web 1.0.0 | kubernetes <1.34", "web 1.1.0 | kubernetes <1.35", "web 1.2.0 | kubernetes <1.36"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"web set aside: web 1.2.0 needs Kubernetes <1.36, cluster prod-eu is v1.36.3, and 2 other versions do not support it either");
}

#[test]
fn all_versions_are_yanked_or_withdrawn() {
    let catalog = &["web 1.0.0 | yanked it loses data", "web 1.1.0 | withdrawn CVE-2026-1"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"web set aside: web 1.1.0 is withdrawn (CVE-2026-1); web 1.0.0 is yanked (it loses data)");
}

#[test]
fn another_major_does_not_replace_in_place() {
    let catalog = &["web 1.0.0 | kubernetes <1.36", "web 2.0.0"];
    let text = resolved(catalog, "v1.36.3", &["web | installed 1.0.0"]);
    assert_snapshot!(text, @"web set aside: web 2.0.0 does not replace 1.0.0 in place, in one step or in several: install it side by side under another name; web 1.0.0 needs Kubernetes <1.36, cluster prod-eu is v1.36.3");
}

#[test]
fn a_native_extension_of_another_platform() {
    let catalog = &["console 1.0.0 | platform <0.5"];
    let text = resolved(catalog, "v1.36.3 | platform 0.7.0", &["console"]);
    assert_snapshot!(text, @"console set aside: console 1.0.0 needs platform <0.5, the platform is 0.7.0");
}

#[test]
fn the_platform_is_not_known() {
    let catalog = &["console 1.0.0 | platform <0.5"];
    let text = resolved(catalog, "v1.36.3", &["console"]);
    assert_snapshot!(text, @"console set aside: console 1.0.0 needs platform <0.5, the version of the platform is not known");
}

#[test]
fn the_cluster_lacks_a_capability() {
    let catalog = &["database 1.0.0 | capability storageClass"];
    let text = resolved(catalog, "v1.36.3 | absent storageClass", &["database"]);
    assert_snapshot!(text, @"database set aside: database 1.0.0 needs storageClass, which cluster prod-eu does not have");
}

#[test]
fn a_capability_is_unknown() {
    let catalog = &["web 1.0.0 | capability loadBalancer"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"web 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3; it is unknown whether cluster prod-eu has loadBalancer");
}

#[test]
fn an_extension_gives_the_capability() {
    let catalog = &["database 1.0.0 | capability storageClass", "rook 1.0.0 | provides storageClass"];
    let text = resolved(catalog, "v1.36.3 | absent storageClass", &["database", "rook"]);
    assert_snapshot!(text, @"
    database 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    rook 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    ");
}

#[test]
fn a_dependency_that_nobody_offers() {
    let catalog = &["web 1.0.0 | needs storage >=1.4"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"web set aside: web 1.0.0 asks for storage >=1.4; no catalog of cluster prod-eu has storage");
}

#[test]
fn a_dependency_without_a_version_in_the_range() {
    let catalog = &["web 1.0.0 | needs storage >=2", "storage 1.4.0", "storage 1.5.0"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"web set aside: web 1.0.0 asks for storage >=2; no version of storage is in >=2, available: 1.5.0, 1.4.0");
}

#[test]
fn a_dependency_that_does_not_fit_kubernetes() {
    let catalog =
        &["web 1.0.0 | needs storage >=1.4", "storage 1.4.0 | kubernetes <1.36", "storage 1.5.0 | kubernetes <1.36"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"web set aside: web 1.0.0 asks for storage >=1.4; storage 1.5.0 needs Kubernetes <1.36, cluster prod-eu is v1.36.3, and 1.4.0 does not support it either");
}

#[test]
fn the_one_of_the_design() {
    let catalog =
        &["monitoring 2.1.0 | kubernetes >=1.29", "monitoring 2.0.3", "dashboards 1.2.0 | needs monitoring >=2.1"];
    let text = resolved(catalog, "v1.28.4", &["monitoring | installed 2.0.3", "dashboards"]);
    assert_snapshot!(text, @"
    monitoring 2.0.3: 2.0.3 is installed and fits Kubernetes v1.28.4
    dashboards set aside: dashboards 1.2.0 asks for monitoring >=2.1; monitoring 2.1.0 needs Kubernetes >=1.29, cluster prod-eu is v1.28.4
    ");
}

#[test]
fn a_dependency_is_added() {
    let catalog = &["web 1.0.0 | needs storage >=1.4 <2", "storage 1.4.0", "storage 1.5.0", "storage 2.0.0"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"
    web 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    + storage 1.5.0 for web: 1.5.0 is the newest that fits Kubernetes v1.36.3 and the other extensions; web 1.0.0 asks for storage >=1.4 <2
    ");
}

#[test]
fn dependencies_are_required_and_not_there() {
    let catalog = &["web 1.0.0 | needs storage", "storage 1.0.0"];
    let text = resolved(catalog, "v1.36.3", &["web | require"]);
    assert_snapshot!(text, @"web set aside: web 1.0.0 asks for storage; storage is not installed, and web does not install its dependencies");
}

#[test]
fn dependencies_are_ignored() {
    let catalog = &["web 1.0.0 | needs storage", "storage 1.0.0"];
    let text = resolved(catalog, "v1.36.3", &["web | ignore"]);
    assert_snapshot!(text, @"web 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3");
}

#[test]
fn the_second_alternative_is_taken() {
    let catalog = &["web 1.0.0 | needs mysql or postgres >=15", "mysql 8.0.0 | kubernetes <1.30", "postgres 16.0.0"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"
    web 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    + postgres 16.0.0 for web: 16.0.0 is the newest that fits Kubernetes v1.36.3
    ");
}

#[test]
fn no_alternative_fits() {
    let catalog = &["web 1.0.0 | needs mysql or postgres >=15", "mysql 8.0.0 | kubernetes <1.30", "postgres 14.0.0"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"web set aside: web 1.0.0 asks for mysql or postgres >=15; mysql 8.0.0 needs Kubernetes <1.30, cluster prod-eu is v1.36.3; no version of postgres is in >=15, available: 14.0.0");
}

#[test]
fn a_capability_is_provided_by_an_addition() {
    let catalog = &["web 1.0.0 | needs certificates", "cert-manager 1.0.0 | provides certificates"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"
    web 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    + cert-manager 1.0.0 for web: 1.0.0 is the newest that fits Kubernetes v1.36.3
    ");
}

#[test]
fn a_conflict_with_what_is_installed() {
    let catalog = &["cert-manager 1.0.0 | conflicts old-cert-manager", "old-cert-manager 0.9.0"];
    let text = resolved(catalog, "v1.36.3", &["old-cert-manager | installed 0.9.0", "cert-manager"]);
    assert_snapshot!(text, @"
    old-cert-manager 0.9.0: 0.9.0 is installed and fits Kubernetes v1.36.3
    cert-manager set aside: cert-manager 1.0.0 conflicts with old-cert-manager 0.9.0
    ");
}

#[test]
fn a_conflict_with_some_versions() {
    let catalog = &["web 1.0.0", "web 1.1.0 | conflicts gateway <2", "gateway 1.0.0"];
    let text = resolved(catalog, "v1.36.3", &["gateway | installed 1.0.0", "web"]);
    assert_snapshot!(text, @"
    gateway 1.0.0: 1.0.0 is installed and fits Kubernetes v1.36.3
    web 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3 and the other extensions; web 1.1.0 conflicts with gateway 1.0.0
    ");
}

#[test]
fn the_older_instance_of_a_singleton_wins() {
    let catalog = &["web 1.0.0"];
    let text = resolved(catalog, "v1.36.3", &["web | name blue", "web | name green"]);
    assert_snapshot!(text, @"
    web (blue) 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    web (green) set aside: a cluster has at most one web, and web (blue) is one
    ");
}

#[test]
fn majors_side_by_side() {
    let catalog = &[
        "web 1.0.0 | side by side",
        "web 2.0.0 | side by side",
        "old 1.0.0 | needs web 1.x",
        "new 1.0.0 | needs web 2.x",
    ];
    let text = resolved(catalog, "v1.36.3", &["old", "new"]);
    assert_snapshot!(text, @"
    old 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    new 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    + web 1.0.0 for old: 1.0.0 is the newest that fits Kubernetes v1.36.3
    + web 2.0.0 for new: 2.0.0 is the newest that fits Kubernetes v1.36.3
    ");
}

#[test]
fn two_ask_for_different_versions() {
    let catalog = &["storage 1.0.0", "storage 2.0.0", "old 1.0.0 | needs storage <2", "new 1.0.0 | needs storage >=2"];
    let text = resolved(catalog, "v1.36.3", &["old", "new"]);
    assert_snapshot!(text, @"
    old 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    new set aside: old 1.0.0 asks for storage <2; new 1.0.0 asks for storage >=2
    + storage 1.0.0 for old: 1.0.0 is the newest that fits Kubernetes v1.36.3 and the other extensions; old 1.0.0 asks for storage <2
    ");
}

#[test]
fn manual_stays_and_says_what_would_fit() {
    let catalog = &["web 1.0.0 | kubernetes <1.36", "web 1.1.0"];
    let text = resolved(catalog, "v1.36.3", &["web | installed 1.0.0 | manual"]);
    assert_snapshot!(text, @"web set aside: web stays at 1.0.0 until a user moves it, as its upgrade policy is Manual; 1.1.0 fits the cluster; web 1.0.0 needs Kubernetes <1.36, cluster prod-eu is v1.36.3");
}

#[test]
fn manual_blocks_a_new_extension() {
    let catalog = &["monitoring 2.0.0", "monitoring 2.1.0", "dashboards 1.2.0 | needs monitoring >=2.1"];
    let text = resolved(catalog, "v1.36.3", &["monitoring | installed 2.0.0 | manual", "dashboards"]);
    assert_snapshot!(text, @"
    monitoring 2.0.0: 2.0.0 is installed and fits Kubernetes v1.36.3
    dashboards set aside: dashboards 1.2.0 asks for monitoring >=2.1; monitoring stays at 2.0.0 until a user moves it, as its upgrade policy is Manual; 2.1.0 fits the cluster
    ");
}

#[test]
fn follow_moves_for_a_new_extension() {
    let catalog = &["monitoring 2.0.0", "monitoring 2.1.0", "dashboards 1.2.0 | needs monitoring >=2.1"];
    let text = resolved(catalog, "v1.36.3", &["monitoring | installed 2.0.0", "dashboards"]);
    assert_snapshot!(text, @"
    monitoring 2.1.0: 2.1.0 is the newest that fits Kubernetes v1.36.3 and the other extensions; dashboards 1.2.0 asks for monitoring >=2.1
    dashboards 1.2.0: 1.2.0 is the newest that fits Kubernetes v1.36.3
    ");
}

#[test]
fn nothing_moves_down_for_a_new_extension() {
    let catalog = &["storage 1.0.0", "storage 1.1.0", "web 1.0.0 | needs storage <1.1"];
    let text = resolved(catalog, "v1.36.3", &["storage | installed 1.1.0", "web"]);
    assert_snapshot!(text, @"
    storage 1.1.0: 1.1.0 is installed and fits Kubernetes v1.36.3
    web set aside: web 1.0.0 asks for storage <1.1; storage 1.1.0 is installed and does not move to an older version for a new extension
    ");
}

#[test]
fn down_with_kubernetes() {
    let catalog = &["web 1.0.0 | kubernetes <1.36", "web 1.1.0 | kubernetes >=1.36"];
    let text = resolved(catalog, "v1.35.4", &["web | installed 1.1.0"]);
    assert_snapshot!(text, @"web 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.35.4; web 1.1.0 needs Kubernetes >=1.36, cluster prod-eu is v1.35.4");
}

#[test]
fn two_hops() {
    let catalog = &["web 1.0.0 | kubernetes <1.36", "web 1.5.0 | from >=1.0 <1.5", "web 2.0.0 | from >=1.5"];
    let text = resolved(catalog, "v1.36.3", &["web | installed 1.0.0 | version 2.x"]);
    assert_snapshot!(text, @"web 2.0.0 by way of 1.5.0: 2.0.0 is the newest in 2.x that fits Kubernetes v1.36.3; web 1.0.0 is outside the requested 2.x");
}

#[test]
fn a_hop_needs_something() {
    let catalog =
        &["web 1.0.0 | kubernetes <1.36", "web 1.5.0 | from >=1.0 <1.5 | needs migrator", "web 2.0.0 | from >=1.5"];
    let text = resolved(catalog, "v1.36.3", &["web | installed 1.0.0 | version 2.x"]);
    assert_snapshot!(text, @"web set aside: web 1.5.0, on the way to 2.0.0, asks for migrator; no catalog of cluster prod-eu has migrator; web 1.5.0 and 1.0.0 are outside the requested 2.x");
}

#[test]
fn withdrawn_is_left() {
    let catalog = &["web 1.0.0", "web 1.1.0 | withdrawn CVE-2026-1"];
    let text = resolved(catalog, "v1.36.3", &["web | installed 1.1.0"]);
    assert_snapshot!(text, @"web 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3; web 1.1.0 is withdrawn (CVE-2026-1)");
}

#[test]
fn suspended_stays() {
    let catalog = &["web 1.0.0 | kubernetes <1.36", "web 1.1.0"];
    let text = resolved(catalog, "v1.36.3", &["web | installed 1.0.0 | suspended"]);
    assert_snapshot!(text, @"web set aside: web stays at 1.0.0 as it is suspended; web 1.0.0 needs Kubernetes <1.36, cluster prod-eu is v1.36.3");
}

#[test]
fn a_circle_of_two() {
    let catalog = &["web 1.0.0 | needs storage", "storage 1.0.0 | needs web"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"web set aside: web 1.0.0 and storage 1.0.0 wait for each other in a circle: web 1.0.0 needs storage 1.0.0 needs web 1.0.0; storage 1.0.0 asks for web");
}

#[test]
fn a_circle_of_three() {
    let catalog = &["web 1.0.0 | needs storage", "storage 1.0.0 | needs gateway", "gateway 1.0.0 | needs web"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"web set aside: web 1.0.0 and storage 1.0.0 and gateway 1.0.0 wait for each other in a circle: web 1.0.0 needs storage 1.0.0 needs gateway 1.0.0 needs web 1.0.0; storage 1.0.0 asks for gateway; gateway 1.0.0 asks for web");
}

#[test]
fn an_optional_dependency_in_another_version() {
    let catalog = &["web 1.0.0 | maybe gateway >=2", "gateway 1.0.0"];
    let text = resolved(catalog, "v1.36.3", &["gateway | installed 1.0.0", "web"]);
    assert_snapshot!(text, @"
    gateway 1.0.0: 1.0.0 is installed and fits Kubernetes v1.36.3
    web set aside: web 1.0.0 asks for gateway >=2; no version of gateway is in >=2, available: 1.0.0
    ");
}

#[test]
fn what_is_set_aside_and_installed_still_counts() {
    let catalog = &[
        "storage 1.4.0 | kubernetes <1.36",
        "web 1.0.0 | kubernetes <1.36 | needs storage",
        "web 1.1.0 | needs storage >=1.4",
    ];
    let text = resolved(catalog, "v1.36.3", &["storage | installed 1.4.0", "web | installed 1.0.0"]);
    assert_snapshot!(text, @"
    storage set aside: storage 1.4.0 needs Kubernetes <1.36, cluster prod-eu is v1.36.3
    web 1.1.0: 1.1.0 is the newest that fits Kubernetes v1.36.3; web 1.0.0 needs Kubernetes <1.36, cluster prod-eu is v1.36.3
    ");
}

#[test]
fn kubernetes_capability_and_dependency() {
    let catalog = &[
        "shop 3.0.0 | kubernetes >=1.37",
        "shop 2.0.0 | capability storageClass",
        "shop 1.0.0 | needs database >=14",
        "database 13.0.0",
        "database 14.0.0 | kubernetes <1.36",
    ];
    let text = resolved(catalog, "v1.36.3 | absent storageClass", &["shop"]);
    assert_snapshot!(text, @"shop set aside: shop 3.0.0 needs Kubernetes >=1.37, cluster prod-eu is v1.36.3; shop 2.0.0 needs storageClass, which cluster prod-eu does not have; shop 1.0.0 asks for database >=14; database 14.0.0 needs Kubernetes <1.36, cluster prod-eu is v1.36.3");
}

#[test]
fn kubernetes_conflict_and_dependency() {
    let catalog = &[
        "shop 2.0.0 | conflicts gateway",
        "shop 1.0.0 | needs database >=14",
        "database 14.0.0 | kubernetes <1.36",
        "gateway 1.0.0",
    ];
    let text = resolved(catalog, "v1.36.3", &["gateway | installed 1.0.0", "shop"]);
    assert_snapshot!(text, @"
    gateway 1.0.0: 1.0.0 is installed and fits Kubernetes v1.36.3
    shop set aside: shop 2.0.0 conflicts with gateway 1.0.0; shop 1.0.0 asks for database >=14; database 14.0.0 needs Kubernetes <1.36, cluster prod-eu is v1.36.3
    ");
}

#[test]
fn a_chain_of_dependencies() {
    let catalog = &[
        "shop 1.0.0 | needs database >=2",
        "database 2.0.0 | needs storage >=3",
        "storage 3.0.0 | kubernetes >=1.37",
        "storage 2.0.0",
    ];
    let text = resolved(catalog, "v1.36.3", &["shop"]);
    assert_snapshot!(text, @"shop set aside: shop 1.0.0 asks for database >=2; database 2.0.0 asks for storage >=3; storage 3.0.0 needs Kubernetes >=1.37, cluster prod-eu is v1.36.3");
}

#[test]
fn an_unneeded_addition_is_reported() {
    let catalog = &["storage 1.0.0", "web 1.0.0"];
    let text = resolved(catalog, "v1.36.3", &["web | installed 1.0.0", "storage | installed 1.0.0 | dependency"]);
    assert_snapshot!(text, @"
    web 1.0.0: 1.0.0 is installed and fits Kubernetes v1.36.3
    storage 1.0.0: 1.0.0 is installed and fits Kubernetes v1.36.3
    storage is unneeded
    ");
}

#[test]
fn a_suggestion_is_shown() {
    let catalog = &["web 1.0.0 | suggests observability", "observability 1.0.0"];
    let text = resolved(catalog, "v1.36.3", &["web"]);
    assert_snapshot!(text, @"
    web 1.0.0: 1.0.0 is the newest that fits Kubernetes v1.36.3
    web suggests observability
    ");
}
