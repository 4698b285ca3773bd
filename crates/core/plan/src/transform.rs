//! Adds namespaces and ownership metadata to rendered objects, and sorts them.

use std::collections::BTreeMap;

use fitout_model::{Apis, ObjectId, Problem, Scope};
use serde_json::{Map, Value};

use crate::install_rank;

/// The Helm release that owns the objects.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The release's name.
    pub name: &'a str,
    /// The release's namespace, which is the default namespace of its objects.
    pub namespace: &'a str,
}

/// The label that marks objects of Helm.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The annotation with the release's name.
pub const RELEASE_NAME: &str = "meta.helm.sh/release-name";
/// The annotation with the release's namespace.
pub const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";
/// The annotation that is `keep` on objects that stay when the release is uninstalled.
pub const KEEP: &str = "helm.sh/resource-policy";

/// Sets the namespace and the ownership metadata of each object, and sorts them in Helm's install order. `defined` are the
/// kinds of CRDs among them, `apis` the kinds that the cluster serves.
pub fn transform(objects: Vec<Value>, defined: &Apis, owner: Owner, apis: &Apis) -> Result<Vec<Value>, Problem> {
    let mut placed: BTreeMap<ObjectId, Value> = BTreeMap::new();
    for object in objects {
        let mut object = place(object, defined, owner, apis)?;
        mark(&mut object, owner);
        let Some(id) = ObjectId::of(&object) else { continue };
        if placed.insert(id.clone(), object).is_some() {
            return Err(problem(&id, "it is defined twice", TWICE));
        }
    }
    let mut sorted: Vec<(ObjectId, Value)> = placed.into_iter().collect();
    sorted.sort_by_key(|(id, _)| install_rank(&id.gvk.kind).unwrap_or(usize::MAX));
    Ok(sorted.into_iter().map(|(_, object)| object).collect())
}

/// The hint for an object that is defined twice.
const TWICE: &str = "remove one of the two from the chart or the manifests, or choose another version";

fn problem(id: &ObjectId, message: &str, hint: &str) -> Problem {
    Problem { field: id.to_string(), message: message.to_owned(), hint: Some(hint.to_owned()) }
}

fn unknown(id: &ObjectId, apis: &Apis) -> Problem {
    let message = format!("the cluster does not serve {} {}", id.gvk.api_version(), id.gvk.kind);
    let hint = apis.nearest(&id.gvk).map_or_else(
        || "install the extension that provides it first, or ship its CustomResourceDefinition".to_owned(),
        |meant| format!("did you mean {} {}?", meant.api_version(), meant.kind),
    );
    problem(id, &message, &hint)
}

/// Sets or removes the namespace of an object by the scope of its kind.
pub(crate) fn place(mut object: Value, defined: &Apis, owner: Owner, apis: &Apis) -> Result<Value, Problem> {
    let Some(id) = ObjectId::of(&object) else { return Ok(object) };
    let scope = apis.scope(&id.gvk).or_else(|| defined.scope(&id.gvk)).ok_or_else(|| unknown(&id, apis))?;
    let Some(metadata) = object["metadata"].as_object_mut() else { return Ok(object) };
    match scope {
        Scope::Cluster => drop(metadata.remove("namespace")),
        Scope::Namespaced => {
            let namespace = metadata.entry("namespace").or_insert(Value::Null);
            if namespace.as_str().is_none_or(str::is_empty) {
                *namespace = owner.namespace.into();
            }
        }
    }
    Ok(object)
}

fn mark(object: &mut Value, owner: Owner) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    set(metadata, "labels", MANAGED_BY, "Helm");
    set(metadata, "annotations", RELEASE_NAME, owner.name);
    set(metadata, "annotations", RELEASE_NAMESPACE, owner.namespace);
}

fn set(metadata: &mut Map<String, Value>, field: &str, name: &str, value: &str) {
    let entry = metadata.entry(field).or_insert(Value::Null);
    if !entry.is_object() {
        *entry = Value::Object(Map::new());
    }
    entry[name] = value.into();
}

