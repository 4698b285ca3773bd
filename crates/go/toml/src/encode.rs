//! Writes TOML.

use std::ops::Deref;

use crate::key::{joined, push_part, push_quoted};

/// What can be asked to be written, with all that TOML does not have.
#[derive(Clone, Debug)]
pub enum Encode<T> {
    /// Nil, of whatever type: it is left out of tables and refused in arrays.
    Nil,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A float, in as few digits as possible: with an exponent, a point, or none of both.
    Float(String),
    /// A string.
    Text(T),
    /// Something that is written as it is, such as a date.
    Raw(T),
    /// An array.
    Array(Vec<Self>),
    /// A table: pairs in their order.
    Table(Vec<(T, Self)>),
    /// A map whose keys are no strings.
    OtherMap,
    /// A kind that TOML does not have.
    Other(&'static str),
}

/// A value in TOML.
pub fn to_toml<T: Deref<Target = [u8]>>(value: &Encode<T>) -> Result<Vec<u8>, String> {
    let mut writer = Writer { out: Vec::new() };
    writer.encode(&mut Vec::new(), value)?;
    Ok(writer.out)
}

struct Writer {
    out: Vec<u8>,
}

/// What decides where a value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Nil,
    Table,
    Tables,
    Other,
}

fn sort<T>(value: &Encode<T>) -> Result<Sort, String> {
    Ok(match value {
        Encode::Nil => Sort::Nil,
        Encode::Table(_) | Encode::OtherMap => Sort::Table,
        Encode::Array(items) if is_tables(items)? => Sort::Tables,
        Encode::Other(kind) => return Err(format!("unsupported type: {kind}")),
        _ => Sort::Other,
    })
}

/// Whether all items are tables. None may be nil.
fn is_tables<T>(items: &[Encode<T>]) -> Result<bool, String> {
    let mut tables = !items.is_empty();
    for item in items {
        match deep_sort(item)? {
            Sort::Nil => return Err("toml: cannot encode array with nil element".to_owned()),
            sort => tables &= sort == Sort::Table,
        }
    }
    Ok(tables)
}

fn deep_sort<T>(value: &Encode<T>) -> Result<Sort, String> {
    stacker::maybe_grow(64 << 10, 1 << 20, || sort(value))
}

impl Writer {
    fn line(&mut self) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
    }

    fn indent(&mut self, key: &[&[u8]]) {
        for _ in 1..key.len() {
            self.out.extend_from_slice(b"  ");
        }
    }

    fn encode<'v, T: Deref<Target = [u8]>>(
        &mut self,
        key: &mut Vec<&'v [u8]>,
        value: &'v Encode<T>,
    ) -> Result<(), String> {
        match value {
            Encode::Nil => Ok(()),
            Encode::Table(_) | Encode::OtherMap => {
                if key.len() == 1 {
                    self.line();
                }
                if !key.is_empty() {
                    self.heading(key, "[", "]");
                }
                self.table(key, value)
            }
            Encode::Array(items) if is_tables(items)? => self.tables(key, items),
            Encode::Other(kind) => {
                Err(format!("unsupported type for key '{}': {kind}", String::from_utf8_lossy(&joined(key))))
            }
            scalar => self.pair(key, scalar, false),
        }
    }

    fn heading(&mut self, key: &[&[u8]], open: &str, close: &str) {
        self.indent(key);
        self.out.extend_from_slice(open.as_bytes());
        self.out.extend(joined(key));
        self.out.extend_from_slice(close.as_bytes());
        self.line();
    }

    fn tables<'v, T: Deref<Target = [u8]>>(
        &mut self,
        key: &mut Vec<&'v [u8]>,
        items: &'v [Encode<T>],
    ) -> Result<(), String> {
        if key.is_empty() {
            return Err("toml: top-level values must be Go maps or structs".to_owned());
        }
        for item in items {
            self.line();
            self.heading(key, "[[", "]]");
            self.table(key, item)?;
        }
        Ok(())
    }

    /// The pairs of a table: first those that are no tables themselves.
    fn table<'v, T: Deref<Target = [u8]>>(
        &mut self,
        key: &mut Vec<&'v [u8]>,
        value: &'v Encode<T>,
    ) -> Result<(), String> {
        let (direct, below) = divided(value)?;
        for (name, value) in direct.into_iter().chain(below) {
            key.push(name);
            stacker::maybe_grow(64 << 10, 1 << 20, || self.encode(key, value))?;
            key.pop();
        }
        Ok(())
    }

    fn pair<T: Deref<Target = [u8]>>(&mut self, key: &[&[u8]], value: &Encode<T>, inline: bool) -> Result<(), String> {
        let Some(last) = key.last() else { return self.element(value) };
        self.indent(key);
        push_part(&mut self.out, last);
        self.out.extend_from_slice(b" = ");
        self.element(value)?;
        if !inline {
            self.line();
        }
        Ok(())
    }

    fn element<T: Deref<Target = [u8]>>(&mut self, value: &Encode<T>) -> Result<(), String> {
        match value {
            Encode::Bool(value) => self.out.extend_from_slice(value.to_string().as_bytes()),
            Encode::Int(whole) => self.out.extend_from_slice(whole.to_string().as_bytes()),
            Encode::Uint(whole) => self.out.extend_from_slice(whole.to_string().as_bytes()),
            Encode::Float(digits) => {
                self.out.extend_from_slice(digits.as_bytes());
                if !digits.contains(['e', '.', 'n']) {
                    self.out.extend_from_slice(b".0");
                }
            }
            Encode::Text(text) => push_quoted(&mut self.out, text),
            Encode::Raw(text) => self.out.extend_from_slice(text),
            Encode::Array(items) => return stacker::maybe_grow(64 << 10, 1 << 20, || self.array(items)),
            Encode::Table(_) | Encode::OtherMap => {
                return stacker::maybe_grow(64 << 10, 1 << 20, || self.inline(value));
            }
            Encode::Nil => {}
            Encode::Other(kind) => return Err(format!("unexpected type: {kind}")),
        }
        Ok(())
    }

    fn array<T: Deref<Target = [u8]>>(&mut self, items: &[Encode<T>]) -> Result<(), String> {
        self.out.push(b'[');
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                self.out.extend_from_slice(b", ");
            }
            self.element(item)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn inline<T: Deref<Target = [u8]>>(&mut self, value: &Encode<T>) -> Result<(), String> {
        let (direct, below) = divided(value)?;
        self.out.push(b'{');
        for (pairs, follow) in [(&direct, !below.is_empty()), (&below, false)] {
            for (place, (name, value)) in pairs.iter().enumerate() {
                if matches!(value, Encode::Nil) {
                    continue;
                }
                self.pair(&[name], value, true)?;
                // As in Go, one too many where what follows is left out.
                if follow || place + 1 < pairs.len() {
                    self.out.extend_from_slice(b", ");
                }
            }
        }
        self.out.push(b'}');
        Ok(())
    }
}

type Pairs<'v, T> = Vec<(&'v [u8], &'v Encode<T>)>;

/// The pairs of a table that are no tables, and those that are.
fn divided<T: Deref<Target = [u8]>>(value: &Encode<T>) -> Result<(Pairs<'_, T>, Pairs<'_, T>), String> {
    let Encode::Table(pairs) = value else {
        return Err("toml: cannot encode a map with non-string key type".to_owned());
    };
    let (mut direct, mut below) = (Vec::new(), Vec::new());
    for (name, value) in pairs {
        let table = matches!(sort(value)?, Sort::Table | Sort::Tables);
        (if table { &mut below } else { &mut direct }).push((&**name, value));
    }
    Ok((direct, below))
}
