//! The built-in catalog on a real cluster: what it offers is installed in order, and is what its definitions declare.
//!
//! The definitions are those of the program, with another repository: one on this machine, with the testbed's charts packaged
//! under the versions that the definitions name. Their archives are not the published ones, so no digest is kept.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use fitout_model::{AccessRule, Definition, Package, WebhookKind};
use fitout_testkit::{INSTANCES, apply, condition, full, object, pods_cannot_run, skip, until};
use serde_json::{Value, json};

use crate::every::objects::read;
use crate::every::plain_pods::make_pods_plain;
use crate::every::webhooks::{disarm, left_alone};
use crate::repository::Repository;
use crate::world::World;

/// The testbed has these charts in the versions that are offered, so what is declared can be held against what they bring. Its
/// podinfo is an older one, and hands out as little.
const DECLARED: [&str; 4] = ["cert-manager", "metrics-server", "podinfo", "trust-manager"];

/// The testbed has these in other versions.
const INSTALLED: [&str; 2] = ["descheduler", "flagger"];

/// This one too, and it takes its time: its webhooks see every write, and nobody serves them here.
const LAST: [&str; 1] = ["gatekeeper"];

const LIMIT: Duration = Duration::from_mins(2);

#[test]
fn what_the_built_in_catalog_offers_is_installed_in_order_and_is_what_it_declares() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let world = World::start_with(true)?;
    make_pods_plain(&world.target)?;
    let offered = publish(&world, &[&DECLARED[..], &INSTALLED, if full() { &LAST } else { &[] }].concat())?;
    let (first, last) = offered.split_at(DECLARED.len() + INSTALLED.len());
    world.offer()?;
    let log = world.target.audit().from_now()?;
    install(&world, first)?;
    install(&world, last)?;
    log.calls()?.by("kubernetes-admin").writes().failed().assert_none("no write failed");

    for package in &offered {
        recorded(&world, &package.definition)?;
    }
    for package in &first[..DECLARED.len()] {
        declared(&world, &package.definition).with_context(|| package.definition.extension.clone())?;
    }
    refused(&world)?;
    sideloaded(&world)
}

/// Installs them, each once all that it depends on is ready.
fn install(world: &World, packages: &[Arc<Package>]) -> Result<()> {
    let began = Instant::now();
    let mut left: Vec<&Definition> = packages.iter().map(|package| &package.definition).collect();
    let mut installed: BTreeSet<&str> = BTreeSet::new();
    while !left.is_empty() {
        let (next, later): (Vec<_>, Vec<_>) = left.into_iter().partition(|definition| {
            definition.dependencies.iter().all(|dependency| installed.contains(dependency.name.as_str()))
        });
        ensure!(
            !next.is_empty(),
            "nothing can be next: {:?}",
            later.iter().map(|it| &it.extension).collect::<Vec<_>>()
        );
        for definition in &next {
            want(world, &definition.extension)?;
        }
        for definition in next {
            ready(world, definition)?;
            println!("{} {} after {:.1} s", definition.extension, definition.version, began.elapsed().as_secs_f32());
            installed.insert(&definition.extension);
        }
        disarm(&world.target)?;
        left = later;
    }
    Ok(())
}

/// Writes the catalog, and has a repository with a chart for the newest version of each of some extensions, which the newest
/// Kubernetes takes. Those versions are returned.
fn publish(world: &World, names: &[&str]) -> Result<Vec<Arc<Package>>> {
    let folder = world.hub.sandbox().dir().join("repository");
    fs::create_dir_all(&folder)?;
    let address = Repository::start(folder.clone()).address;
    // In the order of versions: the last of each is the newest.
    let mut newest = BTreeMap::new();
    for package in fitout_catalogs::embedded("community").packages {
        let definition = &package.definition;
        let place = world.catalog.join(&definition.extension).join(definition.version.to_string());
        for (path, content) in &package.files {
            let file = place.join(path);
            fs::create_dir_all(file.parent().context("a folder")?)?;
            let is_definition = path == "definition.yaml";
            fs::write(file, if is_definition { moved(content, &address)? } else { content.clone() })?;
        }
        newest.insert(definition.extension.clone(), package);
    }
    let (helm, to) = (world.hub.helm(), folder.to_string_lossy());
    let charts = world.hub.sandbox().programs().charts()?;
    let offered: Vec<Arc<Package>> = names.iter().map(|name| Arc::clone(&newest[*name])).collect();
    for definition in offered.iter().map(|package| &package.definition) {
        let chart = charts.get(&definition.extension).context("no such chart")?.to_string_lossy();
        let version = definition.helm.as_ref().and_then(|helm| helm.version.as_deref()).context("a chart's version")?;
        let app = definition.app_version.as_deref().context("an app's version")?;
        helm.run(&["package", &chart, "--version", version, "--app-version", app, "--destination", &to])?;
    }
    helm.run(&["repo", "index", &to])?;
    Ok(offered)
}

