//! Wrong input, as a person sees it: each is a sentence that names the object and the remedy, nothing is lost, and the next
//! correct edit heals it. The hub, the API servers and the program are real.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::ops::Deref;
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Result, anyhow};
use fitout_testkit::{Cluster, INSTANCES, Installation, Process, Spec, add_fake_node, apply, condition, object, until};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::command::{Ended, fitout};
use crate::faults::LIMIT;

/// For all tests here: each has extensions, namespaces and instances of its own.
static WORLD: LazyLock<World> = LazyLock::new(|| start().unwrap());

const NO_VALUES: &str = r#"{"type":"object","properties":{}}"#;
const HOST: &str = r#"{"type":"object","required":["host"],"properties":{"host":{"type":"string"}}}"#;

/// A hub that runs as its own process, and a target.
struct World {
    installation: Installation,
    _process: Process,
}

impl Deref for World {
    type Target = Installation;

    fn deref(&self) -> &Installation {
        &self.installation
    }
}

/// A catalog in which everything but `plain` has something wrong with it, or can have.
fn start() -> Result<World> {
    let installation = Installation::start(false)?;
    let kubeconfig = format!("KUBECONFIG={}", installation.hub.kubeconfig().display());
    let program = env!("CARGO_BIN_EXE_fitout");
    let command = ["env", &kubeconfig, program, "hub", "--lease=2s", "--content-gc-grace=1s", "--history=5"];
    let process = installation.hub.launch("hub", &command.map(str::to_owned))?;
    let world = World { installation, _process: process };
    world.register()?;
    add(&world, "plain", "", NO_VALUES, &map("a"))?;
    add(&world, "hosted", "", HOST, &map("a"))?;
    add(&world, "malformed", "", NO_VALUES, "apiVersion: v1\nkind: [ConfigMap\nmetadata: { name: a }\n")?;
    add(&world, "misspelt", ", kubernets: '>=1.33'", NO_VALUES, &map("a"))?;
    add(&world, "modern", ", kubernetes: '>=1.99'", NO_VALUES, &map("a"))?;
    add(&world, "unserved", "", NO_VALUES, &map("a").replace("ConfigMap", "ConfigMpa"))?;
    add(&world, "large", "", NO_VALUES, &format!("{}# {}", map("a"), "x".repeat(5 << 20)))?;
    world.offer()?;
    read(&world, "fitout-system", "local")?;
    Ok(world)
}

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

fn run(line: &str) -> Result<Ended> {
    fitout(&WORLD.hub.kubeconfig(), Some("acme"), &line.split(' ').collect::<Vec<_>>())
}

/// What a person sees who types these.
fn typed(lines: &[&str]) -> Result<String> {
    lines.iter().map(|line| Ok(format!("$ fitout {line}\n{}", run(line)?.shown()))).collect()
}

/// What a person sees who waits for an install, and who asks afterwards.
fn installed(extension: &str) -> Result<String> {
    let install = format!("install {extension} --cluster foo --catalog local --wait");
    typed(&[&install, &format!("status foo-{extension}")])
}

/// Waits until the hub has tried what is wanted now, and says that it failed.
fn failed(name: &str) -> Result<()> {
    until(&format!("{name} has failed"), LIMIT, || {
        let instance = WORLD.hub.client().get(&format!("{INSTANCES}/{name}"))?;
        let ready = condition(&instance, "Ready");
        let fresh = ready["observedGeneration"] == instance["metadata"]["generation"];
        if fresh && ready["reason"] == "Failed" { Ok(()) } else { Err(anyhow!("{ready}")) }
    })
}

/// Waits until a catalog has been read, as well as it can be.
fn read(world: &World, namespace: &str, name: &str) -> Result<()> {
    let path = format!("/apis/fitout.dev/v1alpha1/namespaces/{namespace}/catalogs/{name}");
    until(&format!("{path} was read"), LIMIT, || {
        let ready = condition(&world.hub.client().get(&path)?, "Ready");
        if ready["status"].is_string() { Ok(()) } else { Err(anyhow!("{ready}")) }
    })
}