#[cfg(test)]
mod tests {
    use fitout_model::{Gvk, defined_kinds};
    use serde_json::json;

    use super::*;

    const OWNER: Owner = Owner { name: "web", namespace: "shop" };

    fn apis() -> Apis {
        [
            (Gvk::new("v1", "ConfigMap"), Scope::Namespaced),
            (Gvk::new("v1", "Namespace"), Scope::Cluster),
            (Gvk::new("apps/v1", "Deployment"), Scope::Namespaced),
            (Gvk::new("apiextensions.k8s.io/v1", "CustomResourceDefinition"), Scope::Cluster),
        ]
        .into_iter()
        .collect()
    }

    fn object(api_version: &str, kind: &str) -> Value {
        json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "a" } })
    }

    fn transformed(objects: &[Value]) -> Result<Vec<Value>, Problem> {
        transform(objects.to_vec(), &objects.iter().flat_map(defined_kinds).collect(), OWNER, &apis())
    }

    #[test]
    fn objects_get_a_namespace_and_an_owner() {
        let objects = transformed(&[object("v1", "ConfigMap")]).unwrap();
        assert_eq!(
            objects[0]["metadata"],
            json!({
                "name": "a",
                "namespace": "shop",
                "labels": { "app.kubernetes.io/managed-by": "Helm" },
                "annotations": { "meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop" },
            })
        );
    }

    #[test]
    fn explicit_namespaces_stay_and_those_of_cluster_scoped_objects_are_removed() {
        let mut elsewhere = object("v1", "ConfigMap");
        elsewhere["metadata"]["namespace"] = "other".into();
        let mut misplaced = object("v1", "Namespace");
        misplaced["metadata"]["namespace"] = "other".into();
        let objects = transformed(&[elsewhere, misplaced]).unwrap();
        assert_eq!(objects[0]["metadata"].get("namespace"), None);
        assert_eq!(objects[1]["metadata"]["namespace"], "other");
    }

    #[test]
    fn objects_are_in_helms_install_order() {
        let objects =
            transformed(&[object("apps/v1", "Deployment"), object("v1", "ConfigMap"), object("v1", "Namespace")]);
        let kinds: Vec<Value> = objects.unwrap().iter().map(|object| object["kind"].clone()).collect();
        assert_eq!(kinds, ["Namespace", "ConfigMap", "Deployment"]);
    }

    #[test]
    fn a_custom_resource_may_come_with_its_crd() {
        let crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": "widgets.example.com" },
            "spec": { "group": "example.com", "scope": "Cluster", "names": { "kind": "Widget" }, "versions": [{ "name": "v1" }] },
        });
        let objects = transformed(&[object("example.com/v1", "Widget"), crd]).unwrap();
        assert_eq!(objects[1]["metadata"].get("namespace"), None);
    }

    #[test]
    fn problems_name_the_object_and_the_remedy() {
        let rows = [
            (
                vec![object("v1", "ConfigMap"), object("v1", "ConfigMap")],
                "ConfigMap/shop/a: it is defined twice; remove one of the two from the chart or the manifests, or choose another version",
            ),
            (
                vec![object("apps/v1beta1", "Deployment")],
                "Deployment/a: the cluster does not serve apps/v1beta1 Deployment; did you mean apps/v1 Deployment?",
            ),
            (
                vec![object("v1", "ConfigMpa")],
                "ConfigMpa/a: the cluster does not serve v1 ConfigMpa; did you mean v1 ConfigMap?",
            ),
            (
                vec![object("example.com/v1", "Gadget")],
                "Gadget/a: the cluster does not serve example.com/v1 Gadget; install the extension that provides it first, or ship its CustomResourceDefinition",
            ),
        ];
        for (objects, expected) in rows {
            assert_eq!(transformed(&objects).unwrap_err().to_string(), expected);
        }
    }
}
