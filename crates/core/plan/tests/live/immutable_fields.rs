//! Compares the rules for immutable fields with a real API server.

#![allow(clippy::unwrap_used, reason = "a test")]

use anyhow::{Context, Result, ensure};
use fitout_plan::{MANAGER, immutable_fields};
use fitout_testkit::{Cluster, Controllers, Spec};
use serde_json::{Value, json};

/// An object and changes of it, each with the immutable fields that it would change.
struct Case {
    path: &'static str,
    object: Value,
    /// The status that a controller would write.
    status: Value,
    changes: Vec<(Value, &'static [&'static str])>,
}

/// An object with some fields replaced, added or, where null, removed.
fn with(object: &Value, patch: &Value) -> Value {
    let (Some(object), Some(patch)) = (object.as_object(), patch.as_object()) else { return patch.clone() };
    let mut object = object.clone();
    for (name, value) in patch {
        if value.is_null() {
            object.remove(name);
        } else {
            let inner = object.get(name).cloned().unwrap_or_default();
            object.insert(name.clone(), with(&inner, value));
        }
    }
    object.into()
}

fn object(api_version: &str, kind: &str, content: &Value) -> Value {
    with(&json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "a" } }), content)
}

fn case(path: &'static str, object: Value, changes: Vec<(Value, &'static [&'static str])>) -> Case {
    Case { path, object, status: Value::Null, changes }
}

fn template(image: &str) -> Value {
    let container = json!({ "name": "web", "image": image, "resources": { "limits": { "cpu": "1000m" } } });
    json!({ "metadata": { "labels": { "app": "a", "tier": "b" } }, "spec": { "containers": [container] } })
}

fn workloads() -> Vec<Case> {
    let apps = |kind: &str, more: &Value| {
        let selector = json!({ "matchLabels": { "app": "a" } });
        let spec = json!({ "selector": selector, "template": template("a:1") });
        object("apps/v1", kind, &json!({ "spec": with(&spec, more) }))
    };
    let selectors = || -> Vec<(Value, &'static [&'static str])> {
        vec![
            (json!({ "spec": { "selector": { "matchLabels": { "tier": "b" } } } }), &["spec.selector"]),
            (json!({ "spec": { "selector": { "matchLabels": { "app": null, "tier": "b" } } } }), &["spec.selector"]),
            (json!({ "spec": { "template": template("a:2") } }), &[]),
            (json!({ "metadata": { "labels": { "x": "y" } } }), &[]),
            (json!({}), &[]),
        ]
    };
    let claim = |labels: Value, size: &str| {
        json!([{ "metadata": { "name": "data", "labels": labels },
                 "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": size } } } }])
    };
    let stateful =
        apps("StatefulSet", &json!({ "serviceName": "a", "volumeClaimTemplates": claim(json!({ "v": "1" }), "1Gi") }));
    let mut of_stateful = selectors();
    of_stateful.extend::<Vec<(Value, &'static [&'static str])>>(vec![
        (json!({ "spec": { "serviceName": "b" } }), &["spec.serviceName"]),
        (json!({ "spec": { "podManagementPolicy": "Parallel" } }), &["spec.podManagementPolicy"]),
        (json!({ "spec": { "podManagementPolicy": "OrderedReady" } }), &[]),
        (
            json!({ "spec": { "volumeClaimTemplates": claim(json!({ "v": "1" }), "2Gi") } }),
            &["spec.volumeClaimTemplates[0].spec.resources.requests.storage"],
        ),
        (json!({ "spec": { "volumeClaimTemplates": claim(json!({ "v": "1" }), "1024Mi") } }), &[]),
        (
            json!({ "spec": { "volumeClaimTemplates": claim(json!({ "v": "2" }), "1Gi") } }),
            &["spec.volumeClaimTemplates[0].metadata.labels.v"],
        ),
        (
            json!({ "spec": { "volumeClaimTemplates": claim(json!({}), "1Gi") } }),
            &["spec.volumeClaimTemplates[0].metadata.labels.v"],
        ),
        (json!({ "spec": { "volumeClaimTemplates": null } }), &["spec.volumeClaimTemplates"]),
        (
            json!({ "spec": { "replicas": 3, "minReadySeconds": 1, "revisionHistoryLimit": 3, "ordinals": { "start": 1 },
                "updateStrategy": { "rollingUpdate": { "partition": 1 } }, "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Delete" } } }),
            &[],
        ),
    ]);
    vec![
        case("/apis/apps/v1/namespaces/default/deployments", apps("Deployment", &json!({})), selectors()),
        case("/apis/apps/v1/namespaces/default/daemonsets", apps("DaemonSet", &json!({})), selectors()),
        case("/apis/apps/v1/namespaces/default/replicasets", apps("ReplicaSet", &json!({})), selectors()),
        case("/apis/apps/v1/namespaces/default/statefulsets", stateful, of_stateful),
    ]
}

