//! What is served, for those who ask.

use serde_json::{Value, json};

use super::{GROUP, VERSION};

/// The document at a path, if there is one.
pub(crate) fn document(path: &str) -> Option<Value> {
    let version = json!({ "groupVersion": format!("{GROUP}/{VERSION}"), "version": VERSION });
    let group = json!({ "name": GROUP, "versions": [version], "preferredVersion": version });
    let of_kind = |kind: &str, fields: Value| {
        let mut whole = json!({ "kind": kind, "apiVersion": "v1" });
        whole.as_object_mut()?.extend(fields.as_object()?.clone());
        Some(whole)
    };
    match path.split('/').collect::<Vec<_>>()[..] {
        ["apis"] => of_kind("APIGroupList", json!({ "groups": [group] })),
        ["apis", GROUP] => of_kind("APIGroup", group),
        ["apis", GROUP, VERSION] => of_kind(
            "APIResourceList",
            json!({ "groupVersion": format!("{GROUP}/{VERSION}"), "resources": [{
                "name": "plans", "singularName": "plan", "kind": "Plan", "namespaced": true, "verbs": ["create"],
            }] }),
        ),
        ["openapi", "v3"] => {
            let place = format!("apis/{GROUP}/{VERSION}");
            let url = format!("/openapi/v3/{place}?hash={}", env!("CARGO_PKG_VERSION"));
            Some(json!({ "paths": { place: { "serverRelativeURL": url } } }))
        }
        ["openapi", "v3", "apis", GROUP, VERSION] => Some(openapi()),
        _ => None,
    }
}

/// What `kubectl explain plans` tells.
fn openapi() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let free =
        |about: &str| json!({ "type": "object", "description": about, "x-kubernetes-preserve-unknown-fields": true });
    let spec = json!({
        "type": "object",
        "description": "What is asked for: an instance that is there, or one that is proposed.",
        "properties": {
            "instance": text("The name of an instance: what would be done for it as it is."),
            "proposed": free("An ExtensionInstance as it might be written: a new one, or another form of one that is there."),
            "uninstall": { "type": "boolean", "description": "What would be done if the instance were deleted." },
        },
    });
    let name = "dev.fitout.compute.v1alpha1.Plan";
    let plan = json!({
        "type": "object",
        "description": "What the hub would do for an instance. It is answered when it is created, and not kept.",
        "x-kubernetes-group-version-kind": [{ "group": GROUP, "version": VERSION, "kind": "Plan" }],
        "properties": {
            "apiVersion": text("The version of this kind."),
            "kind": text("Plan."),
            "metadata": free("It needs no name."),
            "spec": spec,
            "status": free("The answer: every write to the cluster, in order, with what it changes and why."),
        },
    });
    let content = json!({ "application/json": { "schema": { "$ref": format!("#/components/schemas/{name}") } } });
    let post = json!({
        "operationId": "createNamespacedPlan",
        "x-kubernetes-action": "post",
        "x-kubernetes-group-version-kind": { "group": GROUP, "version": VERSION, "kind": "Plan" },
        "requestBody": { "content": content, "required": true },
        "responses": { "201": { "description": "Created", "content": content } },
    });
    // `kubectl create` looks at what a PATCH would take, and nowhere else, to learn that the server checks fields itself;
    // where it does not find out, it asks for rights that a member of an organization does not have.
    let mut patch = post.clone();
    patch["operationId"] = json!("patchNamespacedPlan");
    patch["parameters"] = json!([{ "name": "fieldValidation", "in": "query", "schema": { "type": "string" } }]);
    let plans = format!("/apis/{GROUP}/{VERSION}/namespaces/{{namespace}}/plans");
    let namespace = json!({ "name": "namespace", "in": "path", "required": true, "schema": { "type": "string" } });
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Fitout", "version": env!("CARGO_PKG_VERSION") },
        "paths": { plans: { "post": post, "patch": patch, "parameters": [namespace] } },
        "components": { "schemas": { name: plan } },
    })
}
