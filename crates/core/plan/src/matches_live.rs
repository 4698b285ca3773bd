//! Whether an object on a cluster is what was applied, from the object alone.

use fitout_model::contains;
use serde_json::Value;

use crate::Ignored;

/// The field manager under which objects are applied: Helm's own, so that Helm can take over without a conflict.
pub const MANAGER: &str = "helm";

/// Whether applying this again would change nothing: all of it is there, and we own nothing that is not part of it.
///
/// Where a server writes a value in another way than it was written to it, the answer is no, and applying again does no
/// harm.
/// Fields that are ignored may be others'.
pub fn matches_live(live: &Value, applied: &Value, ignored: &Ignored) -> bool {
    let applied = &ignored.left_out(applied, live);
    let managers = live["metadata"]["managedFields"].as_array().into_iter().flatten();
    let ours = managers.into_iter().find(|entry| entry["manager"] == MANAGER && entry["operation"] == "Apply");
    ours.is_some_and(|entry| contains(live, applied) && covers(applied, &entry["fieldsV1"]))
}

/// Whether every field of a set of fields, as Kubernetes writes them, is in the value.
fn covers(value: &Value, fields: &Value) -> bool {
    let Some(fields) = fields.as_object() else { return false };
    fields.iter().all(|(path, inner)| {
        let Some((kind, name)) = path.split_once(':') else { return path == "." };
        let found = match kind {
            "f" => value.get(name),
            // An item of a list, by its key or its value.
            // A part of the key that was not applied was filled in by the server: the protocol of a port is.
            "k" => item(value, contains, name).or_else(|| item(value, agrees, name)),
            "v" => item(value, |item, key| item == key, name),
            "i" => name.parse::<usize>().ok().and_then(|index| value.get(index)),
            _ => None,
        };
        found.is_some_and(|found| covers(found, inner))
    })
}

fn item<'a>(list: &'a Value, is: impl Fn(&Value, &Value) -> bool, key: &str) -> Option<&'a Value> {
    let key: Value = serde_json::from_str(key).ok()?;
    list.as_array()?.iter().find(|item| is(item, &key))
}

/// Whether an item has some of the key, and nothing that contradicts it.
pub(crate) fn agrees(item: &Value, key: &Value) -> bool {
    let Some(key) = key.as_object() else { return false };
    let mut said = key.iter().filter_map(|(name, value)| Some(item.get(name)? == value)).peekable();
    said.peek().is_some() && said.all(|same| same)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn live(fields: &Value) -> Value {
        json!({
            "metadata": {
                "name": "web", "uid": "u", "labels": { "a": "b", "theirs": "x" }, "finalizers": ["mine"],
                "managedFields": [
                    { "manager": "kubectl", "operation": "Update", "fieldsV1": { "f:spec": { "f:other": {} } } },
                    { "manager": "helm", "operation": "Apply", "fieldsV1": fields },
                ],
            },
            "spec": { "ports": [{ "port": 80, "protocol": "TCP", "name": "http" }], "other": 1 },
        })
    }

    #[test]
    fn what_is_there_and_ours_and_no_more_holds() {
        let applied = json!({
            "metadata": { "name": "web", "labels": { "a": "b" }, "finalizers": ["mine"] },
            "spec": { "ports": [{ "port": 80, "protocol": "TCP", "name": "http" }] },
        });
        let ports = |inner: Value| json!({ "f:ports": { r#"k:{"port":80,"protocol":"TCP"}"#: inner } });
        let metadata = json!({ "f:labels": { "f:a": {} }, "f:finalizers": { r#"v:"mine""#: {} } });
        let rows = [
            (json!({ "f:metadata": metadata, "f:spec": ports(json!({ ".": {}, "f:port": {}, "f:name": {} })) }), true),
            // A field of ours that is no longer part of it has to go.
            (json!({ "f:metadata": metadata, "f:spec": ports(json!({ "f:targetPort": {} })) }), false),
            (json!({ "f:metadata": { "f:labels": { "f:old": {} } } }), false),
            (json!({ "f:metadata": { "f:finalizers": { r#"v:"old""#: {} } } }), false),
            (json!({ "f:spec": { "f:ports": { r#"k:{"port":81,"protocol":"TCP"}"#: {} } } }), false),
        ];
        for (fields, expected) in rows {
            assert_eq!(matches_live(&live(&fields), &applied, &Ignored::default()), expected, "{fields}");
        }
    }

    #[test]
    fn what_the_server_filled_in_of_a_key_is_not_missed() {
        let fields = json!({ "f:spec": { "f:ports": { r#"k:{"port":80,"protocol":"TCP"}"#: { "f:name": {} } } } });
        let rows = [
            (json!({ "port": 80, "name": "http" }), true),
            (json!({ "port": 80 }), false),
            (json!({ "port": 81, "name": "http" }), false),
            (json!({ "port": 80, "protocol": "UDP", "name": "http" }), false),
            (json!({ "name": "http" }), false),
        ];
        for (port, expected) in rows {
            assert_eq!(
                matches_live(&live(&fields), &json!({ "spec": { "ports": [port] } }), &Ignored::default()),
                expected,
                "{port}"
            );
        }
    }

    #[test]
    fn what_somebody_changed_or_nobody_applied_does_not_hold() {
        let fields = json!({ "f:metadata": { "f:labels": { "f:a": {} } } });
        let changed = json!({ "metadata": { "labels": { "a": "other" } } });
        assert!(!matches_live(&live(&fields), &changed, &Ignored::default()));
        let mut nobodys = live(&fields);
        nobodys["metadata"]["managedFields"] = json!([]);
        assert!(!matches_live(&nobodys, &json!({ "metadata": { "labels": { "a": "b" } } }), &Ignored::default()));
    }
}