fn job(more: &Value) -> Value {
    let container = json!({ "name": "run", "image": "a:1", "args": ["x"], "env": [{ "name": "A", "value": "1" }] });
    let template = json!({ "metadata": { "annotations": { "a.b/c": "1" } },
                           "spec": { "restartPolicy": "Never", "containers": [container] } });
    object("batch/v1", "Job", &json!({ "spec": with(&json!({ "template": template }), more) }))
}

fn jobs() -> Vec<Case> {
    const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
    let container = |more: Value| {
        let container = json!({ "name": "run", "image": "a:1", "args": ["x"], "env": [{ "name": "A", "value": "1" }] });
        json!({ "spec": { "template": { "spec": { "containers": [with(&container, &more)] } } } })
    };
    let scheduling = json!({ "spec": { "template": {
        "metadata": { "labels": { "x": "y" }, "annotations": { "a.b/c": "2" } },
        "spec": { "nodeSelector": { "a": "b" }, "tolerations": [{ "operator": "Exists" }] } } } });
    let plain: Vec<(Value, &'static [&'static str])> = vec![
        (json!({}), &[]),
        (container(json!({ "image": "a:2" })), &["spec.template.spec.containers[name=run].image"]),
        (container(json!({ "args": null })), &["spec.template.spec.containers[name=run].args"]),
        (container(json!({ "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent" })), &[]),
        (
            container(json!({ "env": [{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }] })),
            &["spec.template.spec.containers[name=run].env[name=B]"],
        ),
        (
            json!({ "spec": { "template": { "metadata": { "annotations": { "a.b/c": "2" } } } } }),
            &["spec.template.metadata.annotations[a.b/c]"],
        ),
        (json!({ "spec": { "completions": 2 } }), &["spec.completions"]),
        (json!({ "spec": { "backoffLimit": 1, "parallelism": 2, "activeDeadlineSeconds": 9, "suspend": true } }), &[]),
        (json!({ "spec": { "ttlSecondsAfterFinished": 9 } }), &[]),
        (json!({ "spec": { "completionMode": "NonIndexed" } }), &[]),
    ];
    let indexed: Vec<(Value, &'static [&'static str])> = vec![
        (json!({ "spec": { "completions": 3, "parallelism": 3 } }), &[]),
        (json!({ "spec": { "completions": 3 } }), &["spec.completions"]),
        (json!({ "spec": { "completionMode": "NonIndexed" } }), &["spec.completionMode"]),
        (json!({ "spec": { "backoffLimitPerIndex": 1 } }), &["spec.backoffLimitPerIndex"]),
    ];
    let suspended: Vec<(Value, &'static [&'static str])> = vec![
        (scheduling, &[]),
        (container(json!({ "image": "a:2" })), &["spec.template.spec.containers[name=run].image"]),
        (container(json!({ "resources": { "limits": { "cpu": "1" } } })), &[]),
    ];
    let two = json!({ "completionMode": "Indexed", "completions": 2, "parallelism": 2 });
    vec![
        case(JOBS, with(&job(&json!({})), &json!({ "metadata": { "name": "plain" } })), plain),
        case(JOBS, with(&job(&two), &json!({ "metadata": { "name": "indexed" } })), indexed),
        case(JOBS, with(&job(&json!({ "suspend": true })), &json!({ "metadata": { "name": "suspended" } })), suspended),
    ]
}

