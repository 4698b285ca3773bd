//! Catalogs: what is lost, yanked, withdrawn, sideloaded, and offered by Kubernetes version.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use fitout_testkit::{Fault, INSTANCES, Proxy, ProxyRequest, apply, condition, object, until};
use serde_json::{Value, json};

use crate::world::{LIMIT, World};

const CATALOGS: &str = "/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs";
const SECRETS: &str = "/api/v1/namespaces/fitout-system/secrets";
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

    // A hub that starts without the source has the snapshot, also if it cannot read it at first.
    let extension = world.hub.client().get(&thing)?;
    let (proxy, token) = (Proxy::start(&world.hub)?, world.hub.admin_token()?);
    proxy.decide(|request| if reads_content(request) { Fault::Refuse } else { Fault::Pass });
    let world = world.restart_hub_behind(&proxy, &token)?;
    let says = |part: &'static str| {
        catalog(&world, "local", part, |catalog| {
            condition(catalog, "Synced")["message"].as_str().unwrap_or_default().contains(part)
        })
    };
    says("what was read before cannot be read again: the hub cannot access its stored content")?;
    proxy.decide(|_| Fault::Pass);
    says("what was read before stays")?;
    let after = world.hub.client().get(&thing)?;
    assert_eq!(extension["metadata"]["uid"], after["metadata"]["uid"], "the Extension was deleted");
    change_value(&world, 5)?;

    refused_writes_are_retried(&world, &backup, &proxy)?;
    let world = stored_content_is_lost(world)?.restart_hub_behind(&proxy, &token)?;
    catalog_is_created_again(&world, &proxy)?;
    fs::remove_dir_all(&world.catalog)?;

    // The catalog is lost.
    world.hub.client().delete(&format!("{CATALOGS}/local"))?;
    until("the catalog is gone", LIMIT, || {
        world.hub.client().find(&format!("{CATALOGS}/local"))?.map_or(Ok(()), |_| Err(anyhow!("still there")))
    })?;
    change_value(&world, 8)?;
    let world = world.restart_hub()?;
    change_value(&world, 9)?;

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
    // What was deleted while no hub ran.
    let ghost = json!({ "spec": { "catalog": "sideloaded", "extension": "ghost" } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "Extension", "org-acme", "sideloaded.ghost", &ghost))?;
    let world = world.restart_hub()?;
    offers(&world, &format!("{OWN}/sideloaded.ghost"), &[])?;
    builtin(&world)
}

fn reads_content(request: &ProxyRequest) -> bool {
    request.method == "GET" && request.path.contains("/secrets/content-")
}

/// The names of the Secrets with stored content.
fn stored(world: &World) -> Result<BTreeSet<String>> {
    let all = world.hub.client().get(&format!("{SECRETS}?fieldSelector=type%3Dfitout.dev/content"))?;
    let names = all["items"].as_array().cloned().unwrap_or_default();
    Ok(names.iter().map(|secret| secret["metadata"]["name"].as_str().unwrap().to_owned()).collect())
}

/// The name of the Secret with the snapshot that the status of a catalog names.
fn snapshot(world: &World, name: &str) -> Result<String> {
    let catalog = world.hub.client().get(&format!("{CATALOGS}/{name}"))?;
    let digest = catalog["status"]["digest"].as_str().context("a digest")?.trim_start_matches("sha256:").to_owned();
    Ok(format!("content-{}-0", &digest[..40]))
}

/// Requests a sync, and waits until it is done.
fn sync(world: &World, name: &str, request: &str) -> Result<Value> {
    let patch = json!({ "metadata": { "annotations": { "fitout.dev/requestedAt": request } } }).to_string();
    let words = ["patch", "catalog", name, "--namespace=fitout-system", "--type=merge", "--patch", &patch];
    world.hub.kubectl().run(&words)?;
    catalog(world, name, "the request is handled", |catalog| catalog["status"]["lastHandledRequest"] == request)
}

