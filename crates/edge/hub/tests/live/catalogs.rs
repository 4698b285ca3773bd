//! Catalogs: what is lost, yanked, withdrawn, sideloaded, and offered by Kubernetes version.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use fitout_testkit::{INSTANCES, apply, condition, object, until};
use serde_json::{Value, json};

use crate::world::{LIMIT, World};

const CATALOGS: &str = "/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs";
const SHARED: &str = "/apis/fitout.dev/v1alpha1/namespaces/fitout-system/extensions";
const OWN: &str = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensions";

/// Waits until the catalog is as expected.
fn catalog(world: &World, name: &str, what: &str, expected: impl Fn(&Value) -> bool) -> Result<Value> {
    until(what, LIMIT, || {
        let catalog = world.hub.client().get(&format!("{CATALOGS}/{name}"))?;
        if expected(&catalog) { Ok(catalog) } else { Err(anyhow!("{}", catalog["status"])) }
    })
}

/// The versions of an extension, each with its state and key.
fn versions(extension: &Value) -> Vec<String> {
    let versions = extension["spec"]["versions"].as_array().cloned().unwrap_or_default();
    let text = |version: &Value, field: &str| version[field].as_str().unwrap_or_default().to_owned();
    let line = |version: &Value| {
        [text(version, "version"), text(version, "state"), text(version, "key")].join(" ").trim().to_owned()
    };
    versions.iter().map(line).collect()
}

/// Waits until an extension has these versions.
fn offers(world: &World, path: &str, expected: &[&str]) -> Result<Value> {
    until(&format!("{path} has {expected:?}"), LIMIT, || match world.hub.client().find(path)? {
        Some(extension) if versions(&extension) == expected => Ok(extension),
        Some(extension) => Err(anyhow!("{:?}", versions(&extension))),
        None if expected.is_empty() => Ok(Value::Null),
        None => Err(anyhow!("it does not exist")),
    })
}

fn size(world: &World) -> Result<String> {
    let kept = world.config_map("kept")?.context("config map kept")?;
    Ok(kept["data"]["size"].as_str().unwrap_or_default().to_owned())
}

/// Changes a value and expects it on the cluster, with the version as it was.
fn change_value(world: &World, value: u32) -> Result<()> {
    world.want(&json!({ "version": "1.x", "values": { "size": value } }))?;
    let instance = world.ready(value)?;
    assert_eq!(instance["status"]["version"], "1.0.0");
    assert_eq!(size(world)?, format!("x{value}"));
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, name) = (entry.as_ref().unwrap().path(), entry.as_ref().unwrap().file_name());
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

#[test]
fn lost_versions_extensions_sources_and_catalogs_stay_installed() -> Result<()> {
    let world = World::start()?;
    let thing = format!("{SHARED}/local.thing");
    let backup = world.catalog.with_extension("backup");
    copy(&world.catalog, &backup)?;
    world.want(&json!({ "version": "1.x" }))?;
    world.ready(1)?;
    offers(&world, &thing, &["2.0.0", "1.0.0"])?;
    let log = world.target.audit().from_now()?;

    // A version is lost.
    fs::remove_dir_all(world.catalog.join("thing/1.0.0"))?;
    offers(&world, &thing, &["2.0.0"])?;
    change_value(&world, 2)?;
    let why = condition(&world.instance()?, "Resolved");
    let expected = "1.0.0 is installed and fits Kubernetes";
    let message = why["message"].as_str().unwrap();
    assert!(message.starts_with(expected) && message.ends_with("the catalog no longer offers it"), "{why}");

    // The extension is lost.
    fs::remove_dir_all(world.catalog.join("thing"))?;
    offers(&world, &thing, &[])?;
    change_value(&world, 3)?;

    // The source is lost: the catalog keeps what it has read.
    copy(&backup, &world.catalog)?;
    offers(&world, &thing, &["2.0.0", "1.0.0"])?;
    fs::rename(&world.catalog, world.catalog.with_extension("moved"))?;
    let request = json!({ "metadata": { "annotations": { "fitout.dev/requestedAt": "now" } } });
    world.hub.kubectl().run(&[
        "patch",
        "catalog",
        "local",
        "--namespace=fitout-system",
        "--type=merge",
        "--patch",
        &request.to_string(),
    ])?;
    let lost = catalog(&world, "local", "the lost source is reported", |catalog| {
        condition(catalog, "Synced")["reason"] == "Unreachable"
    })?;
    let message = condition(&lost, "Synced")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("No such file") && message.ends_with("what was read before stays"), "{message}");
    offers(&world, &thing, &["2.0.0", "1.0.0"])?;
    change_value(&world, 4)?;

    // A hub that starts without the source has the snapshot.
    let world = world.restart_hub()?;
    change_value(&world, 5)?;

    // The catalog is lost.
    world.hub.client().delete(&format!("{CATALOGS}/local"))?;
    until("the catalog is gone", LIMIT, || {
        world.hub.client().find(&format!("{CATALOGS}/local"))?.map_or(Ok(()), |_| Err(anyhow!("still there")))
    })?;
    change_value(&world, 6)?;
    let world = world.restart_hub()?;
    change_value(&world, 7)?;

    // Nothing was deleted on the target, but for records of revisions that are not kept.
    let calls = log.calls()?.by("kubernetes-admin").writes();
    calls.only(|call| call.verb == "delete" && !call.is_of("secrets")).assert_none("nothing was deleted");
    Ok(())
}