#[test]
fn wrong_definitions() -> Result<()> {
    assert_snapshot!(typed(&["catalog list"])?, @r"
    $ fitout catalog list
    NAME    SCOPE    EXTENSIONS   VERSIONS   READY   STATUS                                                                                        AGE
    local   Shared   7            8          False   misspelt/1.0.0/definition.yaml:4: spec.kubernets: unknown field; did you mean `kubernetes`?   [age]
    exit 0
    ");

    assert_snapshot!(installed("malformed")?, @r"
    $ fitout install malformed --cluster foo --catalog local --wait
    foo-malformed: waiting for the hub
    foo-malformed: m/all.yaml: yaml: line 3: did not find expected ',' or ']'; fix the YAML at that line
    error: instance foo-malformed is stalled: m/all.yaml: yaml: line 3: did not find expected ',' or ']'; fix the YAML at that line
    hint: change it with `fitout upgrade foo-malformed`, or remove it with `fitout uninstall foo-malformed`
    exit 1
    $ fitout status foo-malformed
    foo-malformed: malformed on cluster foo, in namespace malformed
      Version    none yet

      ✓ Resolved
      ✗ Applied     m/all.yaml: yaml: line 3: did not find expected ',' or ']'; fix the YAML at that line
      … Healthy     not all objects are applied yet
      ✗ Ready       m/all.yaml: yaml: line 3: did not find expected ',' or ']'; fix the YAML at that line
    exit 1
    ");
    assert_snapshot!(installed("modern")?, @r"
    $ fitout install modern --cluster foo --catalog local --wait
    foo-modern: waiting for the hub
    foo-modern: modern 1.0.0 needs Kubernetes >=1.99, the cluster is v1.36.3; no other version fits either
    error: no version of instance foo-modern can be resolved: modern 1.0.0 needs Kubernetes >=1.99, the cluster is v1.36.3; no other version fits either
    hint: change it with `fitout upgrade foo-modern`, or remove it with `fitout uninstall foo-modern`
    exit 4
    $ fitout status foo-modern
    foo-modern: modern on cluster foo, in namespace modern
      Version    none yet

      ✗ Resolved    modern 1.0.0 needs Kubernetes >=1.99, the cluster is v1.36.3; no other version fits either
      … Applied     no object is being written
      … Healthy     not all objects are applied yet
      ✗ Ready       modern 1.0.0 needs Kubernetes >=1.99, the cluster is v1.36.3; no other version fits either
    exit 4
    ");
    assert_snapshot!(installed("unserved")?, @r"
    $ fitout install unserved --cluster foo --catalog local --wait
    foo-unserved: waiting for the hub
    foo-unserved: ConfigMpa/a: the cluster does not serve v1 ConfigMpa; did you mean v1 ConfigMap?
    error: instance foo-unserved is stalled: ConfigMpa/a: the cluster does not serve v1 ConfigMpa; did you mean v1 ConfigMap?
    hint: change it with `fitout upgrade foo-unserved`, or remove it with `fitout uninstall foo-unserved`
    exit 1
    $ fitout status foo-unserved
    foo-unserved: unserved on cluster foo, in namespace unserved
      Version    none yet

      ✓ Resolved
      ✗ Applied     ConfigMpa/a: the cluster does not serve v1 ConfigMpa; did you mean v1 ConfigMap?
      … Healthy     not all objects are applied yet
      ✗ Ready       ConfigMpa/a: the cluster does not serve v1 ConfigMpa; did you mean v1 ConfigMap?
    exit 1
    ");
    assert_snapshot!(installed("large")?, @r"
    $ fitout install large --cluster foo --catalog local --wait
    foo-large: waiting for the hub
    foo-large: large: its files are 5.0 MB, and 4 MB is the limit; leave out what is not applied, or ship it as a chart
    error: instance foo-large is stalled: large: its files are 5.0 MB, and 4 MB is the limit; leave out what is not applied, or ship it as a chart
    hint: change it with `fitout upgrade foo-large`, or remove it with `fitout uninstall foo-large`
    exit 1
    $ fitout status foo-large
    foo-large: large on cluster foo, in namespace large
      Version    none yet

      ✓ Resolved
      ✗ Applied     large: its files are 5.0 MB, and 4 MB is the limit; leave out what is not applied, or ship it as a chart
      … Healthy     not all objects are applied yet
      ✗ Ready       large: its files are 5.0 MB, and 4 MB is the limit; leave out what is not applied, or ship it as a chart
    exit 1
    ");

    // What no catalog offers is refused before anything is written; who writes it nevertheless is told the same by the hub.
    let spec = json!({ "spec": {
        "cluster": "foo", "namespace": "misspelt", "extension": { "name": "misspelt", "catalog": "local" },
    } });
    apply(&WORLD.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "misspelt", &spec))?;
    failed("misspelt")?;
    assert_snapshot!(typed(&["install misspelt --cluster foo --catalog local", "status misspelt"])?, @r"
    $ fitout install misspelt --cluster foo --catalog local
    error: extension misspelt not found in catalog local
    hint: `fitout extension list` shows the existing ones; the hub could not read all of that catalog: misspelt/1.0.0/definition.yaml:4: spec.kubernets: unknown field; did you mean `kubernetes`?
    exit 1
    $ fitout status misspelt
    misspelt: misspelt on cluster foo, in namespace misspelt
      Version    none yet

      ✗ Resolved    misspelt/1.0.0/definition.yaml:4: spec.kubernets: unknown field; did you mean `kubernetes`?
      … Applied     no object is being written
      … Healthy     not all objects are applied yet
      ✗ Ready       misspelt/1.0.0/definition.yaml:4: spec.kubernets: unknown field; did you mean `kubernetes`?
    exit 4
    ");
    Ok(())
}

#[test]
fn wrong_values() -> Result<()> {
    assert_snapshot!(installed("hosted")?, @r#"
    $ fitout install hosted --cluster foo --catalog local --wait
    foo-hosted: waiting for the hub
    foo-hosted: values.host: required value is missing; set it in the instance's values
    error: instance foo-hosted is stalled: values.host: required value is missing; set it in the instance's values
    hint: change it with `fitout upgrade foo-hosted`, or remove it with `fitout uninstall foo-hosted`
    exit 1
    $ fitout status foo-hosted
    foo-hosted: hosted on cluster foo, in namespace hosted
      Version    none yet

      ✓ Resolved
      ✗ Applied     values.host: required value is missing; set it in the instance's values
      … Healthy     not all objects are applied yet
      ✗ Ready       values.host: required value is missing; set it in the instance's values
    exit 1
    "#);

    let wrong_type = ["upgrade foo-hosted --set host=1 --wait", "status foo-hosted"];
    assert_snapshot!(typed(&wrong_type)?, @r#"
    $ fitout upgrade foo-hosted --set host=1 --wait
    foo-hosted: waiting for the hub
    foo-hosted: values.host: it is not of type "string"; change the value
    error: instance foo-hosted is stalled: values.host: it is not of type "string"; change the value
    hint: change it with `fitout upgrade foo-hosted`, or remove it with `fitout uninstall foo-hosted`
    exit 1
    $ fitout status foo-hosted
    foo-hosted: hosted on cluster foo, in namespace hosted
      Version    none yet

      ✓ Resolved
      ✗ Applied     values.host: it is not of type "string"; change the value
      … Healthy     not all objects are applied yet
      ✗ Ready       values.host: it is not of type "string"; change the value
    exit 1
    "#);
    let unknown = ["upgrade foo-hosted --reset-values --set hosts=h --wait", "status foo-hosted"];
    assert_snapshot!(typed(&unknown)?, @r"
    $ fitout upgrade foo-hosted --reset-values --set hosts=h --wait
    foo-hosted: waiting for the hub
    foo-hosted: values.hosts: unknown parameter; did you mean `host`?
    error: instance foo-hosted is stalled: values.hosts: unknown parameter; did you mean `host`?
    hint: change it with `fitout upgrade foo-hosted`, or remove it with `fitout uninstall foo-hosted`
    exit 1
    $ fitout status foo-hosted
    foo-hosted: hosted on cluster foo, in namespace hosted
      Version    none yet

      ✓ Resolved
      ✗ Applied     values.hosts: unknown parameter; did you mean `host`?
      … Healthy     not all objects are applied yet
      ✗ Ready       values.hosts: unknown parameter; did you mean `host`?
    exit 1
    ");

    // It heals; who watches sees each change on a line, to the last.
    run("upgrade foo-hosted --reset-values --set-string host=1")?.well();
    let watched = run("status foo-hosted --watch -o json")?.well();
    let states = watched.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    assert!(states.windows(2).all(|two| two[0] != two[1]), "{watched}");
    assert_eq!(condition(states.last().unwrap(), "Ready")["message"], "1.0.0 is installed");
    let data = WORLD.target.client().get("/api/v1/namespaces/hosted/configmaps/a")?["data"].clone();
    assert_eq!(data, json!({ "a": "b" }));
    Ok(())
}

#[test]
fn programs_read_the_same() -> Result<()> {
    run("install hosted --cluster foo --catalog local --name programs --namespace programs")?.well();
    failed("programs")?;
    let json = run("status programs -o json")?;
    let mut seen: Value = serde_json::from_str(&json.out)?;
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        seen["metadata"].as_object_mut().unwrap().remove(field).unwrap();
    }
    for said in seen["status"]["conditions"].as_array_mut().unwrap() {
        said.as_object_mut().unwrap().remove("lastTransitionTime").unwrap();
    }
    assert_eq!(json.code, 1);
    assert_snapshot!(format!("{seen:#}"), @r#"
    {
      "apiVersion": "fitout.dev/v1alpha1",
      "kind": "ExtensionInstance",
      "metadata": {
        "finalizers": [
          "fitout.dev/installed"
        ],
        "generation": 1,
        "name": "programs",
        "namespace": "org-acme"
      },
      "spec": {
        "cluster": "foo",
        "extension": {
          "catalog": "local",
          "name": "hosted",
          "scope": "Shared"
        },
        "namespace": "programs",
        "suspend": false,
        "upgrade": {
          "policy": "Follow"
        }
      },
      "status": {
        "conditions": [
          {
            "message": "",
            "observedGeneration": 1,
            "reason": "Resolved",
            "status": "True",
            "type": "Resolved"
          },
          {
            "message": "values.host: required value is missing; set it in the instance's values",
            "observedGeneration": 1,
            "reason": "Refused",
            "status": "False",
            "type": "Applied"
          },
          {
            "message": "not all objects are applied yet",
            "observedGeneration": 1,
            "reason": "Starting",
            "status": "Unknown",
            "type": "Healthy"
          },
          {
            "message": "values.host: required value is missing; set it in the instance's values",
            "observedGeneration": 1,
            "reason": "Failed",
            "status": "False",
            "type": "Ready"
          },
          {
            "message": "values.host: required value is missing; set it in the instance's values",
            "observedGeneration": 1,
            "reason": "InvalidSpec",
            "status": "True",
            "type": "Stalled"
          }
        ],
        "observedGeneration": 1
      }
    }
    "#);
    Ok(())
}

#[test]
fn objects_of_others() -> Result<()> {
    let target = WORLD.target.client();
    let install = |name: &str| {
        let install = format!("install plain --cluster foo --catalog local --name {name} --namespace {name} --wait");
        typed(&[&install, &format!("status {name}")])
    };
    // Another release's, and nobody's.
    let owned = json!({ "metadata": {
        "name": "a", "labels": { "app.kubernetes.io/managed-by": "Helm" },
        "annotations": { "meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop" },
    } });
    for (namespace, map) in [("helms", &owned), ("nobodys", &json!({ "metadata": { "name": "a" } }))] {
        target.create("/api/v1/namespaces", &json!({ "metadata": { "name": namespace } }))?;
        target.create(&format!("/api/v1/namespaces/{namespace}/configmaps"), map)?;
    }
    assert_snapshot!(install("helms")?, @r"
    $ fitout install plain --cluster foo --catalog local --name helms --namespace helms --wait
    helms: waiting for the hub
    helms: ConfigMap/helms/a already exists and belongs to release web in shop; delete it, or choose another release name
    error: instance helms is stalled: ConfigMap/helms/a already exists and belongs to release web in shop; delete it, or choose another release name
    hint: change it with `fitout upgrade helms`, or remove it with `fitout uninstall helms`
    exit 1
    $ fitout status helms
    helms: plain on cluster foo, in namespace helms
      Version    none yet, installing 1.0.0

      ✓ Resolved    1.0.0 is the newest that fits Kubernetes v1.36.3
      ✗ Applied     ConfigMap/helms/a already exists and belongs to release web in shop; delete it, or choose another release name
      … Healthy     not all objects are applied yet
      ✗ Ready       ConfigMap/helms/a already exists and belongs to release web in shop; delete it, or choose another release name
    exit 1
    ");
    assert_snapshot!(install("nobodys")?, @r"
    $ fitout install plain --cluster foo --catalog local --name nobodys --namespace nobodys --wait
    nobodys: waiting for the hub
    nobodys: ConfigMap/nobodys/a already exists and belongs to no Helm release; delete it, or install into another namespace
    error: instance nobodys is stalled: ConfigMap/nobodys/a already exists and belongs to no Helm release; delete it, or install into another namespace
    hint: change it with `fitout upgrade nobodys`, or remove it with `fitout uninstall nobodys`
    exit 1
    $ fitout status nobodys
    nobodys: plain on cluster foo, in namespace nobodys
      Version    none yet, installing 1.0.0

      ✓ Resolved    1.0.0 is the newest that fits Kubernetes v1.36.3
      ✗ Applied     ConfigMap/nobodys/a already exists and belongs to no Helm release; delete it, or install into another namespace
      … Healthy     not all objects are applied yet
      ✗ Ready       ConfigMap/nobodys/a already exists and belongs to no Helm release; delete it, or install into another namespace
    exit 1
    ");
    assert!(target.get("/api/v1/namespaces/nobodys/configmaps/a")?["metadata"]["labels"].is_null());
    // It is removed, and the instance goes on by itself.
    target.delete("/api/v1/namespaces/helms/configmaps/a")?;
    ready("helms")
}

/// The hub tries again by itself, ever more slowly.
fn ready(name: &str) -> Result<()> {
    until(&format!("{name} is ready"), Duration::from_mins(2), || {
        let instance = WORLD.hub.client().get(&format!("{INSTANCES}/{name}"))?;
        let ready = condition(&instance, "Ready");
        if ready["status"] == "True" { Ok(()) } else { Err(anyhow!("{ready}")) }
    })
}

#[test]
fn a_namespace_that_is_being_deleted() -> Result<()> {
    let target = WORLD.target.client();
    target.create("/api/v1/namespaces", &json!({ "metadata": { "name": "going" } }))?;
    let held = json!({ "metadata": { "name": "held", "finalizers": ["example.com/held"] } });
    target.create("/api/v1/namespaces/going/configmaps", &held)?;
    target.delete("/api/v1/namespaces/going")?;
    until("it is terminating", LIMIT, || {
        let phase = target.get("/api/v1/namespaces/going")?["status"]["phase"].clone();
        if phase == "Terminating" { Ok(()) } else { Err(anyhow!("{phase}")) }
    })?;
    run("install plain --cluster foo --catalog local --name going --namespace going")?.well();
    failed("going")?;
    assert_snapshot!(typed(&["status going", "status going --watch --timeout 1s"])?, @r#"
    $ fitout status going
    going: plain on cluster foo, in namespace going
      Version    none yet, installing 1.0.0
      Progress   step 1 of 3: record the change
      Objects    [--------------------] 0 of 1 ready
      Unhealthy  ConfigMap/going/a: the object does not exist

      ✓ Resolved    1.0.0 is the newest that fits Kubernetes v1.36.3
      ✗ Applied     Secret/going/sh.helm.release.v1.plain.v1: secrets "sh.helm.release.v1.plain.v1" is forbidden: unable to create new content in namespace going because it is being terminated; the change continues when the namespace is deleted
      … Healthy     not all objects are applied yet
      ✗ Ready       Secret/going/sh.helm.release.v1.plain.v1: secrets "sh.helm.release.v1.plain.v1" is forbidden: unable to create new content in namespace going because it is being terminated; the change continues when the namespace is deleted

    REVISION   ACTION    VERSION   RESULT    AGE
    1          Install   1.0.0     Running   [age]
    exit 1
    $ fitout status going --watch --timeout 1s
    going: Secret/going/sh.helm.release.v1.plain.v1: secrets "sh.helm.release.v1.plain.v1" is forbidden: unable to create new content in namespace going because it is being terminated; the change continues when the namespace is deleted
    error: instance going is not ready after 1s: Secret/going/sh.helm.release.v1.plain.v1: secrets "sh.helm.release.v1.plain.v1" is forbidden: unable to create new content in namespace going because it is being terminated; the change continues when the namespace is deleted
    hint: the hub continues; follow it with `fitout status going --watch`
    exit 1
    "#);
    let free = r#"--patch={"metadata":{"finalizers":null}}"#;
    WORLD.target.kubectl().run(&["patch", "configmap", "held", "--namespace=going", "--type=merge", free])?;
    ready("going")
}

#[test]
fn a_cluster_that_may_be_looked_at_and_not_touched() -> Result<()> {
    let cluster = Cluster::start(Spec::default())?;
    add_fake_node(&cluster)?;
    let kubectl = cluster.kubectl();
    kubectl.run(&["create", "clusterrole", "looker", "--verb=get,list,watch", "--resource=*.*"])?;
    kubectl.run(&["create", "clusterrolebinding", "looker", "--clusterrole=looker", "--user=looker"])?;
    let kubeconfig = cluster.kubeconfig_for("looker", None)?;
    let looker = kubectl.with_kubeconfig(&kubeconfig);
    until("the looker may look", LIMIT, || looker.run(&["get", "nodes,secrets", "--all-namespaces"]))?;
    let added = run(&format!("cluster add looker --kubeconfig {} --wait", kubeconfig.display()))?;
    assert_snapshot!(added.shown(), @r"
    looker: waiting for the hub to connect
    looker: Kubernetes v1.36.3, 1 of 1 nodes ready
    registered cluster looker: Kubernetes v1.36.3, 1 of 1 nodes ready
    exit 0
    ");
    run("install plain --cluster looker --catalog local --name denied --namespace denied")?.well();
    failed("denied")?;
    assert_snapshot!(typed(&["status denied", "status denied --watch --timeout 1s"])?, @r#"
    $ fitout status denied
    denied: plain on cluster looker, in namespace denied
      Version    none yet, installing 1.0.0
      Progress   step 1 of 3: record the change
      Objects    [--------------------] 0 of 1 ready
      Unhealthy  ConfigMap/denied/a: the object does not exist

      ✓ Resolved    1.0.0 is the newest that fits Kubernetes v1.36.3
      ✗ Applied     Namespace/denied: namespaces is forbidden: User "looker" cannot create resource "namespaces" in API group "" at the cluster scope; grant the hub this right on the cluster
      … Healthy     not all objects are applied yet
      ✗ Ready       Namespace/denied: namespaces is forbidden: User "looker" cannot create resource "namespaces" in API group "" at the cluster scope; grant the hub this right on the cluster

    REVISION   ACTION    VERSION   RESULT    AGE
    1          Install   1.0.0     Running   [age]
    exit 1
    $ fitout status denied --watch --timeout 1s
    denied: Namespace/denied: namespaces is forbidden: User "looker" cannot create resource "namespaces" in API group "" at the cluster scope; grant the hub this right on the cluster
    error: instance denied is not ready after 1s: Namespace/denied: namespaces is forbidden: User "looker" cannot create resource "namespaces" in API group "" at the cluster scope; grant the hub this right on the cluster
    hint: the hub continues; follow it with `fitout status denied --watch`
    exit 1
    "#);
    kubectl.run(&["create", "clusterrolebinding", "toucher", "--clusterrole=cluster-admin", "--user=looker"])?;
    ready("denied")
}

#[test]
fn clusters_that_cannot_be_reached() -> Result<()> {
    let mut kubeconfig: Value = serde_json::from_str(&fs::read_to_string(WORLD.target.kubeconfig())?)?;
    let cluster = kubeconfig["clusters"][0]["cluster"].clone();
    let hub: Value = serde_json::from_str(&fs::read_to_string(WORLD.hub.kubeconfig())?)?;
    let mut add = |name: &str, field: &str, content: &Value| {
        kubeconfig["clusters"][0]["cluster"] = cluster.clone();
        kubeconfig["clusters"][0]["cluster"][field] = content.clone();
        let path = WORLD.hub.sandbox().dir().join(format!("{name}.kubeconfig"));
        fs::write(&path, kubeconfig.to_string())?;
        let shown = run(&format!("cluster add {name} --kubeconfig {} --wait", path.display()))?.shown();
        anyhow::Ok(shown.replace(cluster["server"].as_str().unwrap(), "https://SERVER"))
    };
    assert_snapshot!(add("silent", "server", &json!("https://127.0.0.1:1"))?, @r"
    silent: waiting for the hub to connect
    silent: https://127.0.0.1:1 refuses the connection; is the API server running?
    error: the hub cannot connect to cluster silent: https://127.0.0.1:1 refuses the connection; is the API server running?
    hint: the cluster stays registered and the hub retries; remove it with `fitout cluster remove silent`
    exit 1
    ");
    let authority = &hub["clusters"][0]["cluster"]["certificate-authority-data"];
    assert_snapshot!(add("foreign", "certificate-authority-data", authority)?, @r"
    foreign: waiting for the hub to connect
    foreign: the certificate of https://SERVER is not signed by the authority in the kubeconfig; use the cluster's own authority
    error: the hub cannot connect to cluster foreign: the certificate of https://SERVER is not signed by the authority in the kubeconfig; use the cluster's own authority
    hint: the cluster stays registered and the hub retries; remove it with `fitout cluster remove foreign`
    exit 1
    ");
    assert_snapshot!(add("again", "server", &cluster["server"])?, @r"
    again: waiting for the hub to connect
    again: the same cluster is registered as org-acme/foo; remove one of the two
    error: the hub cannot connect to cluster again: the same cluster is registered as org-acme/foo; remove one of the two
    hint: the cluster stays registered and the hub retries; remove it with `fitout cluster remove again`
    exit 1
    ");
    assert_snapshot!(typed(&["cluster show silent", "cluster remove silent"])?, @r"
    $ fitout cluster show silent
    silent
      Version    not known yet
      Platform   not known yet
      Nodes      not known yet
      Supports   not known yet
      Kubeconfig secret silent-kubeconfig

      ✗ Connected    https://127.0.0.1:1 refuses the connection; is the API server running?
      ✗ Ready        https://127.0.0.1:1 refuses the connection; is the API server running?
    exit 0
    $ fitout cluster remove silent
    removed cluster silent
    exit 0
    ");
    Ok(())
}

#[test]
fn an_organization_does_not_read_the_hubs_disk() -> Result<()> {
    apply(&WORLD.hub, &object("fitout.dev/v1alpha1", "Organization", "", "other", &json!({ "spec": {} })))?;
    until("its namespace", LIMIT, || WORLD.hub.client().get("/api/v1/namespaces/org-other"))?;
    let source = json!({ "spec": { "source": { "directory": { "path": WORLD.catalog } } } });
    apply(&WORLD.hub, &object("fitout.dev/v1alpha1", "Catalog", "org-other", "own", &source))?;
    read(&WORLD, "org-other", "own")?;
    // The server may still be making room for a kind that nobody has asked for yet.
    let path = "/apis/fitout.dev/v1alpha1/namespaces/org-other/extensions";
    let offered = until("extensions are served", LIMIT, || WORLD.hub.client().get(path))?;
    assert_eq!(offered["items"], json!([]));
    assert_snapshot!(typed(&["catalog list -O other"])?, @r"
    $ fitout catalog list -O other
    NAME    SCOPE          EXTENSIONS   VERSIONS   READY   STATUS                                                                                                    AGE
    local   Shared         7            8          False   misspelt/1.0.0/definition.yaml:4: spec.kubernets: unknown field; did you mean `kubernetes`?               [age]
    own     Organization   -            -          False   a path on the hub's disk is only for catalogs in fitout-system: ask the platform team to offer it there   [age]
    exit 0
    ");
    Ok(())
}
