//! Values from JSON, in which an object with one key that begins with a dollar says what JSON cannot.

use std::rc::Rc;

use fitout_go_template::{Floating, List, Map, Signed, Type, Unsigned, Value};
use serde_json::Value as Json;

use super::hosts;

/// The value that JSON stands for.
pub(crate) fn decode(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number.as_i64().map_or_else(|| Value::float(number.as_f64().unwrap()), Value::int),
        Json::String(text) => Value::string(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(decode)),
        Json::Object(object) => match object.iter().next() {
            Some((key, inner)) if object.len() == 1 && key.starts_with('$') => tagged(&key[1..], inner),
            _ => Value::map(object.iter().map(|(key, inner)| (key.as_str(), decode(inner)))),
        },
    }
}

fn tagged(tag: &str, inner: &Json) -> Value {
    let text = inner.as_str().map_or_else(|| inner.to_string(), str::to_owned);
    let signed = |kind| Value::Int(kind, text.parse().unwrap());
    let unsigned = |kind| Value::Uint(kind, text.parse().unwrap());
    match tag {
        "int8" => signed(Signed::Int8),
        "int16" => signed(Signed::Int16),
        "int32" => signed(Signed::Int32),
        "int64" => signed(Signed::Int64),
        "uint" => unsigned(Unsigned::Uint),
        "uint8" => unsigned(Unsigned::Uint8),
        "uint16" => unsigned(Unsigned::Uint16),
        "uint32" => unsigned(Unsigned::Uint32),
        "uint64" => unsigned(Unsigned::Uint64),
        "float32" => Value::Float(Floating::Float32, text.parse::<f32>().unwrap().into()),
        "float64" => Value::float(text.parse().unwrap()),
        "bytes" => Value::Bytes(unhex(&text).into()),
        "raw" => Value::string(unhex(&text)),
        "nil" => Value::zero(match &*text {
            "strings" => Type::STRINGS,
            "list" => Type::LIST,
            "map" => Type::MAP,
            _ => STRING_MAP,
        }),
        "host" => hosts::by_name(&text),
        "func" => Value::Func(super::by_name(&text).unwrap()),
        _ => collection(tag, inner),
    }
}

const STRING_MAP: Type = Type::Map(&Type::String, &Type::String);

fn collection(tag: &str, inner: &Json) -> Value {
    let list = |kind| {
        let items = inner.as_array().unwrap().iter().map(decode).collect();
        Value::List(Rc::new(List::of(kind, items)))
    };
    let map = |kind| {
        let pairs = inner.as_array().unwrap().iter().map(|pair| (decode(&pair[0]), decode(&pair[1])));
        Value::Map(Rc::new(Map::of(kind, pairs)))
    };
    match tag {
        "strings" => list(Type::STRINGS),
        "ints" => list(Type::List(&Type::INT)),
        "lists" => list(Type::List(&Type::LIST)),
        "intmap" => map(Type::Map(&Type::INT, &Type::Any)),
        "anymap" => map(Type::Map(&Type::Any, &Type::Any)),
        "stringmap" => {
            let entries = inner.as_object().unwrap().iter().map(|(key, inner)| (key.as_str().into(), decode(inner)));
            Value::Map(Rc::new(Map::of(STRING_MAP, entries)))
        }
        _ => panic!("no such tag: {tag}"),
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}
