//! Writes YAML as Go does: two spaces a level, strings in the way that Go chooses for them.

use std::fmt::Write;

use crate::cursor::is_break;
use crate::float;
use crate::style::{self, Style};

/// How far in each level is.
const STEP: usize = 2;

/// As many as most lines need.
const SPACES: &str = "                                ";

/// A scalar is folded at the first space after this column.
const WIDTH: usize = 80;

/// A key of more bytes, or with a line break, is written after a question mark.
const LONGEST_SIMPLE_KEY: usize = 128;

/// Which of Go's libraries is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Version 2, by way of JSON: lists are not further in than their key, long lines are folded.
    Two,
    /// Version 3 with two spaces a level: lists are further in than their key, lines are as long as they are.
    Three,
}

/// Writes one document, value by value.
///
/// A value is a scalar, a string, or what is between a beginning and its end; in a mapping each comes after its key, and
/// the keys come in the order that [`crate::sort_keys`] gives them.
#[derive(Debug)]
pub struct Writer {
    dialect: Dialect,
    out: String,
    column: usize,
    /// Whether a blank or a new line is before the next character.
    after_space: bool,
    /// Whether only indentation and indicators are on this line so far.
    at_indent: bool,
    levels: Vec<Level>,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    indent: usize,
    sequence: bool,
}

