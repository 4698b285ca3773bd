//! Writes YAML as Go does: sorted keys, two spaces a level, lists not further in than their key.

use serde_json::{Map, Number, Value};

use crate::cursor::is_break;
use crate::style::{self, Style};
use crate::{float, keys};

/// How far in each level is.
const STEP: usize = 2;

/// A scalar is folded at the first space after this column.
const WIDTH: usize = 80;

/// A key of more bytes, or with a line break, is written after a question mark.
const LONGEST_SIMPLE_KEY: usize = 128;

/// A value in YAML, as `yaml.Marshal` writes the same value.
///
/// Where Go refuses (control characters, keys longer than 1024 characters), this writes what Go's lower layer would.
pub fn to_yaml(value: &Value) -> String {
    let mut writer = Writer { out: String::new(), column: 0, after_space: true, at_indent: true };
    writer.node(value, None, Within::Root);
    writer.indent(0);
    writer.out
}

struct Writer {
    out: String,
    column: usize,
    /// Whether a blank or a new line is before the next character.
    after_space: bool,
    /// Whether only indentation and indicators are on this line so far.
    at_indent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Root,
    Sequence,
    Mapping,
    SimpleKey,
}

impl Writer {
    fn node(&mut self, value: &Value, indent: Option<usize>, within: Within) {
        match value {
            Value::Null => self.bare("null"),
            Value::Bool(value) => self.bare(&value.to_string()),
            Value::Number(number) => self.bare(&written_number(number)),
            Value::String(text) => self.string(text, indent, within),
            Value::Array(items) if items.is_empty() => self.bare("[]"),
            Value::Object(pairs) if pairs.is_empty() => self.bare("{}"),
            Value::Array(items) => self.sequence(items, indent, within),
            Value::Object(pairs) => self.mapping(pairs, indent),
        }
    }

    fn sequence(&mut self, items: &[Value], indent: Option<usize>, within: Within) {
        let flush = within == Within::Mapping && !self.at_indent;
        let inner = indent.map_or(0, |indent| if flush { indent } else { indent + STEP });
        for item in items {
            self.indent(inner);
            self.indicator("-", true);
            self.node(item, Some(inner), Within::Sequence);
        }
    }

    fn mapping(&mut self, pairs: &Map<String, Value>, indent: Option<usize>) {
        let inner = indent.map_or(0, |indent| indent + STEP);
        for (key, value) in keys::sorted(pairs.iter().map(|(key, value)| (key.as_str(), value)).collect()) {
            self.indent(inner);
            if key.len() <= LONGEST_SIMPLE_KEY && !style::has_break(key) {
                self.string(key, Some(inner), Within::SimpleKey);
                self.put(':');
                self.after_space = false;
            } else {
                self.indicator("?", true);
                self.string(key, Some(inner), Within::Mapping);
                self.indent(inner);
                self.indicator(":", true);
            }
            self.node(value, Some(inner), Within::Mapping);
        }
    }

    fn string(&mut self, text: &str, indent: Option<usize>, within: Within) {
        let text = &folded_by_json(text);
        let indent = indent.map_or(STEP, |indent| indent + STEP);
        let key = within == Within::SimpleKey;
        match style::choose(text, key) {
            Style::Plain => self.plain(text, indent, key),
            Style::Single => self.single(text, indent, key),
            Style::Double => self.double(text, indent, key),
            Style::Literal => self.literal(text, indent),
        }
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_all(&mut self, text: &str) {
        text.chars().for_each(|c| self.put(c));
    }

    /// Puts a line break as it is in the text.
    fn put_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
    }

    /// Goes to this column, on a new line unless this one is as good as new.
    fn indent(&mut self, indent: usize) {
        if !self.at_indent || self.column > indent || (self.column == indent && !self.after_space) {
            self.put_break('\n');
        }
        while self.column < indent {
            self.put(' ');
        }
        self.after_space = true;
        self.at_indent = true;
    }

    /// Puts an indicator, after a space where there is none. A block may follow some on the same line.
    fn indicator(&mut self, text: &str, block_may_follow: bool) {
        if !self.after_space {
            self.put(' ');
        }
        self.put_all(text);
        self.after_space = false;
        self.at_indent &= block_may_follow;
    }

    fn bare(&mut self, text: &str) {
        self.indicator(text, false);
    }

