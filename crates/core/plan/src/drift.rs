//! Drift that is nobody's fault: fields of ours that another manager has taken, and may keep.
//!
//! Who owns which field of an object is known to Kubernetes. A field that is ignored is ours as long as nobody else owns it;
//! once somebody does, it is left out of what we apply, and the API server leaves theirs.

use serde_json::Value;

use crate::MANAGER;
use crate::matches_live::agrees;

/// Fields that others may take from some objects, as a person names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    /// The objects' kind.
    pub kind: String,
    /// The object's name; none for all of the kind.
    pub name: Option<String>,
    /// The fields, as JSON pointers. A segment that is `*` stands for each field or item.
    pub pointers: Vec<String>,
}

/// The fields that others may take from one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignored(Vec<Field>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    path: Vec<String>,
    /// Taken only through this part of the object; none for any way.
    through: Option<&'static str>,
}

impl Ignored {
    /// Those of an object of an artifact that has these objects: what is always somebody else's to set, and what a person
    /// names.
    pub fn of(object: &Value, all: &[Value], named: &[Ignore]) -> Self {
        let name = object["metadata"]["name"].as_str();
        let is_named = |ignore: &&Ignore| {
            object["kind"] == ignore.kind && ignore.name.as_deref().is_none_or(|wanted| name == Some(wanted))
        };
        let named = named.iter().filter(is_named).flat_map(|ignore| &ignore.pointers);
        let mut fields: Vec<Field> = named.map(|pointer| Field::new(pointer, None)).collect();
        fields.extend(authority(object).map(|pointer| Field::new(pointer, None)));
        let scaled = all.iter().any(|other| scales(other, object));
        // Whoever goes through `scale` wants nothing else: an autoscaler, or a person who does its work.
        fields.push(Field::new("/spec/replicas", (!scaled).then_some("scale")));
        fields.retain(|field| there(object, &field.path));
        Self(fields)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is applied to the object as it is: without the ignored fields that another manager owns.
    #[must_use]
    pub fn left_out(&self, object: &Value, live: &Value) -> Value {
        let mut object = object.clone();
        let managers = live["metadata"]["managedFields"].as_array().into_iter().flatten();
        for manager in managers.filter(|manager| manager["manager"] != MANAGER) {
            let taken = |field: &&Field| field.through.is_none_or(|part| manager["subresource"] == part);
            for field in self.0.iter().filter(taken) {
                leave_out(&mut object, &manager["fieldsV1"], &field.path);
            }
        }
        object
    }
}

impl Field {
    fn new(pointer: &str, through: Option<&'static str>) -> Self {
        let path = pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect();
        Self { path, through }
    }
}

/// Where an object holds the authority of those the API server calls: whoever makes certificates puts it there.
fn authority(object: &Value) -> Option<&'static str> {
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
fn there(value: &Value, path: &[String]) -> bool {
    let Some((segment, rest)) = path.split_first() else { return true };
    children(value, segment).iter().any(|place| at(value, place).is_some_and(|child| there(child, rest)))
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

/// Takes out of a value what a set of fields, as Kubernetes writes them, has at a path. Answers whether all of the value
/// is in the set.
fn leave_out(value: &mut Value, fields: &Value, path: &[String]) -> bool {
    let Some(inside) = fields.as_object().filter(|inside| inside.keys().any(|name| name != ".")) else {
        // A list or a map that is owned as a whole cannot be had in part.
        return path.is_empty();
    };
    let (segment, rest) = path.split_first().map_or(("*", path), |(segment, rest)| (segment.as_str(), rest));
    let mut gone = Vec::new();
    for place in children(value, segment) {
        let Some(child) = at(value, &place) else { continue };
        let Some((key, owned)) = inside.iter().find(|(key, _)| is(key, &place, child)) else { continue };
        let child = match &place {
            Place::Field(name) => value.get_mut(name),
            Place::Item(index) => value.get_mut(index),
        };
        let Some(child) = child else { continue };
        // An item of a list is known by its key: that stays as long as the item does.
        let known_by: Vec<(String, Value)> =
            key_of(key).into_iter().flatten().filter(|(name, _)| child.get(name).is_some()).collect();
        if leave_out(child, owned, rest) {
            gone.push(place);
        } else if let Some(child) = child.as_object_mut() {
            child.extend(known_by);
        }
    }
    for place in gone.into_iter().rev() {
        match (place, &mut *value) {
            (Place::Field(name), Value::Object(fields)) => drop(fields.remove(&name)),
            (Place::Item(index), Value::Array(items)) => drop(items.remove(index)),
            _ => {}
        }
    }
    false
}

/// Whether a name in a set of fields is that of a child.
fn is(key: &str, place: &Place, child: &Value) -> bool {
    match (key.split_once(':'), place) {
        (Some(("f", name)), Place::Field(field)) => name == field,
        (Some(("k", _)), Place::Item(_)) => key_of(key).is_some_and(|known_by| agrees(child, &known_by.into())),
        (Some(("v", item)), Place::Item(_)) => serde_json::from_str::<Value>(item).is_ok_and(|item| item == *child),
        (Some(("i", index)), Place::Item(item)) => index.parse() == Ok(*item),
        _ => false,
    }
}

/// The fields by which an item of a list is known.
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

    /// An object that this manager has taken these fields of.
    fn taken(manager: &Value, fields: &Value) -> Value {
        let mut entry = json!({ "manager": "other", "operation": "Update", "fieldsV1": fields });
        entry.as_object_mut().unwrap().extend(manager.as_object().unwrap().clone());
        json!({ "metadata": { "managedFields": [entry] } })
    }

    fn named(pointers: &[&str]) -> Vec<Ignore> {
        let pointers = pointers.iter().map(|&pointer| pointer.to_owned()).collect();
        vec![Ignore { kind: "Deployment".to_owned(), name: None, pointers }]
    }

    /// What is left out, as JSON pointers.
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
    fn what_others_own_of_ignored_fields_is_left_out_and_nothing_else() {
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
            // A list that is owned as a whole cannot be had in part.
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
            // What we own is ours.
            (&["/spec/replicas"], &json!({ "manager": "helm" }), &replicas, &[]),
        ];
        for (pointers, manager, fields, expected) in rows {
            let object = deployment();
            let left = Ignored::of(&object, &[], &named(pointers)).left_out(&object, &taken(manager, fields));
            assert_eq!(missing(&object, &left), expected, "{pointers:?} {manager} {fields}");
        }
    }

    #[test]
    fn an_authority_that_somebody_injects_stays() {
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
    fn what_an_autoscaler_of_the_artifact_scales_is_its_own_by_any_way() {
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
    fn only_named_objects_have_named_fields_and_only_fields_that_are_there_are_any() {
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
