//! Webhooks that nobody serves, and API services that nobody vouches for, because the pods behind them are plain ones.

use anyhow::Result;
use fitout_testkit::Cluster;
use serde_json::{Value, json};

/// What another hand changes to take them out of the way.
pub const OUT_OF_THE_WAY: [(&str, &str); 3] = [
    ("APIService", "/spec/insecureSkipTLSVerify"),
    ("ValidatingWebhookConfiguration", "/webhooks/*/failurePolicy"),
    ("MutatingWebhookConfiguration", "/webhooks/*/failurePolicy"),
];

/// For an instance that is to leave those changes alone.
pub fn left_alone() -> Value {
    let kinds = OUT_OF_THE_WAY.iter().map(|(kind, pointer)| json!({ "kind": kind, "pointers": [pointer] }));
    json!({ "ignore": kinds.collect::<Vec<_>>() })
}

/// Has an API server take API services at their word, whose authority another chart would name. Not the hub's own.
pub fn believe(cluster: &Cluster) -> Result<()> {
    const PATH: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
    for service in cluster.client().get(PATH)?["items"].as_array().into_iter().flatten() {
        let (spec, name) = (&service["spec"], service["metadata"]["name"].as_str().unwrap_or_default());
        let own = spec["group"].as_str().is_some_and(|group| group.ends_with("fitout.dev"));
        if !spec["service"].is_null() && spec["insecureSkipTLSVerify"] != true && spec["caBundle"].is_null() && !own {
            let change = "--patch={\"spec\":{\"insecureSkipTLSVerify\":true}}";
            let words = ["patch", "apiservices", name, "--type=merge", "--field-manager=disarm", change];
            cluster.kubectl().run(&words)?;
        }
    }
    Ok(())
}

/// Takes webhooks that nobody serves out of the way of everybody else.
pub fn disarm(cluster: &Cluster) -> Result<()> {
    for kind in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
        let path = format!("/apis/admissionregistration.k8s.io/v1/{kind}");
        let found = cluster.client().get(&path)?["items"].as_array().cloned().unwrap_or_default();
        for configuration in found {
            let webhooks = configuration["webhooks"].as_array().cloned().unwrap_or_default();
            let armed = webhooks.iter().enumerate().filter(|(_, webhook)| webhook["failurePolicy"] == "Fail");
            let replace = |(index, _)| json!({ "op": "replace", "path": format!("/webhooks/{index}/failurePolicy"), "value": "Ignore" });
            let changes: Vec<Value> = armed.map(replace).collect();
            if !changes.is_empty() {
                let name = configuration["metadata"]["name"].as_str().unwrap_or_default();
                let changes = format!("--patch={}", Value::Array(changes));
                cluster.kubectl().run(&["patch", kind, name, "--type=json", "--field-manager=disarm", &changes])?;
            }
        }
    }
    Ok(())
}
