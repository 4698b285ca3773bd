//! Why workloads are not healthy: one row a fact. `fitout-cluster-client` tests the same on a real node.

use std::slice::from_ref;

use fitout_health::{LogOf, cause, log_wanted, suspects};
use serde_json::{Value, json};

fn deployment() -> Value {
    json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" } })
}

fn pod(name: &str, phase: &str, containers: &Value) -> Value {
    json!({ "metadata": { "name": name, "creationTimestamp": "2026-11-16T10:00:00Z" },
            "status": { "phase": phase, "containerStatuses": containers } })
}

fn waits(reason: &str, message: &str) -> Value {
    json!({ "name": "app", "image": "a:1", "state": { "waiting": { "reason": reason, "message": message } } })
}

fn crashed(code: i64, reason: &str) -> Value {
    json!({ "name": "app", "image": "a:1", "restartCount": 3,
            "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 40s" } },
            "lastState": { "terminated": { "exitCode": code, "reason": reason } } })
}

fn event(of: &str, reason: &str, second: u32, message: &str) -> Value {
    json!({ "involvedObject": { "name": of, "fieldPath": "spec.containers{app}" }, "reason": reason, "message": message,
            "lastTimestamp": format!("2026-11-16T10:00:{second:02}Z") })
}

/// The cause for a Deployment with one pod that has this container.
fn of_pod(container: &Value, events: &[Value], logs: Option<&str>) -> Option<String> {
    cause(&deployment(), &[pod("web-1", "Running", &json!([container]))], events, logs)
}

#[test]
fn each_problem_of_a_container_is_named() {
    let unready = json!({ "name": "app", "ready": false, "state": { "running": {} } });
    let again = json!({ "name": "app", "ready": false, "restartCount": 1, "state": { "running": {} },
                        "lastState": { "terminated": { "exitCode": 1, "reason": "Error" } } });
    let pull = "Failed to pull image \"a:1\": rpc error: code = NotFound desc = a:1: not found";
    let rows = [
        (
            waits("ImagePullBackOff", "Back-off pulling image \"a:1\""),
            vec![event("web-1", "Failed", 1, pull), event("web-1", "Failed", 2, "Error: ErrImagePull")],
            None,
            "image a:1 of container app cannot be pulled from docker.io: not found",
        ),
        (
            waits("ErrImagePull", "no such host"),
            vec![],
            None,
            "image a:1 of container app cannot be pulled from docker.io: no such host",
        ),
        (
            waits("CreateContainerConfigError", "secret \"key\" not found"),
            vec![],
            None,
            "container app cannot be started: secret \"key\" not found",
        ),
        (
            crashed(1, "Error"),
            vec![],
            Some("one\n\ntwo\nthree\nfour\nfive\nsix\n"),
            "container app was restarted 3 times and last ended with exit code 1; last log lines: two | three | four | five | six",
        ),
        (
            crashed(137, "OOMKilled"),
            vec![],
            Some(""),
            "container app was restarted 3 times and last ended with exit code 137 (OOMKilled)",
        ),
        (
            crashed(139, "Error"),
            vec![],
            None,
            "container app was restarted 3 times and last ended with exit code 139 (signal 11)",
        ),
        (
            crashed(137, "Error"),
            vec![event("web-1", "Unhealthy", 1, "Liveness probe failed: HTTP probe failed\nwith statuscode: 500")],
            None,
            "container app was restarted 3 times and last ended with exit code 137 (signal 9), because liveness probe failed: \
             HTTP probe failed with statuscode: 500",
        ),
        (
            again,
            vec![],
            Some("gone"),
            "container app was restarted once and last ended with exit code 1; last log lines: gone",
        ),
        (
            unready.clone(),
            vec![
                event("web-1", "Unhealthy", 1, "Startup probe failed: old"),
                event("web-1", "Unhealthy", 3, "Readiness probe failed: dial tcp: connection refused"),
                event("web-2", "Unhealthy", 4, "Readiness probe failed: of another"),
            ],
            None,
            "container app is not ready: readiness probe failed: dial tcp: connection refused",
        ),
        (
            waits("ContainerCreating", ""),
            vec![event("web-1", "FailedMount", 1, "MountVolume.SetUp failed for volume \"v\"")],
            None,
            "a volume cannot be mounted: MountVolume.SetUp failed for volume \"v\"",
        ),
        (
            waits("ContainerCreating", ""),
            vec![event("web-1", "FailedCreatePodSandBox", 1, "no address left")],
            None,
            "the pod sandbox cannot be created: no address left",
        ),
        (unready, vec![], None, "0 of 1 container is ready: waiting for app"),
    ];
    for (container, events, logs, expected) in rows {
        assert_eq!(of_pod(&container, &events, logs).as_deref(), Some(&*format!("pod web-1: {expected}")));
    }
}

#[test]
fn unschedulable_and_evicted_pods_name_the_cause() {
    let mut unscheduled = pod("web-1", "Pending", &json!([]));
    unscheduled["status"]["conditions"] = json!([{ "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient cpu." }]);
    let said = cause(&deployment(), &[unscheduled], &[], None);
    assert_eq!(
        said.as_deref(),
        Some("pod web-1: it cannot be scheduled: 0/3 nodes are available: 3 Insufficient cpu.")
    );
    let mut evicted = pod("web-1", "Failed", &json!([]));
    evicted["status"]["reason"] = "Evicted".into();
    evicted["status"]["message"] = "the node was low on memory".into();
    let said = cause(&deployment(), &[evicted], &[], None);
    assert_eq!(said.as_deref(), Some("pod web-1: it failed (Evicted): the node was low on memory"));
}

