//! Building, applying and reading objects.

#![allow(clippy::unwrap_used, reason = "a fixture: a test ends where it cannot be set up")]

use anyhow::Result;
use serde_json::{Value, json};

use crate::Cluster;

/// The collection of instances of the organization `acme`.
pub const INSTANCES: &str = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensioninstances";

/// Adds a Node object that is Ready. No kubelet runs behind it, so no pod starts.
pub fn add_fake_node(target: &Cluster) -> Result<()> {
    target.client().create("/api/v1/nodes", &json!({ "metadata": { "name": "n" } }))?;
    let ready = json!({ "status": { "conditions": [{ "type": "Ready", "status": "True" }] } }).to_string();
    target.kubectl().run(&["patch", "node", "n", "--subresource=status", "--type=merge", "--patch", &ready])?;
    Ok(())
}

/// A condition of an object by its type, or null.
pub fn condition(object: &Value, type_: &str) -> Value {
    let all = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    all.into_iter().find(|condition| condition["type"] == type_).unwrap_or_default()
}

/// An object with this metadata and all fields of `rest`.
///
/// # Panics
/// Where `rest` is not a JSON object.
pub fn object(api_version: &str, kind: &str, namespace: &str, name: &str, rest: &Value) -> Value {
    let mut object = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name } });
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    object
}

/// Applies an object, or a `List`, with server-side apply, and takes over fields of other managers.
pub fn apply(cluster: &Cluster, object: &Value) -> Result<()> {
    let args = ["apply", "--server-side", "--force-conflicts", "--filename=-"];
    cluster.kubectl().run_with_input(&args, &object.to_string())?;
    Ok(())
}
