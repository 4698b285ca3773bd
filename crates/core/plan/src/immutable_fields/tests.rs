//! Pairs of small objects. `tests/live/immutable_fields.rs` compares the rules with a real API server.

use serde_json::{Value, json};

use super::changed::quantity;
use super::immutable_fields;

fn object(api_version: &str, kind: &str, content: &Value) -> Value {
    let mut object = content.clone();
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    object
}

/// A live Job of which our manager owns these fields.
fn job(ours: &Value) -> Value {
    let container = json!({
        "name": "run", "image": "a:1", "args": ["x"], "terminationMessagePath": "/dev/termination-log",
        "resources": { "limits": { "cpu": "500m", "memory": "1Gi" } }, "env": [{ "name": "A", "value": "1" }],
        "ports": [{ "containerPort": 80, "protocol": "TCP" }],
    });
    let template = json!({
        "metadata": { "labels": { "job-name": "j" } },
        "spec": { "containers": [container], "restartPolicy": "Never", "dnsPolicy": "ClusterFirst" },
    });
    object(
        "batch/v1",
        "Job",
        &json!({
            "metadata": { "managedFields": [{ "manager": "helm", "operation": "Apply", "fieldsV1": ours }] },
            "spec": { "template": template, "completions": 1, "parallelism": 1, "selector": { "matchLabels": { "u": "1" } } },
        }),
    )
}

fn with_container(container: &Value) -> Value {
    json!({ "spec": { "template": { "spec": { "restartPolicy": "Never", "containers": [container] } } } })
}

#[test]
fn defaults_and_normalized_values_are_no_change() {
    let live = job(&json!({}));
    let rows = [
        json!({ "name": "run", "image": "a:1" }),
        json!({ "name": "run", "image": "a:1", "args": ["x"], "env": [{ "name": "A", "value": "1" }], "command": [] }),
        json!({ "name": "run", "resources": { "limits": { "cpu": 0.5, "memory": "1024Mi" } } }),
        json!({ "name": "run", "ports": [{ "containerPort": 80 }], "stdin": false }),
    ];
    for container in rows {
        assert_eq!(immutable_fields(&live, &with_container(&container)), Vec::<String>::new(), "{container}");
    }
}

#[test]
fn changes_are_listed_with_their_path() {
    let live = job(&json!({}));
    let place = "spec.template.spec.containers[name=run]";
    let rows = [
        (json!({ "name": "run", "image": "a:2" }), format!("{place}.image")),
        (json!({ "name": "run", "args": ["x", "y"] }), format!("{place}.args")),
        (json!({ "name": "run", "args": ["y"] }), format!("{place}.args[0]")),
        (json!({ "name": "run", "env": [{ "name": "A", "value": "2" }] }), format!("{place}.env[name=A].value")),
        (json!({ "name": "run", "env": [{ "name": "B", "value": "2" }] }), format!("{place}.env[name=B]")),
        (json!({ "name": "run", "resources": { "limits": { "cpu": 1 } } }), format!("{place}.resources.limits.cpu")),
        (
            json!({ "name": "run", "ports": [{ "containerPort": 80, "protocol": "UDP" }] }),
            format!("{place}.ports[containerPort=80]"),
        ),
        (json!({ "name": "other" }), "spec.template.spec.containers[name=other]".to_owned()),
    ];
    for (container, expected) in rows {
        assert_eq!(immutable_fields(&live, &with_container(&container)), [expected], "{container}");
    }
}

#[test]
fn owned_fields_that_are_no_longer_desired_are_changes() {
    let container = json!({ "k:{\"name\":\"run\"}": { ".": {}, "f:name": {}, "f:args": {}, "f:terminationMessagePath": {},
        "f:env": { "k:{\"name\":\"A\"}": { ".": {}, "f:name": {}, "f:value": {} } } } });
    let live = job(&json!({ "f:spec": { "f:template": { "f:spec": { "f:containers": container } } } }));
    let place = "spec.template.spec.containers[name=run]";
    let desired = with_container(&json!({ "name": "run", "image": "a:1" }));
    assert_eq!(immutable_fields(&live, &desired), [format!("{place}.args"), format!("{place}.env")]);
}

#[test]
fn suspended_jobs_can_change_scheduling_directives() {
    let mut live = job(&json!({}));
    let desired =
        json!({ "spec": { "template": { "spec": { "nodeSelector": { "a": "b" }, "priorityClassName": "high" } } } });
    let all = ["spec.template.spec.nodeSelector", "spec.template.spec.priorityClassName"];
    assert_eq!(immutable_fields(&live, &desired), all);
    live["spec"]["suspend"] = true.into();
    assert_eq!(immutable_fields(&live, &desired), all[1..]);
    live["status"]["startTime"] = "2026-11-16T00:00:00Z".into();
    assert_eq!(immutable_fields(&live, &desired), all);
}

#[test]
fn kinds_without_immutable_fields_have_none() {
    for (api_version, kind) in
        [("policy/v1", "PodDisruptionBudget"), ("v1", "ServiceAccount"), ("example.org/v1", "Job")]
    {
        let live =
            object(api_version, kind, &json!({ "spec": { "a": 1, "selector": { "matchLabels": { "a": "b" } } } }));
        let desired =
            object(api_version, kind, &json!({ "spec": { "a": 2, "selector": { "matchLabels": { "a": "c" } } } }));
        assert_eq!(immutable_fields(&live, &desired), Vec::<String>::new());
    }
}

#[test]
fn equal_quantities_are_equal_in_any_notation() {
    for (one, other) in [
        (json!("1"), json!(1)),
        (json!("1000m"), json!(1)),
        (json!("0.5"), json!("500m")),
        (json!("1Gi"), json!("1024Mi")),
        (json!("1.5Gi"), json!("1536Mi")),
        (json!("1k"), json!("1000")),
    ] {
        assert_eq!(quantity(&one), quantity(&other), "{one} and {other}");
        assert!(quantity(&one).is_some());
    }
    assert_ne!(quantity(&json!("1G")), quantity(&json!("1Gi")));
    assert_eq!(quantity(&json!("one")), None);
}