fn services() -> Vec<Case> {
    const SERVICES: &str = "/api/v1/namespaces/default/services";
    let service = |name: &str, more: &Value| {
        let spec = with(&json!({ "selector": { "app": "a" }, "ports": [{ "port": 80 }] }), more);
        object("v1", "Service", &json!({ "metadata": { "name": name }, "spec": spec }))
    };
    let plain: Vec<(Value, &'static [&'static str])> = vec![
        (json!({}), &[]),
        (json!({ "spec": { "clusterIP": "None" } }), &["spec.clusterIP"]),
        (json!({ "spec": { "type": "NodePort" } }), &[]),
        (json!({ "spec": { "type": "LoadBalancer", "loadBalancerClass": "example.org/a" } }), &[]),
        (json!({ "spec": { "type": "ExternalName", "externalName": "example.org", "ports": null } }), &[]),
        (
            json!({ "spec": { "selector": { "app": "b" }, "ports": [{ "port": 81 }], "sessionAffinity": "ClientIP" } }),
            &[],
        ),
        (json!({ "spec": { "ipFamilies": ["IPv6"] } }), &["spec.ipFamilies[0]"]),
    ];
    let headless: Vec<(Value, &'static [&'static str])> =
        vec![(json!({ "spec": { "clusterIP": null } }), &[]), (json!({ "spec": { "clusterIP": "" } }), &[])];
    let balanced: Vec<(Value, &'static [&'static str])> = vec![
        (json!({ "spec": { "loadBalancerClass": "example.org/b" } }), &["spec.loadBalancerClass"]),
        (json!({ "spec": { "loadBalancerClass": null } }), &["spec.loadBalancerClass"]),
        (json!({ "spec": { "loadBalancerClass": null, "type": "ClusterIP" } }), &[]),
    ];
    let class = json!({ "type": "LoadBalancer", "loadBalancerClass": "example.org/a" });
    vec![
        case(SERVICES, service("plain", &json!({})), plain),
        case(SERVICES, service("headless", &json!({ "clusterIP": "None" })), headless),
        case(SERVICES, service("balanced", &class), balanced),
    ]
}

fn volumes() -> Vec<Case> {
    const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
    let claim = |name: &str, class: &Value| {
        let spec = json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } });
        object("v1", "PersistentVolumeClaim", &json!({ "metadata": { "name": name }, "spec": with(&spec, class) }))
    };
    let size = |size: &str| json!({ "spec": { "resources": { "requests": { "storage": size } } } });
    let pending: Vec<(Value, &'static [&'static str])> = vec![
        (json!({}), &[]),
        (size("1024Mi"), &[]),
        (size("2Gi"), &["spec.resources.requests.storage"]),
        (json!({ "spec": { "storageClassName": "fast" } }), &[]),
        (json!({ "spec": { "volumeName": "v" } }), &[]),
        (json!({ "spec": { "accessModes": ["ReadWriteMany"] } }), &["spec.accessModes[0]"]),
        (json!({ "spec": { "volumeMode": "Block" } }), &["spec.volumeMode"]),
        (json!({ "spec": { "selector": { "matchLabels": { "a": "b" } } } }), &["spec.selector"]),
    ];
    let bound: Vec<(Value, &'static [&'static str])> = vec![
        (size("2Gi"), &[]),
        (size("512Mi"), &["spec.resources.requests.storage"]),
        (json!({ "spec": { "storageClassName": "slow" } }), &["spec.storageClassName"]),
        (json!({ "spec": { "storageClassName": null } }), &["spec.storageClassName"]),
    ];
    let volume = json!({ "spec": {
        "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"], "hostPath": { "path": "/a" } } });
    let of_volume: Vec<(Value, &'static [&'static str])> = vec![
        (json!({ "spec": { "hostPath": { "path": "/b" } } }), &["spec.hostPath.path"]),
        (json!({ "spec": { "volumeMode": "Block" } }), &["spec.volumeMode"]),
        (
            json!({ "spec": { "capacity": { "storage": "2Gi" }, "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "x" } }),
            &[],
        ),
    ];
    let class = json!({ "metadata": { "name": "fast" }, "provisioner": "example.org/a", "parameters": { "a": "1", "b": "2" },
                        "allowVolumeExpansion": true });
    let of_class: Vec<(Value, &'static [&'static str])> = vec![
        (json!({}), &[]),
        (json!({ "provisioner": "example.org/b" }), &["provisioner"]),
        (json!({ "parameters": { "a": "2" } }), &["parameters.a"]),
        (json!({ "parameters": { "b": null } }), &["parameters.b"]),
        (json!({ "reclaimPolicy": "Retain" }), &["reclaimPolicy"]),
        (json!({ "reclaimPolicy": "Delete" }), &[]),
        (json!({ "volumeBindingMode": "WaitForFirstConsumer" }), &["volumeBindingMode"]),
        (json!({ "allowVolumeExpansion": false, "mountOptions": ["x"] }), &[]),
    ];
    let driver: Vec<(Value, &'static [&'static str])> = vec![
        (json!({ "spec": { "attachRequired": false } }), &["spec.attachRequired"]),
        (json!({ "spec": { "volumeLifecycleModes": ["Ephemeral"] } }), &["spec.volumeLifecycleModes[0]"]),
        (json!({ "spec": { "podInfoOnMount": true, "fsGroupPolicy": "File" } }), &[]),
    ];
    let attributes: Vec<(Value, &'static [&'static str])> = vec![
        (json!({ "driverName": "b" }), &["driverName"]),
        (json!({ "parameters": { "a": "2" } }), &["parameters.a"]),
    ];
    let status = json!({ "phase": "Bound", "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"] });
    vec![
        case("/apis/storage.k8s.io/v1/storageclasses", object("storage.k8s.io/v1", "StorageClass", &class), of_class),
        case(
            "/apis/storage.k8s.io/v1/csidrivers",
            object("storage.k8s.io/v1", "CSIDriver", &json!({ "spec": {} })),
            driver,
        ),
        case(
            "/apis/storage.k8s.io/v1/volumeattributesclasses",
            object(
                "storage.k8s.io/v1",
                "VolumeAttributesClass",
                &json!({ "driverName": "a", "parameters": { "a": "1" } }),
            ),
            attributes,
        ),
        case("/api/v1/persistentvolumes", object("v1", "PersistentVolume", &volume), of_volume),
        case(CLAIMS, claim("pending", &json!({})), pending),
        Case { status, ..case(CLAIMS, claim("bound", &json!({ "storageClassName": "fast" })), bound) },
    ]
}

