//! A clean install makes no noise: one pass, no failed write, no warning.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fmt::Write as _;
use std::fs;

use anyhow::Result;
use fitout_testkit::{Image, pods_cannot_run, skip};
use serde_json::{Value, json};

use crate::world::World;

/// Ten definitions of custom resources and a resource of each, roles, configuration, and something that runs.
fn manifests() -> String {
    let mut text = String::new();
    for n in 0..10 {
        let _ = write!(
            text,
            "apiVersion: example.com/v1\nkind: Gadget{n}\nmetadata: {{ name: g }}\nspec: {{ size: {n} }}\n---\n\
             apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{ name: gadget{n}s.example.com }}\n\
             spec:\n  group: example.com\n  scope: Namespaced\n\
             \x20 names: {{ kind: Gadget{n}, plural: gadget{n}s, singular: gadget{n}, listKind: Gadget{n}List }}\n\
             \x20 versions: [{{ name: v1, served: true, storage: true, schema: {{ openAPIV3Schema: {{ type: object, x-kubernetes-preserve-unknown-fields: true }} }} }}]\n---\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: c{n} }}\ndata: {{ k: v }}\n---\n",
        );
    }
    text + r"apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      serviceAccountName: web
      containers:
        - name: web
          image: ghcr.io/stefanprodan/podinfo:6.9.2
          envFrom: [{ configMapRef: { name: c0 } }]
          readinessProbe: { httpGet: { path: /readyz, port: 9898 }, periodSeconds: 1 }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 9898 }] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: web }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: web }
subjects: [{ kind: ServiceAccount, name: web }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: web }
rules: [{ apiGroups: [example.com], resources: ['*'], verbs: [get] }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: web }
"
}

#[test]
fn a_clean_install_makes_no_noise() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let world = World::start_with(true)?;
    world.target.node().unwrap().import(&Image::podinfo(world.target.sandbox().programs()))?;
    let folder = world.catalog.join("thing/1.0.0/m");
    fs::write(folder.join("all.yaml"), manifests())?;
    world.offer()?;
    let log = world.target.audit().from_now()?;
    // A cluster that starts has warnings of its own.
    let before = warnings(&world)?;
    world.want(&json!({ "version": "1.x" }))?;
    let instance = world.ready(1)?;
    assert_eq!(instance["status"]["objects"], json!({ "total": 35, "ready": 35 }));

    let writes = log.calls()?.by("kubernetes-admin").writes();
    writes.clone().failed().assert_none("no write failed");
    let mut applied = writes.only(|call| call.verb == "patch" || call.is_of("namespaces")).summary();
    let all = applied.len();
    applied.sort();
    applied.dedup();
    assert_eq!((applied.len(), all), (36, 36), "35 objects and the namespace, each once");
    let loud: Vec<Value> = warnings(&world)?.into_iter().filter(|event| !before.contains(event)).collect();
    assert!(loud.is_empty(), "{loud:#?}");
    Ok(())
}

/// What is wrong in the target's own words, but for what a kubelet says before a pod is first ready: that it is not, or that
/// the kubelet itself, on a busy machine, is late to know what the pod mounts.
fn warnings(world: &World) -> Result<Vec<Value>> {
    let events = world.target.client().get("/api/v1/events")?;
    let loud = |event: &&Value| {
        let said = event["message"].as_str().unwrap_or_default();
        let late = event["reason"] == "FailedMount" && said.contains(": failed to sync configmap cache: timed out");
        let kubelet = event["reason"] == "Unhealthy" || late;
        event["type"] == "Warning" && event["involvedObject"]["kind"] != "Node" && !kubelet
    };
    Ok(events["items"].as_array().unwrap().iter().filter(loud).cloned().collect())
}
