//! Merging and comparing layers of values.

use serde_json::Value;

/// The placeholder for a value that is not shown.
pub const HIDDEN: &str = "(not shown)";

/// Merges one layer of values into another, as Helm does: maps merge, lists and scalars replace, null deletes.
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

/// Merges one layer of values into another and keeps nulls: maps merge, all else replaces. A null can then still delete a
/// value of a lower layer that is merged later, such as the defaults of a chart.
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

/// Whether `live` has all of `desired`. It may have more, such as defaults of the API server; an empty map or list may be
/// absent.
pub fn contains(live: &Value, desired: &Value) -> bool {
    match (live, desired) {
        (Value::Object(live), Value::Object(desired)) => {
            desired.iter().all(|(name, desired)| contains(live.get(name).unwrap_or(&Value::Null), desired))
        }
        (Value::Array(live), Value::Array(desired)) => {
            live.len() == desired.len() && live.iter().zip(desired).all(|(live, desired)| contains(live, desired))
        }
        (Value::Null, Value::Object(desired)) => desired.is_empty(),
        (Value::Null, Value::Array(desired)) => desired.is_empty(),
        _ => live == desired,
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
    fn contains_allows_more_and_never_less() {
        let live = json!({ "a": { "x": 1, "uid": "u" }, "list": [{ "n": 1, "m": 2 }] });
        let rows = [
            (json!({}), true),
            (json!({ "a": { "x": 1 }, "list": [{ "n": 1 }], "none": [], "nothing": {} }), true),
            (json!({ "a": { "x": 2 } }), false),
            (json!({ "list": [] }), false),
            (json!({ "list": [{ "n": 1 }, { "n": 2 }] }), false),
            (json!({ "new": 1 }), false),
        ];
        for (desired, expected) in rows {
            assert_eq!(contains(&live, &desired), expected, "{desired}");
        }
    }
}