#[test]
fn states_keys_sideloads_and_labels_of_catalogs() -> Result<()> {
    let world = World::start_with(false)?;
    states(&world)?;
    sources_by_kubernetes_version(&world)?;
    sideloads(&world)?;
    builtin(&world)
}

fn apply_catalog(world: &World, namespace: &str, name: &str, fields: &Value) -> Result<()> {
    apply(&world.hub, &object("fitout.dev/v1alpha1", "Catalog", namespace, name, fields))
}

/// A yanked version is not chosen anew, and a withdrawn one is left.
fn states(world: &World) -> Result<()> {
    let source = json!({ "directory": { "path": world.catalog } });
    let states = |states: &Value| {
        apply_catalog(world, "fitout-system", "local", &json!({ "spec": { "source": source, "states": states } }))
    };
    let thing = format!("{SHARED}/local.thing");
    states(&json!([{ "extension": "thing", "version": "2.0.0", "state": "Yanked", "note": "it loses data" }]))?;
    offers(world, &thing, &["2.0.0 Yanked", "1.0.0"])?;
    world.want(&json!({}))?;
    assert_eq!(world.ready(1)?["status"]["version"], "1.0.0");
    world.want(&json!({ "version": "2.x" }))?;
    until("the yanked version is refused", LIMIT, || {
        let resolved = condition(&world.instance()?, "Resolved");
        let expected = "thing 2.0.0 is yanked (it loses data); no other version fits either";
        if resolved["message"] == expected { Ok(()) } else { Err(anyhow!("{resolved}")) }
    })?;
    world.want(&json!({}))?;
    states(&json!([{ "extension": "thing", "version": "<2", "state": "Withdrawn", "note": "CVE-1" }]))?;
    offers(world, &thing, &["2.0.0", "1.0.0 Withdrawn"])?;
    assert_eq!(world.ready(2)?["status"]["version"], "2.0.0");
    world.hub.kubectl().run(&["delete", "extensioninstance", "thing", "--namespace=org-acme", "--timeout=30s"])?;
    Ok(())
}

/// A cluster is offered the source of its Kubernetes version; the same version may have another content in each.
fn sources_by_kubernetes_version(world: &World) -> Result<()> {
    let root = world.catalog.with_extension("by-version");
    for key in ["1.35", "1.36"] {
        copy(&world.catalog, &root.join(key))?;
        let map = root.join(key).join("thing/1.0.0/m/all.yaml");
        let text = fs::read_to_string(&map)?.replace("\"x${size}\"", &format!("\"for-{key}-${{size}}\""));
        // The CRD stays with the release that was uninstalled.
        let maps: Vec<&str> = text.split("---\n").filter(|document| document.contains("kind: ConfigMap")).collect();
        fs::write(map, maps.join("---\n"))?;
    }
    let source = |key: &str| json!({ "directory": { "path": root.join(key) } });
    let spec = json!({ "spec": { "sources": { "1.35": source("1.35"), "1.36": source("1.36") } } });
    apply_catalog(world, "fitout-system", "keyed", &spec)?;
    let found =
        offers(world, &format!("{SHARED}/keyed.thing"), &["2.0.0  1.36", "2.0.0  1.35", "1.0.0  1.36", "1.0.0  1.35"])?;
    let digest = |index: usize| found["spec"]["versions"][index]["digest"].clone();
    assert_ne!(digest(2), digest(3), "the same version has another content");
    // The target has Kubernetes 1.36.
    let instance = json!({
        "cluster": "foo", "namespace": "keyed", "version": "1.x", "extension": { "name": "thing", "catalog": "keyed" },
    });
    apply(
        &world.hub,
        &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "keyed", &json!({ "spec": instance })),
    )?;
    until("the source of 1.36 is installed", LIMIT, || {
        let instance = world.hub.client().get(&format!("{INSTANCES}/keyed"))?;
        let map = world.target.client().find("/api/v1/namespaces/keyed/configmaps/kept")?;
        let map = map.with_context(|| instance["status"].to_string())?;
        if map["data"]["size"] == "for-1.36-1" { Ok(()) } else { Err(anyhow!("{}", map["data"])) }
    })?;

    // One source with the version in its path: read for the versions of the clusters that there are.
    let templated = json!({ "spec": { "source": {
        "directory": { "path": format!("{}/{{kube.major}}.{{kube.minor}}", root.display()) },
    } } });
    apply_catalog(world, "fitout-system", "templated", &templated)?;
    offers(world, &format!("{SHARED}/templated.thing"), &["2.0.0  1.36", "1.0.0  1.36"])?;
    world.hub.kubectl().run(&["delete", "extensioninstance", "keyed", "--namespace=org-acme", "--timeout=30s"])?;
    Ok(())
}

