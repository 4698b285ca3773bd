//! What is run to its end, as hooks are. To kstatus a Job is current once it has started, and a Pod whatever its end: whoever
//! waits for an end has to know which it was.

use serde_json::Value;

use crate::view::View;
use crate::{Health, job, pod, reasons};

/// How a Job or a Pod is doing that is run to its end: current once that has come and was good. None for anything else.
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
        None => Health::in_progress(reasons::STARTING, "it has not come to its end yet"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(api_version: &str, kind: &str, status: &Value) -> Option<String> {
        run(&json!({ "apiVersion": api_version, "kind": kind, "status": status })).map(|health| health.to_string())
    }

    #[test]
    fn what_has_only_begun_has_not_succeeded() {
        let ended = |kind: &str| json!({ "startTime": "t", "conditions": [{ "type": kind, "status": "True" }] });
        let code = json!({ "name": "run", "state": { "terminated": { "exitCode": 1 } } });
        let underway = "InProgress: it has not come to its end yet";
        let rows = [
            ("batch/v1", "Job", json!({}), Some(underway)),
            ("batch/v1", "Job", json!({ "startTime": "t", "active": 1, "ready": 1 }), Some(underway)),
            // Its pods have succeeded, and it has not counted them all yet.
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
            assert_eq!(seen(api_version, kind, &status).as_deref(), expected, "{kind} {status}");
        }
    }
}
