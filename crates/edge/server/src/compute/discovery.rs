//! What is served, for those who ask.

use serde_json::{Map, Value, json};

use super::{GROUP, VERSION};

/// Something that can be asked for.
struct Resource {
    name: &'static str,
    singular: &'static str,
    kind: &'static str,
    about: &'static str,
    /// What naming an instance asks for.
    instance: &'static str,
    answer: &'static str,
    /// Whether it can be asked for as if the instance were deleted.
    removal: bool,
}

const RESOURCES: [Resource; 2] = [
    Resource {
        name: "plans",
        singular: "plan",
        kind: "Plan",
        about: "What the hub would do for an instance.",
        instance: "The name of an instance: what would be done for it as it is.",
        answer: "The answer: every write to the cluster, in order, with what it changes and why.",
        removal: true,
    },
    Resource {
        name: "values",
        singular: "values",
        kind: "Values",
        about: "Every value that an instance is made with.",
        instance: "The name of an instance: the values it is made with as it is.",
        answer: "The answer: all values together, and each of them with the layer that set it.",
        removal: false,
    },
];

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
            json!({ "groupVersion": format!("{GROUP}/{VERSION}"), "resources": RESOURCES.map(|resource| json!({
                "name": resource.name, "singularName": resource.singular, "kind": resource.kind,
                "namespaced": true, "verbs": ["create"],
            })) }),
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

/// What `kubectl explain` tells.
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
    /// Its path with what can be done there, and the name of its schema with the schema.
    fn document(&self) -> (String, String, Value, Value) {
        let kind = self.kind;
        let text = |about: &str| json!({ "type": "string", "description": about });
        let free = |about: &str| json!({ "type": "object", "description": about, "x-kubernetes-preserve-unknown-fields": true });
        let mut asked = json!({
            "instance": text(self.instance),
            "proposed": free("An ExtensionInstance as it might be written: a new one, or another form of one that is there."),
        });
        if self.removal {
            asked["uninstall"] =
                json!({ "type": "boolean", "description": "What would be done if the instance were deleted." });
        }
        let about = "What is asked for: an instance that is there, or one that is proposed.";
        let group_version_kind = json!({ "group": GROUP, "version": VERSION, "kind": kind });
        let schema = json!({
            "type": "object",
            "description": format!("{} It is answered when it is created, and not kept.", self.about),
            "x-kubernetes-group-version-kind": [group_version_kind],
            "properties": {
                "apiVersion": text("The version of this kind."),
                "kind": text(&format!("{kind}.")),
                "metadata": free("It needs no name."),
                "spec": { "type": "object", "description": about, "properties": asked },
                "status": free(self.answer),
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
        // `kubectl create` looks at what a PATCH would take, and nowhere else, to learn that the server checks fields
        // itself; where it does not find out, it asks for rights that a member of an organization does not have.
        let mut patch = post.clone();
        patch["operationId"] = format!("patchNamespaced{kind}").into();
        patch["parameters"] = json!([{ "name": "fieldValidation", "in": "query", "schema": { "type": "string" } }]);
        let place = format!("/apis/{GROUP}/{VERSION}/namespaces/{{namespace}}/{}", self.name);
        let namespace = json!({ "name": "namespace", "in": "path", "required": true, "schema": { "type": "string" } });
        (place, name, json!({ "post": post, "patch": patch, "parameters": [namespace] }), schema)
    }
}