/// A definition that is applied by hand is offered to its organization alone.
fn sideloads(world: &World) -> Result<()> {
    let definition = |version: &str| {
        let spec = json!({ "spec": {
            "extension": "side", "version": version, "manifests": { "path": "m" }, "summary": "Sideloaded",
        } });
        object("fitout.dev/v1alpha1", "ExtensionDefinition", "org-acme", &format!("side-{version}"), &spec)
    };
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: side }\n";
    let tar = fitout_model::pack_files([("m/a.yaml", manifest.as_bytes())]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, &tar)?;
    let files = k8s_openapi::ByteString(encoder.finish()?);
    let secret = json!({ "type": "fitout.dev/files", "data": { "files": files } });
    apply(&world.hub, &object("v1", "Secret", "org-acme", "side-1.0.0", &secret))?;
    apply(&world.hub, &definition("1.0.0"))?;
    offers(world, &format!("{OWN}/sideloaded.side"), &["1.0.0"])?;
    assert!(world.hub.client().find(&format!("{SHARED}/sideloaded.side"))?.is_none());
    let instance = json!({ "spec": {
        "cluster": "foo", "namespace": "side",
        "extension": { "name": "side", "catalog": "sideloaded", "scope": "Organization" },
    } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "side", &instance))?;
    let ready = || -> Result<Value> {
        let instance =
            world.hub.client().get("/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensioninstances/side")?;
        let ready = condition(&instance, "Ready");
        if ready["status"] == "True" { Ok(instance) } else { Err(anyhow!("{ready}")) }
    };
    until("the sideloaded extension is installed", LIMIT, ready)?;

    // Without its definition it stays, and its values can change.
    world.hub.kubectl().run(&["delete", "extensiondefinition", "side-1.0.0", "--namespace=org-acme"])?;
    offers(world, &format!("{OWN}/sideloaded.side"), &[])?;
    let patch = json!({ "spec": { "recreate": ["ConfigMap/side"] } });
    let name = ["patch", "extensioninstance", "side", "--namespace=org-acme", "--type=merge", "--patch"];
    world.hub.kubectl().run(&[&name[..], &[&patch.to_string()]].concat())?;
    until("the instance is reconciled without its definition", LIMIT, || {
        let instance = ready()?;
        let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
        if seen { Ok(()) } else { Err(anyhow!("{}", instance["status"])) }
    })?;
    assert!(world.target.client().find("/api/v1/namespaces/side/configmaps/side")?.is_some());
    Ok(())
}

/// Extensions of catalogs of the platform have a label; an organization cannot give it to its own.
fn builtin(world: &World) -> Result<()> {
    for namespace in ["fitout-system", "org-acme"] {
        let embedded = json!({
            "metadata": { "name": "community", "namespace": namespace, "labels": { "fitout.dev/builtin": "true" } },
            "spec": { "source": { "directory": { "embedded": "community" } } },
        });
        apply_catalog(world, namespace, "community", &embedded)?;
    }
    let list = |path: &str| -> Result<usize> {
        let list = world.hub.client().get(&format!("{path}?labelSelector=fitout.dev%2Fbuiltin%3Dtrue"))?;
        Ok(list["items"].as_array().map_or(0, Vec::len))
    };
    until("the shared extensions have the label", LIMIT, || {
        if list(SHARED)? >= 8 { Ok(()) } else { Err(anyhow!("{} have it", list(SHARED)?)) }
    })?;
    until("the private catalog is read", LIMIT, || {
        world.hub.client().find(&format!("{OWN}/community.hello"))?.context("not yet")
    })?;
    assert_eq!(list(OWN)?, 0);
    Ok(())
}
