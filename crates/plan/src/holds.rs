//! Whether an object on a cluster is what was applied, from the object alone.

use fitout_model::contains;
use serde_json::Value;

/// The field manager under which objects are applied: Helm's own, so that Helm can take over without a conflict.
pub const MANAGER: &str = "helm";

/// Whether applying this again would change nothing: all of it is there, and we own nothing that is not part of it.
///
/// Where a server writes a value in another way than it was written to it, the answer is no, and applying again does no
/// harm.
pub fn holds(live: &Value, applied: &Value) -> bool {
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
            "k" => item(value, contains, name),
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
            assert_eq!(holds(&live(&fields), &applied), expected, "{fields}");
        }
    }

    #[test]
    fn what_somebody_changed_or_nobody_applied_does_not_hold() {
        let fields = json!({ "f:metadata": { "f:labels": { "f:a": {} } } });
        let changed = json!({ "metadata": { "labels": { "a": "other" } } });
        assert!(!holds(&live(&fields), &changed));
        let mut nobodys = live(&fields);
        nobodys["metadata"]["managedFields"] = json!([]);
        assert!(!holds(&nobodys, &json!({ "metadata": { "labels": { "a": "b" } } })));
    }
}
