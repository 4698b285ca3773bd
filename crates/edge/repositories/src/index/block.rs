//! Parses the block style in which Go writes an index, several times as fast as the YAML parser.
//!
//! [`parse`] returns what [`fitout_go_yaml::from_yaml_strict`] returns, or nothing: all YAML of which it is not certain is
//! left to that parser. Comments, tabs, anchors, tags, flow collections, folded blocks and numbers are such YAML.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::line::indent;

/// The deepest nesting that this parser reads.
const MAX_DEPTH: usize = 16;

/// The longest key that this parser reads.
const MAX_KEY: usize = 256;

/// Parses a text, each of whose lines ends with a line feed; none for YAML that is left to the YAML parser.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let text = text.strip_suffix('\n').filter(|text| is_printable(text))?.trim_end_matches('\n');
    let mut parser = Parser { rest: Some(text), line: None };
    parser.next();
    let (column, _) = parser.line?;
    let value = parser.node(column, 0)?;
    parser.line.is_none().then_some(value)
}

/// Whether a text has only characters that YAML allows, and no line breaks but line feeds.
fn is_printable(text: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    let is_wide = |c: char| {
        !matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
            && (!c.is_ascii() || u8::try_from(c).is_ok_and(is_plain))
    };
    if text.is_ascii() { text.bytes().all(is_plain) } else { text.chars().all(is_wide) }
}

/// The position in a text.
struct Parser<'t> {
    /// The lines after the current one.
    rest: Option<&'t str>,
    /// The column of the current line, and the line from there; none at the end.
    line: Option<(usize, &'t str)>,
}

impl<'t> Parser<'t> {
    /// Advances to the next line. An empty line, which may mean a line break, ends the text before its end.
    fn next(&mut self) {
        let Some(rest) = self.rest else {
            self.line = None;
            return;
        };
        let (line, rest) = first_line(rest);
        self.rest = rest;
        // An empty line gets a column that no value has.
        self.line = Some(indent(line.as_bytes()).map_or((usize::MAX, ""), |column| (column, &line[column..])));
    }

    /// The collection in this column.
    fn node(&mut self, column: usize, depth: usize) -> Option<Value> {
        let (_, text) = self.line.filter(|_| depth < MAX_DEPTH)?;
        if text.starts_with("- ") { self.sequence(column, depth) } else { self.mapping(column, depth) }
    }

    fn sequence(&mut self, column: usize, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        while let Some((found, text)) = self.line.filter(|(found, _)| *found >= column) {
            let Some(item) = text.strip_prefix("- ").filter(|_| found == column) else {
                // A key in this column belongs to the mapping around.
                return (found == column && !text.starts_with('-')).then_some(Value::Array(items));
            };
            let spaces = indent(item.as_bytes())?;
            let item = &item[spaces..];
            if key(item).is_some() {
                let inner = column + 2 + spaces;
                self.line = Some((inner, item));
                items.push(self.mapping(inner, depth + 1)?);
            } else {
                items.push(self.scalar(item, column)?);
            }
        }
        Some(Value::Array(items))
    }

    fn mapping(&mut self, column: usize, depth: usize) -> Option<Value> {
        let mut fields = Map::new();
        while let Some((found, text)) = self.line.filter(|(found, _)| *found >= column) {
            let (key, value) = key(text).filter(|_| found == column && depth < MAX_DEPTH)?;
            let value = if value.is_empty() { self.below(column, depth)? } else { self.scalar(value, column)? };
            // The YAML parser reports a duplicate key.
            if fields.insert(key.to_owned(), value).is_some() {
                return None;
            }
        }
        Some(Value::Object(fields))
    }

    /// The collection below a key in this column; null if there is none.
    fn below(&mut self, column: usize, depth: usize) -> Option<Value> {
        self.next();
        match self.line {
            Some((found, _)) if found > column => self.node(found, depth + 1),
            Some((found, text)) if found == column && text.starts_with("- ") => self.sequence(column, depth + 1),
            _ => Some(Value::Null),
        }
    }

    /// The scalar that begins with this text, after a key or a dash in this column.
    fn scalar(&mut self, text: &'t str, column: usize) -> Option<Value> {
        let text = text.trim_end_matches(' ');
        match text.as_bytes()[0] {
            b'|' => self.literal(text, column),
            b'"' => self.quoted(&text[1..], column, double_quoted),
            b'\'' => self.quoted(&text[1..], column, single_quoted),
            b'{' | b'[' => {
                self.next();
                match text {
                    "{}" => Some(Value::Object(Map::new())),
                    "[]" => Some(Value::Array(Vec::new())),
                    _ => None,
                }
            }
            _ => self.plain(text, column),
        }
    }

    fn plain(&mut self, text: &'t str, column: usize) -> Option<Value> {
        let mut whole = Cow::Borrowed(text);
        let mut valid = is_plain_line(text);
        self.next();
        while let Some((_, text)) = self.line.filter(|(found, _)| *found > column) {
            let text = text.trim_end_matches(' ');
            valid &= !text.is_empty() && is_plain_line(text);
            let whole = whole.to_mut();
            whole.push(' ');
            whole.push_str(text);
            self.next();
        }
        match &*whole {
            _ if !valid => None,
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            text => is_text(text).then(|| Value::String(whole.into_owned())),
        }
    }

