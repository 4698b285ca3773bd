//! Ignored drift: fields that another field manager may take over and keep.
//!
//! `managedFields` shows which manager owns a field. The hub applies an ignored field as long as no other manager owns it; then
//! it leaves the field out, and the API server keeps the value of the other manager.

use serde_json::Value;

use crate::MANAGER;
use crate::matches_live::agrees;

/// Fields that other managers may take over, as a user configures them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    /// The kind of the objects.
    pub kind: String,
    /// The name of the object; none for all of the kind.
    pub name: Option<String>,
    /// The fields, as JSON pointers. The segment `*` matches each field or item.
    pub pointers: Vec<String>,
}

/// The ignored fields of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignored(Vec<Field>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    path: Vec<String>,
    /// The subresource through which the field has to be written; none for any.
    subresource: Option<&'static str>,
}

impl Ignored {
    /// The ignored fields of an object in an artifact with these objects: CA bundles, scaled replicas, and the fields that the
    /// user names.
    pub fn of(object: &Value, all: &[Value], named: &[Ignore]) -> Self {
        let name = object["metadata"]["name"].as_str();
        let is_named = |ignore: &&Ignore| {
            object["kind"] == ignore.kind && ignore.name.as_deref().is_none_or(|expected| name == Some(expected))
        };
        let named = named.iter().filter(is_named).flat_map(|ignore| &ignore.pointers);
        let mut fields: Vec<Field> = named.map(|pointer| Field::new(pointer, None)).collect();
        fields.extend(ca_bundle(object).map(|pointer| Field::new(pointer, None)));
        let has_autoscaler = all.iter().any(|other| scales(other, object));
        // A write through `scale` is deliberate: by an autoscaler of another release, or by `kubectl scale`.
        fields.push(Field::new("/spec/replicas", (!has_autoscaler).then_some("scale")));
        fields.retain(|field| has_path(object, &field.path));
        Self(fields)
    }

    /// Whether no field is ignored.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object without the ignored fields that another manager owns on the live object.
    #[must_use]
    pub fn left_out(&self, object: &Value, live: &Value) -> Value {
        let mut object = object.clone();
        let managers = live["metadata"]["managedFields"].as_array().into_iter().flatten();
        for manager in managers.filter(|manager| manager["manager"] != MANAGER) {
            let taken = |field: &&Field| field.subresource.is_none_or(|name| manager["subresource"] == name);
            for field in self.0.iter().filter(taken) {
                leave_out(&mut object, &manager["fieldsV1"], &field.path);
            }
        }
        object
    }
}

impl Field {
    fn new(pointer: &str, subresource: Option<&'static str>) -> Self {
        let path = pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect();
        Self { path, subresource }
    }
}

/// The CA bundle that a certificate controller injects into an object.
fn ca_bundle(object: &Value) -> Option<&'static str> {
    match object["kind"].as_str()? {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => Some("/webhooks/*/clientConfig/caBundle"),
        "CustomResourceDefinition" => Some("/spec/conversion/webhook/clientConfig/caBundle"),
        "APIService" => Some("/spec/caBundle"),
        _ => None,
    }
}

/// Whether one object is an autoscaler of the other.
fn scales(scaler: &Value, object: &Value) -> bool {
    let target = &scaler["spec"]["scaleTargetRef"];
    scaler["kind"] == "HorizontalPodAutoscaler"
        && scaler["metadata"]["namespace"] == object["metadata"]["namespace"]
        && target["kind"] == object["kind"]
        && target["name"] == object["metadata"]["name"]
}

/// Whether an object has a field at a path.
fn has_path(value: &Value, path: &[String]) -> bool {
    let Some((segment, rest)) = path.split_first() else { return true };
    children(value, segment).iter().any(|place| at(value, place).is_some_and(|child| has_path(child, rest)))
}

/// A field of a map or an item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Field(String),
    Item(usize),
}

fn children(value: &Value, segment: &str) -> Vec<Place> {
    let all = segment == "*";
    match value {
        Value::Object(fields) => {
            fields.keys().filter(|name| all || *name == segment).cloned().map(Place::Field).collect()
        }
        Value::Array(items) => {
            (0..items.len()).filter(|index| all || segment.parse() == Ok(*index)).map(Place::Item).collect()
        }
        _ => vec![],
    }
}

fn at<'a>(value: &'a Value, place: &Place) -> Option<&'a Value> {
    match place {
        Place::Field(name) => value.get(name),
        Place::Item(index) => value.get(index),
    }
}

