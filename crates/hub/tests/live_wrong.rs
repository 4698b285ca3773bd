//! Wrong input: each is a sentence in the status that names the object and the remedy, nothing is lost, and the next
//! correct edit heals it.

#![allow(clippy::unwrap_used, reason = "a test")]

mod world;

use std::fs;
use std::time::Duration;

use anyhow::{Result, anyhow};
use fitout_testkit::until;
use serde_json::{Value, json};
use world::{INSTANCES, LIMIT, World, apply, condition, object};

/// Adds an extension of one version to the catalog.
fn add(world: &World, extension: &str, spec: &str, schema: &str, manifest: &str) -> Result<()> {
    let folder = world.catalog.join(extension).join("1.0.0");
    fs::create_dir_all(folder.join("m"))?;
    let definition = format!(
        "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: {extension} }}\n\
         spec: {{ extension: {extension}, version: 1.0.0, parameters: schema.json, manifests: {{ path: m }}{spec} }}\n"
    );
    fs::write(folder.join("definition.yaml"), definition)?;
    fs::write(folder.join("schema.json"), schema)?;
    fs::write(folder.join("m/all.yaml"), manifest)?;
    Ok(())
}

fn map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata: {{ a: b }}\n")
}

fn want(world: &World, name: &str, extension: &str, cluster: &str, values: &Value) -> Result<()> {
    let spec = json!({ "spec": {
        "cluster": cluster, "namespace": name, "releaseName": name, "values": values,
        "extension": { "name": extension, "catalog": "local" },
    } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", name, &spec))
}

/// Waits until the instance says this, and nothing else.
fn says(world: &World, name: &str, expected: &str) -> Result<()> {
    until(expected, LIMIT, || {
        let instance = world.hub.client().get(&format!("{INSTANCES}/{name}"))?;
        let ready = condition(&instance, "Ready");
        if ready["message"] == expected { Ok(()) } else { Err(anyhow!("{ready}")) }
    })
}

fn ready(world: &World, name: &str) -> Result<()> {
    until(&format!("{name} is ready"), LIMIT, || {
        let instance = world.hub.client().get(&format!("{INSTANCES}/{name}"))?;
        let ready = condition(&instance, "Ready");
        if ready["status"] == "True" { Ok(()) } else { Err(anyhow!("{ready}")) }
    })
}

const NO_VALUES: &str = r#"{"type":"object","properties":{}}"#;
const HOST: &str = r#"{"type":"object","required":["host"],"properties":{"host":{"type":"string"}}}"#;

const MISSPELT: &str =
    "misspelt/1.0.0/definition.yaml: spec.kubernets: there is no such field; did you mean `kubernetes`?";

#[test]
fn wrong_definitions_and_values() -> Result<()> {
    let world = World::start_with(false)?;
    add(&world, "malformed", "", NO_VALUES, "apiVersion: v1\nkind: [ConfigMap\nmetadata: { name: a }\n")?;
    add(&world, "misspelt", ", kubernets: '>=1.33'", NO_VALUES, &map("a"))?;
    add(&world, "hosted", "", HOST, &map("a"))?;
    add(&world, "unserved", "", NO_VALUES, &map("a").replace("ConfigMap", "ConfigMpa"))?;
    add(&world, "large", "", NO_VALUES, &format!("{}# {}", map("a"), "x".repeat(5 << 20)))?;
    world.offer()?;
    until("the catalog says what is wrong with it", LIMIT, || {
        let catalog = world.hub.client().get("/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs/local")?;
        let message = condition(&catalog, "Ready")["message"].clone();
        if message == MISSPELT { Ok(()) } else { Err(anyhow!("{message}")) }
    })?;
    let rows = [
        (
            "malformed",
            json!({}),
            "m/all.yaml: yaml: line 3: did not find expected ',' or ']'; mend the YAML at that line",
        ),
        ("misspelt", json!({}), MISSPELT),
        ("hosted", json!({}), "values: \"host\" is a required property; change the value"),
        ("hosted", json!({ "host": 1 }), "values.host: 1 is not of type \"string\"; change the value"),
        ("hosted", json!({ "hosts": "h" }), "values.hosts: there is no such parameter; did you mean `host`?"),
        ("unserved", json!({}), "ConfigMpa/a: the cluster does not serve v1 ConfigMpa; did you mean v1 ConfigMap?"),
        (
            "large",
            json!({}),
            "large: its files are 5.0 MB, and 4 MB is the limit; leave out what is not applied, or ship it as a chart",
        ),
    ];
    for (extension, values, expected) in rows {
        want(&world, extension, extension, "foo", &values)?;
        says(&world, extension, expected)?;
    }
    want(&world, "hosted", "hosted", "foo", &json!({ "host": "h" }))?;
    ready(&world, "hosted")
}

#[test]
fn clusters_that_say_no() -> Result<()> {
    let world = World::start_with(false)?;
    add(&world, "plain", "", NO_VALUES, &map("a"))?;
    world.offer()?;
    let target = world.target.client();

    // Somebody else's objects: another release's, and nobody's.
    let owned = json!({ "metadata": {
        "name": "a", "labels": { "app.kubernetes.io/managed-by": "Helm" },
        "annotations": { "meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop" },
    } });
    for (namespace, map) in [("helms", &owned), ("nobodys", &json!({ "metadata": { "name": "a" } }))] {
        target.create("/api/v1/namespaces", &json!({ "metadata": { "name": namespace } }))?;
        target.create(&format!("/api/v1/namespaces/{namespace}/configmaps"), map)?;
        want(&world, namespace, "plain", "foo", &json!({}))?;
    }
    let remedy = "remove it, or choose another release name";
    says(&world, "helms", &format!("ConfigMap/helms/a belongs to release web in shop; {remedy}"))?;
    says(&world, "nobodys", &format!("ConfigMap/nobodys/a belongs to nobody's release; {remedy}"))?;
    assert!(target.get("/api/v1/namespaces/nobodys/configmaps/a")?["metadata"]["labels"].is_null());
    // It is removed, and the instance goes on by itself.
    target.delete("/api/v1/namespaces/helms/configmaps/a")?;
    ready(&world, "helms")?;

    // A namespace that is being deleted.
    target.create("/api/v1/namespaces", &json!({ "metadata": { "name": "going" } }))?;
    let held = json!({ "metadata": { "name": "held", "finalizers": ["example.com/held"] } });
    target.create("/api/v1/namespaces/going/configmaps", &held)?;
    target.delete("/api/v1/namespaces/going")?;
    until("it is terminating", LIMIT, || {
        let phase = target.get("/api/v1/namespaces/going")?["status"]["phase"].clone();
        if phase == "Terminating" { Ok(()) } else { Err(anyhow!("{phase}")) }
    })?;
    want(&world, "going", "plain", "foo", &json!({}))?;
    says(
        &world,
        "going",
        "Secret/going/sh.helm.release.v1.going.v1: secrets \"sh.helm.release.v1.going.v1\" is forbidden: unable to create \
         new content in namespace going because it is being terminated; it goes on when that has ended",
    )?;
    let free = [
        "patch",
        "configmap",
        "held",
        "--namespace=going",
        "--type=merge",
        r#"--patch={"metadata":{"finalizers":null}}"#,
    ];
    world.target.kubectl().run(&free)?;
    ready(&world, "going")?;

    // A cluster whose kubeconfig may look and not touch.
    let role = ["create", "clusterrole", "looker", "--verb=get,list,watch", "--resource=*.*"];
    world.target.kubectl().run(&role)?;
    world.target.kubectl().run(&["create", "clusterrolebinding", "looker", "--clusterrole=looker", "--user=looker"])?;
    let kubeconfig = fs::read_to_string(world.target.kubeconfig_for("looker", None)?)?;
    let secret = json!({ "type": "fitout.dev/kubeconfig", "stringData": { "kubeconfig": kubeconfig } });
    apply(&world.hub, &object("v1", "Secret", "org-acme", "looker", &secret))?;
    let cluster = json!({ "spec": { "kubeconfigSecret": "looker" } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "Cluster", "org-acme", "looker", &cluster))?;
    want(&world, "denied", "plain", "looker", &json!({}))?;
    says(
        &world,
        "denied",
        "Namespace/denied: namespaces \"denied\" is forbidden: User \"looker\" cannot patch resource \"namespaces\" in API \
         group \"\" in the namespace \"denied\"; grant the hub this right on the cluster",
    )?;
    world.target.kubectl().run(&[
        "create",
        "clusterrolebinding",
        "toucher",
        "--clusterrole=cluster-admin",
        "--user=looker",
    ])?;
    // It tries again by itself, ever more slowly.
    until("denied is ready", Duration::from_mins(2), || {
        let instance = world.hub.client().get(&format!("{INSTANCES}/denied"))?;
        let ready = condition(&instance, "Ready");
        if ready["status"] == "True" { Ok(()) } else { Err(anyhow!("{ready}")) }
    })
}

#[test]
fn an_organization_does_not_read_the_hubs_disk() -> Result<()> {
    let world = World::start_with(false)?;
    let source = json!({ "spec": { "source": { "directory": { "path": world.catalog } } } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "Catalog", "org-acme", "own", &source))?;
    let expected = "a path on the hub's disk is only for catalogs in fitout-system: ask the platform team to offer it there; \
                    what is installed stays";
    until(expected, LIMIT, || {
        let catalog = world.hub.client().get("/apis/fitout.dev/v1alpha1/namespaces/org-acme/catalogs/own")?;
        let message = condition(&catalog, "Ready")["message"].clone();
        if message == expected { Ok(()) } else { Err(anyhow!("{message}")) }
    })?;
    // The server may still be making room for a kind that nobody has asked for yet.
    let path = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensions";
    let offered = until("extensions are served", LIMIT, || world.hub.client().get(path))?;
    assert_eq!(offered["items"], json!([]));
    Ok(())
}
