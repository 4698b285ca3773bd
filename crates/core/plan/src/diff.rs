//! The changes of an object, field by field.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{HIDDEN, Mask};

/// The change of one field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// The path of the field, such as `spec.containers[name=web].image`.
    pub path: String,
    /// The current value; none if the field does not exist.
    pub from: Option<Value>,
    /// The value after the change; none if the field is removed.
    pub to: Option<Value>,
}

/// Fields of `metadata` that only the API server writes.
const SERVER_FIELDS: [&str; 7] = [
    "managedFields",
    "resourceVersion",
    "generation",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// Contains the whole object as `kubectl apply` last sent it, with secrets.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The differences, without status and server-written metadata. Both values of a secret field are hidden.
pub fn diff(before: &Value, after: &Value, mask: &Mask) -> Vec<Difference> {
    let secret = after["kind"] == "Secret" || before["kind"] == "Secret";
    let (before, after) = (desired_state(before), desired_state(after));
    let mut found = Vec::new();
    compare(&mut Place::default(), before.as_ref(), after.as_ref(), &mut found);
    for Difference { path, from, to } in &mut found {
        let content = secret && (path.starts_with("data") || path.starts_with("stringData"));
        let hidden = |value: &Option<Value>| value.as_ref().is_some_and(|value| mask.hides(value));
        // One secret side hides both: the replaced secret may still be in use.
        if content || path.contains(LAST_APPLIED) || hidden(from) || hidden(to) {
            [from, to].into_iter().flatten().for_each(|value| *value = HIDDEN.into());
        }
    }
    found
}

/// An object without status and server-written metadata.
fn desired_state(object: &Value) -> Option<Value> {
    let mut object = object.as_object()?.clone();
    object.remove("status");
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !SERVER_FIELDS.contains(&field.as_str()));
    }
    Some(object.into())
}

fn compare(place: &mut Place, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<Difference>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => fields(place, before, after, found),
        (Some(Value::Array(before)), Some(Value::Array(after))) => items(place, before, after, found),
        // An added or removed map is listed by field, because each field may have to be hidden.
        (None, Some(Value::Object(after))) if !after.is_empty() => fields(place, &Map::new(), after, found),
        (Some(Value::Object(before)), None) if !before.is_empty() => fields(place, before, &Map::new(), found),
        (before, after) => {
            found.push(Difference { path: place.to_string(), from: before.cloned(), to: after.cloned() });
        }
    }
}

fn fields(place: &mut Place, before: &Map<String, Value>, after: &Map<String, Value>, found: &mut Vec<Difference>) {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let field = if name.contains(['.', '/', '[']) { format!("[{name}]") } else { name.clone() };
        place.within(field, |place| compare(place, before.get(name), after.get(name), found));
    }
}

/// Compares items by name where all have one, otherwise by index.
fn items(place: &mut Place, before: &[Value], after: &[Value], found: &mut Vec<Difference>) {
    let (Some(old), Some(new)) = (named(before), named(after)) else {
        for index in 0..before.len().max(after.len()) {
            place.within(format!("[{index}]"), |place| compare(place, before.get(index), after.get(index), found));
        }
        return;
    };
    let get = |names: &[&str], items: &[Value], name: &str| {
        names.iter().position(|known| *known == name).and_then(|index| items.get(index).cloned())
    };
    let names: Vec<&str> = old.iter().chain(new.iter().filter(|name| !old.contains(name))).copied().collect();
    for name in names {
        let (before, after) = (get(&old, before, name), get(&new, after, name));
        place.within(format!("[name={name}]"), |place| compare(place, before.as_ref(), after.as_ref(), found));
    }
}

/// The names of the items, where all have one and it is unique.
fn named(items: &[Value]) -> Option<Vec<&str>> {
    let names: Vec<&str> = items.iter().map(|item| item["name"].as_str()).collect::<Option<_>>()?;
    (names.iter().collect::<BTreeSet<_>>().len() == names.len()).then_some(names)
}

/// The path of a field.
#[derive(Default)]
struct Place(Vec<String>);