impl Writer {
    /// The writer of a document.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, out: String::new(), column: 0, after_space: true, at_indent: true, levels: Vec::new() }
    }

    /// The document.
    pub fn finish(mut self) -> String {
        self.indent(0);
        self.out
    }

    /// A value that is written as it is: a number, a boolean, null, an empty collection.
    pub fn scalar(&mut self, text: &str) {
        self.begin_value();
        self.indicator(text, false);
    }

    /// A whole number.
    pub fn int(&mut self, whole: i64) {
        self.display(format_args!("{whole}"));
    }

    /// A whole number that is too large for the other kind.
    pub fn uint(&mut self, whole: u64) {
        self.display(format_args!("{whole}"));
    }

    /// A float, as it is written once JSON has been between: without a fraction where it has none.
    pub fn float(&mut self, float: f64) {
        if float == 0.0 {
            // Both zeros are one, for the reader takes them for whole.
            return self.int(0);
        }
        match float::whole(float) {
            Some(whole) => self.display(format_args!("{whole}")),
            None => self.scalar(&float::shortest(float)),
        }
    }

    fn display(&mut self, scalar: std::fmt::Arguments<'_>) {
        self.begin_value();
        self.indicator("", false);
        let before = self.out.len();
        let written = self.out.write_fmt(scalar);
        debug_assert!(written.is_ok(), "a string takes everything");
        self.column += self.out.len() - before;
    }

    /// A string.
    pub fn string(&mut self, text: &str) {
        self.begin_value();
        self.text(text, false);
    }

    /// A string with a tag before it, such as `!!binary`.
    pub fn tagged_string(&mut self, tag: &str, text: &str) {
        self.begin_value();
        self.indicator(tag, false);
        let style = if text.contains('\n') { Style::Literal } else { Style::Plain };
        self.styled(text, style, false);
    }

    /// Begins a sequence that is not empty.
    pub fn begin_sequence(&mut self) {
        self.begin_value();
        let indent = match self.levels.last() {
            None => 0,
            Some(level) => {
                let flush = self.dialect == Dialect::Two && !level.sequence && !self.at_indent;
                if flush { level.indent } else { level.indent + STEP }
            }
        };
        self.levels.push(Level { indent, sequence: true });
    }

    /// Begins a mapping that is not empty.
    pub fn begin_mapping(&mut self) {
        self.begin_value();
        let indent = self.levels.last().map_or(0, |level| level.indent + STEP);
        self.levels.push(Level { indent, sequence: false });
    }

    /// Ends the sequence or the mapping that was begun last.
    pub fn end(&mut self) {
        self.levels.pop();
    }

    /// A key that is a string.
    pub fn key(&mut self, key: &str) {
        if key.len() <= LONGEST_SIMPLE_KEY && !style::has_break(key) {
            self.indent_level();
            self.text(key, true);
            self.simple_value();
        } else {
            self.begin_long_key();
            self.text(key, false);
            self.end_long_key();
        }
    }

    /// A key that is written as it is: a number, a boolean, null.
    pub fn scalar_key(&mut self, key: &str) {
        self.indent_level();
        self.indicator(key, false);
        self.simple_value();
    }

    /// A key with a tag before it, such as `!!binary`.
    pub fn tagged_key(&mut self, tag: &str, key: &str) {
        let style = if key.contains('\n') { Style::Literal } else { Style::Plain };
        // The tag counts as it is spelled out.
        if style == Style::Plain && key.len() + "tag:yaml.org,2002:binary".len() <= LONGEST_SIMPLE_KEY {
            self.indent_level();
            self.indicator(tag, false);
            self.styled(key, style, true);
            self.simple_value();
        } else {
            self.begin_long_key();
            self.indicator(tag, false);
            self.styled(key, style, false);
            self.end_long_key();
        }
    }

    fn begin_long_key(&mut self) {
        self.indent_level();
        self.indicator("?", true);
    }

    fn end_long_key(&mut self) {
        self.indent_level();
        self.indicator(":", true);
    }

    fn simple_value(&mut self) {
        self.put(':');
        self.after_space = false;
    }

    /// In a sequence each value has its dash.
    fn begin_value(&mut self) {
        if let Some(Level { indent, sequence: true }) = self.levels.last().copied() {
            self.indent(indent);
            self.indicator("-", true);
        }
    }

    fn indent_level(&mut self) {
        let indent = self.levels.last().map_or(0, |level| level.indent);
        self.indent(indent);
    }

    fn text(&mut self, text: &str, key: bool) {
        self.styled(text, style::choose(text, key, self.dialect), key);
    }

    fn styled(&mut self, text: &str, style: Style, key: bool) {
        let indent = self.levels.last().map_or(STEP, |level| level.indent + STEP);
        let folded = !key && self.dialect == Dialect::Two;
        match style {
            Style::Plain => self.plain(text, indent, folded),
            Style::Single => self.single(text, indent, folded),
            Style::Double => self.double(text, indent, folded),
            Style::Literal => self.literal(text, indent),
        }
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_all(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += if text.is_ascii() { text.len() } else { text.chars().count() };
    }

    /// Puts a line break as it is in the text.
    fn put_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
        self.at_indent = true;
    }

    /// Goes to this column, on a new line unless this one is as good as new.
    fn indent(&mut self, indent: usize) {
        if !self.at_indent || self.column > indent || (self.column == indent && !self.after_space) {
            self.put_break('\n');
        }
        while self.column < indent {
            let some = (indent - self.column).min(SPACES.len());
            self.out.push_str(&SPACES[..some]);
            self.column += some;
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

    fn plain(&mut self, text: &str, indent: usize, folded: bool) {
        if !self.after_space {
            self.put(' ');
        }
        if folded {
            self.folding(text, indent, false);
        } else {
            self.put_all(text);
        }
        self.after_space = false;
        self.at_indent = false;
    }

    /// Puts a text without line breaks, folded where it is too long: at a space between two characters that are none.
    fn folding(&mut self, mut text: &str, indent: usize, quoted: bool) {
        // Most texts are not long enough, and then nobody looks at their spaces.
        while self.column + text.len() > WIDTH {
            let Some(at) = self.fold(text, quoted) else { break };
            self.put_all(&text[..at]);
            self.at_indent = false;
            self.indent(indent);
            text = &text[at + 1..];
        }
        self.put_all(text);
    }

    /// The first space of a text at which it is folded, if there is one.
    fn fold(&self, text: &str, quoted: bool) -> Option<usize> {
        let bytes = text.as_bytes();
        let mut column = self.column;
        for (at, byte) in bytes.iter().enumerate() {
            // What comes after a fold is no space, so only the very first character may be one without another before.
            let alone = *byte == b' '
                && (if at == 0 { !quoted } else { bytes[at - 1] != b' ' })
                && bytes.get(at + 1).is_some_and(|next| *next != b' ');
            if alone && column > WIDTH {
                return Some(at);
            }
            // Bytes that continue a character are no columns.
            column += usize::from(byte & 0xC0 != 0x80);
        }
        None
    }

    fn single(&mut self, text: &str, indent: usize, folded: bool) {
        self.indicator("'", false);
        let mut last = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c == ' ' {
                let next = rest.clone().next();
                let alone = last.is_some_and(|last| last != ' ') && next.is_some_and(|next| next != ' ');
                if folded && alone && self.column > WIDTH {
                    self.indent(indent);
                } else {
                    self.put(c);
                }
            } else if is_break(c) {
                self.put_break(c);
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

    fn double(&mut self, text: &str, indent: usize, folded: bool) {
        self.indicator("\"", false);
        // As in Go, a byte order mark at the beginning has all that follows escaped.
        let all = text.starts_with('\u{feff}');
        let mut last = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if all || !style::is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                self.escape(c);
            } else if c == ' ' && folded && last.is_some_and(|last| last != ' ') && self.column > WIDTH {
                match rest.clone().next() {
                    None => self.put(c),
                    next => {
                        self.indent(indent);
                        if next == Some(' ') {
                            self.put('\\');
                        }
                    }
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
            self.put_all("2");
        }
        let mut from_end = text.chars().rev();
        match (from_end.next().is_some_and(is_break), from_end.next().is_none_or(is_break)) {
            (false, _) => self.put('-'),
            (true, true) => self.put('+'),
            (true, false) => {}
        }
        self.put_break('\n');
        self.after_space = true;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if is_break(c) {
                self.put_break(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
            self.indent(indent);
            let (line, after) = rest.split_at(rest.find(is_break).unwrap_or(rest.len()));
            self.put_all(line);
            self.at_indent = false;
            rest = after;
        }
    }

    fn escape(&mut self, c: char) {
        let before = self.out.len();
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
                let written = match u32::from(c) {
                    code @ 0..0x100 => write!(self.out, "\\x{code:02X}"),
                    code @ 0x100..0x1_0000 => write!(self.out, "\\u{code:04X}"),
                    code => write!(self.out, "\\U{code:08X}"),
                };
                debug_assert!(written.is_ok(), "a string takes everything");
                self.column += self.out.len() - before;
                return;
            }
        };
        self.put('\\');
        self.put(letter);
    }
}
