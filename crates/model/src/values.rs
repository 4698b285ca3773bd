//! Values in layers.

use serde_json::Value;

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
}