/// A definition with another repository, and otherwise to the byte.
fn moved(definition: &[u8], address: &str) -> Result<Vec<u8>> {
    let lines = std::str::from_utf8(definition)?.lines().filter(|line| !line.starts_with("    digest: "));
    let moved = lines.map(|line| match line.strip_prefix("    repository: ") {
        Some(_) => format!("    repository: {address}\n"),
        None => format!("{line}\n"),
    });
    Ok(moved.collect::<String>().into_bytes())
}

/// As `fitout install NAME` does: under its own name, in a namespace of its own.
fn want(world: &World, name: &str) -> Result<()> {
    let spec = json!({
        "cluster": "foo", "namespace": name, "extension": { "name": name, "catalog": "local" }, "drift": left_alone(),
    });
    let instance = object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", name, &json!({ "spec": spec }));
    apply(&world.hub, &instance)
}

fn ready(world: &World, definition: &Definition) -> Result<()> {
    let name = &definition.extension;
    until(&format!("{name} is ready"), LIMIT, || {
        let instance = world.hub.client().get(&format!("{INSTANCES}/{name}"))?;
        let (status, ready) = (&instance["status"], condition(&instance, "Ready"));
        ensure!(
            ready["status"] == "True" && status["version"] == definition.version.to_string(),
            "{} {} {}",
            ready["message"],
            status["step"],
            status["firstUnhealthy"]
        );
        Ok(())
    })
}

/// Helm knows the release as the chart that the definition names.
fn recorded(world: &World, definition: &Definition) -> Result<()> {
    let name = &definition.extension;
    let listed: Value = world.target.helm().json(&["list", "--output=json", &format!("--namespace={name}")])?;
    let chart = definition.helm.as_ref().and_then(|helm| helm.version.as_deref()).context("a version")?;
    assert_eq!(listed[0]["chart"], format!("{name}-{chart}"), "{listed}");
    assert_eq!(listed[0]["app_version"], json!(definition.app_version), "{listed}");
    Ok(())
}

/// Neither less nor more than the release has: namespaces, rights, webhooks; and its kinds, where the menu has them.
fn declared(world: &World, definition: &Definition) -> Result<()> {
    let (helm, name) = (world.target.helm(), &definition.extension);
    let namespace = format!("--namespace={name}");
    let parts = ["manifest", "hooks"].map(|part| helm.run(&["get", part, name, &namespace]));
    let mut objects = Vec::new();
    for part in parts {
        objects.extend(read(&part?)?);
    }
    // Tests are nothing that an install makes.
    objects.retain(|object| !object["metadata"]["annotations"]["helm.sh/hook"].as_str().unwrap_or("").contains("test"));
    let requirements = definition.requirements.clone().context("requirements")?;

    let text = |value: &Value| value.as_str().map(str::to_owned);
    let written = objects.iter().filter_map(|object| text(&object["metadata"]["namespace"]));
    let declared: BTreeSet<String> = requirements.namespaces.iter().cloned().collect();
    assert_eq!(written.chain([name.clone()]).collect::<BTreeSet<_>>(), declared, "{name}: namespaces");

    let handed = handed(world, &objects)?;
    let uncovered = |rules: &[AccessRule], by: &[AccessRule]| -> Vec<Right> {
        rules.iter().flat_map(rights).filter(|right| !by.iter().any(|rule| covers(rule, right))).collect()
    };
    assert_eq!(uncovered(&handed, &requirements.grants), [], "{name}: handed out and not declared");
    assert_eq!(uncovered(&requirements.grants, &handed), [], "{name}: declared and not handed out");

    let shipped: BTreeSet<String> = objects.iter().flat_map(intercepted).collect();
    let declared = requirements.webhooks.iter().map(|webhook| {
        let kind = if webhook.kind == WebhookKind::Mutating { "Mutating" } else { "Validating" };
        format!("{kind} {} {}", webhook.name, json!(webhook.rules))
    });
    assert_eq!(shipped, declared.collect(), "{name}: webhooks");

    for (place, scope) in [("cluster", "Cluster"), ("project", "Namespaced")] {
        let entries = definition.menu.as_ref().and_then(|menu| menu.get(place)?.as_array().cloned());
        for entry in entries.unwrap_or_default() {
            let crd = entry["crd"].as_str().context("a kind")?;
            let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}");
            assert_eq!(world.target.client().get(&path)?["spec"]["scope"], scope, "{crd}");
        }
    }
    Ok(())
}

