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

/// Fields of `metadata` that the server alone writes.
const SERVERS: [&str; 7] = [
    "managedFields",
    "resourceVersion",
    "generation",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// Holds a whole object, secrets and all, as somebody once applied it.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What is different in an object, but for what a server or a controller says of itself. What is secret is told to
/// change, and not from what to what.
pub fn diff(before: &Value, after: &Value, mask: &Mask) -> Vec<Difference> {
    let secret = after["kind"] == "Secret" || before["kind"] == "Secret";
    let (before, after) = (meant(before), meant(after));
    let mut found = Vec::new();
    compare(&mut Place::default(), before.as_ref(), after.as_ref(), &mut found);
    for Difference { path, from, to } in &mut found {
        let content = secret && (path.starts_with("data") || path.starts_with("stringData"));
        let hidden = |value: &Option<Value>| value.as_ref().is_some_and(|value| mask.hides(value));
        // Either of them: a secret that is replaced is a secret still.
        if content || path.contains(LAST_APPLIED) || hidden(from) || hidden(to) {
            [from, to].into_iter().flatten().for_each(|value| *value = HIDDEN.into());
        }
    }
    found
}

/// What somebody wants an object to be.
fn meant(object: &Value) -> Option<Value> {
    let mut object = object.as_object()?.clone();
    object.remove("status");
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !SERVERS.contains(&field.as_str()));
    }
    Some(object.into())
}

fn compare(place: &mut Place, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<Difference>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => fields(place, before, after, found),
        (Some(Value::Array(before)), Some(Value::Array(after))) => items(place, before, after, found),
        // What is new or gone as a whole is told field by field: each may have to be hidden.
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

/// Items that have a name are the same wherever they stand; others are by their place.
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

/// The name of each item, where every one has a name of its own.
fn named(items: &[Value]) -> Option<Vec<&str>> {
    let names: Vec<&str> = items.iter().map(|item| item["name"].as_str()).collect::<Option<_>>()?;
    (names.iter().collect::<BTreeSet<_>>().len() == names.len()).then_some(names)
}

/// A place in an object.
#[derive(Default)]
struct Place(Vec<String>);

impl Place {
    fn within(&mut self, field: String, look: impl FnOnce(&mut Self)) {
        self.0.push(field);
        look(self);
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

    fn said(before: &Value, after: &Value) -> Vec<String> {
        said_with(before, after, &Mask::default())
    }

    fn said_with(before: &Value, after: &Value, mask: &Mask) -> Vec<String> {
        let show = |value: Option<Value>| value.map_or("nothing".to_owned(), |value| value.to_string());
        let each = diff(before, after, mask).into_iter();
        each.map(|one| format!("{}: {} to {}", one.path, show(one.from), show(one.to))).collect()
    }

    #[test]
    fn each_field_is_told_with_its_place() {
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
            assert_eq!(said(&before, &after), expected);
        }
    }

    #[test]
    fn items_with_names_are_the_same_wherever_they_stand() {
        let before = json!({ "c": [{ "name": "a", "i": 1 }, { "name": "b", "i": 2 }] });
        let after = json!({ "c": [{ "name": "b", "i": 3 }, { "name": "a", "i": 1 }, { "name": "n", "i": 9 }] });
        assert_eq!(
            said(&before, &after),
            ["c[name=b].i: 2 to 3", "c[name=n].i: nothing to 9", r#"c[name=n].name: nothing to "n""#]
        );
    }

    #[test]
    fn what_the_server_says_of_itself_is_no_change() {
        let live = |version: &str| {
            json!({ "kind": "ConfigMap", "status": { "v": version }, "metadata": {
                "name": "a", "uid": version, "resourceVersion": version, "generation": version,
                "creationTimestamp": version, "managedFields": [version],
            } })
        };
        assert_eq!(said(&live("1"), &live("2")), Vec::<String>::new());
    }

    #[test]
    fn a_secret_changes_and_nobody_sees_how() {
        let secret = |word: &str| {
            json!({ "kind": "Secret", "type": "Opaque", "data": { "a.b": word },
                "metadata": { "annotations": { LAST_APPLIED: format!("{{{word}}}") } } })
        };
        let hidden = format!("{HIDDEN:?} to {HIDDEN:?}");
        let annotation = format!("metadata.annotations[{LAST_APPLIED}]: {hidden}");
        assert_eq!(said(&secret("old"), &secret("new")), [format!("data[a.b]: {hidden}"), annotation]);
        let made = said(&Value::Null, &json!({ "kind": "Secret", "stringData": { "a": "x" } }));
        assert_eq!(made, [r#"kind: nothing to "Secret""#, &format!("stringData.a: nothing to {HIDDEN:?}")]);
    }

    #[test]
    fn neither_side_of_a_value_from_secrets_is_shown() {
        let mask = Mask::default().secrets(&json!({ "password": "hunter3" }));
        let map =
            |word: &str| json!({ "kind": "ConfigMap", "data": { "url": format!("me:{word}"), "plain": word.len() } });
        let hidden = format!("data.url: {HIDDEN:?} to {HIDDEN:?}");
        assert_eq!(said_with(&map("hunter2"), &map("hunter3"), &mask), [hidden]);
    }
}
