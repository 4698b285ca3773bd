//! TOML, from values and to them.

use std::rc::Rc;

use fitout_go_template::{Error, Floating, Format, Host, List, Map, Shape, Text, Type, Unsigned, Value};
use fitout_go_toml::{Encode, MAX_DEPTH, Table};
use fitout_go_yaml::{shortest, shortest_single};

use super::time::Place;
use super::view::exported;
use crate::stack::enough;

/// A value in TOML.
pub(crate) fn to_toml(value: &Value) -> Result<Vec<u8>, Stop> {
    let encode = match value {
        Value::Nil => return Err(Stop::Panic("reflect: call of reflect.Value.Type on zero Value")),
        // At the top even nil is written.
        Value::List(list) if list.is_nil() => Encode::Array(Vec::new()),
        other => encode(other, 0).map_err(Stop::Error)?,
    };
    fitout_go_toml::to_toml(&encode).map_err(|error| Stop::Error(Error::new(error)))
}

/// Why a value was not written.
pub(crate) enum Stop {
    /// It cannot be.
    Error(Error),
    /// Go does not see it coming.
    Panic(&'static str),
}

fn encode(value: &Value, depth: usize) -> Result<Encode<Text>, Error> {
    if depth > MAX_DEPTH {
        return Err(Error::new(format!("toml: exceeded max depth of {MAX_DEPTH}")));
    }
    Ok(match value {
        Value::Nil => Encode::Nil,
        Value::Bool(value) => Encode::Bool(*value),
        Value::Int(_, whole) => Encode::Int(*whole),
        Value::Uint(Unsigned::Uintptr, _) => Encode::Other("uintptr"),
        Value::Uint(_, whole) => Encode::Uint(*whole),
        Value::Float(kind, float) => Encode::Float(digits(*kind, *float)),
        Value::Complex(..) => Encode::Other("complex128"),
        Value::Func(_) => Encode::Other("func"),
        Value::String(text) => Encode::Text(text.clone()),
        Value::Bytes(bytes) => Encode::Array(bytes.iter().map(|byte| Encode::Uint((*byte).into())).collect()),
        Value::List(list) if list.is_nil() => Encode::Nil,
        Value::List(list) => enough(|| array(list, depth))?,
        Value::Map(map) if map.is_nil() => Encode::Nil,
        Value::Map(map) => enough(|| table(map, depth))?,
        Value::Host(host) => enough(|| self::host(host, depth))?,
    })
}

fn array(list: &List, depth: usize) -> Result<Encode<Text>, Error> {
    Ok(Encode::Array(list.items().iter().map(|item| encode(item, depth + 1)).collect::<Result<_, _>>()?))
}

fn table(map: &Map, depth: usize) -> Result<Encode<Text>, Error> {
    if map.key_kind() != Type::String {
        return Ok(Encode::OtherMap);
    }
    map.show(|entries| {
        let pair = |(key, value): &(Value, Value)| match key {
            Value::String(key) => Ok((key.clone(), encode(value, depth + 1)?)),
            _ => Ok(("".into(), Encode::Nil)),
        };
        Ok(Encode::Table(entries.iter().map(pair).collect::<Result<_, Error>>()?))
    })
}

fn host(host: &Rc<dyn Host>, depth: usize) -> Result<Encode<Text>, Error> {
    let shape = match host.marshal(Format::Toml) {
        Some(shape) => match shape? {
            Shape::Like(Value::Bytes(text)) => return Ok(Encode::Raw(text)),
            shape => shape,
        },
        None => exported(host.shape()),
    };
    match shape {
        Shape::Like(value) => encode(&value, depth + 1),
        Shape::Struct(fields) | Shape::Pointer(fields) => {
            let pair = |(name, value): &(&'static str, Value)| Ok(((*name).into(), encode(value, depth + 1)?));
            Ok(Encode::Table(fields.iter().map(pair).collect::<Result<_, Error>>()?))
        }
    }
}

fn digits(kind: Floating, float: f64) -> String {
    let sign = if float.is_sign_negative() { "-" } else { "" };
    if float.is_nan() {
        return format!("{sign}nan");
    }
    if float.is_infinite() {
        return format!("{sign}inf");
    }
    if kind == Floating::Float32 { shortest_single(float) } else { shortest(float) }
}

/// What a TOML text says.
pub(crate) fn from_toml(text: &[u8], place: &Place) -> Result<Value, String> {
    let table = fitout_go_toml::from_toml(text).map_err(|error| error.to_string())?;
    Ok(self::map(table, place))
}

fn map(table: Table, place: &Place) -> Value {
    let entries = table.into_iter().map(|(key, value)| (Value::string(key), decoded(value, place)));
    Value::Map(Rc::new(Map::of(Type::MAP, entries)))
}

fn decoded(value: fitout_go_toml::Value, place: &Place) -> Value {
    match value {
        fitout_go_toml::Value::Bool(value) => Value::Bool(value),
        fitout_go_toml::Value::Int(whole) => Value::int64(whole),
        fitout_go_toml::Value::Float(float) => Value::float(float),
        fitout_go_toml::Value::Text(text) => Value::string(text),
        fitout_go_toml::Value::Datetime(datetime) => place.value(&datetime),
        fitout_go_toml::Value::Array(items) => {
            enough(|| Value::list(items.into_iter().map(|item| decoded(item, place))))
        }
        fitout_go_toml::Value::Tables(tables) => enough(|| {
            let items = tables.into_iter().map(|table| map(table, place)).collect();
            Value::List(Rc::new(List::of(Type::List(&Type::MAP), items)))
        }),
        fitout_go_toml::Value::Table(table) => enough(|| map(table, place)),
    }
}
