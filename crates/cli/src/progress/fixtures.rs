//! Instances in different states, for tests.

use fitout_api::{
    Action, ExtensionInstance, ExtensionRevision, ExtensionRevisionSpec, ExtensionRevisionStatus, Outcome,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) fn now() -> Timestamp {
    "2030-01-02T03:10:00Z".parse().unwrap()
}

fn instance(status: &Value) -> ExtensionInstance {
    let metadata = json!({
        "name": "foo-cert-manager", "namespace": "org-acme", "generation": 1, "creationTimestamp": "2030-01-02T03:04:05Z",
    });
    let spec = json!({
        "cluster": "foo", "namespace": "cert-manager", "version": "1.x",
        "extension": { "name": "cert-manager", "catalog": "community" },
    });
    let object = json!({
        "apiVersion": "fitout.dev/v1alpha1", "kind": "ExtensionInstance", "metadata": metadata, "spec": spec,
        "status": status,
    });
    serde_json::from_value(object).unwrap()
}

fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": type_, "status": status, "reason": reason, "message": message, "observedGeneration": 1,
        "lastTransitionTime": "2030-01-02T03:05:00Z",
    })
}

fn resolved() -> Value {
    condition("Resolved", "True", "Resolved", "1.21.2 fits Kubernetes 1.36.3")
}

fn approved() -> Value {
    condition("Approved", "True", "NothingToApprove", "it needs nothing that has to be approved")
}

pub(crate) fn pending() -> ExtensionInstance {
    ExtensionInstance { status: None, ..instance(&Value::Null) }
}

pub(crate) fn installing() -> ExtensionInstance {
    instance(&json!({
        "observedGeneration": 1, "wantedVersion": "1.21.2", "why": "the newest that fits Kubernetes 1.36.3", "revision": 1,
        "step": { "index": 3, "of": 4, "name": "apply objects", "object": "Deployment/cert-manager/cert-manager" },
        "objects": { "total": 8, "ready": 3 },
        "conditions": [
            condition("Ready", "False", "Progressing", "objects are being applied"),
            condition("Reconciling", "True", "Changed", "cert-manager 1.21.2 is being installed"),
            resolved(), approved(),
            condition("Applied", "False", "Applying", "3 of 8 objects are on the cluster"),
            condition("Healthy", "Unknown", "Starting", "objects are starting"),
        ],
        "revisions": [{ "number": 1, "version": "1.21.2", "action": "Install", "result": "Running", "at": "2030-01-02T03:09:00Z" }],
    }))
}

pub(crate) fn unhealthy() -> ExtensionInstance {
    let cause = "Pod/cert-manager/cert-manager-7d9f: image quay.io/jetstack/cert-manager-controller cannot be pulled: not found";
    instance(&json!({
        "observedGeneration": 1, "version": "1.21.2", "wantedVersion": "1.21.2", "revision": 1,
        "objects": { "total": 8, "ready": 7 },
        "firstUnhealthy": { "object": "Deployment/cert-manager/cert-manager", "message": cause },
        "conditions": [
            condition("Ready", "False", "Waiting", "7 of 8 objects are healthy"),
            resolved(), approved(),
            condition("Applied", "True", "Applied", "8 objects are on the cluster"),
            condition("Healthy", "False", "Unhealthy", "Deployment/cert-manager/cert-manager is not healthy"),
        ],
    }))
}

pub(crate) fn ready() -> ExtensionInstance {
    instance(&json!({
        "observedGeneration": 1, "version": "1.21.2", "wantedVersion": "1.21.2", "revision": 2,
        "why": "the newest that fits Kubernetes 1.36.3", "objects": { "total": 8, "ready": 8 },
        "conditions": [
            condition("Ready", "True", "Installed", "cert-manager 1.21.2 is installed and healthy"),
            resolved(), approved(),
            condition("Applied", "True", "Applied", "8 objects are on the cluster"),
            condition("Healthy", "True", "Healthy", "8 of 8 objects are healthy"),
        ],
        "revisions": [
            { "number": 2, "version": "1.21.2", "action": "Upgrade", "result": "Succeeded", "at": "2030-01-02T03:09:00Z" },
            { "number": 1, "version": "1.21.1", "action": "Install", "result": "Superseded", "at": "2030-01-01T00:00:00Z" },
        ],
    }))
}

pub(crate) fn stalled() -> ExtensionInstance {
    let sentence =
        "release cert-manager is at revision 3, which another client made; adopt it or reassert the instance";
    instance(&json!({
        "observedGeneration": 1, "version": "1.21.1", "wantedVersion": "1.21.2", "revision": 2,
        "conditions": [
            condition("Ready", "False", "Failed", "the release was changed by another client"),
            condition("Stalled", "True", "NeedsDecision", sentence),
            resolved(), approved(),
            condition("Applied", "False", "ForeignRevision", "release cert-manager was changed by another client"),
        ],
    }))
}

pub(crate) fn failing() -> ExtensionInstance {
    let sentence = "Namespace/cert-manager: User \"jane\" cannot patch it; grant the hub this right on the cluster";
    instance(&json!({
        "observedGeneration": 1, "wantedVersion": "1.21.2", "why": "the newest that fits Kubernetes 1.36.3",
        "step": { "index": 2, "of": 4, "name": "apply namespaces", "object": "Namespace/cert-manager" },
        "objects": { "total": 8, "ready": 0 },
        "firstUnhealthy": { "object": "Namespace/cert-manager", "message": "it does not exist" },
        "conditions": [
            condition("Ready", "False", "Failed", sentence),
            condition("Reconciling", "True", "Changed", sentence),
            resolved(),
            condition("Applied", "False", "Refused", sentence),
            condition("Healthy", "Unknown", "Starting", "not all objects are applied yet"),
        ],
    }))
}

pub(crate) fn unapproved() -> ExtensionInstance {
    let sentence = "asks for secrets: get cluster-wide, new since 1.20";
    instance(&json!({
        "observedGeneration": 1, "wantedVersion": "1.21.2",
        "conditions": [resolved(), condition("Approved", "False", "NeedsApproval", sentence)],
    }))
}

pub(crate) fn unresolved() -> ExtensionInstance {
    let sentence = "cert-manager 1.21.2 needs Kubernetes >=1.33, cluster foo is 1.32.1";
    instance(&json!({
        "observedGeneration": 1,
        "conditions": [condition("Resolved", "False", "NothingFits", sentence)],
    }))
}

pub(crate) fn revision(number: u32, action: Action, result: Outcome) -> ExtensionRevision {
    let spec = ExtensionRevisionSpec {
        instance: "foo-cert-manager".to_owned(),
        number,
        action,
        version: format!("1.21.{number}"),
        definition_digest: format!("sha256:{}", "1".repeat(64)),
        pack_digest: None,
        artifact_digest: Some(format!("sha256:{}", "2".repeat(64))),
        values_digest: Some(format!("sha256:{}", "3".repeat(64))),
        input_digest: None,
        chart_digest: None,
        hooks: vec![],
        inventory: vec![],
    };
    let status = ExtensionRevisionStatus {
        result: Some(result),
        started_at: Some(Time("2030-01-02T03:00:00Z".parse().unwrap())),
        ..ExtensionRevisionStatus::default()
    };
    let name = ExtensionRevision::name_of("foo-cert-manager", number);
    ExtensionRevision { status: Some(status), ..ExtensionRevision::new(&name, spec) }
}
