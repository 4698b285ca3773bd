//! Whether a live object matches what was applied, without a request to the API server.

use fitout_model::contains;
use serde_json::Value;

use crate::Ignored;

/// The field manager for server-side apply: that of Helm, so that Helm can take over without conflicts.
pub const MANAGER: &str = "helm";

/// Whether applying the object again would change nothing: the live object has all its fields, and our manager owns no others.
/// Ignored fields may belong to other managers.
///
/// False negatives are possible where the API server normalizes a value; applying again is then a no-op.
pub fn matches_live(live: &Value, applied: &Value, ignored: &Ignored) -> bool {
    let applied = &ignored.left_out(applied, live);
    let managers = live["metadata"]["managedFields"].as_array().into_iter().flatten();
    let ours = managers.into_iter().find(|entry| entry["manager"] == MANAGER && entry["operation"] == "Apply");
    ours.is_some_and(|entry| contains(live, applied) && covers(applied, &entry["fieldsV1"]))
}

/// Whether a value has every field of a `fieldsV1` set.
fn covers(value: &Value, fields: &Value) -> bool {
    let Some(fields) = fields.as_object() else { return false };
    fields.iter().all(|(path, inner)| {
        let Some((kind, name)) = path.split_once(':') else { return path == "." };
        let found = match kind {
            "f" => value.get(name),
            // The key of an item may have defaults that were not applied, such as the protocol of a port.
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

/// Whether an item has at least one field of the key, and no field that differs from it.
pub(crate) fn agrees(item: &Value, key: &Value) -> bool {
    let Some(key) = key.as_object() else { return false };
    let mut equal = key.iter().filter_map(|(name, value)| Some(item.get(name)? == value)).peekable();
    equal.peek().is_some() && equal.all(|is_equal| is_equal)
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
    fn a_live_object_with_exactly_the_applied_fields_matches() {
        let applied = json!({
            "metadata": { "name": "web", "labels": { "a": "b" }, "finalizers": ["mine"] },
            "spec": { "ports": [{ "port": 80, "protocol": "TCP", "name": "http" }] },
        });
        let ports = |inner: Value| json!({ "f:ports": { r#"k:{"port":80,"protocol":"TCP"}"#: inner } });
        let metadata = json!({ "f:labels": { "f:a": {} }, "f:finalizers": { r#"v:"mine""#: {} } });
        let rows = [
            (json!({ "f:metadata": metadata, "f:spec": ports(json!({ ".": {}, "f:port": {}, "f:name": {} })) }), true),
            // A field that our manager owns and no longer applies has to be removed.
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
    fn defaulted_fields_of_a_key_match() {
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
    fn changed_or_unmanaged_objects_do_not_match() {
        let fields = json!({ "f:metadata": { "f:labels": { "f:a": {} } } });
        let changed = json!({ "metadata": { "labels": { "a": "other" } } });
        assert!(!matches_live(&live(&fields), &changed, &Ignored::default()));
        let mut unmanaged = live(&fields);
        unmanaged["metadata"]["managedFields"] = json!([]);
        assert!(!matches_live(&unmanaged, &json!({ "metadata": { "labels": { "a": "b" } } }), &Ignored::default()));
    }
}
