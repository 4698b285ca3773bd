//! YAML as `sigs.k8s.io/yaml` reads and writes it, straight to values and from them.

use std::rc::Rc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fitout_go_template::{Error, Floating, Map, Type, Unsigned, Value};
use fitout_go_yaml::{Build, Dialect, Writer, read_with};

use super::json::{self, Layout, push_float};
use super::view::{self, Sink, Stop};

/// A key up to this length is one that Go reads: in JSON it is at most six times as long, and 1024 are allowed.
const LONGEST_KEY: usize = 160;

/// Up to this depth Go's reader follows. It ends at 10,000.
const DEEPEST: usize = 9_000;

/// A value in YAML, as `yaml.Marshal` writes it.
///
/// Go writes JSON, reads that as YAML, and writes what it has read. What is the same after that is written at once; all
/// else goes the same way here.
pub(crate) fn to_yaml(value: &Value) -> Result<String, Error> {
    match written(value, false) {
        Err(Stop::Unusual) => by_way_of_json(value),
        Err(Stop::Refused(error)) => Err(Error::wrap("error marshaling into JSON: ", error)),
        Ok(text) => Ok(text),
    }
}

fn by_way_of_json(value: &Value) -> Result<String, Error> {
    let json = json::to_json(value, Layout::Compact);
    let json = json.map_err(|error| Error::wrap("error marshaling into JSON: ", error))?;
    let read = read_with(json.as_bytes(), &Numbers::Exact).map_err(|error| Error::new(error.to_string()))?;
    match written(&read, true) {
        Ok(text) => Ok(text),
        Err(Stop::Refused(error)) => Err(error),
        Err(Stop::Unusual) => Err(Error::new("yaml: what was read cannot be written")),
    }
}

fn written(value: &Value, read: bool) -> Result<String, Stop> {
    let mut straight = Straight { writer: Writer::new(Dialect::Two), read, depth: 0, buffer: String::new() };
    view::show(value, &mut straight)?;
    Ok(straight.writer.finish())
}

/// Writes YAML as long as JSON in between would change nothing.
struct Straight {
    writer: Writer,
    /// Whether JSON has been in between.
    read: bool,
    depth: usize,
    buffer: String,
}

impl Straight {
    fn usual<'t>(&self, text: &'t [u8]) -> Result<&'t str, Stop> {
        let text = str::from_utf8(text).map_err(|_| Stop::Unusual)?;
        if self.read || is_usual(text) { Ok(text) } else { Err(Stop::Unusual) }
    }

    fn enter(&mut self) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > DEEPEST && !self.read { Err(Stop::Unusual) } else { Ok(()) }
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.writer.end();
    }
}

/// Whether a text has only characters that YAML has and that JSON leaves as they are, or escapes.
fn is_usual(text: &str) -> bool {
    if text.is_ascii() {
        return !text.as_bytes().contains(&0x7f);
    }
    !text.contains(|c| matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}'))
}

impl Sink for Straight {
    const NATURAL: bool = true;

    fn null(&mut self) {
        self.writer.scalar("null");
    }

    fn bool(&mut self, value: bool) {
        self.writer.scalar(if value { "true" } else { "false" });
    }

    fn int(&mut self, whole: i64) {
        self.writer.int(whole);
    }

    fn uint(&mut self, whole: u64) {
        self.writer.uint(whole);
    }

    fn float(&mut self, float: f64, kind: Floating) {
        if kind == Floating::Float64 {
            return self.writer.float(float);
        }
        // It has other digits as one of 64 bits.
        self.buffer.clear();
        push_float(&mut self.buffer, float, kind);
        self.writer.float(self.buffer.parse().unwrap_or(float));
    }

    fn text(&mut self, text: &[u8]) -> Result<(), Stop> {
        let text = self.usual(text)?;
        self.writer.string(text);
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.clear();
        BASE64_STANDARD.encode_string(bytes, &mut self.buffer);
        self.writer.string(&self.buffer);
    }

    fn empty_array(&mut self) {
        self.writer.scalar("[]");
    }

    fn begin_array(&mut self) -> Result<(), Stop> {
        self.writer.begin_sequence();
        self.enter()
    }

    fn end_array(&mut self) {
        self.leave();
    }

    fn empty_object(&mut self) {
        self.writer.scalar("{}");
    }

    fn begin_object(&mut self) -> Result<(), Stop> {
        self.writer.begin_mapping();
        self.enter()
    }

    fn key(&mut self, key: &[u8]) -> Result<(), Stop> {
        let key = self.usual(key)?;
        if key.len() > LONGEST_KEY && !self.read {
            return Err(Stop::Unusual);
        }
        self.writer.key(key);
        Ok(())
    }

    fn end_object(&mut self) {
        self.leave();
    }
}

/// What YAML stands for, as `yaml.Unmarshal` gives it: all numbers are floats.
pub(crate) fn from_yaml(text: &[u8]) -> Result<Value, String> {
    read_with(text, &Numbers::Floats).map_err(|error| format!("error converting YAML to JSON: {error}"))
}

/// Makes values of what is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// Numbers are as they are written.
    Exact,
    /// All numbers are floats, as JSON's are to Go.
    Floats,
}

#[expect(clippy::cast_precision_loss, reason = "Go rounds as well")]
impl Build for Numbers {
    type Value = Value;
    type Key = Value;

    fn null(&self) -> Value {
        Value::Nil
    }

    fn bool(&self, value: bool) -> Value {
        Value::Bool(value)
    }

    fn int(&self, whole: i64) -> Value {
        if *self == Self::Exact { Value::int64(whole) } else { Value::float(whole as f64) }
    }

    fn uint(&self, whole: u64) -> Value {
        if *self == Self::Exact { Value::Uint(Unsigned::Uint64, whole) } else { Value::float(whole as f64) }
    }

    fn float(&self, float: f64) -> Value {
        Value::float(float)
    }

    fn text(&self, text: &str) -> Value {
        Value::string(text)
    }

    fn array(&self, items: Vec<Value>) -> Value {
        Value::list(items)
    }

    fn key(&self, text: &str) -> Value {
        Value::string(text)
    }

    fn object(&self, pairs: Vec<(Value, Value)>) -> Value {
        Value::Map(Rc::new(Map::of(Type::MAP, pairs)))
    }
}
