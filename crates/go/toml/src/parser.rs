//! From items to tables.

use std::collections::HashSet;

use crate::date::datetime;
use crate::error::Error;
use crate::item::{Item, Kind};
use crate::key::joined_text;
use crate::lexer::Lexer;
use crate::quote::quote;
use crate::strings::{unescaped, without_escaped_breaks, without_first_break};
use crate::value::{Table, Value};
use crate::{MAX_DEPTH, number};

/// The table that a text is.
pub(crate) fn parse(text: &[u8]) -> Result<Table, Error> {
    let text = [&b"\xff\xfe"[..], b"\xfe\xff", b"\xef\xbb\xbf"]
        .into_iter()
        .find_map(|mark| text.strip_prefix(mark))
        .unwrap_or(text);
    if text.iter().take(6).any(|byte| *byte == 0) {
        let message = "files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8".to_owned();
        return Err(Error { line: 1, last_key: String::new(), message });
    }
    let mut parser = Parser {
        lexer: Lexer::new(text),
        context: Vec::new(),
        current: String::new(),
        line: 0,
        root: Table::new(),
        arrays: HashSet::new(),
        implicits: HashSet::new(),
        depth: 0,
    };
    loop {
        let item = parser.next()?;
        if item.kind == Kind::End {
            return Ok(parser.root);
        }
        parser.top_level(&item)?;
    }
}