fn contents() -> Vec<Case> {
    const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    const LOCAL_BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    let reference = json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" });
    let binding = |kind: &str| object("rbac.authorization.k8s.io/v1", kind, &json!({ "roleRef": reference }));
    let bindings = || -> Vec<(Value, &'static [&'static str])> {
        let subject = json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann" });
        vec![(json!({ "roleRef": { "name": "edit" } }), &["roleRef"]), (json!({ "subjects": [subject] }), &[])]
    };
    let sealed = |name: &str, kind: &str, value: &str| {
        let content = json!({ "metadata": { "name": name }, "immutable": true, "data": { "a": value, "b": value } });
        object("v1", kind, &content)
    };
    let secret = json!({ "metadata": { "name": "open" }, "type": "Opaque", "stringData": { "a": "1" } });
    vec![
        case(BINDINGS, binding("ClusterRoleBinding"), bindings()),
        case(LOCAL_BINDINGS, binding("RoleBinding"), bindings()),
        case(
            "/api/v1/namespaces/default/configmaps",
            sealed("sealed", "ConfigMap", "1"),
            vec![
                (json!({}), &[]),
                (json!({ "data": { "a": "2" } }), &["data.a"]),
                (json!({ "data": { "b": null } }), &["data.b"]),
                (json!({ "binaryData": { "c": "MQ==" } }), &["binaryData"]),
                (json!({ "immutable": false }), &["immutable"]),
                (json!({ "immutable": null }), &["immutable"]),
                (json!({ "metadata": { "labels": { "x": "y" } } }), &[]),
            ],
        ),
        case(
            "/api/v1/namespaces/default/secrets",
            sealed("sealed", "Secret", "MQ=="),
            vec![
                (json!({ "data": { "a": "Mg==" } }), &["data.a"]),
                (json!({ "stringData": { "a": "1" } }), &[]),
                (json!({ "stringData": { "a": "2" } }), &["data.a"]),
            ],
        ),
        case(
            "/api/v1/namespaces/default/secrets",
            object("v1", "Secret", &secret),
            vec![
                (json!({ "type": "example.org/other" }), &["type"]),
                (json!({ "stringData": { "a": "2" }, "immutable": true }), &[]),
                (json!({ "type": null }), &[]),
            ],
        ),
    ]
}

