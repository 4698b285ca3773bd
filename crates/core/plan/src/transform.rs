//! Between render and check: every object gets its place and its owner.

use std::collections::BTreeMap;

use fitout_model::{Apis, ObjectId, Problem, Scope};
use serde_json::{Map, Value};

use crate::install_rank;

/// Whose objects they are, in Helm's words.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The release's name.
    pub name: &'a str,
    /// The release's namespace, and that of every object that names none.
    pub namespace: &'a str,
}

/// The label and the annotations by which Helm knows its own.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// Names the release.
pub const RELEASE_NAME: &str = "meta.helm.sh/release-name";
/// Names the release's namespace.
pub const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";
/// Says `keep` of what stays when its release goes.
pub const KEEP: &str = "helm.sh/resource-policy";

/// Puts each object where it belongs on a cluster that serves these kinds, marks it as the owner's, and sorts them in
/// the order in which Helm installs kinds. These kinds are brought along.
pub fn transform(objects: Vec<Value>, brought: &Apis, owner: Owner, apis: &Apis) -> Result<Vec<Value>, Problem> {
    let mut placed: BTreeMap<ObjectId, Value> = BTreeMap::new();
    for object in objects {
        let mut object = place(object, brought, owner, apis)?;
        mark(&mut object, owner);
        let Some(id) = ObjectId::of(&object) else { continue };
        if placed.insert(id.clone(), object).is_some() {
            return Err(problem(&id, "it is there twice", TWICE));
        }
    }
    let mut sorted: Vec<(ObjectId, Value)> = placed.into_iter().collect();
    sorted.sort_by_key(|(id, _)| install_rank(&id.gvk.kind).unwrap_or(usize::MAX));
    Ok(sorted.into_iter().map(|(_, object)| object).collect())
}

/// What to do about an object that is there twice.
const TWICE: &str = "take one of the two out of the chart or the manifests, or take another version";

fn problem(id: &ObjectId, message: &str, hint: &str) -> Problem {
    Problem { field: id.to_string(), message: message.to_owned(), hint: Some(hint.to_owned()) }
}

fn unknown(id: &ObjectId, apis: &Apis) -> Problem {
    let message = format!("the cluster does not serve {} {}", id.gvk.api_version(), id.gvk.kind);
    let hint = apis.nearest(&id.gvk).map_or_else(
        || "install what defines it first, or ship its CustomResourceDefinition".to_owned(),
        |meant| format!("did you mean {} {}?", meant.api_version(), meant.kind),
    );
    problem(id, &message, &hint)
}

/// Puts an object where it belongs, whosever it is.
pub(crate) fn place(mut object: Value, brought: &Apis, owner: Owner, apis: &Apis) -> Result<Value, Problem> {
    let Some(id) = ObjectId::of(&object) else { return Ok(object) };
    let scope = apis.scope(&id.gvk).or_else(|| brought.scope(&id.gvk)).ok_or_else(|| unknown(&id, apis))?;
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

    fn transformed(objects: &[Value]) -> Result<Vec<Value>, String> {
        transform(objects.to_vec(), &objects.iter().flat_map(defined_kinds).collect(), OWNER, &apis())
            .map_err(|problem| problem.to_string())
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
    fn a_namespace_that_is_named_stays_and_one_that_makes_no_sense_goes() {
        let mut elsewhere = object("v1", "ConfigMap");
        elsewhere["metadata"]["namespace"] = "other".into();
        let mut misplaced = object("v1", "Namespace");
        misplaced["metadata"]["namespace"] = "other".into();
        let objects = transformed(&[elsewhere, misplaced]).unwrap();
        assert_eq!(objects[0]["metadata"].get("namespace"), None);
        assert_eq!(objects[1]["metadata"]["namespace"], "other");
    }

    #[test]
    fn they_are_sorted_as_helm_sorts_them() {
        let objects =
            transformed(&[object("apps/v1", "Deployment"), object("v1", "ConfigMap"), object("v1", "Namespace")]);
        let kinds: Vec<Value> = objects.unwrap().iter().map(|object| object["kind"].clone()).collect();
        assert_eq!(kinds, ["Namespace", "ConfigMap", "Deployment"]);
    }

    #[test]
    fn a_kind_may_come_with_its_definition() {
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": "widgets.example.com" },
            "spec": { "group": "example.com", "scope": "Cluster", "names": { "kind": "Widget" }, "versions": [{ "name": "v1" }] },
        });
        let objects = transformed(&[object("example.com/v1", "Widget"), definition]).unwrap();
        assert_eq!(objects[1]["metadata"].get("namespace"), None);
    }

    #[test]
    fn wrong_objects_are_named_with_their_remedy() {
        let rows = [
            (
                vec![object("v1", "ConfigMap"), object("v1", "ConfigMap")],
                "ConfigMap/shop/a: it is there twice; take one of the two out of the chart or the manifests, or take another version",
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
                "Gadget/a: the cluster does not serve example.com/v1 Gadget; install what defines it first, or ship its CustomResourceDefinition",
            ),
        ];
        for (objects, expected) in rows {
            assert_eq!(transformed(&objects).unwrap_err(), expected);
        }
    }
}