type Key = Vec<String>;

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The key of the table that we are in.
    context: Key,
    /// The last part of the key whose value is being read.
    current: String,
    /// The line of the last key.
    line: isize,
    root: Table,
    /// The keys whose values are arrays with brackets.
    arrays: HashSet<String>,
    /// The keys of tables that nobody has defined, but that are there because of others. They may still be defined.
    implicits: HashSet<String>,
    depth: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Result<Item, Error> {
        let item = self.lexer.next_item();
        if item.kind == Kind::Error { Err(self.error(item.line, item.text)) } else { Ok(item) }
    }

    fn error(&self, line: isize, message: String) -> Error {
        Error { line, last_key: self.last_key(), message }
    }

    fn last_key(&self) -> String {
        match (self.current.is_empty(), self.context.is_empty()) {
            (true, _) => joined_text(&self.context),
            (false, true) => self.current.clone(),
            (false, false) => format!("{}.{}", joined_text(&self.context), self.current),
        }
    }

    /// An error of a key: it is on the line of the last one.
    fn fail<T>(&self, message: String) -> Result<T, Error> {
        Err(self.error(self.line, message))
    }

    fn top_level(&mut self, item: &Item) -> Result<(), Error> {
        match item.kind {
            Kind::CommentStart => self.next().map(drop),
            Kind::TableStart | Kind::TablesStart => {
                let tables = item.kind == Kind::TablesStart;
                let key = self.key(if tables { Kind::TablesEnd } else { Kind::TableEnd })?;
                self.enter(&key, tables)?;
                let context = self.context.clone();
                self.note(&context, false);
                Ok(())
            }
            _ => {
                let outer = self.context.clone();
                self.pair()?;
                self.context = outer;
                self.current.clear();
                Ok(())
            }
        }
    }

    /// All parts of a key, up to what ends it.
    fn key(&mut self, end: Kind) -> Result<Key, Error> {
        let mut part = self.next()?;
        self.line = part.line;
        let mut key = Vec::new();
        while part.kind != end && part.kind != Kind::End {
            key.push(self.part(part)?);
            if self.context.len() + key.len() > MAX_DEPTH {
                return self.fail(format!("exceeded max depth of {MAX_DEPTH}"));
            }
            part = self.next()?;
        }
        Ok(key)
    }

    fn part(&mut self, item: Item) -> Result<String, Error> {
        if item.kind == Kind::Text {
            return Ok(item.text);
        }
        match self.value(item, false)? {
            Value::Text(text) => Ok(text),
            _ => Ok(String::new()),
        }
    }

    /// A key and its value. Gives the parts of the key before the last, and the value.
    fn pair(&mut self) -> Result<(Key, Value), Error> {
        let mut before = self.key(Kind::KeyEnd)?;
        self.current = before.pop().unwrap_or_default();
        for part in &before {
            let mut context = self.context.clone();
            context.push(part.clone());
            self.implicits.insert(joined_text(&context));
            self.enter(&context, false)?;
        }
        let item = self.next()?;
        let value = self.value(item, false)?;
        let current = self.current.clone();
        self.set(&current, value.clone())?;
        let mut key = self.context.clone();
        if !current.is_empty() {
            key.push(current);
        }
        self.note(&key, matches!(value, Value::Array(_)));
        Ok((before, value))
    }

    fn value(&mut self, item: Item, in_array: bool) -> Result<Value, Error> {
        let Item { kind, text, line } = item;
        let found = match kind {
            Kind::Escaped => unescaped(&text).map(Value::Text),
            Kind::Multiline => unescaped(&without_escaped_breaks(without_first_break(&text))).map(Value::Text),
            Kind::RawMultiline => Ok(Value::Text(without_first_break(&text).to_owned())),
            Kind::Integer => number::integer(&text),
            Kind::Float => number::float(&text),
            Kind::Bool => Ok(Value::Bool(text == "true")),
            Kind::Datetime => {
                let text = text.replace('z', "Z").replace(['t', ' '], "T");
                datetime(&text).map(Value::Datetime).ok_or_else(|| format!("invalid datetime: {}", quote(&text)))
            }
            Kind::ArrayStart => return self.nested(line, Self::array),
            Kind::InlineStart => return self.nested(line, |parser| parser.inline(in_array)),
            _ => Ok(Value::Text(text)),
        };
        found.map_err(|message| self.error(line, message))
    }

    fn nested(&mut self, line: isize, read: impl FnOnce(&mut Self) -> Result<Value, Error>) -> Result<Value, Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(line, format!("exceeded max depth of {MAX_DEPTH}")));
        }
        self.depth += 1;
        let value = stacker::maybe_grow(64 << 10, 1 << 20, || read(self))?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, Error> {
        let mut key = self.context.clone();
        if !self.current.is_empty() {
            key.push(self.current.clone());
        }
        self.note(&key, true);
        let mut items = Vec::new();
        loop {
            let item = self.next()?;
            match item.kind {
                Kind::ArrayEnd | Kind::End => return Ok(Value::Array(items)),
                Kind::CommentStart => drop(self.next()?),
                _ => items.push(self.value(item, true)?),
            }
        }
    }

    fn inline(&mut self, in_array: bool) -> Result<Value, Error> {
        let (outer, outer_current) = (self.context.clone(), std::mem::take(&mut self.current));
        let mut within = outer.clone();
        within.push(outer_current.clone());
        self.implicits.insert(joined_text(&within));
        self.enter(&within, in_array)?;
        self.context.clone_from(&within);
        let mut table = Table::new();
        loop {
            let item = self.next()?;
            match item.kind {
                Kind::InlineEnd | Kind::End => break,
                Kind::CommentStart => {
                    self.next()?;
                    continue;
                }
                _ => {}
            }
            let (before, value) = self.pair()?;
            let mut inner = &mut table;
            for part in before {
                match inner.entry(part).or_insert_with(|| Value::Table(Table::new())) {
                    Value::Table(table) => inner = table,
                    _ => return self.fail(format!("{} is not a table", quote(&joined_text(&self.context)))),
                }
            }
            inner.insert(self.current.clone(), value);
            self.context.clone_from(&within);
        }
        self.context = outer;
        self.current = outer_current;
        Ok(Value::Table(table))
    }

    /// Notes what the value of a key is.
    fn note(&mut self, key: &Key, array: bool) {
        let key = if key.is_empty() { "\"\"".to_owned() } else { joined_text(key) };
        if array {
            self.arrays.insert(key);
        } else {
            self.arrays.remove(&key);
        }
    }

    /// Goes into a table, or into a new one of an array of tables. Those that it is within are made where they are not.
    fn enter(&mut self, key: &[String], tables: bool) -> Result<(), Error> {
        let Some((last, parents)) = key.split_last() else { return Ok(()) };
        let line = self.line;
        let mut table = &mut self.root;
        for (place, part) in parents.iter().enumerate() {
            if !table.contains_key(part) {
                self.implicits.insert(joined_text(&parents[..=place]));
                table.insert(part.clone(), Value::Table(Table::new()));
            }
            let Some(inner) = table.get_mut(part).and_then(Value::innermost) else {
                let message = format!("Key '{}' was already created as a hash.", joined_text(&parents[..=place]));
                return Err(self.error(line, message));
            };
            table = inner;
        }
        if tables {
            let Value::Tables(all) = table.entry(last.clone()).or_insert_with(|| Value::Tables(Vec::new())) else {
                self.context = parents.to_vec();
                let key = joined_text(key);
                return self.fail(format!("Key '{key}' was already created and cannot be used as an array."));
            };
            all.push(Table::new());
            self.context = parents.to_vec();
        } else {
            self.context = parents.to_vec();
            self.set(last, Value::Table(Table::new()))?;
        }
        self.context.push(last.clone());
        Ok(())
    }

    /// Gives a key of the table that we are in its value. Only what is there implicitly may be defined once more.
    fn set(&mut self, key: &str, value: Value) -> Result<(), Error> {
        let mut path = self.context.clone();
        let mut table = &mut self.root;
        for (place, part) in self.context.iter().enumerate() {
            let Some(inner) = table.get_mut(part).and_then(Value::innermost) else {
                return self.fail(format!("Key '{}' has already been defined.", joined_text(&path[..=place])));
            };
            table = inner;
        }
        if !table.contains_key(key) {
            table.insert(key.to_owned(), value);
            return Ok(());
        }
        path.push(key.to_owned());
        let path = joined_text(&path);
        if !self.implicits.remove(&path) {
            return self.fail(format!("Key '{path}' has already been defined."));
        }
        if self.arrays.contains(&path) {
            table.insert(key.to_owned(), value);
        }
        Ok(())
    }
}

