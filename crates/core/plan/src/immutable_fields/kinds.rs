//! The immutable fields of each kind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::Object;
use super::changed::{Ours, changed, quantity};

/// Fields that are always immutable.
pub(super) fn fields(group: &str, kind: &str) -> &'static [&'static str] {
    match (group, kind) {
        ("", "Secret") => &["type"],
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            &["spec.group", "spec.scope", "spec.names.kind", "spec.names.plural"]
        }
        ("apps", "ControllerRevision") => &["data"],
        ("batch", "Job") => &[
            "spec.backoffLimitPerIndex",
            "spec.completionMode",
            "spec.managedBy",
            "spec.podFailurePolicy",
            "spec.selector",
            "spec.successPolicy",
        ],
        ("discovery.k8s.io", "EndpointSlice") => &["addressType"],
        ("networking.k8s.io", "IngressClass") => &["spec.controller"],
        ("node.k8s.io", "RuntimeClass") => &["handler"],
        ("scheduling.k8s.io", "PriorityClass") => &["preemptionPolicy", "value"],
        ("storage.k8s.io", "CSIDriver") => &["spec.attachRequired", "spec.volumeLifecycleModes"],
        ("storage.k8s.io", "StorageClass") => &["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"],
        ("storage.k8s.io", "VolumeAttributesClass") => &["driverName", "parameters"],
        _ => &[],
    }
}

/// A path below which all fields but these are immutable.
pub(super) fn all_but(group: &str, kind: &str) -> Option<(&'static str, &'static [&'static str])> {
    match (group, kind) {
        ("", "PersistentVolume") => Some((
            "spec",
            &[
                "accessModes",
                "capacity",
                "claimRef",
                "mountOptions",
                "nodeAffinity",
                "persistentVolumeReclaimPolicy",
                "storageClassName",
                "volumeAttributesClassName",
            ],
        )),
        ("", "PersistentVolumeClaim") => {
            Some(("spec", &["resources", "storageClassName", "volumeAttributesClassName", "volumeName"]))
        }
        ("apps", "StatefulSet") => Some((
            "spec",
            &[
                "minReadySeconds",
                "ordinals",
                "persistentVolumeClaimRetentionPolicy",
                "replicas",
                "revisionHistoryLimit",
                "selector",
                "template",
                "updateStrategy",
            ],
        )),
        _ => None,
    }
}

/// Immutable fields that depend on the state of the object.
pub(super) fn special(group: &str, kind: &str, object: Object<'_>, found: &mut Vec<String>) {
    match (group, kind) {
        ("apps", "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet") => whole("spec.selector", object, found),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding" | "RoleBinding") => whole("roleRef", object, found),
        ("batch", "Job") => job(object, found),
        ("", "ConfigMap" | "Secret") if object.live["immutable"] == true => immutable_content(object, found),
        ("", "PersistentVolumeClaim") => claim(object, found),
        ("", "Service") => service(object, found),
        _ => {}
    }
}

/// An atomic value: applying replaces all of it, whichever manager owns it.
fn whole(path: &str, object: Object<'_>, found: &mut Vec<String>) {
    let (live, desired, ours) = object.at(path);
    let mut parts = Vec::new();
    changed(path, live, desired, if desired.is_null() { ours } else { Ours::Whole }, &mut parts);
    if !parts.is_empty() {
        found.push(path.to_owned());
    }
}

/// The pod template of a Job is immutable, except for scheduling directives while the Job is suspended and has not started.
fn job(object: Object<'_>, found: &mut Vec<String>) {
    let (live, desired) = (&object.live["spec"], &object.desired["spec"]);
    let after = |field: &str| [desired, live].into_iter().map(|spec| &spec[field]).find(|value| !value.is_null());
    // An indexed Job may change its completions together with its parallelism.
    if after("completionMode").is_none_or(|mode| mode != "Indexed") || after("completions") != after("parallelism") {
        object.keeps("spec.completions", found);
    }
    let mut template = Vec::new();
    object.keeps("spec.template", &mut template);
    if live["suspend"] == true && object.live["status"]["startTime"].is_null() {
        let mutable = ["metadata.labels", "metadata.annotations", "spec.nodeSelector", "spec.tolerations"]
            .into_iter()
            .chain(["spec.schedulingGates", "spec.affinity.nodeAffinity"])
            .map(|path| format!("spec.template.{path}"));
        let mutable: Vec<String> = mutable.collect();
        template.retain(|path| !mutable.iter().any(|prefix| path.starts_with(prefix)) && !path.contains("].resources"));
    }
    found.extend(template);
}

/// The primary cluster IP and IP family of a Service are immutable once set.
fn service(object: Object<'_>, found: &mut Vec<String>) {
    let (live, desired) = (&object.live["spec"], &object.desired["spec"]);
    let kind = |spec: &Value| spec["type"].as_str().unwrap_or("ClusterIP").to_owned();
    let after = if desired["type"].is_null() { kind(live) } else { kind(desired) };
    if [kind(live), after.clone()].iter().any(|kind| kind == "ExternalName") {
        return;
    }
    for (path, pointer) in [
        ("spec.clusterIP", "/clusterIP"),
        ("spec.clusterIPs[0]", "/clusterIPs/0"),
        ("spec.ipFamilies[0]", "/ipFamilies/0"),
    ] {
        let text = |spec: &Value| spec.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (before, after) = (text(live), text(desired));
        if !before.is_empty() && !after.is_empty() && before != after {
            found.push(path.to_owned());
        }
    }
    if kind(live) == "LoadBalancer" && after == "LoadBalancer" {
        object.keeps("spec.loadBalancerClass", found);
        let port = |spec: &Value| spec["healthCheckNodePort"].as_i64().filter(|port| *port != 0);
        if let (Some(before), Some(after)) = (port(live), port(desired))
            && before != after
        {
            found.push("spec.healthCheckNodePort".to_owned());
        }
    }
}

/// Unset fields of a claim can be set. A bound claim can also grow and change its volume attributes class.
fn claim(object: Object<'_>, found: &mut Vec<String>) {
    let (live, desired) = (&object.live["spec"], &object.desired["spec"]);
    for field in ["storageClassName", "volumeName"] {
        if !live[field].is_null() {
            object.keeps(&format!("spec.{field}"), found);
        }
    }
    let size = |object: &Value, path: &str| object.pointer(path).and_then(quantity);
    let bound = object.live["status"]["phase"] == "Bound";
    if !bound {
        object.keeps("spec.volumeAttributesClassName", found);
    }
    let mut resources = Vec::new();
    object.keeps("spec.resources", &mut resources);
    if bound {
        let after = size(desired, "/resources/requests/storage");
        let grows = after > size(live, "/resources/requests/storage");
        let fits = after > size(object.live, "/status/capacity/storage");
        resources.retain(|path| path != "spec.resources.requests.storage" || !(grows || fits));
    }
    found.extend(resources);
}

/// The content of a `ConfigMap` or `Secret` with `immutable: true`, and that field itself.
fn immutable_content(object: Object<'_>, found: &mut Vec<String>) {
    object.keeps("binaryData", found);
    object.keeps("data", found);
    if object.desired["immutable"] == false {
        found.push("immutable".to_owned());
    } else {
        object.keeps("immutable", found);
    }
    // The API server merges these into `data`.
    let none = Map::new();
    for (name, text) in object.desired["stringData"].as_object().unwrap_or(&none) {
        let coded = STANDARD.encode(text.as_str().unwrap_or_default());
        if object.live["data"][name] != coded {
            found.push(format!("data.{name}"));
        }
    }
}