/// What the API server of the hub refuses for a while is written later.
fn refused_writes_are_retried(world: &World, backup: &Path, proxy: &Proxy) -> Result<()> {
    let writes = |path: &'static str| {
        move |request: &ProxyRequest| {
            if request.writes() && request.path.contains(path) { Fault::Refuse } else { Fault::Pass }
        }
    };
    // The snapshot is stored, and the status cannot name it.
    let (text, before) = (snapshot(world, "local")?, stored(world)?);
    proxy.decide(writes("/catalogs/local/status"));
    copy(backup, &world.catalog)?;
    fs::remove_dir_all(world.catalog.join("thing/2.0.0"))?;
    offers(world, &format!("{SHARED}/local.thing"), &["1.0.0"])?;
    until("the snapshot is stored", LIMIT, || {
        if stored(world)?.is_subset(&before) { Err(anyhow!("no")) } else { Ok(()) }
    })?;
    proxy.decide(|_| Fault::Pass);
    until("the status names the stored snapshot", LIMIT, || {
        let now = snapshot(world, "local")?;
        if now != text && stored(world)?.contains(&now) { Ok(()) } else { Err(anyhow!("{now}")) }
    })?;

    // An Extension cannot be written: the status says so.
    proxy.decide(writes("/extensions"));
    copy(backup, &world.catalog)?;
    let partly = sync(world, "local", "partly")?;
    let problem = partly["status"]["problems"][0].as_str().unwrap_or_default();
    assert!(problem.starts_with("Extension/local.thing cannot be written: "), "{}", partly["status"]);
    assert_eq!(condition(&partly, "Synced")["reason"], "PartiallySynced");
    proxy.decide(|_| Fault::Pass);
    offers(world, &format!("{SHARED}/local.thing"), &["2.0.0", "1.0.0"])?;
    catalog(world, "local", "all is written", |catalog| condition(catalog, "Synced")["reason"] == "Synced").map(drop)
}

/// A catalog that is deleted and created again before the hub notices is another catalog, which owns its Extensions.
fn catalog_is_created_again(world: &World, proxy: &Proxy) -> Result<()> {
    let path = format!("{CATALOGS}/local");
    catalog(world, "local", "the hub has read it", |catalog| condition(catalog, "Synced")["reason"] == "Synced")?;
    let before = world.hub.client().get(&path)?["metadata"]["uid"].clone();
    proxy.delay_watches(Some("/catalogs"));
    world.hub.client().delete(&path)?;
    until("the catalog is gone", LIMIT, || world.hub.client().find(&path)?.map_or(Ok(()), |_| Err(anyhow!("no"))))?;
    world.offer()?;
    let after = world.hub.client().get(&path)?["metadata"]["uid"].clone();
    assert_ne!(before, after);
    proxy.delay_watches(None);
    until("the new catalog owns its Extension", LIMIT, || {
        let extension = world.hub.client().find(&format!("{SHARED}/local.thing"))?.unwrap_or_default();
        let owner = &extension["metadata"]["ownerReferences"][0]["uid"];
        if *owner == after { Ok(()) } else { Err(anyhow!("{owner}")) }
    })?;
    catalog(world, "local", "the new catalog is synced", |catalog| condition(catalog, "Synced")["reason"] == "Synced")
        .map(drop)
}