#[test]
fn init_containers_come_before_the_others() {
    let mut both = pod("web-1", "Pending", &json!([waits("PodInitializing", "")]));
    let mut init = crashed(3, "Error");
    init["name"] = "prepare".into();
    both["status"]["initContainerStatuses"] = json!([init]);
    assert_eq!(
        cause(&deployment(), from_ref(&both), &[], Some("no database")).as_deref(),
        Some(
            "pod web-1: init container prepare was restarted 3 times and last ended with exit code 3; last log lines: no database"
        )
    );
    let log = LogOf { pod: "web-1".into(), container: "prepare".into(), previous: true };
    assert_eq!(log_wanted(&[both]), Some(log));
}

#[test]
fn suspects_are_the_unhealthy_pods_lasting_problems_first() {
    let mut ready = pod("ready", "Running", &json!([]));
    ready["status"]["conditions"] = json!([{ "type": "Ready", "status": "True" }]);
    let mut leaving = pod("leaving", "Running", &json!([crashed(1, "Error")]));
    leaving["metadata"]["deletionTimestamp"] = "2026-11-16T10:00:00Z".into();
    let done = pod("done", "Succeeded", &json!([]));
    let slow = pod("slow", "Running", &json!([{ "name": "app" }]));
    let bad = pod("bad", "Running", &json!([crashed(1, "Error")]));
    let mut newer = bad.clone();
    newer["metadata"] = json!({ "name": "newer", "creationTimestamp": "2026-11-16T11:00:00Z" });
    let pods = [ready, leaving, done, slow, bad, newer];
    let names: Vec<_> =
        suspects(&pods).iter().map(|pod| pod["metadata"]["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["newer", "bad", "slow"]);
    assert_eq!(cause(&deployment(), &pods[..3], &[], None), None);
}

#[test]
fn a_create_failure_is_the_cause_until_a_pod_is_created() {
    let quota = event("web-abc", "FailedCreate", 2, "pods \"web-1\" is forbidden: exceeded quota: small");
    let refused = "pods cannot be created: pods \"web-1\" is forbidden: exceeded quota: small";
    for kind in ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"] {
        let object = json!({ "kind": kind });
        assert_eq!(cause(&object, &[], from_ref(&quota), None).as_deref(), Some(refused));
        let made = event("web-abc", "SuccessfulCreate", 3, "Created pod: web-2");
        assert_eq!(cause(&object, &[], &[made, quota.clone()], None), None);
    }
    let mut failing = deployment();
    failing["status"]["conditions"] =
        json!([{ "type": "ReplicaFailure", "status": "True", "message": "no such account" }]);
    assert_eq!(cause(&failing, &[], &[], None).as_deref(), Some("pods cannot be created: no such account"));
}

#[test]
fn a_failed_job_names_its_failures_and_its_pods_last_log_lines() {
    let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "status": { "failed": 2, "conditions": [{ "type": "Failed",
        "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit" }] } });
    let ended = json!({ "name": "app", "state": { "terminated": { "exitCode": 4, "reason": "Error" } } });
    let pods = [pod("job-1", "Failed", &json!([ended]))];
    let failure = "0 of 1 completion is reached, and 2 pods failed: Job has reached the specified backoff limit";
    assert_eq!(
        cause(&job, &pods, &[], Some("cannot migrate")).as_deref(),
        Some(&*format!("{failure}; pod job-1: container app ended with exit code 4; last log lines: cannot migrate"))
    );
    assert_eq!(log_wanted(&pods), Some(LogOf { pod: "job-1".into(), container: "app".into(), previous: false }));
    // Its pods may be gone already.
    assert_eq!(cause(&job, &[], &[], None).as_deref(), Some(failure));
}

#[test]
fn an_unbound_claim_has_the_message_of_its_newest_event() {
    let claim = json!({ "kind": "PersistentVolumeClaim", "status": { "phase": "Pending" } });
    let events = [
        event("data", "FailedBinding", 1, "no storage class is set"),
        event("data", "ProvisioningFailed", 2, "out of disks"),
    ];
    assert_eq!(cause(&claim, &[], &events, None).as_deref(), Some("it is not bound to a volume: out of disks"));
    let bound = json!({ "kind": "PersistentVolumeClaim", "status": { "phase": "Bound" } });
    assert_eq!(cause(&bound, &[], &events, None), None);
}

#[test]
fn a_long_log_is_cut_at_its_beginning() {
    let log = format!("{}the end", "x".repeat(1000));
    let said = of_pod(&crashed(1, "Error"), &[], Some(&log)).unwrap_or_default();
    let (_, words) = said.split_once("last log lines: ").unwrap_or_default();
    assert_eq!(words.chars().count(), 500);
    assert!(words.starts_with('…') && words.ends_with("xthe end"), "{words}");
}

#[test]
fn invalid_objects_have_no_cause() {
    for odd in [json!(null), json!([]), json!({ "status": 3 })] {
        assert_eq!(cause(&odd, from_ref(&odd), from_ref(&odd), Some("x")), None, "{odd}");
    }
}