    /// A quoted scalar, from the text after the quote. `end` takes a line, and returns the text in it and whether the
    /// quote ends there; none for text that is left to the YAML parser.
    fn quoted(
        &mut self,
        text: &'t str,
        column: usize,
        end: impl Fn(&str) -> Option<(Cow<'_, str>, bool)>,
    ) -> Option<Value> {
        let (first, mut closed) = end(text)?;
        let mut whole = first.into_owned();
        self.next();
        while !closed {
            let (_, text) = self.line.filter(|(found, text)| *found > column && !text.is_empty())?;
            let (part, is_end) = end(text.trim_end_matches(' '))?;
            whole.push(' ');
            whole.push_str(&part);
            closed = is_end;
            self.next();
        }
        // A line that is deeper than the key can only continue the scalar, which has ended.
        Some(Value::String(whole))
    }

    /// A literal block with `|` or `|-`.
    fn literal(&mut self, header: &str, column: usize) -> Option<Value> {
        let is_stripped = match header {
            "|" => false,
            "|-" => true,
            _ => return None,
        };
        let (mut text, mut empty_lines, mut block) = (String::new(), 0, None);
        while let Some(rest) = self.rest {
            let (line, after) = first_line(rest);
            match indent(line.as_bytes()) {
                Some(found) if found <= column => break,
                None if block.is_none_or(|block| line.len() > block) => return None,
                None => empty_lines += 1,
                Some(found) => {
                    let block = *block.get_or_insert(found);
                    let line = line.get(block..).filter(|line| found >= block && !line.starts_with('\t'))?;
                    text.extend(std::iter::repeat_n('\n', empty_lines));
                    empty_lines = 0;
                    text.push_str(line);
                    text.push('\n');
                }
            }
            self.rest = after;
        }
        self.next();
        if is_stripped {
            text.pop();
        }
        (block.is_some()).then_some(Value::String(text))
    }
}

/// The first line, and the lines after it.
fn first_line(text: &str) -> (&str, Option<&str>) {
    match memchr::memchr(b'\n', text.as_bytes()) {
        Some(end) => (&text[..end], Some(&text[end + 1..])),
        None => (text, None),
    }
}

/// Whether a line of a plain scalar has neither a key nor a comment nor a tab.
fn is_plain_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_plain = |at: usize| match bytes[at] {
        b':' => bytes.get(at + 1).is_some_and(|&next| next != b' '),
        b'#' => at > 0 && bytes[at - 1] != b' ',
        _ => false,
    };
    memchr::memchr3_iter(b':', b'#', b'\t', bytes).all(is_plain)
}

/// A plain key that is text, and the value after it.
fn key(text: &str) -> Option<(&str, &str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-');
    let end = text.bytes().position(|byte| !is_part(byte))?;
    let (key, rest) = text.split_at(end);
    let value = rest.strip_prefix(':').filter(|value| value.is_empty() || value.starts_with(' '))?;
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.len() <= MAX_KEY && is_text(key);
    is_key.then(|| (key, value.trim_matches(' ')))
}

/// Whether a plain scalar certainly is text, and neither a number nor a boolean nor null.
fn is_text(text: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(first) if first.is_ascii_alphabetic() => {
            text.len() > 5 || !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
        }
        Some(b'0') if bytes.get(1).is_some_and(u8::is_ascii_alphabetic) => false,
        // A number has one point, and no letter but that of its exponent.
        Some(first) if first.is_ascii_digit() => {
            bytes.iter().any(|byte| byte.is_ascii_alphabetic() && !matches!(byte, b'e' | b'E'))
                || memchr::memchr_iter(b'.', bytes).count() > 1
        }
        Some(b'/' | b'^' | b'(' | b'$') => true,
        Some(b'~') => text.len() > 1,
        Some(first) => !first.is_ascii(),
        None => false,
    }
}

/// The text of a line of a double-quoted scalar, and whether the scalar ends in it.
fn double_quoted(line: &str) -> Option<(Cow<'_, str>, bool)> {
    let Some(first) = memchr::memchr3(b'"', b'\\', b'\t', line.as_bytes()) else {
        return Some((Cow::Borrowed(line), false));
    };
    let (plain, mut rest) = line.split_at(first);
    if rest == "\"" {
        return Some((Cow::Borrowed(plain), true));
    }
    let mut text = plain.to_owned();
    loop {
        match (rest.as_bytes().first()?, rest.as_bytes().get(1)) {
            (b'"', None) => return Some((Cow::Owned(text), true)),
            (b'\\', Some(&escaped)) => {
                text.push(match escaped {
                    b'n' => '\n',
                    b't' => '\t',
                    b'"' | b'\\' => char::from(escaped),
                    _ => return None,
                });
                rest = &rest[2..];
            }
            _ => return None,
        }
        let Some(next) = memchr::memchr3(b'"', b'\\', b'\t', rest.as_bytes()) else {
            text.push_str(rest);
            return Some((Cow::Owned(text), false));
        };
        text.push_str(&rest[..next]);
        rest = &rest[next..];
    }
}

/// The text of a line of a single-quoted scalar, and whether the scalar ends in it.
fn single_quoted(line: &str) -> Option<(Cow<'_, str>, bool)> {
    let (line, ends) = match line.strip_suffix('\'') {
        // An even number of quotes at the end is text.
        Some(inner) if (inner.len() - inner.trim_end_matches('\'').len()).is_multiple_of(2) => (inner, true),
        _ => (line, false),
    };
    let doubled = line.split("''").collect::<Vec<_>>();
    let is_plain = !line.contains('\t') && doubled.iter().all(|part| !part.contains('\''));
    is_plain.then(|| match doubled[..] {
        [_] => (Cow::Borrowed(line), ends),
        _ => (Cow::Owned(doubled.join("'")), ends),
    })
}
