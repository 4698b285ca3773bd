//! What Go's `encoding/json` sees in a value, piece by piece.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use fitout_go_template::{Error, Floating, Format, Host, List, Map, Shape, Type, Value, rune};
use fitout_go_yaml::{Dialect, sort_keys};

use crate::stack::enough;

/// Go remembers what it is within from this depth on: who comes back to it has gone in a circle.
const WATCHED: usize = 1000;

/// Takes the pieces of a value.
pub(crate) trait Sink {
    /// Whether keys come in the order of YAML instead of that of their bytes.
    const NATURAL: bool;

    fn null(&mut self);
    fn bool(&mut self, value: bool);
    fn int(&mut self, whole: i64);
    fn uint(&mut self, whole: u64);
    /// A float that is finite; of 32 bits or of 64.
    fn float(&mut self, float: f64, kind: Floating);
    fn text(&mut self, text: &[u8]) -> Result<(), Stop>;
    fn bytes(&mut self, bytes: &[u8]);
    fn empty_array(&mut self);
    fn begin_array(&mut self) -> Result<(), Stop>;
    fn end_array(&mut self);
    fn empty_object(&mut self);
    fn begin_object(&mut self) -> Result<(), Stop>;
    fn key(&mut self, key: &[u8]) -> Result<(), Stop>;
    fn end_object(&mut self);
}

/// Why a value is not written to its end.
pub(crate) enum Stop {
    /// It cannot be written.
    Refused(Error),
    /// It is one that Go does not write as it was, so it has to be taken Go's long way.
    Unusual,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Gives a value to a sink.
pub(crate) fn show(value: &Value, sink: &mut impl Sink) -> Result<(), Stop> {
    Walk { sink, depth: 0, within: HashSet::new() }.value(value)
}

struct Walk<'s, S> {
    sink: &'s mut S,
    depth: usize,
    /// What it is within, by place in memory.
    within: HashSet<usize>,
}