impl Value {
    /// The table that a key within this one is in: the last of many.
    fn innermost(&mut self) -> Option<&mut Table> {
        match self {
            Self::Table(table) => Some(table),
            Self::Tables(tables) => tables.last_mut(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn tables_are_where_their_headings_say() {
        let table = parse(b"a.b = 1\n[c.d]\ne = [1, 'x']\n[[f]]\n[[f]]\ng = {h = true}\n").unwrap();
        let Value::Table(a) = &table["a"] else { panic!("{table:?}") };
        assert_eq!(a["b"], Value::Int(1));
        let Value::Tables(f) = &table["f"] else { panic!("{table:?}") };
        assert_eq!(f.len(), 2);
        assert!(matches!(&f[1]["g"], Value::Table(g) if g["h"] == Value::Bool(true)));
    }

    #[test]
    fn what_is_there_cannot_be_defined_again() {
        assert_eq!(refusal("a = 1\na = 2\n"), "toml: line 2 (last key \"a\"): Key 'a' has already been defined.");
        assert_eq!(refusal("[a]\n[a]\n"), "toml: line 2: Key 'a' has already been defined.");
        assert!(parse(b"[a.b]\n[a]\n").is_ok());
    }

    #[test]
    fn what_nests_too_deeply_is_refused() {
        for text in ["a = [".to_owned() + &"[".repeat(MAX_DEPTH), "a.".repeat(MAX_DEPTH + 1) + "b = 1"] {
            assert!(refusal(&text).ends_with("exceeded max depth of 1000"));
        }
    }
}
