//! Values from JSON and to JSON, where an object with one key that begins with a dollar says what JSON cannot.

use fitout_go_template::{Signed, Type, Value};
use serde_json::{Map as Object, Value as Json, json};

/// The value that JSON stands for, as the oracle reads it.
pub(crate) fn decode(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number.as_i64().map_or_else(|| Value::float(number.as_f64().unwrap()), Value::int),
        Json::String(text) => Value::string(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(decode)),
        Json::Object(object) => match object.iter().next() {
            Some((key, inner)) if object.len() == 1 && key.starts_with('$') => {
                let text = inner.as_str().map_or_else(|| inner.to_string(), str::to_owned);
                match &key[1..] {
                    "float64" => Value::float(text.parse().unwrap()),
                    "int64" => Value::int64(text.parse().unwrap()),
                    tag => panic!("there is no tag {tag:?}"),
                }
            }
            _ => Value::map(object.iter().map(|(key, inner)| (key.as_str(), decode(inner)))),
        },
    }
}

/// The JSON of a value, as the oracle writes it.
pub(crate) fn tagged(value: &Value) -> Json {
    match value {
        Value::Nil => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(Signed::Int64, number) => json!({ "$int64": number.to_string() }),
        Value::Int(_, number) => json!({ "$int": number.to_string() }),
        Value::Float(_, float) => json!(float),
        Value::String(text) => json!(text.to_str()),
        Value::List(list) => list.items().iter().map(tagged).collect(),
        Value::Map(map) => {
            let entries = map.entries().into_iter().map(|(key, value)| {
                let Value::String(key) = key else { panic!("a key is a string") };
                (key.to_str().into_owned(), tagged(&value))
            });
            let object = Json::Object(entries.collect::<Object<_, _>>());
            match map.kind() {
                Type::MAP => object,
                _ if map.is_nil() => json!({ "$texts": null }),
                _ => json!({ "$texts": object }),
            }
        }
        other => panic!("there is no such value: {other:?}"),
    }
}

/// Makes all numbers floats: Go writes some as whole that are none.
pub(crate) fn as_floats(json: &mut Json) {
    match json {
        Json::Number(number) => *json = json!(number.as_f64()),
        Json::Array(items) => items.iter_mut().for_each(as_floats),
        Json::Object(object) => object.values_mut().for_each(as_floats),
        _ => {}
    }
}
