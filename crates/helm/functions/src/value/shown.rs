//! Values as text.

use std::rc::Rc;

use fitout_go_template::{Error, List, Text, Type, Value, sprint};

use crate::argument::Items;

/// A value as text: what it says of itself, or else as it is printed.
pub(crate) fn shown(value: &Value) -> Result<Text, Error> {
    match value {
        Value::String(text) | Value::Bytes(text) => Ok(text.clone()),
        // The nil of bytes.
        Value::List(list) if list.kind() == Type::BYTES => Ok("".into()),
        Value::Host(host) => host.text().map_or_else(|| sprint(std::slice::from_ref(value)), Ok),
        _ => sprint(std::slice::from_ref(value)),
    }
}

/// A value as a list of texts, without what is nil in it: the items of a slice, or itself.
pub(crate) fn strings(value: &Value) -> Result<Value, Error> {
    match value {
        Value::List(list) if list.kind() == Type::STRINGS => Ok(value.clone()),
        _ => {
            let texts = texts(value)?.into_iter().map(Value::String).collect();
            Ok(Value::List(Rc::new(List::of(Type::STRINGS, texts))))
        }
    }
}

/// The same as texts.
pub(crate) fn texts(value: &Value) -> Result<Vec<Text>, Error> {
    let there = |value: &&Value| !matches!(value, Value::Nil);
    match Items::of(value) {
        Some(items) => items.iter().filter(there).map(shown).collect(),
        None => Some(value).filter(there).map(shown).into_iter().collect(),
    }
}
