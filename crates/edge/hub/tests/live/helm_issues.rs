//! What users of Helm complain about does not happen here. Each test is named after the complaint:
//!
//! | complaint | test |
//! |---|---|
//! | 1 a release that a crash left pending blocks | `a_release_left_pending_by_a_crash_never_blocks`, `live_crash_charts` |
//! | 2 `crds/` are never upgraded | `definitions_are_upgraded_and_never_at_the_cost_of_data`, `plan/tests/live_crds` |
//! | 3 a record is too large | `a_record_that_is_too_large_is_trimmed` |
//! | 4 a rollout times out without a reason | `a_rollout_that_does_not_end_says_why` in `cli/tests/live_running`, `target/tests/live_cause` |
//! | 5 an API that is gone blocks the upgrade | `an_api_that_is_no_longer_served_does_not_block_the_next_upgrade` |
//! | 6 passwords rotate | `what_was_looked_up_or_made_by_chance_does_not_rotate_at_a_plan` in `cli/tests/live_plan`, `live_crash_charts` |
//! | 7 a failure is stuck | `what_fails_stops_or_goes_back_where_that_is_wanted` and the one after it |
//! | 8 others' fields are fought over | `what_others_may_take_stays_and_all_else_is_mended` in `live_drift` |
//! | 9 nobody knows where a value is from | `every_value_names_its_layer_and_secrets_are_not_shown` in `cli/tests/live_values` |
//! | 10 a field cannot change | `a_field_that_cannot_change_is_told_and_made_anew_where_that_is_allowed`, `plan/tests/live_fixed` |
//! | 11 nobody sees what an upgrade changes | `what_a_plan_says_is_what_is_then_done` in `cli/tests/live_plan` |

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use fitout_testkit::{INSTANCES, apply, condition, cpu, object, until};
use serde_json::{Value, json};

use crate::world::{LIMIT, World};

/// One pair of clusters for all tests, which costs more than they do together, and one test at a time: some measure.
fn world() -> MutexGuard<'static, World> {
    static WORLD: LazyLock<Mutex<World>> = LazyLock::new(|| Mutex::new(start().unwrap()));
    WORLD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start() -> Result<World> {
    let world = World::start_with(false)?;
    write(&world.catalog)?;
    world.offer()?;
    Ok(world)
}

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: parts.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Part, plural: parts, singular: part, listKind: PartList }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { PROPERTIES } } } } }
";

/// Paths within a chart, and what is there.
type Files<'a> = &'a [(&'a str, &'a str)];