impl Place {
    fn within(&mut self, field: String, visit: impl FnOnce(&mut Self)) {
        self.0.push(field);
        visit(self);
        self.0.pop();
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, field) in self.0.iter().enumerate() {
            let dot = if index == 0 || field.starts_with('[') { "" } else { "." };
            write!(f, "{dot}{field}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differences(before: &Value, after: &Value) -> Vec<String> {
        differences_with(before, after, &Mask::default())
    }

    fn differences_with(before: &Value, after: &Value, mask: &Mask) -> Vec<String> {
        let show = |value: Option<Value>| value.map_or("nothing".to_owned(), |value| value.to_string());
        let each = diff(before, after, mask).into_iter();
        each.map(|one| format!("{}: {} to {}", one.path, show(one.from), show(one.to))).collect()
    }

    #[test]
    fn each_difference_has_its_path() {
        let rows = [
            (json!({ "spec": { "a": 1 } }), json!({ "spec": { "a": 2 } }), vec!["spec.a: 1 to 2"]),
            (json!({ "spec": {} }), json!({ "spec": { "a": { "b": 1 } } }), vec!["spec.a.b: nothing to 1"]),
            (json!({ "spec": { "a": { "b": 1 } } }), json!({ "spec": {} }), vec!["spec.a.b: 1 to nothing"]),
            (json!({ "a": 1 }), json!({ "a": { "b": 1 } }), vec![r#"a: 1 to {"b":1}"#]),
            (json!({ "l": [1, 2] }), json!({ "l": [1, 3, 4] }), vec!["l[1]: 2 to 3", "l[2]: nothing to 4"]),
            (json!({ "a": {} }), json!({}), vec!["a: {} to nothing"]),
            (
                json!({ "metadata": { "annotations": { "a.b/c": "x" } } }),
                json!({ "metadata": { "annotations": {} } }),
                vec![r#"metadata.annotations[a.b/c]: "x" to nothing"#],
            ),
        ];
        for (before, after, expected) in rows {
            assert_eq!(differences(&before, &after), expected);
        }
    }

    #[test]
    fn named_items_are_compared_by_name() {
        let before = json!({ "c": [{ "name": "a", "i": 1 }, { "name": "b", "i": 2 }] });
        let after = json!({ "c": [{ "name": "b", "i": 3 }, { "name": "a", "i": 1 }, { "name": "n", "i": 9 }] });
        assert_eq!(
            differences(&before, &after),
            ["c[name=b].i: 2 to 3", "c[name=n].i: nothing to 9", r#"c[name=n].name: nothing to "n""#]
        );
    }

    #[test]
    fn server_fields_are_no_difference() {
        let live = |version: &str| {
            json!({ "kind": "ConfigMap", "status": { "v": version }, "metadata": {
                "name": "a", "uid": version, "resourceVersion": version, "generation": version,
                "creationTimestamp": version, "managedFields": [version],
            } })
        };
        assert_eq!(differences(&live("1"), &live("2")), Vec::<String>::new());
    }

    #[test]
    fn secret_fields_are_listed_without_values() {
        let secret = |word: &str| {
            json!({ "kind": "Secret", "type": "Opaque", "data": { "a.b": word },
                "metadata": { "annotations": { LAST_APPLIED: format!("{{{word}}}") } } })
        };
        let hidden = format!("{HIDDEN:?} to {HIDDEN:?}");
        let annotation = format!("metadata.annotations[{LAST_APPLIED}]: {hidden}");
        assert_eq!(differences(&secret("old"), &secret("new")), [format!("data[a.b]: {hidden}"), annotation]);
        let made = differences(&Value::Null, &json!({ "kind": "Secret", "stringData": { "a": "x" } }));
        assert_eq!(made, [r#"kind: nothing to "Secret""#, &format!("stringData.a: nothing to {HIDDEN:?}")]);
    }

    #[test]
    fn values_from_secrets_are_hidden_on_both_sides() {
        let mask = Mask::default().secrets(&json!({ "password": "hunter3" }));
        let map =
            |word: &str| json!({ "kind": "ConfigMap", "data": { "url": format!("me:{word}"), "plain": word.len() } });
        let hidden = format!("data.url: {HIDDEN:?} to {HIDDEN:?}");
        assert_eq!(differences_with(&map("hunter2"), &map("hunter3"), &mask), [hidden]);
    }
}
