//! Texts in parts, and parts as one text.

use std::rc::Rc;

use fitout_go_template::{Error, Map, Text, Type, Value, rune};
use memchr::memmem;

use super::{INT, TEXT};
use crate::argument::{Items, int, text};
use crate::declare::Declare;
use crate::value::{shown, texts};

const STRING_MAP: Type = Type::Map(&Type::String, &Type::String);

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.plain(&["split"], &[TEXT, TEXT], STRING_MAP, |a| numbered(&split(text(&a[1]), text(&a[0]), -1)));
    declare
        .plain(&["splitn"], &[TEXT, INT, TEXT], STRING_MAP, |a| numbered(&split(text(&a[2]), text(&a[0]), int(&a[1]))));
    declare
        .plain(&["splitList"], &[TEXT, TEXT], Type::STRINGS, |a| Value::strings(split(text(&a[1]), text(&a[0]), -1)));
    declare.panicking(&["join"], &[TEXT, Type::Any], TEXT, |a| joined(text(&a[0]), &a[1]));
    declare.panicking(&["sortAlpha"], &[Type::Any], Type::STRINGS, |a| sorted(&a[0]));
}

/// `strings.SplitN`: no more than so many parts, or all where there are less than none. Between no separators are runes.
fn split<'t>(text: &'t [u8], separator: &[u8], limit: i64) -> Vec<&'t [u8]> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    if limit == 0 || separator.is_empty() && text.is_empty() {
        return parts;
    }
    let mut begin = 0;
    if separator.is_empty() {
        for rune in rune::all(text).skip(1).take(limit - 1) {
            parts.push(&text[begin..rune.begin]);
            begin = rune.begin;
        }
    } else {
        for place in memmem::find_iter(text, separator).take(limit - 1) {
            parts.push(&text[begin..place]);
            begin = place + separator.len();
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// Parts under `_0`, `_1` and so on.
fn numbered(parts: &[&[u8]]) -> Value {
    let entries = parts.iter().enumerate();
    let entries = entries.map(|(number, part)| (Value::string(format!("_{number}")), Value::string(*part)));
    Value::Map(Rc::new(Map::of(STRING_MAP, entries)))
}

fn joined(separator: &[u8], value: &Value) -> Result<Value, Error> {
    let mut all = Vec::new();
    let Some(items) = Items::of(value) else {
        return Ok(Value::String(if let Value::Nil = value { "".into() } else { shown(value)? }));
    };
    let mut first = true;
    for item in items.iter().filter(|item| !matches!(item, Value::Nil)) {
        if !std::mem::take(&mut first) {
            all.extend_from_slice(separator);
        }
        if let Value::String(text) = item {
            all.extend_from_slice(text);
        } else {
            all.extend_from_slice(&shown(item)?);
        }
    }
    Ok(Value::string(all))
}

/// Texts in order. A list that has been one of texts before is itself put in order, for all who hold it.
fn sorted(value: &Value) -> Result<Value, Error> {
    if let Value::List(list) = value
        && list.kind() == Type::STRINGS
    {
        list.sort(|items| {
            let mut items = items.to_vec();
            items.sort_unstable_by(|one, other| text(one).cmp(text(other)));
            items
        });
        return Ok(value.clone());
    }
    let mut texts: Vec<Text> = if Items::of(value).is_some() { texts(value)? } else { vec![shown(value)?] };
    texts.sort_unstable();
    Ok(Value::strings(texts))
}