/// Instances and the list of extensions survive the loss of what is stored, and a request stores it again.
fn stored_content_is_lost(world: World) -> Result<World> {
    let thing = format!("{SHARED}/local.thing");
    let backup = world.catalog.with_extension("backup");
    let before = stored(&world)?;
    let (old, new) = (world.catalog.join("thing/1.0.0"), world.catalog.join("thing/3.0.0"));
    copy(&old, &new)?;
    let definition = fs::read_to_string(new.join("definition.yaml"))?.replace("1.0.0", "3.0.0");
    fs::write(new.join("definition.yaml"), definition)?;
    sync(&world, "local", "three")?;
    offers(&world, &thing, &["3.0.0", "2.0.0", "1.0.0"])?;
    let text = snapshot(&world, "local")?;
    let packs: Vec<String> =
        stored(&world)?.into_iter().filter(|name| !before.contains(name) && *name != text).collect();
    assert_eq!(packs.len(), 1, "{packs:?}");

    // The pack is lost: the installed version is in the pack of its revision, too.
    world.hub.client().delete(&format!("{SECRETS}/{}", packs[0]))?;
    let world = world.restart_hub()?;
    change_value(&world, 6)?;
    sync(&world, "local", "repair")?;
    assert!(stored(&world)?.contains(&packs[0]), "the pack is stored again");

    // The snapshot and the source are lost: nothing is known, and nothing is deleted.
    fs::remove_dir_all(&world.catalog)?;
    let extension = world.hub.client().get(&thing)?;
    world.hub.client().delete(&format!("{SECRETS}/{text}"))?;
    let world = world.restart_hub()?;
    let says = |part: &'static str| {
        catalog(&world, "local", part, |catalog| {
            let problem = catalog["status"]["problems"][0].as_str().unwrap_or_default().to_owned();
            problem.contains(part)
                || condition(catalog, "Synced")["message"].as_str().unwrap_or_default().contains(part)
        })
    };
    says("what was read before is lost")?;
    assert_eq!(world.hub.client().get(&thing)?["metadata"]["uid"], extension["metadata"]["uid"]);
    copy(&backup, &world.catalog)?;
    sync(&world, "local", "again")?;
    says("versions were read; what was read before is lost")?;
    offers(&world, &thing, &["2.0.0", "1.0.0"])?;
    let confirmed = sync(&world, "local", "confirm")?;
    assert_eq!(condition(&confirmed, "Synced")["message"], "2 versions were read");
    change_value(&world, 7)?;
    Ok(world)
}

fn apply_catalog(world: &World, namespace: &str, name: &str, fields: &Value) -> Result<()> {
    apply(&world.hub, &object("fitout.dev/v1alpha1", "Catalog", namespace, name, fields))
}

/// Bytes that cannot be compressed.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..size).map(|_| next()).collect()
}

/// A yanked version is not chosen anew, and a withdrawn one is left.
fn states(world: &World) -> Result<()> {
    let source = json!({ "directory": { "path": world.catalog } });
    let states = |states: &Value| {
        apply_catalog(world, "fitout-system", "local", &json!({ "spec": { "source": source, "states": states } }))
    };
    let thing = format!("{SHARED}/local.thing");
    // What is wrong with one extension stops no other: a file of states, and one that is too large.
    let blob = world.catalog.join("large/1.0.0/data");
    copy(&world.catalog.join("thing"), &world.catalog.join("large"))?;
    for version in ["1.0.0", "2.0.0"] {
        let path = world.catalog.join("large").join(version).join("definition.yaml");
        fs::write(&path, fs::read_to_string(&path)?.replace("thing", "large"))?;
    }
    fs::create_dir_all(&blob)?;
    for name in ["a", "b"] {
        fs::write(blob.join(name), noise(17 << 20))?;
    }
    let rules = "states:\n- { extension: thing, version: one, state: Yanked }\n\
                 - { extension: thing, version: 1.0.0, state: Deprecated }\n";
    fs::write(world.catalog.join("states.yaml"), rules)?;
    states(&json!([]))?;
    offers(world, &thing, &["2.0.0", "1.0.0 Deprecated"])?;
    let partly = catalog(world, "local", "the problems are reported", |catalog| {
        condition(catalog, "Synced")["reason"] == "PartiallySynced"
    })?;
    let problems = partly["status"]["problems"].to_string();
    assert!(problems.contains("large/: the definitions and files of its versions have"), "{problems}");
    assert!(problems.contains("states.yaml:2: states[0].version: "), "{problems}");
    fs::remove_dir_all(world.catalog.join("large"))?;
    fs::remove_file(world.catalog.join("states.yaml"))?;

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
    states_without_the_source(world)?;
    world.hub.kubectl().run(&["delete", "extensioninstance", "thing", "--namespace=org-acme", "--timeout=30s"])?;
    Ok(())
}

