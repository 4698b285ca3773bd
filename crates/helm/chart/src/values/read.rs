//! Values from YAML and JSON. Numbers are `float64`, as Go's JSON has them.

use std::borrow::Cow;
use std::rc::Rc;

use fitout_go_template::{Map, Type, Value};
use serde_json::Value as Json;

use super::{as_table, empty, with_stack};
use crate::error::Error;

/// The most bytes that a text of values may have: 16 MiB. A release that holds more could not be stored.
const MAX_SIZE: usize = 16 << 20;

/// The values in a text of one or more YAML documents: those of a later one win.
pub fn load(text: &[u8]) -> Result<Rc<Map>, Error> {
    if text.len() > MAX_SIZE {
        let size = text.len();
        return Err(Error::new(format!("the values have {size} bytes, and at most {MAX_SIZE} are read: give fewer")));
    }
    let mut values = empty();
    let mut documents = Documents { left: text };
    while let Some(document) = documents.next() {
        let document = document.map_err(|error| error.while_doing("error reading yaml document"))?;
        let table = read(&document).map_err(|error| error.while_doing("cannot unmarshal yaml document"))?;
        if let Some(table) = table {
            values = if values.is_empty() { table } else { merge_maps(&values, &table) };
        }
    }
    Ok(values)
}

/// Both maps in one that is new: of two values the second map's wins, unless both are tables. What is inside is shared.
pub fn merge_maps(one: &Map, other: &Map) -> Rc<Map> {
    let merged = Map::of(Type::MAP, one.entries());
    for (key, value) in other.entries() {
        let both =
            as_table(&value).and_then(|table| Some((as_table(&merged.get_value(&key)?)?.clone(), table.clone())));
        let value = both.map_or(value, |(one, other)| Value::Map(with_stack(|| merge_maps(&one, &other))));
        merged.insert(key, value);
    }
    Rc::new(merged)
}

/// The table that one document is; nothing, where it says nothing.
fn read(document: &[u8]) -> Result<Option<Rc<Map>>, Error> {
    match fitout_helm_functions::from_yaml(document).map_err(|error| Error::new(error.to_string()))? {
        Value::Map(map) if !map.is_nil() => Ok(Some(map)),
        _ => Ok(None),
    }
}

/// A text, or why it is none to Go's YAML.
pub(crate) fn utf8(text: &[u8]) -> Result<&str, String> {
    str::from_utf8(text).map_err(|_| "yaml: invalid leading UTF-8 octet".to_owned())
}

/// The value that JSON is.
pub(crate) fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::float(number.as_f64().unwrap_or_default()),
        Json::String(text) => Value::string(text.as_str()),
        Json::Array(items) => with_stack(|| Value::list(items.iter().map(from_json))),
        Json::Object(object) => {
            with_stack(|| Value::map(object.iter().map(|(key, json)| (key.as_str(), from_json(json)))))
        }
    }
}

/// The documents of a text, divided as Kubernetes' tools do it. Their lines end with a line feed alone.
struct Documents<'t> {
    left: &'t [u8],
}

impl<'t> Documents<'t> {
    fn next(&mut self) -> Option<Result<Cow<'t, [u8]>, Error>> {
        if self.left.is_empty() {
            return None;
        }
        let divided = self.left.starts_with(b"---") || memchr::memmem::find(self.left, b"\n---").is_some();
        if !divided && memchr::memchr(b'\r', self.left).is_none() && self.left.ends_with(b"\n") {
            return Some(Ok(Cow::Borrowed(std::mem::take(&mut self.left))));
        }
        let mut document = Vec::new();
        while let Some(line) = self.line() {
            if let Some(rest) = line.strip_prefix(b"---") {
                let rest = String::from_utf8_lossy(rest);
                let rest = rest.trim();
                if !rest.is_empty() && !rest.starts_with('#') {
                    return Some(Err(Error::new(format!("invalid Yaml document separator: {rest}"))));
                }
                if !document.is_empty() {
                    break;
                }
            }
            document.extend_from_slice(line);
            document.push(b'\n');
        }
        (!document.is_empty()).then_some(Ok(Cow::Owned(document)))
    }

    fn line(&mut self) -> Option<&'t [u8]> {
        if self.left.is_empty() {
            return None;
        }
        let end = self.left.iter().position(|byte| *byte == b'\n');
        let (line, left) = match end {
            Some(end) => (&self.left[..end], &self.left[end + 1..]),
            None => (self.left, &b""[..]),
        };
        self.left = left;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}
