//! The discovery and `OpenAPI` documents of the aggregated API.

use serde_json::{Map, Value, json};

use super::{GROUP, VERSION};

/// A served resource and its documentation.
struct Resource {
    name: &'static str,
    singular: &'static str,
    kind: &'static str,
    description: &'static str,
    /// The description of `spec.instance`.
    instance: &'static str,
    /// The description of `status`.
    status: &'static str,
    /// Whether it has `spec.uninstall`.
    has_uninstall: bool,
}

const RESOURCES: [Resource; 2] = [
    Resource {
        name: "plans",
        singular: "plan",
        kind: "Plan",
        description: "A plan of the changes that the hub would make for an instance.",
        instance: "Name of an existing instance, which is planned as it is.",
        status: "The plan: every write to the cluster, in order, with what it changes and why.",
        has_uninstall: true,
    },
    Resource {
        name: "values",
        singular: "values",
        kind: "Values",
        description: "All values that an instance is rendered with.",
        instance: "Name of an existing instance, whose values are returned as they are.",
        status: "The values: all of them merged, and each one with the layer that set it.",
        has_uninstall: false,
    },
];

/// The document at a path, if one exists.
pub(crate) fn document(path: &str) -> Option<Value> {
    let version = json!({ "groupVersion": format!("{GROUP}/{VERSION}"), "version": VERSION });
    let group = json!({ "name": GROUP, "versions": [version], "preferredVersion": version });
    let of_kind = |kind: &str, fields: Value| {
        let mut document = json!({ "kind": kind, "apiVersion": "v1" });
        document.as_object_mut()?.extend(fields.as_object()?.clone());
        Some(document)
    };
    match path.split('/').collect::<Vec<_>>()[..] {
        ["apis"] => of_kind("APIGroupList", json!({ "groups": [group] })),
        ["apis", GROUP] => of_kind("APIGroup", group),
        ["apis", GROUP, VERSION] => of_kind(
            "APIResourceList",
            json!({ "groupVersion": format!("{GROUP}/{VERSION}"), "resources": RESOURCES.map(|resource| json!({
                "name": resource.name, "singularName": resource.singular, "kind": resource.kind,
                "namespaced": true, "verbs": ["create"],
            })) }),
        ),
        ["openapi", "v3"] => {
            let path = format!("apis/{GROUP}/{VERSION}");
            let url = format!("/openapi/v3/{path}?hash={}", env!("CARGO_PKG_VERSION"));
            Some(json!({ "paths": { path: { "serverRelativeURL": url } } }))
        }
        ["openapi", "v3", "apis", GROUP, VERSION] => Some(openapi()),
        _ => None,
    }
}

/// The `OpenAPI` document, which `kubectl explain` reads.
fn openapi() -> Value {
    let documents = RESOURCES.each_ref().map(Resource::document);
    let (paths, schemas): (Map<String, Value>, Map<String, Value>) =
        documents.into_iter().map(|(path, name, operations, schema)| ((path, operations), (name, schema))).unzip();
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Fitout", "version": env!("CARGO_PKG_VERSION") },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

impl Resource {
    /// The path, the name of the schema, the operations and the schema.
    fn document(&self) -> (String, String, Value, Value) {
        let kind = self.kind;
        let text = |description: &str| json!({ "type": "string", "description": description });
        let free = |description: &str| json!({ "type": "object", "description": description, "x-kubernetes-preserve-unknown-fields": true });
        let mut spec = json!({
            "instance": text(self.instance),
            "proposed": free("A proposed ExtensionInstance: a new one, or a change of an existing one."),
        });
        if self.has_uninstall {
            spec["uninstall"] =
                json!({ "type": "boolean", "description": "Whether to plan the deletion of the instance." });
        }
        let spec_description = "The request: either an existing or a proposed instance.";
        let group_version_kind = json!({ "group": GROUP, "version": VERSION, "kind": kind });
        let schema = json!({
            "type": "object",
            "description": format!("{} It is computed on create and not stored.", self.description),
            "x-kubernetes-group-version-kind": [group_version_kind],
            "properties": {
                "apiVersion": text("The API version."),
                "kind": text(&format!("{kind}.")),
                "metadata": free("The metadata; a name is not required."),
                "spec": { "type": "object", "description": spec_description, "properties": spec },
                "status": free(self.status),
            },
        });
        let name = format!("dev.fitout.compute.{VERSION}.{kind}");
        let content = json!({ "application/json": { "schema": { "$ref": format!("#/components/schemas/{name}") } } });
        let post = json!({
            "operationId": format!("createNamespaced{kind}"),
            "x-kubernetes-action": "post",
            "x-kubernetes-group-version-kind": group_version_kind,
            "requestBody": { "content": content, "required": true },
            "responses": { "201": { "description": "Created", "content": content } },
        });
        // `kubectl create` looks for server-side field validation in the PATCH operation only; without it, it needs
        // rights that a member of an organization does not have.
        let mut patch = post.clone();
        patch["operationId"] = format!("patchNamespaced{kind}").into();
        patch["parameters"] = json!([{ "name": "fieldValidation", "in": "query", "schema": { "type": "string" } }]);
        let url = format!("/apis/{GROUP}/{VERSION}/namespaces/{{namespace}}/{}", self.name);
        let namespace = json!({ "name": "namespace", "in": "path", "required": true, "schema": { "type": "string" } });
        (url, name, json!({ "post": post, "patch": patch, "parameters": [namespace] }), schema)
    }
}