impl<S: Sink> Walk<'_, S> {
    fn value(&mut self, value: &Value) -> Result<(), Stop> {
        match value {
            Value::Nil => self.sink.null(),
            Value::Bool(value) => self.sink.bool(*value),
            Value::Int(_, whole) => self.sink.int(*whole),
            Value::Uint(_, whole) => self.sink.uint(*whole),
            Value::Float(kind, float) => self.float(*kind, *float)?,
            Value::String(text) => self.sink.text(text)?,
            Value::Bytes(bytes) => self.sink.bytes(bytes),
            Value::List(list) => self.within(Rc::as_ptr(list).addr(), list.kind(), |walk| walk.list(list))?,
            Value::Map(map) => self.within(Rc::as_ptr(map).addr(), map.kind(), |walk| walk.map(map))?,
            Value::Host(host) => self.host(host)?,
            Value::Complex(..) | Value::Func(_) => return Err(unsupported_type(&value.type_name())),
        }
        Ok(())
    }

    fn float(&mut self, kind: Floating, float: f64) -> Result<(), Stop> {
        if !float.is_finite() {
            let name = if float.is_nan() {
                "NaN"
            } else if float > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            };
            return Err(Error::new(format!("json: unsupported value: {name}")).into());
        }
        self.sink.float(float, kind);
        Ok(())
    }

    /// Goes into a collection.
    fn within(&mut self, place: usize, kind: Type, go: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        self.depth += 1;
        let watched = self.depth > WATCHED;
        if watched && !self.within.insert(place) {
            let problem = format!("json: unsupported value: encountered a cycle via {kind}");
            return Err(Error::new(problem).into());
        }
        enough(|| go(self))?;
        if watched {
            self.within.remove(&place);
        }
        self.depth -= 1;
        Ok(())
    }

    fn list(&mut self, list: &List) -> Result<(), Stop> {
        if list.is_nil() {
            self.sink.null();
        } else if list.is_empty() {
            self.sink.empty_array();
        } else {
            self.sink.begin_array()?;
            for item in list.items() {
                self.value(item)?;
            }
            self.sink.end_array();
        }
        Ok(())
    }

    fn map(&mut self, map: &Map) -> Result<(), Stop> {
        match map.key_kind() {
            Type::String | Type::Int(_) | Type::Uint(_) => {}
            _ => return Err(unsupported_type(&map.kind().to_string())),
        }
        if map.is_nil() {
            self.sink.null();
            return Ok(());
        }
        map.show(|entries| {
            if entries.is_empty() {
                self.sink.empty_object();
                return Ok(());
            }
            if map.key_kind() != Type::String {
                let named = entries.iter().map(|(key, value)| (number(key), value)).collect();
                return self.pairs(named);
            }
            if S::NATURAL && !is_natural(entries) {
                let named = entries.iter().map(|(key, value)| (runes(key), value)).collect();
                return self.pairs(named);
            }
            self.sink.begin_object()?;
            for (key, value) in entries {
                self.sink.key(bytes(key))?;
                self.value(value)?;
            }
            self.sink.end_object();
            Ok(())
        })
    }

    /// Pairs that are not yet in order.
    fn pairs<K: AsRef<str>>(&mut self, mut pairs: Vec<(K, &Value)>) -> Result<(), Stop> {
        if S::NATURAL {
            sort_keys(&mut pairs, Dialect::Two, |(key, _)| key.as_ref());
        } else {
            pairs.sort_unstable_by(|(one, _), (other, _)| one.as_ref().cmp(other.as_ref()));
        }
        self.sink.begin_object()?;
        for (key, value) in pairs {
            self.sink.key(key.as_ref().as_bytes())?;
            self.value(value)?;
        }
        self.sink.end_object();
        Ok(())
    }

    fn host(&mut self, host: &Rc<dyn Host>) -> Result<(), Stop> {
        let shape = match host.marshal(Format::Json) {
            Some(shape) => shape?,
            None => exported(host.shape()),
        };
        let place = Rc::as_ptr(host).cast::<()>().addr();
        match shape {
            Shape::Like(value) => enough(|| self.value(&value)),
            Shape::Struct(fields) | Shape::Pointer(fields) => {
                self.within(place, Type::Named(host.type_name()), |walk| walk.fields(&fields))
            }
        }
    }

    fn fields(&mut self, fields: &[(&'static str, Value)]) -> Result<(), Stop> {
        if fields.is_empty() {
            self.sink.empty_object();
            return Ok(());
        }
        if S::NATURAL {
            return self.pairs(fields.iter().map(|(name, value)| (*name, value)).collect());
        }
        self.sink.begin_object()?;
        for (name, value) in fields {
            self.sink.key(name.as_bytes())?;
            self.value(value)?;
        }
        self.sink.end_object();
        Ok(())
    }
}

/// The fields of a struct that Go shows to others.
pub(crate) fn exported(shape: Shape) -> Shape {
    let public = |mut fields: Vec<(&'static str, Value)>| {
        fields.retain(|(name, _)| name.starts_with(char::is_uppercase));
        fields
    };
    match shape {
        Shape::Struct(fields) => Shape::Struct(public(fields)),
        Shape::Pointer(fields) => Shape::Pointer(public(fields)),
        like @ Shape::Like(_) => like,
    }
}

fn unsupported_type(name: &str) -> Stop {
    Error::new(format!("json: unsupported type: {name}")).into()
}

fn bytes(key: &Value) -> &[u8] {
    if let Value::String(text) = key { text } else { b"" }
}

/// The runes of a key, by which Go sorts: each byte that is no UTF-8 is U+FFFD.
pub(super) fn runes(key: &Value) -> Cow<'_, str> {
    let bytes = bytes(key);
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => rune::all(bytes).map(|rune| rune.char).collect(),
    }
}

fn number(key: &Value) -> String {
    match key {
        Value::Int(_, whole) => whole.to_string(),
        Value::Uint(_, whole) => whole.to_string(),
        _ => String::new(),
    }
}

/// Whether entries are in the order of YAML as they are. Where a key is no UTF-8, that is not known.
fn is_natural(entries: &[(Value, Value)]) -> bool {
    let known = Cell::new(true);
    let sorted = fitout_go_yaml::are_sorted(entries, Dialect::Two, |(key, _)| {
        let text = str::from_utf8(bytes(key));
        known.set(known.get() && text.is_ok());
        text.unwrap_or_default()
    });
    sorted && known.get()
}