    /// Whether the line is folded at a space: the last was none, the next is none, and the line is long enough.
    fn folds(&self, after_space: bool, next: Option<char>, key: bool) -> bool {
        !key && !after_space && self.column > WIDTH && next.is_some_and(|c| c != ' ')
    }

    fn plain(&mut self, text: &str, indent: usize, key: bool) {
        if !self.after_space {
            self.put(' ');
        }
        let mut last = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c == ' ' && self.folds(last == Some(' '), rest.clone().next(), key) {
                self.indent(indent);
            } else {
                self.put(c);
                self.at_indent = self.at_indent && c == ' ';
            }
            last = Some(c);
        }
        self.after_space = false;
        self.at_indent = false;
    }

    fn single(&mut self, text: &str, indent: usize, key: bool) {
        self.indicator("'", false);
        let mut last = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c == ' ' {
                if last.is_some() && self.folds(last == Some(' '), rest.clone().next(), key) {
                    self.indent(indent);
                } else {
                    self.put(c);
                }
            } else if is_break(c) {
                self.put_break(c);
                self.at_indent = true;
            } else {
                if last.is_some_and(is_break) {
                    self.indent(indent);
                }
                if c == '\'' {
                    self.put('\'');
                }
                self.put(c);
                self.at_indent = false;
            }
            last = Some(c);
        }
        self.put('\'');
        self.after_space = false;
        self.at_indent = false;
    }

    fn double(&mut self, text: &str, indent: usize, key: bool) {
        self.indicator("\"", false);
        // As in Go, a byte order mark at the beginning has all that follows escaped.
        let all = text.starts_with('\u{feff}');
        let mut last = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let next = rest.clone().next();
            if all || !style::is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                self.put_all(&escaped(c));
            } else if c == ' ' && !key && last.is_some() && last != Some(' ') && self.column > WIDTH && next.is_some() {
                self.indent(indent);
                if next == Some(' ') {
                    self.put('\\');
                }
            } else {
                self.put(c);
            }
            last = Some(c);
        }
        self.put('"');
        self.after_space = false;
        self.at_indent = false;
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.indicator("|", false);
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.put_all(&STEP.to_string());
        }
        let mut from_end = text.chars().rev();
        match (from_end.next().is_some_and(is_break), from_end.next().is_none_or(is_break)) {
            (false, _) => self.put('-'),
            (true, true) => self.put('+'),
            (true, false) => {}
        }
        self.put_break('\n');
        self.at_indent = true;
        self.after_space = true;
        let mut after_break = true;
        for c in text.chars() {
            if is_break(c) {
                self.put_break(c);
                self.at_indent = true;
            } else {
                if after_break {
                    self.indent(indent);
                }
                self.put(c);
                self.at_indent = false;
            }
            after_break = is_break(c);
        }
    }
}

/// A number as it is after Go's JSON has written it and Go's YAML has read it.
fn written_number(number: &Number) -> String {
    match number.as_f64() {
        // Both zeros are one, for the reader takes them for whole.
        Some(0.0) => "0".to_owned(),
        Some(float) if number.is_f64() => {
            float::whole(float).map_or_else(|| float::shortest(float), |whole| whole.to_string())
        }
        _ => number.to_string(),
    }
}

/// Go writes JSON and reads it as YAML, to which one character that JSON does not escape is a line break, and so folded.
fn folded_by_json(text: &str) -> String {
    const NEXT_LINE: char = '\u{85}';
    if !text.contains(NEXT_LINE) {
        return text.to_owned();
    }
    let lines: Vec<_> = text.split(NEXT_LINE).collect();
    let mut folded = String::new();
    let mut breaks = 0;
    for (number, line) in lines.iter().enumerate() {
        let line = if number == 0 { line } else { line.trim_start_matches(' ') };
        let line = if number == lines.len() - 1 { line } else { line.trim_end_matches(' ') };
        if !line.is_empty() || number == 0 || number == lines.len() - 1 {
            match breaks {
                0 => {}
                1 => folded.push(' '),
                more => folded.extend(std::iter::repeat_n('\n', more - 1)),
            }
            folded.push_str(line);
            breaks = 0;
        }
        breaks += 1;
    }
    folded
}

fn escaped(c: char) -> String {
    let letter = match c {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '"' | '\\' => c,
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            return match u32::from(c) {
                code @ 0..0x100 => format!("\\x{code:02X}"),
                code @ 0x100..0x1_0000 => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{letter}")
}
