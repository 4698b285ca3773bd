//! Jobs and Pods that run to completion, such as hooks. kstatus treats a started Job and a terminated Pod as current, whatever
//! the result; a hook has to know the result.

use serde_json::Value;

use crate::view::View;
use crate::{Health, job, pod, reasons};

/// The health of a Job or Pod that runs to completion: current once it has succeeded. None for any other kind.
pub fn run(object: &Value) -> Option<Health> {
    let object = View::new(object);
    let (succeeded, failed) = match (object.group(), object.text("/kind")) {
        ("batch", "Job") => {
            (object.conditions().any(|condition| condition.is("Complete", "True")), job::failed(object))
        }
        ("", "Pod") => {
            let phase = object.text("/status/phase");
            (phase == "Succeeded", (phase == "Failed").then(|| pod::failure(object)))
        }
        _ => return None,
    };
    Some(match failed {
        Some(message) => Health::failed(reasons::RUN_FAILED, message),
        None if succeeded => Health::Current,
        None => Health::in_progress(reasons::STARTING, "it has not completed yet"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn health_of(api_version: &str, kind: &str, status: &Value) -> Option<String> {
        run(&json!({ "apiVersion": api_version, "kind": kind, "status": status })).map(|health| health.to_string())
    }

    #[test]
    fn a_started_run_has_not_succeeded() {
        let ended = |kind: &str| json!({ "startTime": "t", "conditions": [{ "type": kind, "status": "True" }] });
        let code = json!({ "name": "run", "state": { "terminated": { "exitCode": 1 } } });
        let underway = "InProgress: it has not completed yet";
        let rows = [
            ("batch/v1", "Job", json!({}), Some(underway)),
            ("batch/v1", "Job", json!({ "startTime": "t", "active": 1, "ready": 1 }), Some(underway)),
            // Its pods have succeeded, and the controller has not counted them all yet.
            ("batch/v1", "Job", ended("SuccessCriteriaMet"), Some(underway)),
            ("batch/v1", "Job", ended("Complete"), Some("Current")),
            ("batch/v1", "Job", ended("Failed"), Some("Failed: 0 of 1 completion is reached, and it has failed")),
            ("v1", "Pod", json!({ "phase": "Pending" }), Some(underway)),
            (
                "v1",
                "Pod",
                json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] }),
                Some(underway),
            ),
            ("v1", "Pod", json!({ "phase": "Succeeded" }), Some("Current")),
            ("v1", "Pod", json!({ "phase": "Failed" }), Some("Failed: it has failed")),
            (
                "v1",
                "Pod",
                json!({ "phase": "Failed", "containerStatuses": [code] }),
                Some("Failed: container run ended with exit code 1"),
            ),
            ("v1", "ConfigMap", json!({}), None),
        ];
        for (api_version, kind, status, expected) in rows {
            assert_eq!(health_of(api_version, kind, &status).as_deref(), expected, "{kind} {status}");
        }
    }
}
