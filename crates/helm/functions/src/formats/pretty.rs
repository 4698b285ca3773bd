//! YAML as version 3 of Go's library writes it, straight from values: Helm's `toYamlPretty`.

use std::cmp::Ordering;
use std::rc::Rc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fitout_go_template::{Error, Floating, Format, Host, List, Map, Shape, Value};
use fitout_go_yaml::{Dialect, Writer, sort_keys};

use super::view::{exported, runes};
use crate::stack::enough;

/// Nobody reads what is nested more deeply. Go would go on until its stack ends, and with it the program.
const DEEPEST: usize = 10_000;

/// How long a line of base64 is.
const BASE64_LINE: usize = 70;

/// A value in YAML.
pub(crate) fn to_yaml_pretty(value: &Value) -> Result<String, Error> {
    let mut pretty = Pretty { writer: Writer::new(Dialect::Three), depth: 0 };
    pretty.value(value)?;
    Ok(pretty.writer.finish())
}

struct Pretty {
    writer: Writer,
    depth: usize,
}

impl Pretty {
    fn value(&mut self, value: &Value) -> Result<(), Error> {
        match value {
            Value::String(text) => self.text(text),
            Value::Bytes(bytes) => self.within(|pretty| {
                pretty
                    .sequence(bytes.iter().map(|byte| Value::Uint(fitout_go_template::Unsigned::Uint8, (*byte).into())))
            })?,
            Value::List(list) => self.within(|pretty| pretty.list(list))?,
            Value::Map(map) => self.within(|pretty| pretty.map(map))?,
            Value::Host(host) => return self.within(|pretty| pretty.host(host)),
            Value::Complex(..) | Value::Func(_) => {
                return Err(Error::new(format!("cannot marshal type: {}", value.type_name())));
            }
            scalar => self.writer.scalar(&plain(scalar)),
        }
        Ok(())
    }

    fn within(&mut self, go: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        if self.depth == DEEPEST {
            return Err(Error::new(format!("yaml: exceeded max depth of {DEEPEST}")));
        }
        self.depth += 1;
        enough(|| go(self))?;
        self.depth -= 1;
        Ok(())
    }

    fn text(&mut self, text: &[u8]) {
        match str::from_utf8(text) {
            Ok(text) => self.writer.string(text),
            Err(_) => self.writer.tagged_string("!!binary", &base64_lines(text)),
        }
    }

    fn list(&mut self, list: &List) -> Result<(), Error> {
        self.sequence(list.items().iter())
    }

    fn sequence(&mut self, items: impl ExactSizeIterator<Item = impl AsRef<Value>>) -> Result<(), Error> {
        if items.len() == 0 {
            self.writer.scalar("[]");
            return Ok(());
        }
        self.writer.begin_sequence();
        for item in items {
            self.value(item.as_ref())?;
        }
        self.writer.end();
        Ok(())
    }

    fn map(&mut self, map: &Map) -> Result<(), Error> {
        map.show(|entries| {
            if entries.is_empty() {
                self.writer.scalar("{}");
                return Ok(());
            }
            let mut entries: Vec<_> = entries.iter().collect();
            sort(&mut entries);
            self.writer.begin_mapping();
            for (key, value) in entries {
                self.key(key);
                self.value(value)?;
            }
            self.writer.end();
            Ok(())
        })
    }

    fn key(&mut self, key: &Value) {
        match key {
            Value::String(text) => match str::from_utf8(text) {
                Ok(text) => self.writer.key(text),
                Err(_) => self.writer.tagged_key("!!binary", &base64_lines(text)),
            },
            scalar => self.writer.scalar_key(&plain(scalar)),
        }
    }

    fn host(&mut self, host: &Rc<dyn Host>) -> Result<(), Error> {
        let shape = match host.marshal(Format::Yaml) {
            Some(shape) => match shape? {
                Shape::Like(Value::Bytes(text)) => {
                    self.writer.scalar(&text.to_str());
                    return Ok(());
                }
                shape => shape,
            },
            None => exported(host.shape()),
        };
        let fields = match shape {
            Shape::Like(value) => return self.value(&value),
            Shape::Struct(fields) | Shape::Pointer(fields) => fields,
        };
        if fields.is_empty() {
            self.writer.scalar("{}");
            return Ok(());
        }
        self.writer.begin_mapping();
        for (name, value) in fields {
            self.writer.key(&name.to_lowercase());
            self.value(&value)?;
        }
        self.writer.end();
        Ok(())
    }
}

/// A scalar that is no string.
fn plain(scalar: &Value) -> String {
    match scalar {
        Value::Bool(value) => value.to_string(),
        Value::Int(_, whole) => whole.to_string(),
        Value::Uint(_, whole) => whole.to_string(),
        Value::Float(Floating::Float64, float) => fitout_go_yaml::shortest(*float),
        Value::Float(Floating::Float32, float) => fitout_go_yaml::shortest_single(*float),
        _ => "null".to_owned(),
    }
}

fn base64_lines(bytes: &[u8]) -> String {
    let encoded = BASE64_STANDARD.encode(bytes);
    if encoded.len() < BASE64_LINE {
        return encoded;
    }
    let mut lines = String::with_capacity(encoded.len() + encoded.len() / BASE64_LINE + 1);
    for (at, c) in encoded.char_indices() {
        if at > 0 && at % BASE64_LINE == 0 {
            lines.push('\n');
        }
        lines.push(c);
    }
    lines.push('\n');
    lines
}

/// Numbers and booleans come first, by their value, then what is nil, then strings, then all else.
fn sort(entries: &mut Vec<&(Value, Value)>) {
    entries.sort_by(|one, other| order(&one.0, &other.0));
    let first_text = entries.partition_point(|entry| rank(&entry.0) < TEXT);
    let first_other = entries.partition_point(|entry| rank(&entry.0) <= TEXT);
    let others = entries.split_off(first_other);
    let texts = entries.split_off(first_text);
    let mut texts: Vec<_> = texts.into_iter().map(|entry| (runes(&entry.0), entry)).collect();
    sort_keys(&mut texts, Dialect::Three, |(key, _)| key.as_ref());
    entries.extend(texts.into_iter().map(|(_, entry)| entry));
    entries.extend(others);
}

fn order(one: &Value, other: &Value) -> Ordering {
    match (number(one), number(other)) {
        (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal).then(rank(one).cmp(&rank(other))),
        _ => rank(one).cmp(&rank(other)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "Go rounds as well")]
fn number(key: &Value) -> Option<f64> {
    match key {
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(_, whole) => Some(*whole as f64),
        Value::Uint(_, whole) => Some(*whole as f64),
        Value::Float(_, float) => Some(*float),
        _ => None,
    }
}

/// The place of strings in the order of Go's kinds.
const TEXT: u8 = 7;

/// The order of Go's kinds.
fn rank(key: &Value) -> u8 {
    match key {
        Value::Bool(_) => 1,
        Value::Int(..) => 2,
        Value::Uint(..) => 3,
        Value::Float(..) => 4,
        Value::Complex(..) => 5,
        Value::Nil => 6,
        Value::String(_) => TEXT,
        _ => TEXT + 1,
    }
}
