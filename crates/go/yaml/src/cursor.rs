//! A place in the text, and the characters from there on.

use std::cell::Cell;

use crate::Error;
use crate::input::Input;

/// A place in the text. All three count from 0, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) index: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// What stands for the character after the last. It cannot be in a text.
pub(crate) const END: char = '\0';

/// Walks through a text.
pub(crate) struct Cursor<'t> {
    text: &'t str,
    /// The place in bytes.
    at: usize,
    pub(crate) mark: Mark,
    /// Why the text does not go on after its end, if it does not end there.
    cut: Option<&'static str>,
    reached_cut: Cell<bool>,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(input: &'t Input<'_>) -> Self {
        Self { text: &input.good, at: 0, mark: Mark::default(), cut: input.cut, reached_cut: Cell::new(false) }
    }

    /// The place in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The text from a place in bytes up to another.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        &self.text[from..to]
    }

    /// The character so many places ahead.
    #[inline]
    pub(crate) fn peek(&self, ahead: usize) -> char {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        for _ in 0..ahead {
            match bytes.get(at) {
                Some(byte) => at += width(*byte),
                None => return self.end(),
            }
        }
        match bytes.get(at) {
            Some(byte) if byte.is_ascii() => char::from(*byte),
            Some(_) => self.text[at..].chars().next().unwrap_or(END),
            None => self.end(),
        }
    }

    #[cold]
    fn end(&self) -> char {
        self.reached_cut.set(self.cut.is_some());
        END
    }

    /// Fails once something was decided by a character that YAML does not have.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.cut {
            Some(problem) if self.reached_cut.get() => Err(Error::in_reader(self.mark, problem)),
            _ => Ok(()),
        }
    }

    /// Whether the text begins here as a document's boundary does: three of this character, alone.
    #[inline]
    pub(crate) fn is_boundary(&self, of: char) -> bool {
        // As Go, look at all four first: what it does not have may be among them.
        if self.mark.column > 0 && self.cut.is_none() {
            return false;
        }
        let fourth = self.peek(3);
        self.mark.column == 0 && (0..3).all(|ahead| self.peek(ahead) == of) && is_blank_or_end(fourth)
    }

    #[inline]
    pub(crate) fn skip(&mut self) {
        if let Some(byte) = self.text.as_bytes().get(self.at) {
            self.at += width(*byte);
            self.mark.index += 1;
            self.mark.column += 1;
        }
    }

    #[inline]
    pub(crate) fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        while wanted(self.peek(0)) {
            self.skip();
        }
    }

    /// Skips characters as long as they are of those that have one byte and that are wanted, all at once.
    #[inline]
    pub(crate) fn skip_ascii_while(&mut self, wanted: impl Fn(u8) -> bool) {
        let count = self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii() && wanted(**byte)).count();
        self.at += count;
        self.mark.index += count;
        self.mark.column += count;
    }

    /// Skips spaces, so many at most.
    pub(crate) fn skip_spaces(&mut self, most: usize) {
        let rest = self.text.as_bytes()[self.at..].iter().take(most);
        let count = rest.take_while(|byte| **byte == b' ').count();
        self.at += count;
        self.mark.index += count;
        self.mark.column += count;
    }

    /// Skips spaces, tabs and a comment, up to the end of the line.
    pub(crate) fn skip_rest_of_line(&mut self) {
        self.skip_while(is_blank);
        if self.peek(0) == '#' {
            self.skip_line();
        }
    }

    /// Skips everything up to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
        if line.is_ascii() {
            self.at += line.len();
            self.mark.index += line.len();
            self.mark.column += line.len();
        }
        // There may be breaks that are not in ASCII.
        self.skip_while(|c| !is_break_or_end(c));
    }

    pub(crate) fn take(&mut self, into: &mut String) {
        into.push(self.peek(0));
        self.skip();
    }

    pub(crate) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let from = self.at;
        self.skip_while(wanted);
        &self.text[from..self.at]
    }

    /// Takes a line break, if there is one, and says what it means. All breaks are alike, but for the two that Unicode
    /// added.
    #[inline]
    pub(crate) fn take_break(&mut self) -> Option<char> {
        let first = self.peek(0);
        if !is_break(first) {
            return None;
        }
        // As Go, look at the next in any case: it may be one that it does not have.
        let second = self.peek(1);
        let both = first == '\r' && second == '\n';
        self.at += first.len_utf8() + usize::from(both);
        self.mark.index += 1 + usize::from(both);
        self.mark.line += 1;
        self.mark.column = 0;
        Some(if matches!(first, '\u{2028}' | '\u{2029}') { first } else { '\n' })
    }
}

/// How many bytes a character has, by the first of them.
#[inline]
fn width(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

pub(crate) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(crate) fn is_break_or_end(c: char) -> bool {
    c == END || is_break(c)
}

pub(crate) fn is_blank_or_end(c: char) -> bool {
    is_blank(c) || is_break_or_end(c)
}

/// What names of anchors and handles are made of.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_in_many_ways() {
        let input = Input::of("\r\n\r\n\u{85}\u{2028}x".as_bytes());
        let mut cursor = Cursor::new(&input);
        let taken: Vec<_> = std::iter::from_fn(|| cursor.take_break()).collect();
        assert_eq!(taken, ['\n', '\n', '\n', '\u{2028}']);
        assert_eq!(cursor.mark, Mark { index: 6, line: 4, column: 0 });
    }

    #[test]
    fn a_control_character_counts_only_when_its_chunk_is_read() {
        let text = format!("{}\u{1}", "a".repeat(600));
        let input = Input::of(text.as_bytes());
        let cursor = Cursor::new(&input);
        assert_eq!(cursor.peek(511), 'a');
        assert!(cursor.check().is_ok());
        assert_eq!(cursor.peek(512), END);
        assert!(cursor.check().is_err());
    }
}
