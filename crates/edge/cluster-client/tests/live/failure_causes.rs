//! Causes of unhealthy workloads, on a real node.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fitout_cluster_client::{ClientOptions, ClusterClient, connect};
use fitout_model::{Gvk, ObjectId};
use fitout_testkit::{Cluster, Image, Spec, StandIn, pods_cannot_run, skip, until};
use serde_json::{Value, json};

/// The kubelet gives up an image pull after a while, and a probe has to fail a few times.
const TIMEOUT: Duration = Duration::from_mins(2);
const IMAGE: &str = "example.com/server:1";

/// A workload, and the parts that the message of its cause has to contain, in this order.
struct Row {
    kind: &'static str,
    name: &'static str,
    spec: Value,
    message: &'static [&'static str],
}

fn deployment(name: &'static str, container: &Value, pod: &Value, message: &'static [&'static str]) -> Row {
    let mut spec = json!({ "containers": [container] });
    for (field, value) in pod.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    let labels = json!({ "app": name });
    let template = json!({ "metadata": { "labels": labels }, "spec": spec });
    Row {
        kind: "Deployment",
        name,
        spec: json!({ "selector": { "matchLabels": labels }, "template": template }),
        message,
    }
}

fn rows() -> Vec<Row> {
    let none = json!({});
    let server = json!({ "name": "web", "image": IMAGE });
    // The program rejects an unknown argument with exit code 2.
    let broken = json!({ "name": "run", "image": IMAGE, "command": ["/standin", "boom"] });
    let with = |more: Value| {
        let mut container = server.clone();
        for (field, value) in more.as_object().into_iter().flatten() {
            container[field] = value.clone();
        }
        container
    };
    let crash = &["init container run ", "exit code 2", "last log lines: standin: \"boom\" is not serve"];
    let volume = json!({ "volumes": [{ "name": "c", "configMap": { "name": "missing" } }] });
    let mounted = with(json!({ "volumeMounts": [{ "name": "c", "mountPath": "/c" }] }));
    let job =
        json!({ "backoffLimit": 0, "template": { "spec": { "restartPolicy": "Never", "containers": [broken] } } });
    let claim = json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } });
    vec![
        deployment(
            "no-image",
            &json!({ "name": "web", "image": "example.com/nope:1" }),
            &none,
            &["pod no-image-", "image example.com/nope:1 of container web cannot be pulled from example.com: "],
        ),
        deployment(
            "crash",
            &broken,
            &none,
            &["pod crash-", "container run ", "exit code 2", "last log lines: standin: \"boom\" is not serve"],
        ),
        deployment("init", &server, &json!({ "initContainers": [broken] }), crash),
        deployment(
            "unready",
            &with(json!({ "readinessProbe": { "tcpSocket": { "port": 1 }, "periodSeconds": 1 } })),
            &none,
            &["pod unready-", "container web is not ready: readiness probe failed: ", "connection refused"],
        ),
        deployment(
            "killed",
            &with(
                json!({ "livenessProbe": { "tcpSocket": { "port": 1 }, "periodSeconds": 1, "failureThreshold": 1 } }),
            ),
            &json!({ "terminationGracePeriodSeconds": 1 }),
            &["pod killed-", "container web ", "liveness probe failed: ", "connection refused"],
        ),
        deployment(
            "nowhere",
            &server,
            &json!({ "nodeSelector": { "no": "where" } }),
            &["pod nowhere-", "it cannot be scheduled: 0/1 nodes are available", "node affinity/selector"],
        ),
        deployment(
            "no-config",
            &with(json!({ "envFrom": [{ "configMapRef": { "name": "missing" } }] })),
            &none,
            &["pod no-config-", "container web cannot be started: configmap \"missing\" not found"],
        ),
        deployment(
            "no-mount",
            &mounted,
            &volume,
            &["pod no-mount-", "a volume cannot be mounted: ", "configmap \"missing\" not found"],
        ),
        Row {
            kind: "Job",
            name: "hook",
            spec: job,
            message: &[
                "0 of 1 completion is reached, and 1 pod failed: ",
                "; pod hook-",
                "exit code 2",
                "last log lines: standin:",
            ],
        },
        Row {
            kind: "PersistentVolumeClaim",
            name: "data",
            spec: claim,
            message: &["it is not bound to a volume: no persistent volumes available"],
        },
    ]
}

fn resource(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "Deployment" => ("apps/v1", "deployments"),
        "StatefulSet" => ("apps/v1", "statefulsets"),
        "DaemonSet" => ("apps/v1", "daemonsets"),
        "Job" => ("batch/v1", "jobs"),
        _ => ("v1", "persistentvolumeclaims"),
    }
}

#[test]
fn cause_of_unhealthy_workload_names_pod_and_container() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let cluster = Cluster::start(Spec { node: true, ..Spec::default() })?;
    let node = cluster.node().context("a node")?;
    node.import(&Image::stand_in(cluster.sandbox().programs(), IMAGE, StandIn::Serves))?;
    let client = cluster.client();
    let (open, full) = (cluster.namespace("causes")?, cluster.namespace("full")?);
    let quota = json!({ "metadata": { "name": "small" }, "spec": { "hard": { "pods": "0" } } });
    let quotas = format!("/api/v1/namespaces/{full}/resourcequotas");
    client.create(&quotas, &quota)?;
    until("the quota is counted", TIMEOUT, || {
        ensure!(client.get(&format!("{quotas}/small"))?["status"]["used"]["pods"] == "0");
        Ok(())
    })?;
    // The quota allows no pods.
    let refused =
        &["pods cannot be created: ", "exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0"];
    let limited = ["Deployment", "StatefulSet", "DaemonSet", "Job"].map(|kind| {
        let mut row = deployment("limited", &json!({ "name": "web", "image": IMAGE }), &json!({}), refused);
        if kind == "Job" {
            row.spec["selector"].take();
            row.spec["template"]["spec"]["restartPolicy"] = "Never".into();
        }
        (&full, Row { kind, ..row })
    });
    let rows: Vec<(&String, Row)> = rows().into_iter().map(|row| (&open, row)).chain(limited).collect();
    for (namespace, row) in &rows {
        let (api, plural) = resource(row.kind);
        let root = if api == "v1" { "/api/v1".to_owned() } else { format!("/apis/{api}") };
        let object = json!({ "apiVersion": api, "kind": row.kind, "metadata": { "name": row.name }, "spec": row.spec });
        client.create(&format!("{root}/namespaces/{namespace}/{plural}"), &object)?;
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let kubeconfig = std::fs::read_to_string(cluster.kubeconfig())?;
    let client = runtime.block_on(async {
        let (client, connectivity) = connect(&kubeconfig, ClientOptions::default()).await?;
        anyhow::Ok(ClusterClient::visit(client, connectivity).await?)
    })?;
    for (namespace, row) in &rows {
        let gvk = Gvk::new(resource(row.kind).0, row.kind);
        let id = ObjectId { gvk, namespace: (*namespace).clone(), name: row.name.to_owned() };
        let message = until(&format!("{id} has a cause"), TIMEOUT, || {
            let message = runtime.block_on(client.cause(&id))?.context("no cause")?;
            let mut rest = message.as_str();
            for part in row.message {
                rest = rest.split_once(part).with_context(|| format!("{part:?} is not in: {message}"))?.1;
            }
            anyhow::Ok(message)
        })?;
        println!("{id}: {message}");
        ensure!(!message.contains('\n'), "{message}");
    }
    Ok(())
}
