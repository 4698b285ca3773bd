//! Compares objects field by field, without the fields that the server sets.

use serde_json::Value;

/// The differences between two objects, one line each: the path of the field and both values.
///
/// Fields that only the server sets are left out: identity, times, versions, field managers and `status`.
pub fn differences(left: &Value, right: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", &without_server_fields(left), &without_server_fields(right), &mut found);
    found
}

/// The object without the fields that only the server sets.
pub fn without_server_fields(object: &Value) -> Value {
    const METADATA: [&str; 7] =
        ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp"];
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            for name in METADATA {
                metadata.remove(name);
            }
        }
    }
    object
}

fn compare(path: &str, left: &Value, right: &Value, found: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                compare(&format!("{path}.{name}"), value, right.get(name).unwrap_or(&Value::Null), found);
            }
            for (name, value) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
                compare(&format!("{path}.{name}"), &Value::Null, value, found);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for index in 0..left.len().max(right.len()) {
                let item = |list: &[Value]| list.get(index).cloned().unwrap_or(Value::Null);
                compare(&format!("{path}[{index}]"), &item(left), &item(right), found);
            }
        }
        _ if left == right => {}
        _ => found.push(format!("{path}: {left} is not {right}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_name_the_field_and_both_values() {
        let left = json!({ "metadata": { "name": "a", "uid": "1" }, "spec": { "replicas": 1, "args": ["x"] } });
        let right = json!({ "metadata": { "name": "a", "uid": "2" }, "spec": { "replicas": 2, "args": ["x", "y"] } });
        assert_eq!(differences(&left, &right), [".spec.args[1]: null is not \"y\"", ".spec.replicas: 1 is not 2"]);
    }

    #[test]
    fn server_fields_are_no_difference() {
        let written = json!({ "metadata": { "name": "a" }, "data": { "k": "v" } });
        let stored = json!({
            "metadata": { "name": "a", "uid": "1", "resourceVersion": "7", "managedFields": [{}] },
            "data": { "k": "v" },
            "status": { "phase": "Active" },
        });
        assert_eq!(differences(&written, &stored), Vec::<String>::new());
    }

    #[test]
    fn a_field_on_one_side_is_a_difference() {
        let (with, without) = (json!({ "data": { "k": "v" } }), json!({ "data": {} }));
        assert_eq!(differences(&with, &without), [".data.k: \"v\" is not null"]);
        assert_eq!(differences(&without, &with), [".data.k: null is not \"v\""]);
    }
}
