//! Pods of workloads: the privileges that the Pod Security Standard `baseline` refuses, and storage.

use serde_json::Value;

/// The capabilities that `baseline` lets a container add.
const BASELINE: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// The pod spec of a workload of Kubernetes itself; none for other objects.
pub(super) fn spec(object: &Value) -> Option<&Value> {
    let group =
        object["apiVersion"].as_str().and_then(|version| version.split_once('/')).map_or("", |(group, _)| group);
    let pointer = match (group, object["kind"].as_str()?) {
        ("", "Pod") => "/spec",
        ("apps", "Deployment" | "DaemonSet" | "StatefulSet" | "ReplicaSet")
        | ("batch", "Job")
        | ("", "ReplicationController") => "/spec/template/spec",
        ("batch", "CronJob") => "/spec/jobTemplate/spec/template/spec",
        _ => return None,
    };
    object.pointer(pointer)
}

/// Whether a claim of the workload names no storage class, so that the cluster must have a default one.
pub(super) fn needs_storage(object: &Value) -> bool {
    let claims = object["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten();
    claims.into_iter().any(|claim| claim["spec"]["storageClassName"].is_null())
}

/// The privileges of a pod, in words.
pub(super) fn privileges(pod: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let hosts = ["hostNetwork", "hostPID", "hostIPC"].into_iter().filter(|field| pod[*field] == true);
    found.extend(hosts.map(str::to_owned));
    for volume in list(&pod["volumes"]) {
        if let Some(path) = volume["hostPath"]["path"].as_str() {
            found.push(format!("hostPath {path}"));
        }
    }
    found.extend(of_context(&pod["securityContext"], "pod"));
    for field in ["initContainers", "containers", "ephemeralContainers"] {
        for container in list(&pod[field]) {
            let name = container["name"].as_str().unwrap_or_default();
            found.extend(of_context(&container["securityContext"], &format!("container {name}")));
            for port in list(&container["ports"]) {
                if let Some(number) = port["hostPort"].as_u64().filter(|number| *number > 0) {
                    found.push(format!("hostPort {number} of container {name}"));
                }
            }
        }
    }
    found
}

fn of_context(context: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    if context["privileged"] == true {
        found.push(format!("{place} is privileged"));
    }
    for capability in list(&context["capabilities"]["add"]).filter_map(Value::as_str) {
        if !BASELINE.contains(&capability.trim_start_matches("CAP_")) {
            found.push(format!("capability {capability} of {place}"));
        }
    }
    if context["seccompProfile"]["type"] == "Unconfined" || context["appArmorProfile"]["type"] == "Unconfined" {
        found.push(format!("{place} is unconfined"));
    }
    if context["procMount"].as_str().is_some_and(|mount| mount != "Default") {
        found.push(format!("procMount of {place}"));
    }
    if context["windowsOptions"]["hostProcess"] == true {
        found.push(format!("{place} is a host process"));
    }
    found
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn privileges_are_named() {
        let rows = [
            (
                json!({ "containers": [{ "name": "a", "securityContext": { "capabilities": { "add": ["CHOWN"] } } }] }),
                "",
            ),
            (json!({ "hostNetwork": true, "hostPID": false }), "hostNetwork"),
            (json!({ "volumes": [{ "hostPath": { "path": "/var" } }] }), "hostPath /var"),
            (json!({ "containers": [{ "name": "a", "ports": [{ "hostPort": 80 }] }] }), "hostPort 80 of container a"),
            (
                json!({ "initContainers": [{ "name": "a", "securityContext": { "privileged": true } }] }),
                "container a is privileged",
            ),
            (
                json!({ "containers": [{ "name": "a", "securityContext": { "capabilities": { "add": ["NET_ADMIN"] } } }] }),
                "capability NET_ADMIN of container a",
            ),
        ];
        for (pod, expected) in rows {
            assert_eq!(privileges(&pod).join(", "), expected);
        }
    }

    #[test]
    fn every_workload_has_its_pod() {
        let template = json!({ "template": { "spec": { "nodeName": "n" } } });
        let rows = [
            json!({ "apiVersion": "v1", "kind": "Pod", "spec": { "nodeName": "n" } }),
            json!({ "apiVersion": "apps/v1", "kind": "DaemonSet", "spec": template }),
            json!({ "apiVersion": "batch/v1", "kind": "CronJob", "spec": { "jobTemplate": { "spec": template } } }),
        ];
        for object in rows {
            assert_eq!(spec(&object), Some(&json!({ "nodeName": "n" })));
        }
        assert_eq!(spec(&json!({ "apiVersion": "v1", "kind": "Service", "spec": {} })), None);
    }
}