/// The rules of all roles that a release binds, its own and those that were there.
fn handed(world: &World, objects: &[Value]) -> Result<Vec<AccessRule>> {
    let mut handed = Vec::new();
    for binding in objects.iter().filter(|object| object["kind"].as_str().unwrap_or("").ends_with("RoleBinding")) {
        let (kind, role) = (&binding["roleRef"]["kind"], binding["roleRef"]["name"].as_str().context("a role")?);
        let namespace = binding["metadata"]["namespace"].as_str();
        let path = match (kind == "Role", namespace) {
            (true, Some(namespace)) => format!("namespaces/{namespace}/roles/{role}"),
            _ => format!("clusterroles/{role}"),
        };
        let own = |object: &&Value| {
            object["kind"] == *kind
                && object["metadata"]["name"] == role
                && (kind == "ClusterRole" || object["metadata"]["namespace"] == binding["metadata"]["namespace"])
        };
        // A hook's role may be gone again.
        let role = match objects.iter().find(own) {
            Some(role) => role.clone(),
            None => world.target.client().get(&format!("/apis/rbac.authorization.k8s.io/v1/{path}"))?,
        };
        let rules: Vec<AccessRule> = serde_json::from_value(role["rules"].clone())?;
        let namespaces: Vec<String> = namespace.map(str::to_owned).into_iter().collect();
        handed.extend(rules.into_iter().map(|rule| AccessRule { namespaces: namespaces.clone(), ..rule }));
    }
    Ok(handed)
}

/// One thing that may be done.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Right {
    namespace: Option<String>,
    /// Of a resource, or empty for a path.
    group: String,
    what: String,
    name: Option<String>,
    verb: String,
}

/// Each of a list, or once none where the list is empty and means all.
fn each(list: &[String]) -> Vec<Option<String>> {
    if list.is_empty() { vec![None] } else { list.iter().cloned().map(Some).collect() }
}

fn rights(rule: &AccessRule) -> Vec<Right> {
    let mut rights = Vec::new();
    let groups = if rule.api_groups.is_empty() { vec![String::new()] } else { rule.api_groups.clone() };
    for (namespace, name) in
        each(&rule.namespaces).iter().flat_map(|it| each(&rule.resource_names).into_iter().map(move |name| (it, name)))
    {
        for (group, what) in groups
            .iter()
            .flat_map(|it| rule.resources.iter().chain(&rule.non_resource_urls).map(move |what| (it, what)))
        {
            rights.extend(rule.verbs.iter().map(|verb| Right {
                namespace: namespace.clone(),
                group: group.clone(),
                what: what.clone(),
                name: name.clone(),
                verb: verb.clone(),
            }));
        }
    }
    rights
}

fn covers(rule: &AccessRule, right: &Right) -> bool {
    let has = |list: &[String], one: &str| list.iter().any(|each| each == "*" || each == one);
    let within = |list: &[String], one: &Option<String>| {
        list.is_empty() || one.as_deref().is_some_and(|one| list.iter().any(|each| each == one))
    };
    within(&rule.namespaces, &right.namespace)
        && within(&rule.resource_names, &right.name)
        && (rule.api_groups.is_empty() || has(&rule.api_groups, &right.group))
        && (has(&rule.resources, &right.what) || has(&rule.non_resource_urls, &right.what))
        && has(&rule.verbs, &right.verb)
}

/// What the webhooks of a configuration intercept.
fn intercepted(object: &Value) -> Vec<String> {
    let Some(kind) = object["kind"].as_str().and_then(|kind| kind.strip_suffix("WebhookConfiguration")) else {
        return vec![];
    };
    let webhooks = object["webhooks"].as_array().into_iter().flatten();
    let one = |webhook: &Value| {
        let rules = webhook["rules"].as_array().into_iter().flatten();
        let rules: Vec<Value> = rules
            .map(|rule| {
                let [groups, resources, operations] = ["apiGroups", "resources", "operations"].map(|it| &rule[it]);
                json!({ "apiGroups": groups, "resources": resources, "operations": operations })
            })
            .collect();
        format!("{kind} {} {}", webhook["name"].as_str().unwrap_or_default(), json!(rules))
    };
    webhooks.map(one).collect()
}

/// What its project does not support on this Kubernetes is not installed, and that is said.
fn refused(world: &World) -> Result<()> {
    want(world, "ingress-nginx")?;
    until("ingress-nginx is refused", LIMIT, || {
        let ready = condition(&world.hub.client().get(&format!("{INSTANCES}/ingress-nginx"))?, "Ready");
        let said = ready["message"].as_str().unwrap_or_default();
        if said.contains("ingress-nginx 4.15.1 needs Kubernetes >=1.31 <1.36") {
            Ok(())
        } else {
            Err(anyhow!("{ready}"))
        }
    })
}

/// An API server takes every definition as it is.
fn sideloaded(world: &World) -> Result<()> {
    let packages = fitout_catalogs::embedded("community").packages;
    let mut documents = String::new();
    for package in &packages {
        documents.push_str("---\n");
        documents.push_str(std::str::from_utf8(&package.files["definition.yaml"])?);
    }
    let args = ["create", "--dry-run=server", "--namespace=org-acme", "--output=name", "--filename=-"];
    let taken = world.hub.kubectl().run_with_input(&args, &documents)?;
    assert_eq!(taken.lines().count(), packages.len(), "{taken}");
    Ok(())
}
