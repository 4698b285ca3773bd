//! From YAML's values to JSON's, which knows only text for keys and no infinite numbers.

use serde_json::{Map, Number, Value};

use crate::decode::{Decoded, Key, Mapping};
use crate::{Error, float, gosyntax};

/// The value in JSON. A float that Go's JSON writes without a fraction is whole.
pub(crate) fn to_json(decoded: Decoded) -> Result<Value, Error> {
    let mut unsupported = None;
    let value = convert(decoded, &mut unsupported)?;
    match unsupported {
        Some(float) => Err(Error::not_json(format!("json: unsupported value: {float}"))),
        None => Ok(value),
    }
}

/// Go looks at all keys before it looks at any number, so the first number that JSON does not have is only noted.
fn convert(decoded: Decoded, unsupported: &mut Option<&'static str>) -> Result<Value, Error> {
    Ok(match decoded {
        Decoded::Scalar(Key::Null) => Value::Null,
        Decoded::Scalar(Key::Bool(value)) => Value::Bool(value),
        Decoded::Scalar(Key::Int(whole)) => Value::Number(whole.into()),
        Decoded::Scalar(Key::Uint(whole)) => Value::Number(whole.into()),
        Decoded::Scalar(Key::Float(bits)) => number(bits.get(), unsupported),
        Decoded::Scalar(Key::Text(text)) => Value::String(text),
        Decoded::Sequence(items) => return array(items, unsupported),
        Decoded::Mapping(mapping) => return object(mapping, unsupported),
    })
}

fn array(items: Vec<Decoded>, unsupported: &mut Option<&'static str>) -> Result<Value, Error> {
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.push(convert(item, unsupported)?);
    }
    Ok(Value::Array(values))
}

fn object(mapping: Mapping, unsupported: &mut Option<&'static str>) -> Result<Value, Error> {
    let mut pairs = Map::new();
    for (key, value) in mapping {
        pairs.insert(name(key, &value)?, convert(value, unsupported)?);
    }
    Ok(Value::Object(pairs))
}

fn number(float: f64, unsupported: &mut Option<&'static str>) -> Value {
    if let Some(number) = float::whole(float).or_else(|| Number::from_f64(float)) {
        return Value::Number(number);
    }
    let name = match float {
        f64::INFINITY => "+Inf",
        f64::NEG_INFINITY => "-Inf",
        _ => "NaN",
    };
    unsupported.get_or_insert(name);
    Value::Null
}

fn name(key: Key, value: &Decoded) -> Result<String, Error> {
    let kind = match key {
        Key::Text(text) => return Ok(text),
        Key::Bool(value) => return Ok(value.to_string()),
        Key::Int(whole) => return Ok(whole.to_string()),
        Key::Float(bits) => return Ok(float::shortest_single(bits.get())),
        Key::Uint(_) => "uint64",
        Key::Null => "%!s(<nil>)",
    };
    let (key, value) = (gosyntax::key(&key), gosyntax::value(value));
    Err(Error::not_json(format!("unsupported map key of type: {kind}, key: {key}, value: {value}")))
}
