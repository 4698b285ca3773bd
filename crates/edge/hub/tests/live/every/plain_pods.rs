//! Pods that run without the images of anybody: the API server makes each a plain one, on its way in.
//!
//! The objects that a chart writes stay as they were written; only the pods that controllers make of them are others.

use anyhow::{Context, Result};
use fitout_testkit::{Cluster, Image, StandIn, apply, until};
use serde_json::{Value, json};

use crate::world::LIMIT;

const SERVES: &str = "localhost/serves:1";
const ENDS: &str = "localhost/ends:1";

/// All that keeps a pod from running where its images are not.
const GONE: [&str; 18] = [
    "initContainers",
    "volumes",
    "nodeSelector",
    "affinity",
    "topologySpreadConstraints",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "hostUsers",
    "runtimeClassName",
    "readinessGates",
    "schedulingGates",
    "imagePullSecrets",
    "dnsConfig",
    "hostAliases",
    "overhead",
    "resourceClaims",
    "shareProcessNamespace",
];

const OF_CONTAINERS: [&str; 14] = [
    "command",
    "args",
    "env",
    "envFrom",
    "volumeMounts",
    "volumeDevices",
    "resources",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "securityContext",
    "workingDir",
    "restartPolicy",
];

/// From now on every pod of the cluster is a plain one: it runs, and it ends where it is a job's or a hook.
pub fn make_pods_plain(cluster: &Cluster) -> Result<()> {
    let programs = cluster.sandbox().programs();
    let node = cluster.node().context("a node")?;
    node.import(&Image::stand_in(programs, SERVES, StandIn::Serves))?;
    node.import(&Image::stand_in(programs, ENDS, StandIn::Exits))?;
    // The API server asks for its API: that has to be the real one.
    let metrics = Image::metrics_server(programs);
    node.import(&metrics)?;
    let mut patches: Vec<String> = GONE
        .iter()
        .map(|field| format!("(has(object.spec.{field}) ? [JSONPatch{{op: 'remove', path: '/spec/{field}'}}] : [])"))
        .collect();
    // Of each container that there is, and for which more is true.
    let each = |more: &str, patch: &str| {
        let there = "[0, 1, 2, 3, 4, 5, 6, 7].filter(i, i < size(object.spec.containers)";
        format!("{there} && {more}).map(i, JSONPatch{{{patch}}})")
    };
    let at = |part: &str| format!("path: '/spec/containers/' + string(i) + '/{part}'");
    patches.push(each("true", &format!("op: 'replace', {}, value: string(variables.image)", at("image"))));
    patches.push(each("true", &format!("op: 'replace', {}, value: 'IfNotPresent'", at("imagePullPolicy"))));
    for field in OF_CONTAINERS {
        let has = format!("has(object.spec.containers[i].{field})");
        patches.push(each(&has, &format!("op: 'remove', {}", at(field))));
    }
    for port in 0..8 {
        let ports = "object.spec.containers[i].ports";
        let has = format!("has({ports}) && size({ports}) > {port} && has({ports}[{port}].hostPort)");
        patches.push(each(&has, &format!("op: 'remove', {}", at(&format!("ports/{port}/hostPort")))));
    }
    // The server takes it for granted.
    patches
        .push("[JSONPatch{op: 'add', path: '/spec/securityContext', value: Object.spec.securityContext{}}]".to_owned());
    let ends = "(has(object.metadata.labels) && 'batch.kubernetes.io/job-name' in object.metadata.labels) || \
                (has(object.metadata.annotations) && 'helm.sh/hook' in object.metadata.annotations)";
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
        "metadata": { "name": "plain-pods" },
        "spec": {
            "failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded",
            "matchConstraints": { "resourceRules": [
                { "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"] },
            ] },
            "matchConditions": [{
                "name": "images-that-are-not-there",
                "expression": format!("!object.spec.containers.exists(each, each.image == '{}')", metrics.reference),
            }],
            "variables": [{ "name": "image", "expression": format!("({ends}) ? '{ENDS}' : '{SERVES}'") }],
            "mutations": [{
                "patchType": "JSONPatch",
                "jsonPatch": { "expression": patches.join(" + ") },
            }],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding",
        "metadata": { "name": "plain-pods" }, "spec": { "policyName": "plain-pods" },
    });
    apply(cluster, &policy)?;
    apply(cluster, &binding)?;
    // The API server reads its policies now and then.
    let pod: Value = json!({
        "metadata": { "name": "first" },
        "spec": { "containers": [{ "name": "a", "image": "example.com/none" }], "nodeSelector": { "no": "where" } },
    });
    until("pods become plain", LIMIT, || {
        let made = cluster.client().create("/api/v1/namespaces/default/pods?dryRun=All", &pod)?;
        anyhow::ensure!(made["spec"]["containers"][0]["image"] == SERVES, "{}", made["spec"]);
        anyhow::ensure!(made["spec"].get("nodeSelector").is_none(), "{}", made["spec"]);
        Ok::<_, anyhow::Error>(())
    })
}
