//! What somebody changes is put back, unless it is theirs to change: on a real cluster.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

use anyhow::{Result, anyhow};
use fitout_testkit::until;
use serde_json::{Value, json};

use crate::world::{LIMIT, World};

const MANIFESTS: &str = "apiVersion: apps/v1
kind: Deployment
metadata: { name: web, annotations: { mark: ours } }
spec:
  replicas: 0
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: example.com/web }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: colors, annotations: { mark: ours } }
data: { wall: white, door: green }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: hooks, annotations: { mark: ours } }
webhooks:
  - name: one.example.com
    clientConfig: { url: \"https://localhost:9\", caBundle: Cg== }
    failurePolicy: Ignore
    sideEffects: None
    admissionReviewVersions: [v1]
    rules: [{ apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [things] }]
";

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/thing/deployments/web";
const COLORS: &str = "/api/v1/namespaces/thing/configmaps/colors";
const HOOKS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hooks";

fn write(catalog: &Path) -> Result<()> {
    let folder = catalog.join("thing/3.0.0");
    fs::create_dir_all(folder.join("m"))?;
    let definition = "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: { name: thing-3 }\n\
                      spec: { extension: thing, version: 3.0.0, manifests: { path: m } }\n";
    fs::write(folder.join("definition.yaml"), definition)?;
    Ok(fs::write(folder.join("m/all.yaml"), MANIFESTS)?)
}

/// Changes an object by another hand.
fn edit(world: &World, object: &[&str], patch: &Value) -> Result<()> {
    let patch = patch.to_string();
    let args = ["patch", "--namespace=thing", "--type=merge", "--field-manager=other", "--patch", &patch];
    world.target.kubectl().run(&[&args[..], object].concat())?;
    Ok(())
}

/// Changes what is not ignored too, and waits until that is put back: by then the rest has been dealt with.
fn mended(world: &World, object: &[&str], path: &str) -> Result<Value> {
    edit(world, object, &json!({ "metadata": { "annotations": { "mark": "theirs" } } }))?;
    until(&format!("{path} is mended"), LIMIT, || {
        let found = world.target.client().get(path)?;
        if found["metadata"]["annotations"]["mark"] == "ours" { Ok(found) } else { Err(anyhow!("{found}")) }
    })
}

/// All on one cluster: an API server costs more than the rest.
#[test]
fn what_others_may_take_stays_and_all_else_is_mended() -> Result<()> {
    let world = World::start_with(false)?;
    write(&world.catalog)?;
    world.offer()?;
    let ignore = json!([{ "kind": "ConfigMap", "name": "colors", "pointers": ["/data/door"] }]);
    world.want(&json!({ "version": "3.x", "drift": { "ignore": ignore } }))?;
    world.ready(1)?;

    // Not through `scale`: whoever edits the deployment itself is no autoscaler.
    edit(&world, &["deployment", "web"], &json!({ "spec": { "replicas": 3 } }))?;
    until("an edit of the replicas is mended", LIMIT, || {
        let found = world.target.client().get(DEPLOYMENT)?;
        if found["spec"]["replicas"] == 0 { Ok(()) } else { Err(anyhow!("{}", found["spec"]["replicas"])) }
    })?;

    // Scaled by another hand.
    world.target.kubectl().run(&["scale", "deployment/web", "--replicas=2", "--namespace=thing"])?;
    let deployment = mended(&world, &["deployment", "web"], DEPLOYMENT)?;
    assert_eq!(deployment["spec"]["replicas"], 2);

    // An authority that another manager injects.
    let injected =
        json!([{ "op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": "bmV3" }]).to_string();
    let args =
        ["patch", "validatingwebhookconfiguration", "hooks", "--type=json", "--field-manager=injector", "--patch"];
    world.target.kubectl().run(&[&args[..], &[&injected]].concat())?;
    let hooks = mended(&world, &["validatingwebhookconfiguration", "hooks"], HOOKS)?;
    assert_eq!(hooks["webhooks"][0]["clientConfig"]["caBundle"], "bmV3");

    // A field that the instance leaves to others, and one beside it.
    edit(&world, &["configmap", "colors"], &json!({ "data": { "wall": "red", "door": "red" } }))?;
    let colors = mended(&world, &["configmap", "colors"], COLORS)?;
    assert_eq!(colors["data"], json!({ "wall": "white", "door": "red" }));

    // Another hub takes over, and fights over nothing.
    let quiet = world.target.audit().from_now()?;
    let world = world.restart_hub()?;
    world.want(&json!({ "version": "3.x", "drift": { "ignore": ignore }, "upgrade": { "policy": "Latest" } }))?;
    until("the new generation was seen", LIMIT, || {
        let instance = world.instance()?;
        let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
        if seen { Ok(()) } else { Err(anyhow!("{}", instance["status"])) }
    })?;
    quiet.calls()?.by("kubernetes-admin").writes().assert_none("nothing is written");

    // Once it is no longer left to others, it is put back.
    world.want(&json!({ "version": "3.x", "upgrade": { "policy": "Latest" } }))?;
    until("the door is ours again", LIMIT, || {
        let found = world.target.client().get(COLORS)?;
        if found["data"]["door"] == "green" { Ok(()) } else { Err(anyhow!("{}", found["data"])) }
    })?;
    Ok(())
}