/// A withdrawn version is left also if the source is lost, if the catalog is suspended, or if the publisher has removed it.
fn states_without_the_source(world: &World) -> Result<()> {
    let thing = format!("{SHARED}/local.thing");
    let apply = |suspend: bool, states: &Value| {
        let source = json!({ "directory": { "path": world.catalog } });
        let spec = json!({ "spec": { "source": source, "suspend": suspend, "states": states } });
        apply_catalog(world, "fitout-system", "local", &spec)
    };
    let reason_is = |reason: &'static str| {
        catalog(world, "local", reason, |catalog| condition(catalog, "Synced")["reason"] == reason).map(drop)
    };
    let withdrawn = |version: &str, note: &str| json!({ "extension": "thing", "version": version, "state": "Withdrawn", "note": note });
    let lost = world.catalog.with_extension("lost");
    fs::rename(&world.catalog, &lost)?;
    apply(false, &json!([withdrawn("2.0.0", "CVE-2")]))?;
    offers(world, &thing, &["2.0.0 Withdrawn", "1.0.0"])?;
    assert_eq!(world.ready(3)?["status"]["version"], "1.0.0");
    reason_is("Unreachable")?;

    apply(true, &json!([withdrawn("1.0.0", "CVE-1")]))?;
    offers(world, &thing, &["2.0.0", "1.0.0 Withdrawn"])?;
    assert_eq!(world.ready(4)?["status"]["version"], "2.0.0");
    reason_is("Suspended")?;

    fs::rename(&lost, &world.catalog)?;
    let (offered, removed) = (world.catalog.join("thing/2.0.0"), lost.with_extension("removed"));
    fs::rename(&offered, &removed)?;
    let states = world.catalog.join("states.yaml");
    fs::write(&states, json!({ "states": [withdrawn("2.x", "CVE-3")] }).to_string())?;
    apply(false, &json!([]))?;
    offers(world, &thing, &["1.0.0"])?;
    assert_eq!(world.ready(5)?["status"]["version"], "1.0.0");
    fs::rename(&removed, &offered)?;
    Ok(fs::remove_file(&states)?)
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
    let files = |data: &str| -> Result<()> {
        let manifest =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: side }}\ndata: {{ text: {data} }}\n");
        let tar = fitout_model::pack_files([("m/a.yaml", manifest.as_bytes())]);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, &tar)?;
        let files = k8s_openapi::ByteString(encoder.finish()?);
        let secret = json!({ "type": "fitout.dev/files", "data": { "files": files } });
        apply(&world.hub, &object("v1", "Secret", "org-acme", "side-1.0.0", &secret))
    };
    files("first")?;
    apply(&world.hub, &definition("1.0.0"))?;
    let published = offers(world, &format!("{OWN}/sideloaded.side"), &["1.0.0"])?;
    // Files that change under an accepted definition are not offered.
    let path = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensiondefinitions/side-1.0.0";
    let says = |part: &str| {
        until(part, LIMIT, || {
            let ready = condition(&world.hub.client().get(path)?, "Ready");
            let message = ready["message"].as_str().unwrap_or_default();
            if message.contains(part) { Ok(()) } else { Err(anyhow!("{ready}")) }
        })
    };
    files("second")?;
    says("it has changed since the definition was accepted; the accepted files stay in use")?;
    let now = world.hub.client().get(&format!("{OWN}/sideloaded.side"))?;
    assert_eq!(now["spec"]["versions"], published["spec"]["versions"]);
    files("first")?;
    says("this organization can install it")?;
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
    let change = json!({ "spec": { "recreate": ["ConfigMap/side"] } });
    let words = ["patch", "extensioninstance", "side", "--namespace=org-acme", "--type=merge", "--patch"];
    world.hub.kubectl().run(&[&words[..], &[&change.to_string()]].concat())?;
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

    // An Extension that somebody has deleted is written again at a request, and all of them when the label is removed.
    world.hub.client().delete(&format!("{SHARED}/community.hello"))?;
    sync(world, "community", "repair")?;
    assert!(world.hub.client().find(&format!("{SHARED}/community.hello"))?.is_some());
    let label = ["label", "catalog", "community", "--namespace=fitout-system", "fitout.dev/builtin-"];
    world.hub.kubectl().run(&label)?;
    until("the shared extensions have no label", LIMIT, || {
        if list(SHARED)? == 0 { Ok(()) } else { Err(anyhow!("{} have it", list(SHARED)?)) }
    })
}