fn others() -> Vec<Case> {
    let priority = json!({ "value": 10 });
    let spec = json!({ "group": "example.org", "scope": "Namespaced", "names": { "plural": "as", "kind": "A" },
        "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": { "type": "object" } } }] });
    let definition = object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &json!({ "metadata": { "name": "as.example.org" }, "spec": spec }),
    );
    let budget = json!({ "spec": { "minAvailable": 1, "selector": { "matchLabels": { "a": "b" } } } });
    let slice = json!({ "addressType": "IPv4", "endpoints": [] });
    vec![
        case(
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            object("scheduling.k8s.io/v1", "PriorityClass", &priority),
            vec![
                (json!({ "value": 11 }), &["value"]),
                (json!({ "preemptionPolicy": "Never" }), &["preemptionPolicy"]),
                (json!({ "globalDefault": true, "description": "x" }), &[]),
            ],
        ),
        case(
            "/apis/networking.k8s.io/v1/ingressclasses",
            object("networking.k8s.io/v1", "IngressClass", &json!({ "spec": { "controller": "example.org/a" } })),
            vec![
                (json!({ "spec": { "controller": "example.org/b" } }), &["spec.controller"]),
                (json!({ "spec": { "parameters": { "kind": "A", "name": "b", "scope": "Cluster" } } }), &[]),
            ],
        ),
        case(
            "/apis/node.k8s.io/v1/runtimeclasses",
            object("node.k8s.io/v1", "RuntimeClass", &json!({ "handler": "a" })),
            vec![
                (json!({ "handler": "b" }), &["handler"]),
                (json!({ "scheduling": { "nodeSelector": { "a": "b" } } }), &[]),
            ],
        ),
        case(
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            object("discovery.k8s.io/v1", "EndpointSlice", &slice),
            vec![
                (json!({ "addressType": "IPv6" }), &["addressType"]),
                (json!({ "ports": [{ "name": "a", "port": 1 }] }), &[]),
            ],
        ),
        case(
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            object("policy/v1", "PodDisruptionBudget", &budget),
            vec![(
                json!({ "spec": { "minAvailable": null, "maxUnavailable": 1, "selector": { "matchLabels": { "a": "c" } } } }),
                &[],
            )],
        ),
        case(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            definition,
            vec![
                (json!({ "spec": { "scope": "Cluster" } }), &["spec.scope"]),
                (json!({ "spec": { "names": { "kind": "B" } } }), &["spec.names.kind"]),
                (json!({ "spec": { "names": { "shortNames": ["x"] } } }), &[]),
            ],
        ),
    ]
}

#[test]
fn a_server_rejects_exactly_the_immutable_fields() -> Result<()> {
    // Controllers would act on these objects.
    let cluster = Cluster::start(Spec { controllers: Controllers::None, ..Spec::default() })?;
    let client = cluster.client();
    let mut wrong = Vec::new();
    let mut rows = 0;
    for case in
        workloads().into_iter().chain(jobs()).chain(services()).chain(volumes()).chain(contents()).chain(others())
    {
        let (object, name) = (&case.object, case.object["metadata"]["name"].as_str().context("a name")?);
        let what = format!("{} {name}", object["kind"].as_str().context("a kind")?);
        let path = format!("{}/{name}", case.path);
        let mut live = client.apply(&path, MANAGER, object)?;
        if !case.status.is_null() {
            let status = with(&live, &json!({ "status": case.status }));
            live = client.replace(&format!("{path}/status"), &status)?;
        }
        // The names of a CRD are immutable once they are accepted.
        if object["kind"] == "CustomResourceDefinition" {
            live = fitout_testkit::until("it is established", std::time::Duration::from_secs(30), || {
                let found = client.get(&path)?;
                let mut conditions = found["status"]["conditions"].as_array().into_iter().flatten();
                let established = conditions.any(|one| one["type"] == "Established" && one["status"] == "True");
                ensure!(established, "{}", found["status"]);
                Ok(found)
            })?;
        }
        for (change, expected) in &case.changes {
            rows += 1;
            let desired = with(object, change);
            let found = immutable_fields(&live, &desired);
            let refused =
                client.apply(&format!("{path}?dryRun=All"), MANAGER, &desired).err().map(|error| error.to_string());
            if found != *expected || refused.is_some() == expected.is_empty() {
                wrong.push(format!(
                    "{what} with {change}:\n  expected {expected:?}\n  found    {found:?}\n  {refused:?}"
                ));
            }
        }
    }
    ensure!(wrong.is_empty(), "{} of {rows}\n{}", wrong.len(), wrong.join("\n"));
    ensure!(rows > 90, "{rows} rows");
    Ok(())
}