/// Removes from a value the fields at a path that a `fieldsV1` set contains. Returns whether the set contains the whole
/// value.
fn leave_out(value: &mut Value, fields: &Value, path: &[String]) -> bool {
    let Some(inside) = fields.as_object().filter(|inside| inside.keys().any(|name| name != ".")) else {
        // A list or map that is owned as a whole is not left out in part.
        return path.is_empty();
    };
    let (segment, rest) = path.split_first().map_or(("*", path), |(segment, rest)| (segment.as_str(), rest));
    let mut removed = Vec::new();
    for place in children(value, segment) {
        let Some(child) = at(value, &place) else { continue };
        let Some((key, owned)) = inside.iter().find(|(key, _)| is_entry_of(key, &place, child)) else { continue };
        let child = match &place {
            Place::Field(name) => value.get_mut(name),
            Place::Item(index) => value.get_mut(index),
        };
        let Some(child) = child else { continue };
        // The key fields of a list item stay as long as the item does.
        let key_fields: Vec<(String, Value)> =
            key_of(key).into_iter().flatten().filter(|(name, _)| child.get(name).is_some()).collect();
        if leave_out(child, owned, rest) {
            removed.push(place);
        } else if let Some(child) = child.as_object_mut() {
            child.extend(key_fields);
        }
    }
    for place in removed.into_iter().rev() {
        match (place, &mut *value) {
            (Place::Field(name), Value::Object(fields)) => drop(fields.remove(&name)),
            (Place::Item(index), Value::Array(items)) => drop(items.remove(index)),
            _ => {}
        }
    }
    false
}

/// Whether an entry of a `fieldsV1` set is about a child.
fn is_entry_of(key: &str, place: &Place, child: &Value) -> bool {
    match (key.split_once(':'), place) {
        (Some(("f", name)), Place::Field(field)) => name == field,
        (Some(("k", _)), Place::Item(_)) => key_of(key).is_some_and(|key| agrees(child, &key.into())),
        (Some(("v", item)), Place::Item(_)) => serde_json::from_str::<Value>(item).is_ok_and(|item| item == *child),
        (Some(("i", index)), Place::Item(item)) => index.parse() == Ok(*item),
        _ => false,
    }
}

