//! Values in layers.

use serde_json::Value;

/// The placeholder for a value that is not shown.
pub const HIDDEN: &str = "(not shown)";

/// Puts one layer of values over another, as Helm does: maps merge, lists and scalars replace, null deletes.
pub fn coalesce(under: &mut Value, over: &Value) {
    let (Value::Object(under), Value::Object(over)) = (&mut *under, over) else {
        under.clone_from(over);
        return;
    };
    for (name, value) in over {
        match under.get_mut(name) {
            _ if value.is_null() => drop(under.remove(name)),
            Some(Value::Object(_)) if value.is_object() => {
                if let Some(inner) = under.get_mut(name) {
                    coalesce(inner, value);
                }
            }
            _ => drop(under.insert(name.clone(), value.clone())),
        }
    }
}

/// Puts one layer of values over another and keeps what deletes: maps merge, all else replaces, null included. So the layer
/// below all, which is not at hand yet, can lose what is deleted.
pub fn overlay(under: &mut Value, over: &Value) {
    let (Value::Object(under), Value::Object(over)) = (&mut *under, over) else {
        under.clone_from(over);
        return;
    };
    for (name, value) in over {
        match under.get_mut(name) {
            Some(inner @ Value::Object(_)) if value.is_object() => overlay(inner, value),
            _ => drop(under.insert(name.clone(), value.clone())),
        }
    }
}

/// Whether all that is wanted is there: more may be, as a server adds. What is wanted to be empty may be absent.
pub fn contains(there: &Value, wanted: &Value) -> bool {
    match (there, wanted) {
        (Value::Object(there), Value::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| contains(there.get(name).unwrap_or(&Value::Null), wanted))
        }
        (Value::Array(there), Value::Array(wanted)) => {
            there.len() == wanted.len() && there.iter().zip(wanted).all(|(there, wanted)| contains(there, wanted))
        }
        (Value::Null, Value::Object(wanted)) => wanted.is_empty(),
        (Value::Null, Value::Array(wanted)) => wanted.is_empty(),
        _ => there == wanted,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn over(mut under: Value, over: &Value) -> Value {
        coalesce(&mut under, over);
        under
    }

    #[test]
    fn maps_merge_lists_replace_and_null_deletes() {
        let under = json!({ "a": { "x": 1, "y": 2 }, "list": [1, 2], "gone": true, "kept": 1 });
        let layer = json!({ "a": { "y": 3 }, "list": [3], "gone": null, "new": { "z": 1 } });
        assert_eq!(over(under, &layer), json!({ "a": { "x": 1, "y": 3 }, "list": [3], "kept": 1, "new": { "z": 1 } }));
    }

    #[test]
    fn a_scalar_over_a_map_replaces_it() {
        assert_eq!(over(json!({ "a": { "x": 1 } }), &json!({ "a": 2 })), json!({ "a": 2 }));
    }

    #[test]
    fn more_may_be_there_than_is_wanted_and_never_less() {
        let there = json!({ "a": { "x": 1, "uid": "u" }, "list": [{ "n": 1, "m": 2 }] });
        let rows = [
            (json!({}), true),
            (json!({ "a": { "x": 1 }, "list": [{ "n": 1 }], "none": [], "nothing": {} }), true),
            (json!({ "a": { "x": 2 } }), false),
            (json!({ "list": [] }), false),
            (json!({ "list": [{ "n": 1 }, { "n": 2 }] }), false),
            (json!({ "new": 1 }), false),
        ];
        for (wanted, expected) in rows {
            assert_eq!(contains(&there, &wanted), expected, "{wanted}");
        }
    }
}