/// Versions of extensions, each with a chart of its own.
fn write(catalog: &Path) -> Result<()> {
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: map }\ndata: { color: {{ .Values.color | quote }} }\n";
    let hook = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: never\n  annotations: { helm.sh/hook: pre-install }\n\
        spec: { template: { spec: { restartPolicy: Never, containers: [{ name: a, image: \"localhost/none:1\" }] } } }\n";
    let old_api = "apiVersion: old.example.com/v1\nkind: Thing\nmetadata: { name: thing }\n";
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { clusterIP: {{ .Values.address | quote }}, ports: [{ port: 80 }] }\n";
    let wrong =
        "apiVersion: v1\nkind: Service\nmetadata: { name: wrong }\nspec: { ports: [{ port: {{ .Values.port }} }] }\n";
    let crd = |properties: &str| CRD.replace("PROPERTIES", properties);
    let two = crd("a: { type: string }, b: { type: string }");
    let (one, three) =
        (crd("a: { type: string }"), crd("a: { type: string }, b: { type: string }, c: { type: string }"));
    // Nothing makes it smaller.
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(33 + u8::try_from(state >> 33 & 63).unwrap())
    };
    let noise: String = (0..3_000_000).map(|_| next()).collect();
    let schema = r#"{ "properties": { "color": { "pattern": "^[a-z]+$" } } }"#;
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec:\n  replicas: {{ .Values.replicas }}\n  \
        selector: { matchLabels: { app: web } }\n  template:\n    metadata: { labels: { app: web } }\n    \
        spec: { containers: [{ name: web, image: \"localhost/none:1\" }] }\n";
    let leaving = hook.replace("pre-install", "pre-delete");
    let upgrading = hook.replace("pre-install", "pre-upgrade");
    let charts: [(&str, &str, Files); 13] = [
        ("strict", "1.0.0", &[("templates/map.yaml", map), ("values.schema.json", schema)]),
        ("stuck", "1.0.0", &[("templates/map.yaml", map), ("templates/hook.yaml", hook)]),
        ("defined", "1.0.0", &[("templates/map.yaml", map), ("crds/parts.yaml", &two)]),
        ("defined", "1.1.0", &[("templates/map.yaml", map), ("crds/parts.yaml", &three)]),
        ("defined", "1.2.0", &[("templates/map.yaml", map), ("crds/parts.yaml", &one)]),
        ("large", "1.0.0", &[("templates/map.yaml", map), ("noise.txt", &noise)]),
        ("aged", "1.0.0", &[("templates/map.yaml", map), ("templates/old.yaml", old_api)]),
        ("aged", "1.1.0", &[("templates/map.yaml", map)]),
        ("failing", "1.0.0", &[("templates/map.yaml", map), ("templates/wrong.yaml", wrong)]),
        ("slow", "1.0.0", &[("templates/web.yaml", deployment)]),
        ("clingy", "1.0.0", &[("templates/map.yaml", map), ("templates/hook.yaml", &leaving)]),
        ("fixed", "1.0.0", &[("templates/service.yaml", service)]),
        ("late", "1.0.0", &[("templates/map.yaml", map), ("templates/hook.yaml", &upgrading)]),
    ];
    for (name, version, files) in charts {
        let folder = catalog.join(name).join(version);
        for inner in ["chart/templates", "chart/crds"] {
            fs::create_dir_all(folder.join(inner))?;
        }
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: {name}-{version} }}\n\
             spec: {{ extension: {name}, version: {version}, bootstrap: true, helm: {{ chart: chart }} }}\n"
        );
        fs::write(folder.join("definition.yaml"), definition)?;
        fs::write(folder.join("chart/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: {version}\n"))?;
        fs::write(folder.join("chart/values.yaml"), "color: red\nport: 80\nreplicas: 0\naddress: \"\"\n")?;
        for (path, text) in files {
            fs::write(folder.join("chart").join(path), text)?;
        }
    }
    Ok(())
}

fn want(world: &World, name: &str, spec: &Value) -> Result<()> {
    let mut whole = json!({ "cluster": "foo", "namespace": name, "extension": { "name": name, "catalog": "local" } });
    whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    apply(&world.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", name, &json!({ "spec": whole })))
}

/// Waits for a word in the message of `Ready`, of what was wanted last.
fn told(world: &World, name: &str, part: &str) -> Result<Value> {
    until(&format!("{name}: {part}"), LIMIT, || {
        let instance = world.hub.client().get(&format!("{INSTANCES}/{name}"))?;
        let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
        let message = condition(&instance, "Ready")["message"].as_str().unwrap_or_default().to_owned();
        if seen && message.contains(part) { Ok(instance) } else { Err(anyhow!("{}", instance["status"])) }
    })
}

fn color(world: &World, namespace: &str) -> Result<Value> {
    Ok(world.target.client().get(&format!("/api/v1/namespaces/{namespace}/configmaps/map"))?["data"]["color"].clone())
}

#[test]
fn a_release_left_pending_by_a_crash_never_blocks() -> Result<()> {
    let world = &*world();
    let chart = world.catalog.join("stuck/1.0.0/chart");
    let mut helm = Command::new(world.target.sandbox().programs().helm())
        .args(["install", "stuck"])
        .arg(&chart)
        .args(["--namespace=stuck", "--create-namespace", "--kubeconfig"])
        .arg(world.target.kubeconfig())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let records = "/api/v1/namespaces/stuck/secrets?labelSelector=owner%3Dhelm,status%3Dpending-install";
    let pending = until("Helm is at work", LIMIT, || {
        let found = world.target.client().get(records)?;
        if found["items"][0].is_object() { Ok(()) } else { Err(anyhow!("{found}")) }
    });
    helm.kill()?;
    helm.wait()?;
    pending?;
    want(world, "stuck", &json!({ "takeover": { "choice": "Adopt" } }))?;
    told(world, "stuck", "is installed")?;
    assert_eq!(color(world, "stuck")?, "red");
    let list = world.target.helm().run(&["list", "--namespace=stuck", "--output=json"])?;
    assert!(list.contains(r#""status":"deployed""#), "{list}");
    Ok(())
}

#[test]
fn definitions_are_upgraded_and_never_at_the_cost_of_data() -> Result<()> {
    let world = &*world();
    let properties = || -> Result<usize> {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/parts.example.com";
        let crd = world.target.client().get(path)?;
        let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
        Ok(spec.as_object().context("properties")?.len())
    };
    want(world, "defined", &json!({ "version": "1.0.0" }))?;
    told(world, "defined", "1.0.0 is installed")?;
    assert_eq!(properties()?, 2);
    want(world, "defined", &json!({ "version": "1.1.0" }))?;
    told(world, "defined", "1.1.0 is installed")?;
    assert_eq!(properties()?, 3, "Helm would have left it");
    want(world, "defined", &json!({ "version": "1.2.0", "values": { "color": "blue" } }))?;
    let instance = told(world, "defined", "CustomResourceDefinition/parts.example.com: ")?;
    let message = condition(&instance, "Ready")["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("; stay at this version, or name parts.example.com in allowDataLoss"), "{message}");
    assert_eq!((properties()?, color(world, "defined")?), (3, json!("red")), "nothing is half done");
    want(world, "defined", &json!({ "version": "1.2.0", "allowDataLoss": ["parts.example.com"] }))?;
    told(world, "defined", "1.2.0 is installed")?;
    assert_eq!(properties()?, 1);
    Ok(())
}

#[test]
fn a_record_that_is_too_large_is_trimmed() -> Result<()> {
    let world = &*world();
    let chart = world.catalog.join("large/1.0.0/chart");
    let refused = world.target.helm().run(&["install", "large", chart.to_str().unwrap(), "--namespace=default"]);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("Too long") || refused.contains("too large"), "Helm cannot install it: {refused}");
    want(world, "large", &json!({}))?;
    told(world, "large", "is installed")?;
    let helm = |args: &[&str]| world.target.helm().run(&[args, &["large", "--namespace=large"]].concat());
    assert!(helm(&["get", "manifest"])?.contains("name: map"));
    assert!(helm(&["get", "values", "--all"])?.contains("color: red"));
    helm(&["history"]).map(drop)
}

#[test]
fn an_api_that_is_no_longer_served_does_not_block_the_next_upgrade() -> Result<()> {
    let world = &*world();
    let crd = CRD.replace("PROPERTIES", "").replace("example.com", "old.example.com").replace("parts", "things");
    let crd = crd.replace("kind: Part", "kind: Thing").replace("part", "thing").replace("PartList", "ThingList");
    world.target.kubectl().run_with_input(&["apply", "--filename=-"], &crd)?;
    let name = "things.old.example.com";
    world.target.kubectl().run(&["wait", "--for=condition=Established", "crd", name, "--timeout=30s"])?;
    want(world, "aged", &json!({ "version": "1.0.0" }))?;
    told(world, "aged", "1.0.0 is installed")?;
    world.target.client().delete(&format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"))?;
    until("it is no longer served", LIMIT, || {
        match world.target.client().find("/apis/old.example.com/v1/things")? {
            None => Ok(()),
            Some(found) => Err(anyhow!("{found}")),
        }
    })?;
    want(world, "aged", &json!({ "version": "1.1.0", "values": { "color": "blue" } }))?;
    told(world, "aged", "1.1.0 is installed")?;
    assert_eq!(color(world, "aged")?, "blue");
    Ok(())
}

/// Not one of the eleven, and as old: Helm's own words quote the value that a schema refuses.
#[test]
fn a_value_from_a_secret_is_never_told() -> Result<()> {
    let world = &*world();
    want(world, "strict", &json!({ "values": { "color": "Blue-1" } }))?;
    told(world, "strict", "Blue-1")?;
    let secret = json!({ "type": "fitout.dev/values", "stringData": { "values.yaml": "color: Hunter-2" } });
    apply(&world.hub, &object("v1", "Secret", "org-acme", "login", &secret))?;
    let from = json!([{ "secretKeyRef": { "name": "login", "key": "values.yaml" } }]);
    want(world, "strict", &json!({ "valuesFrom": from }))?;
    let instance = told(world, "strict", "`fitout values strict --explain` shows")?;
    assert!(!instance["status"].to_string().contains("Hunter"), "{}", instance["status"]);
    Ok(())
}

#[test]
fn what_fails_stops_or_goes_back_where_that_is_wanted() -> Result<()> {
    let world = &*world();
    want(world, "failing", &json!({ "onFailure": "Stop" }))?;
    told(world, "failing", "is installed")?;
    let statuses = || statuses(world, "failing");
    // It stops, and Helm knows that it failed.
    want(world, "failing", &json!({ "onFailure": "Stop", "values": { "port": 123_456, "color": "blue" } }))?;
    told(world, "failing", "Service/failing/wrong")?;
    until("the record says so", LIMIT, || {
        let found = statuses()?;
        if found == ["deployed", "failed"] { Ok(()) } else { Err(anyhow!("{found:?}")) }
    })?;
    let quiet = world.target.audit().from_now()?;
    std::thread::sleep(std::time::Duration::from_secs(3));
    quiet.calls()?.writes().of("services").assert_none("nothing is tried again");
    // It goes back, and stays there.
    want(world, "failing", &json!({ "onFailure": "Rollback", "values": { "port": 123_456, "color": "blue" } }))?;
    until("what was there is back", LIMIT, || {
        let found = (statuses()?, color(world, "failing")?);
        if found.0.last().is_some_and(|last| last == "deployed") && found.1 == "red" {
            Ok(())
        } else {
            Err(anyhow!("{found:?}"))
        }
    })?;
    told(world, "failing", "is installed")?;
    // Whatever is wanted next is tried.
    want(world, "failing", &json!({ "onFailure": "Rollback", "values": { "port": 8080, "color": "gold" } }))?;
    told(world, "failing", "is installed")?;
    until("it is gold", LIMIT, || if color(world, "failing")? == "gold" { Ok(()) } else { Err(anyhow!("not yet")) })
}

/// The statuses of a release's revisions, as Helm has them.
fn statuses(world: &World, release: &str) -> Result<Vec<String>> {
    let namespace = format!("--namespace={release}");
    let history = world.target.helm().json(&["history", release, &namespace, "--output=json"])?;
    Ok(history
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| entry["status"].as_str().unwrap_or_default().to_owned())
        .collect())
}

#[test]
fn what_does_not_become_healthy_in_time_stops_or_goes_back_too() -> Result<()> {
    let world = &*world();
    let want = |policy: &str, replicas: u32| {
        let values = json!({ "replicas": replicas });
        want(world, "slow", &json!({ "onFailure": policy, "healthyWithinSeconds": 3, "values": values }))
    };
    want("Stop", 0)?;
    told(world, "slow", "is installed")?;
    // No node will ever run it.
    want("Stop", 1)?;
    told(world, "slow", "Deployment/slow/web did not become healthy in time: ")?;
    assert_eq!(statuses(world, "slow")?, ["deployed", "failed"]);
    want("Rollback", 1)?;
    let instance = told(world, "slow", "is installed")?;
    let why = instance["status"]["why"].as_str().unwrap_or_default();
    assert_eq!(why, "revision 2 failed, so the release before it was restored; it stays until the instance changes");
    assert_eq!(statuses(world, "slow")?, ["superseded", "failed", "deployed"]);
    let deployment = world.target.client().get("/apis/apps/v1/namespaces/slow/deployments/web")?;
    assert_eq!(deployment["spec"]["replicas"], 0);
    what_is_late_and_suspended_costs_nothing(world)
}

fn what_is_late_and_suspended_costs_nothing(world: &World) -> Result<()> {
    let spec = |color: &str, within: u32, suspend: bool| {
        let values = json!({ "color": color });
        json!({ "onFailure": "Rollback", "healthyWithinSeconds": within, "values": values, "suspend": suspend })
    };
    want(world, "late", &spec("red", 600, false))?;
    told(world, "late", "is installed")?;
    // All that is there is healthy, and the hook never ends.
    want(world, "late", &spec("blue", 600, false))?;
    until("it is under way", LIMIT, || match statuses(world, "late")?.last().map(String::as_str) {
        Some("pending-upgrade") => Ok(()),
        other => Err(anyhow!("{other:?}")),
    })?;
    want(world, "late", &spec("blue", 1, true))?;
    until("it is suspended", LIMIT, || {
        let instance = world.hub.client().get(&format!("{INSTANCES}/late"))?;
        let ready = condition(&instance, "Ready");
        if ready["reason"] == "Suspended" { Ok(()) } else { Err(anyhow!("{ready}")) }
    })?;
    // The hub is a part of this program, and has nothing to do; nor has anybody else here.
    let (before, while_nothing_happens) = (cpu(std::process::id())?, Duration::from_secs(3));
    sleep(while_nothing_happens);
    let spent = cpu(std::process::id())?.saturating_sub(before);
    ensure!(spent < while_nothing_happens / 5, "{spent:?} of {while_nothing_happens:?}");
    Ok(())
}

#[test]
fn a_hook_that_never_ends_does_not_hold_back_an_uninstall_without_hooks() -> Result<()> {
    let world = &*world();
    want(world, "clingy", &json!({ "releaseLabels": { "team": "blue" } }))?;
    told(world, "clingy", "is installed")?;
    let labelled = "/api/v1/namespaces/clingy/secrets?labelSelector=owner%3Dhelm,team%3Dblue";
    assert!(world.target.client().get(labelled)?["items"][0].is_object(), "the record has the label");
    let path = format!("{INSTANCES}/clingy");
    world.hub.client().delete(&path)?;
    let job = "/apis/batch/v1/namespaces/clingy/jobs/never";
    until("the hook runs", LIMIT, || world.target.client().get(job))?;
    assert_eq!(color(world, "clingy")?, "red", "what it is to run before is still there");
    let skip = r#"--patch={"spec":{"skipDeleteHooks":true}}"#;
    let words = ["patch", "extensioninstance", "clingy", "--namespace=org-acme", "--type=merge", skip];
    world.hub.kubectl().run(&words)?;
    until("it is gone", LIMIT, || match world.hub.client().find(&path)? {
        None => Ok(()),
        Some(left) => Err(anyhow!("{}", left["status"])),
    })?;
    assert!(world.target.client().find(job)?.is_none_or(|job| !job["metadata"]["deletionTimestamp"].is_null()));
    assert!(world.target.client().find("/api/v1/namespaces/clingy/configmaps/map")?.is_none());
    Ok(())
}

#[test]
fn a_field_that_cannot_change_is_told_and_made_anew_where_that_is_allowed() -> Result<()> {
    let world = &*world();
    want(world, "fixed", &json!({}))?;
    told(world, "fixed", "is installed")?;
    let service = || world.target.client().get("/api/v1/namespaces/fixed/services/web");
    let before = service()?["metadata"]["uid"].clone();
    want(world, "fixed", &json!({ "values": { "address": "None" } }))?;
    told(world, "fixed", "Service/fixed/web")?;
    assert_eq!(service()?["metadata"]["uid"], before);
    want(world, "fixed", &json!({ "values": { "address": "None" }, "recreate": ["Service/web"] }))?;
    told(world, "fixed", "is installed")?;
    let after = service()?;
    assert!(after["metadata"]["uid"] != before && after["spec"]["clusterIP"] == "None", "{after}");
    Ok(())
}
