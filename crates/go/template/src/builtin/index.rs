//! `index`, `slice` and `len`.

use std::rc::Rc;

use super::prepare;
use crate::error::Error;
use crate::host::Shape;
use crate::kind::{Type, Unsigned};
use crate::list::List;
use crate::map::Map;
use crate::operand::Operand;
use crate::text::Text;
use crate::value::Value;

/// `index x 1 "a"` is x[1]["a"].
pub(super) fn index(operands: &[Operand]) -> Result<Operand, Error> {
    let [item, indexes @ ..] = operands else { return Ok(Operand::NONE) };
    if let Value::Nil = item.value {
        return Err(Error::new("index of untyped nil"));
    }
    let mut item = Operand::plain(item.value.clone());
    for index in indexes {
        item = match &item.value {
            Value::Nil => return Err(Error::new("index of nil pointer")),
            value @ Value::Host(_) => step(&value.underlying(), value, &index.value)?,
            value => step(value, value, &index.value)?,
        };
    }
    Ok(item)
}

/// One index of an item, which messages show as a whole.
fn step(item: &Value, whole: &Value, index: &Value) -> Result<Operand, Error> {
    match item {
        Value::List(list) => {
            let at = place(index, list.len())?;
            let item = list.items().get(at).ok_or_else(|| Error::new("reflect: slice index out of range"))?;
            Ok(Operand::boxed(item.clone(), matches!(list.item_kind(), Type::Any)))
        }
        Value::Bytes(bytes) => byte(bytes, index, "reflect: slice index out of range"),
        Value::String(bytes) => byte(bytes, index, "reflect: string index out of range"),
        Value::Map(map) => entry(map, index),
        _ => Err(Error::new(format!("can't index item of type {}", pointed_to(whole)))),
    }
}

/// A pointer is followed before its type is named.
fn pointed_to(value: &Value) -> String {
    let name = value.type_name();
    match value {
        Value::Host(host) if matches!(host.shape(), Shape::Pointer(_)) => name.trim_start_matches('*').to_owned(),
        _ => name.into_owned(),
    }
}

fn byte(bytes: &[u8], index: &Value, beyond: &str) -> Result<Operand, Error> {
    let at = place(index, bytes.len())?;
    let byte = bytes.get(at).ok_or_else(|| Error::new(beyond))?;
    Ok(Operand::plain(Value::Uint(Unsigned::Uint8, u64::from(*byte))))
}

fn entry(map: &Map, index: &Value) -> Result<Operand, Error> {
    let any = map.holds_any();
    let key = prepare(index, map.key_kind()).map_err(Error::new)?;
    if let Value::List(_) | Value::Map(_) | Value::Bytes(_) | Value::Func(_) = key.underlying() {
        return Err(Error::new(format!("runtime error: hash of unhashable type {}", key.type_name())));
    }
    Ok(Operand::boxed(map.get_value(&key).unwrap_or_else(|| Value::zero(map.value_kind())), any))
}

/// An index up to and with a limit.
fn place(index: &Value, limit: usize) -> Result<usize, Error> {
    let number = match index.underlying() {
        Value::Int(_, int) => int,
        Value::Uint(_, uint) => uint.cast_signed(),
        Value::Nil => return Err(Error::new("cannot index slice/array with nil")),
        _ => return Err(Error::new(format!("cannot index slice/array with type {}", index.type_name()))),
    };
    match usize::try_from(number) {
        Ok(place) if place <= limit => Ok(place),
        _ => Err(Error::new(format!("index out of range: {number}"))),
    }
}

/// `slice x 1 2` is x[1:2].
pub(super) fn slice(operands: &[Operand]) -> Result<Value, Error> {
    let [whole, indexes @ ..] = operands else { return Ok(Value::Nil) };
    let item = whole.value.underlying();
    if let Value::Nil = item {
        return Err(Error::new("slice of untyped nil"));
    }
    if indexes.len() > 3 {
        return Err(Error::new(format!("too many slice indexes: {}", indexes.len())));
    }
    let length = match &item {
        Value::String(_) if indexes.len() == 3 => return Err(Error::new("cannot 3-index slice a string")),
        Value::String(bytes) | Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        _ => return Err(Error::new(format!("can't slice item of type {}", pointed_to(&whole.value)))),
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        // An interface is not looked into here.
        *bound = match index {
            boxed if boxed.boxed => return Err(Error::new("cannot index slice/array with type interface {}")),
            plain => place(&plain.value, length)?,
        };
    }
    for (lower, upper) in [(bounds[0], bounds[1]), (bounds[1], bounds[2])] {
        if lower > upper {
            return Err(Error::new(format!("invalid slice index: {lower} > {upper}")));
        }
    }
    let range = bounds[0]..bounds[1];
    let part = match item {
        Value::String(text) => Value::String(Text::from(&text[range])),
        Value::Bytes(bytes) => Value::Bytes(Text::from(&bytes[range])),
        Value::List(list) if list.is_nil() => Value::List(list),
        Value::List(list) => Value::List(Rc::new(List::of(list.kind(), list.items()[range].to_vec()))),
        other => other,
    };
    Ok(match &whole.value {
        Value::Host(host) => host.like(&part).unwrap_or(part),
        _ => part,
    })
}

/// How many items, entries or bytes there are.
pub(super) fn len(operand: &Operand) -> Result<Value, Error> {
    let length = match operand.value.underlying() {
        Value::Nil if operand.boxed => return Err(Error::new("len of nil pointer")),
        Value::Nil => return Err(Error::new("reflect: call of reflect.Value.Type on zero Value")),
        Value::String(bytes) | Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => return Err(Error::new(format!("len of type {}", pointed_to(&operand.value)))),
    };
    Ok(Value::int(i64::try_from(length).unwrap_or(i64::MAX)))
}
