//! The parser of all forms of `--set`.

use std::rc::Rc;

use fitout_go_template::{List, Map, Signed, Type, Value, quote, sprintf};

use super::runes::{Read, Runes};
use super::stop::Stop;
use super::typed;
use crate::error::Error;
use crate::values::{as_table, empty, with_stack};

/// The largest index of a list.
const MAX_INDEX: usize = 65_536;
/// How many names may be inside of each other.
const MAX_LEVEL: usize = 30;

/// What a value is written in.
pub(super) enum Form<'f> {
    Typed,
    Text,
    Literal,
    Json,
    File(&'f mut dyn FnMut(&str) -> Result<Vec<u8>, String>),
}

pub(super) struct Parser<'t, 'f> {
    runes: Runes<'t>,
    form: Form<'f>,
}

impl<'t, 'f> Parser<'t, 'f> {
    pub(super) fn new(text: &'t str, form: Form<'f>) -> Self {
        Self { runes: Runes::new(text), form }
    }

    pub(super) fn parse(mut self, into: &Map) -> Result<(), Error> {
        loop {
            if let Err(stop) = self.key(into, 0) {
                return stop.into_result();
            }
        }
    }

    fn is_literal(&self) -> bool {
        matches!(self.form, Form::Literal)
    }

    fn until(&mut self, ends: &[char]) -> Read {
        let escapes = !self.is_literal();
        self.runes.until(ends, escapes)
    }

    /// A name and what it is to be.
    fn key(&mut self, data: &Map, level: usize) -> Result<(), Stop> {
        let ends: &[char] = if self.is_literal() { &['=', '[', '.'] } else { &['=', '[', '.', ','] };
        let Read { text: name, end } = self.until(ends);
        match end {
            None if name.is_empty() => Err(Stop::End),
            None => Err(Stop::error(format!("key {} has no value", quote(name.as_bytes())))),
            Some('[') => self.list(data, name, level),
            Some('.') => self.table(data, name, level + 1),
            Some(',') => {
                let shown = quote(name.as_bytes());
                put(data, name, "".into());
                Err(Stop::error(format!("key {shown} has no value (cannot end with ,)")))
            }
            Some(_) => self.named_value(data, name),
        }
    }

    fn named_value(&mut self, data: &Map, name: String) -> Result<(), Stop> {
        if matches!(self.form, Form::Json) {
            let Some(value) = self.json_or_nothing()? else {
                put(data, name, Value::Nil);
                return Ok(());
            };
            put(data, name, value);
            self.blank();
            return Ok(());
        }
        if self.runes.peek().is_none() && !self.is_literal() {
            put(data, name, "".into());
            return Err(Stop::End);
        }
        let value = self.value()?;
        put(data, name, value);
        Ok(())
    }

    fn table(&mut self, data: &Map, name: String, level: usize) -> Result<(), Stop> {
        if level > MAX_LEVEL {
            let problem = "value name nested level is greater than maximum supported nested level of";
            return Err(Stop::error(format!("{problem} {MAX_LEVEL}")));
        }
        let inner = match data.get(name.as_bytes()) {
            None => empty(),
            Some(there) => match as_table(&there) {
                Some(table) => Rc::clone(table),
                None => return Err(Stop::conversion(&there, "map[string]interface {}")),
            },
        };
        let read = with_stack(|| self.key(&inner, level));
        if read.is_ok() && inner.is_empty() {
            return Err(Stop::error(format!("key map {} has no value", quote(name.as_bytes()))));
        }
        if !inner.is_empty() {
            put(data, name, Value::Map(inner));
        }
        read
    }

    fn list(&mut self, data: &Map, name: String, level: usize) -> Result<(), Stop> {
        let index = self.index()?;
        let mut items = match data.get(name.as_bytes()) {
            None => Vec::new(),
            Some(there) => items_of(&there)?,
        };
        let read = self.item(&mut items, index, level);
        put(data, name, Value::list(items));
        read
    }

    fn index(&mut self) -> Result<i64, Stop> {
        let Read { text, end } = self.until(&[']']);
        if end.is_none() {
            return Err(Stop::End);
        }
        let problem = match whole(&text) {
            Ok(index) => return Ok(index),
            Err(problem) => problem,
        };
        let text = quote(text.as_bytes());
        Err(Stop::error(format!("strconv.Atoi: parsing {text}: {problem}")).within("error parsing index"))
    }

    /// What is behind an index, put into a list.
    fn item(&mut self, list: &mut Vec<Value>, index: i64, level: usize) -> Result<(), Stop> {
        let Ok(at) = usize::try_from(index) else {
            return Err(Stop::error(format!("negative {index} index not allowed")));
        };
        let Read { text, end } = self.until(&['[', '.', '=']);
        if !text.is_empty() {
            let text = characters(&text);
            return Err(Stop::error(format!("unexpected data at end of array index: {text}")));
        }
        match end {
            None => Err(Stop::End),
            Some('[') => self.inner_list(list, at, level),
            Some('.') => {
                let there = match list.get_mut(at) {
                    None => None,
                    Some(there) => {
                        // What is there and no table has come out of order: it goes.
                        if as_table(there).is_none() {
                            *there = Value::Map(empty());
                        }
                        as_table(there).cloned()
                    }
                };
                let inner = there.unwrap_or_else(empty);
                with_stack(|| self.key(&inner, level))?;
                put_at(list, at, Value::Map(inner))
            }
            Some(_) => {
                if matches!(self.form, Form::Json) {
                    let Some(value) = self.json_or_nothing()? else { return put_at(list, at, Value::Nil) };
                    put_at(list, at, value)?;
                    self.blank();
                    return Ok(());
                }
                if self.runes.peek().is_none() && !self.is_literal() {
                    return put_at(list, at, "".into());
                }
                let value = self.value()?;
                put_at(list, at, value)
            }
        }
    }

