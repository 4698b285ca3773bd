//! The discovery and `OpenAPI` documents of the aggregated API.

use serde_json::{Map, Value, json};

use super::{GROUP, VERSION};

/// A served resource and its documentation.
struct Resource {
    name: &'static str,
    singular: &'static str,
    short_names: &'static [&'static str],
    kind: &'static str,
    description: &'static str,
    verbs: &'static [&'static str],
    spec: Spec,
    /// The description of `status`.
    status: &'static str,
}

/// The fields of `spec`.
enum Spec {
    /// An existing or a proposed instance.
    Instance {
        /// The description of `spec.instance`.
        instance: &'static str,
        /// Whether it has `spec.uninstall`.
        has_uninstall: bool,
    },
    /// A version of an extension.
    Extension,
    /// The fields of an Extension.
    Listed,
}

const RESOURCES: [Resource; 4] = [
    Resource {
        name: "availableextensions",
        singular: "availableextension",
        short_names: &["avext"],
        kind: "AvailableExtension",
        description: "An extension that the organization can install, of a shared catalog or of its own.",
        verbs: &["get", "list"],
        spec: Spec::Listed,
        status: "Always empty.",
    },
    Resource {
        name: "extensiondetails",
        singular: "extensiondetails",
        short_names: &[],
        kind: "ExtensionDetails",
        description: "The definition, the requirements and the changelog of a version of an extension.",
        verbs: &["create"],
        spec: Spec::Extension,
        status: "The details.",
    },
    Resource {
        name: "plans",
        singular: "plan",
        short_names: &[],
        kind: "Plan",
        description: "A plan of the changes that the hub would make for an instance.",
        verbs: &["create"],
        spec: Spec::Instance {
            instance: "Name of an existing instance, which is planned as it is.",
            has_uninstall: true,
        },
        status: "The plan: every write to the cluster, in order, with what it changes and why.",
    },
    Resource {
        name: "values",
        singular: "values",
        short_names: &[],
        kind: "Values",
        description: "All values that an instance is rendered with.",
        verbs: &["create"],
        spec: Spec::Instance {
            instance: "Name of an existing instance, whose values are returned as they are.",
            has_uninstall: false,
        },
        status: "The values: all of them merged, and each one with the layer that set it.",
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
                "shortNames": resource.short_names, "namespaced": true, "verbs": resource.verbs,
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

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn free(description: &str) -> Value {
    json!({ "type": "object", "description": description, "x-kubernetes-preserve-unknown-fields": true })
}

impl Spec {
    /// Its description and its properties.
    fn document(&self) -> (&'static str, Value) {
        match self {
            Self::Instance { instance, has_uninstall } => {
                let mut spec = json!({
                    "instance": text(instance),
                    "proposed": free("A proposed ExtensionInstance: a new one, or a change of an existing one."),
                });
                if *has_uninstall {
                    let description = "Whether to plan the deletion of the instance.";
                    spec["uninstall"] = json!({ "type": "boolean", "description": description });
                }
                ("The request: either an existing or a proposed instance.", spec)
            }
            Self::Extension => (
                "The version that is requested.",
                json!({
                    "extension": free("The extension: name, catalog and scope (Shared or Organization)."),
                    "version": text("The version. Defaults to the newest."),
                    "key": text("The Kubernetes minor version, where the catalog has a source for each."),
                    "since": text("The version after which the changelog begins."),
                }),
            ),
            Self::Listed => (
                "The extension, as its catalog lists it.",
                json!({
                    "scope": text("The owner of the catalog: Shared or Organization."),
                    "catalog": text("The catalog that offers it."),
                    "extension": text("The name of the extension."),
                    "summary": text("Its purpose in one line."),
                    "versions": { "type": "array", "description": "Its versions, newest first.", "items": free("A version.") },
                }),
            ),
        }
    }
}

impl Resource {
    /// The path, the name of the schema, the operations and the schema.
    fn document(&self) -> (String, String, Value, Value) {
        let kind = self.kind;
        let (spec_description, spec) = self.spec.document();
        let group_version_kind = json!({ "group": GROUP, "version": VERSION, "kind": kind });
        let schema = json!({
            "type": "object",
            "description": format!("{} It is computed and not stored.", self.description),
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
        let operation = |verb: &str, action: &str, code: &str| {
            json!({
                "operationId": format!("{verb}Namespaced{kind}"),
                "x-kubernetes-action": action,
                "x-kubernetes-group-version-kind": group_version_kind,
                "responses": { code: { "description": "The object", "content": content } },
            })
        };
        let url = format!("/apis/{GROUP}/{VERSION}/namespaces/{{namespace}}/{}", self.name);
        let namespace = json!({ "name": "namespace", "in": "path", "required": true, "schema": { "type": "string" } });
        if !self.verbs.contains(&"create") {
            let operations = json!({ "get": operation("list", "list", "200"), "parameters": [namespace] });
            return (url, name, operations, schema);
        }
        let mut post = operation("create", "post", "201");
        post["requestBody"] = json!({ "content": content, "required": true });
        // `kubectl create` looks for server-side field validation in the PATCH operation only; without it, it needs
        // rights that a member of an organization does not have.
        let mut patch = post.clone();
        patch["operationId"] = format!("patchNamespaced{kind}").into();
        patch["parameters"] = json!([{ "name": "fieldValidation", "in": "query", "schema": { "type": "string" } }]);
        (url, name, json!({ "post": post, "patch": patch, "parameters": [namespace] }), schema)
    }
}