/// The key fields of a list item.
fn key_of(key: &str) -> Option<serde_json::Map<String, Value>> {
    serde_json::from_str(key.strip_prefix("k:")?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web", "namespace": "shop" },
            "spec": { "replicas": 2, "template": {
                "metadata": { "annotations": { "ours": "a", "theirs": "b" } },
                "spec": { "containers": [
                    { "name": "web", "image": "web:1", "args": ["a", "b"], "ports": [{ "containerPort": 80 }] },
                    { "name": "side", "image": "side:1" },
                ] },
            } },
        })
    }

    fn webhooks() -> Value {
        let webhook =
            |name: &str| json!({ "name": name, "clientConfig": { "caBundle": "", "service": { "name": "s" } } });
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": { "name": "web" }, "webhooks": [webhook("a"), webhook("b")],
        })
    }

    /// A live object of which this manager owns these fields.
    fn taken(manager: &Value, fields: &Value) -> Value {
        let mut entry = json!({ "manager": "other", "operation": "Update", "fieldsV1": fields });
        entry.as_object_mut().unwrap().extend(manager.as_object().unwrap().clone());
        json!({ "metadata": { "managedFields": [entry] } })
    }

    fn named(pointers: &[&str]) -> Vec<Ignore> {
        let pointers = pointers.iter().map(|&pointer| pointer.to_owned()).collect();
        vec![Ignore { kind: "Deployment".to_owned(), name: None, pointers }]
    }

    /// The fields that were left out, as JSON pointers.
    fn missing(before: &Value, after: &Value) -> Vec<String> {
        fn walk(path: &str, before: &Value, after: Option<&Value>, found: &mut Vec<String>) {
            let Some(after) = after else { return found.push(path.to_owned()) };
            match before {
                Value::Object(fields) => {
                    fields
                        .iter()
                        .for_each(|(name, value)| walk(&format!("{path}/{name}"), value, after.get(name), found));
                }
                Value::Array(items) => {
                    let same = |item: &Value| {
                        let name = item.get("name");
                        after.as_array().and_then(|items| {
                            items.iter().find(|other| name.is_some() && other.get("name") == name || *other == item)
                        })
                    };
                    items
                        .iter()
                        .enumerate()
                        .for_each(|(index, item)| walk(&format!("{path}/{index}"), item, same(item), found));
                }
                _ => assert_eq!(before, after, "{path}"),
            }
        }
        let mut found = Vec::new();
        walk("", before, Some(after), &mut found);
        found
    }

    #[test]
    fn only_ignored_fields_of_other_managers_are_left_out() {
        let image = json!({ "f:spec": { "f:template": { "f:spec": { "f:containers": {
            r#"k:{"name":"web"}"#: { ".": {}, "f:name": {}, "f:image": {}, "f:args": {} },
        } } } } });
        let replicas = json!({ "f:spec": { "f:replicas": {} } });
        let annotations =
            json!({ "f:spec": { "f:template": { "f:metadata": { "f:annotations": { "f:theirs": {} } } } } });
        let any = json!({});
        let by_scale = json!({ "subresource": "scale" });
        let rows: [(&[&str], &Value, &Value, &[&str]); 11] = [
            (&["/spec/template/spec/containers/0/image"], &any, &image, &["/spec/template/spec/containers/0/image"]),
            (&["/spec/template/spec/containers/*/image"], &any, &image, &["/spec/template/spec/containers/0/image"]),
            (&["/spec/template/spec/containers/1/image"], &any, &image, &[]),
            // A list that is owned as a whole is not left out in part.
            (&["/spec/template/spec/containers/0/args/0"], &any, &image, &[]),
            (
                &["/spec/template/spec/containers/0"],
                &any,
                &image,
                &["/spec/template/spec/containers/0/args", "/spec/template/spec/containers/0/image"],
            ),
            (
                &["/spec/template/metadata/annotations"],
                &any,
                &annotations,
                &["/spec/template/metadata/annotations/theirs"],
            ),
            (&[], &any, &replicas, &[]),
            (&["/spec/replicas"], &any, &replicas, &["/spec/replicas"]),
            (&[], &by_scale, &replicas, &["/spec/replicas"]),
            (&[], &by_scale, &image, &[]),
            // Fields that the hub owns are applied.
            (&["/spec/replicas"], &json!({ "manager": "helm" }), &replicas, &[]),
        ];
        for (pointers, manager, fields, expected) in rows {
            let object = deployment();
            let left = Ignored::of(&object, &[], &named(pointers)).left_out(&object, &taken(manager, fields));
            assert_eq!(missing(&object, &left), expected, "{pointers:?} {manager} {fields}");
        }
    }

    #[test]
    fn injected_ca_bundles_are_left_out() {
        let object = webhooks();
        let fields = json!({ "f:webhooks": { r#"k:{"name":"b"}"#: { "f:clientConfig": { "f:caBundle": {} } } } });
        let left = Ignored::of(&object, &[], &[]).left_out(&object, &taken(&json!({}), &fields));
        assert_eq!(missing(&object, &left), ["/webhooks/1/clientConfig/caBundle"]);
        let definition = json!({ "kind": "CustomResourceDefinition", "metadata": { "name": "a" },
            "spec": { "conversion": { "webhook": { "clientConfig": { "caBundle": "x" } } } } });
        let service = json!({ "kind": "APIService", "metadata": { "name": "a" }, "spec": { "caBundle": "x" } });
        for (object, expected) in
            [(definition, "/spec/conversion/webhook/clientConfig/caBundle"), (service, "/spec/caBundle")]
        {
            let all = json!({ "f:spec": {
                "f:caBundle": {}, "f:conversion": { "f:webhook": { "f:clientConfig": { "f:caBundle": {} } } },
            } });
            let left = Ignored::of(&object, &[], &[]).left_out(&object, &taken(&json!({}), &all));
            assert_eq!(missing(&object, &left), [expected]);
        }
    }

    #[test]
    fn replicas_with_an_autoscaler_in_the_artifact_are_left_out() {
        let object = deployment();
        let scaler = |name: &str, namespace: &str| {
            json!({ "kind": "HorizontalPodAutoscaler", "metadata": { "name": "h", "namespace": namespace },
                    "spec": { "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": name } } })
        };
        let live = taken(&json!({}), &json!({ "f:spec": { "f:replicas": {} } }));
        for (scaler, expected) in [
            (scaler("web", "shop"), &["/spec/replicas"][..]),
            (scaler("other", "shop"), &[]),
            (scaler("web", "other"), &[]),
        ] {
            let left = Ignored::of(&object, &[object.clone(), scaler], &[]).left_out(&object, &live);
            assert_eq!(missing(&object, &left), expected);
        }
    }

    #[test]
    fn ignored_fields_need_a_matching_object_and_an_existing_field() {
        let mut object = deployment();
        object["spec"].as_object_mut().unwrap().remove("replicas");
        let ignored = |kind: &str, name: Option<&str>, pointer: &str| {
            let ignore =
                Ignore { kind: kind.to_owned(), name: name.map(str::to_owned), pointers: vec![pointer.to_owned()] };
            !Ignored::of(&object, &[], &[ignore]).is_empty()
        };
        let annotation = "/spec/template/metadata/annotations/ours";
        assert!(ignored("Deployment", None, annotation));
        assert!(ignored("Deployment", Some("web"), annotation));
        assert!(!ignored("Deployment", Some("other"), annotation));
        assert!(!ignored("StatefulSet", None, annotation));
        assert!(!ignored("Deployment", None, "/spec/paused"));
        object["metadata"]["annotations"] = json!({ "a/b~c": "x" });
        let escaped = Ignore {
            kind: "Deployment".to_owned(),
            name: None,
            pointers: vec!["/metadata/annotations/a~1b~0c".to_owned()],
        };
        assert!(!Ignored::of(&object, &[], &[escaped]).is_empty());
    }
}