    fn inner_list(&mut self, list: &mut Vec<Value>, at: usize, level: usize) -> Result<(), Stop> {
        let next = self.index()?;
        let there = list.get(at).filter(|there| !matches!(there, Value::Nil));
        let existed = there.is_some();
        let mut inner = there.map(items_of).transpose()?.unwrap_or_default();
        let read = with_stack(|| self.item(&mut inner, next, level));
        if read.is_ok() || existed {
            put_at(list, at, Value::list(inner))?;
        }
        read
    }

    /// A value, or a list of values in braces.
    fn value(&mut self) -> Result<Value, Stop> {
        if self.is_literal() {
            return Ok(Value::string(self.until(&[]).text));
        }
        if self.runes.peek() != Some('{') {
            let Read { text, .. } = self.until(&[',']);
            return self.read(text);
        }
        self.runes.next();
        let mut items = Vec::new();
        loop {
            let Read { text, end } = self.until(&[',', '}']);
            if end.is_none() {
                return Err(Stop::error("list must terminate with '}'"));
            }
            if end == Some('}') && self.runes.peek() == Some(',') {
                self.runes.next();
            }
            items.push(self.read(text)?);
            if end == Some('}') {
                return Ok(Value::list(items));
            }
        }
    }

    fn read(&mut self, text: String) -> Result<Value, Stop> {
        match &mut self.form {
            Form::Typed => Ok(typed(text)),
            Form::File(read) => read(&text).map(Value::string).map_err(Stop::Error),
            Form::Text | Form::Literal | Form::Json => Ok(Value::string(text)),
        }
    }

    /// The JSON that comes next, unless nothing comes before the next comma.
    fn json_or_nothing(&mut self) -> Result<Option<Value>, Stop> {
        if self.blank() {
            return Ok(None);
        }
        let read = fitout_helm_functions::json_prefix(self.runes.left().as_bytes());
        let (value, length) = read.map_err(|error| Stop::error(error.to_string()))?;
        self.runes.skip(length);
        Ok(Some(value))
    }

    /// Skips spaces, and a comma or the end behind them: says whether there was one.
    fn blank(&mut self) -> bool {
        loop {
            match self.runes.peek() {
                None => return true,
                Some(',') => {
                    self.runes.next();
                    return true;
                }
                Some(c) if c.is_whitespace() => {
                    self.runes.next();
                }
                Some(_) => return false,
            }
        }
    }
}

/// A whole number, or what Go says it is instead. What does not fit is found before what is no digit.
fn whole(text: &str) -> Result<i64, &'static str> {
    const SYNTAX: &str = "invalid syntax";
    const RANGE: &str = "value out of range";
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() {
        return Err(SYNTAX);
    }
    let mut number: u64 = 0;
    for digit in digits.chars() {
        let digit = digit.to_digit(10).ok_or(SYNTAX)?;
        number = number.checked_mul(10).and_then(|number| number.checked_add(digit.into())).ok_or(RANGE)?;
    }
    let signed = if text.starts_with('-') { 0i64.checked_sub_unsigned(number) } else { i64::try_from(number).ok() };
    signed.ok_or(RANGE)
}

/// A name that is empty names nothing.
fn put(data: &Map, name: String, value: Value) {
    if !name.is_empty() {
        data.insert(Value::string(name), value);
    }
}

fn put_at(list: &mut Vec<Value>, at: usize, value: Value) -> Result<(), Stop> {
    if at > MAX_INDEX {
        let problem = format!("index of {at} is greater than maximum supported index of {MAX_INDEX}");
        return Err(Stop::Error(problem));
    }
    if list.len() <= at {
        list.resize(at + 1, Value::Nil);
    }
    list[at] = value;
    Ok(())
}

fn items_of(value: &Value) -> Result<Vec<Value>, Stop> {
    match value {
        Value::List(list) if list.kind() == Type::LIST => Ok(list.items().to_vec()),
        other => Err(Stop::conversion(other, "[]interface {}")),
    }
}

/// Characters as Go prints a list of them with `%q`.
fn characters(text: &str) -> String {
    let runes = text.chars().map(|c| Value::Int(Signed::Int32, u32::from(c).into())).collect();
    let list = Value::List(Rc::new(List::of(Type::List(&Type::Int(Signed::Int32)), runes)));
    sprintf(b"%q", &[list]).map_or_else(|error| error.to_string(), |text| text.to_str().into_owned())
}
