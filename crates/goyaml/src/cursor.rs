//! A place in the text, and the characters from there on.

use std::cell::Cell;

use crate::Error;

/// A place in the text. All three count from 0, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) index: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// What stands for the character after the last. It cannot be in a text.
pub(crate) const END: char = '\0';

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Go reads this many bytes at a time and refuses them together.
const CHUNK: usize = 512;

/// Walks through a text.
pub(crate) struct Cursor {
    chars: Vec<char>,
    pub(crate) mark: Mark,
    /// Whether the text goes on after `chars` with a character that YAML does not have.
    cut: bool,
    reached_cut: Cell<bool>,
}

impl Cursor {
    pub(crate) fn new(text: &str) -> Self {
        let good = before_control_characters(text);
        // Go skips a mark twice: when it looks for the encoding, and when it looks for the first token.
        let unmarked = good.strip_prefix(BYTE_ORDER_MARK).unwrap_or(good);
        let chars = unmarked.strip_prefix(BYTE_ORDER_MARK).unwrap_or(unmarked).chars().collect();
        Self { chars, mark: Mark::default(), cut: good.len() < text.len(), reached_cut: Cell::new(false) }
    }

    /// The character so many places ahead.
    pub(crate) fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.mark.index + ahead).copied().unwrap_or_else(|| {
            self.reached_cut.set(self.cut);
            END
        })
    }

    /// Fails once something was decided by a character that YAML does not have.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.reached_cut.get() {
            return Err(Error::in_reader(self.mark, "control characters are not allowed"));
        }
        Ok(())
    }

    /// Whether the text begins here as a document's boundary does: three of this character, alone.
    pub(crate) fn is_boundary(&self, of: char) -> bool {
        self.mark.column == 0 && (0..3).all(|ahead| self.peek(ahead) == of) && is_blank_or_end(self.peek(3))
    }

    pub(crate) fn skip(&mut self) {
        if self.mark.index < self.chars.len() {
            self.mark.index += 1;
            self.mark.column += 1;
        }
    }

    pub(crate) fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        while wanted(self.peek(0)) {
            self.skip();
        }
    }

    /// Skips spaces, tabs and a comment, up to the end of the line.
    pub(crate) fn skip_rest_of_line(&mut self) {
        self.skip_while(is_blank);
        if self.peek(0) == '#' {
            self.skip_while(|c| !is_break_or_end(c));
        }
    }

    pub(crate) fn take(&mut self, into: &mut String) {
        into.push(self.peek(0));
        self.skip();
    }

    pub(crate) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while wanted(self.peek(0)) {
            self.take(&mut taken);
        }
        taken
    }

    pub(crate) fn skip_break(&mut self) {
        self.take_break(&mut String::new());
    }

    /// Takes a line break, if there is one. All breaks are alike, but for the two that Unicode added.
    pub(crate) fn take_break(&mut self, into: &mut String) {
        let first = self.peek(0);
        if !is_break(first) {
            return;
        }
        into.push(if matches!(first, '\u{2028}' | '\u{2029}') { first } else { '\n' });
        self.mark.index += if first == '\r' && self.peek(1) == '\n' { 2 } else { 1 };
        self.mark.line += 1;
        self.mark.column = 0;
    }
}

/// What Go would have read before it met a character that YAML does not have: whole chunks.
fn before_control_characters(text: &str) -> &str {
    let Some(bad) = text.char_indices().find(|(_, c)| !is_allowed(*c)).map(|(at, _)| at) else { return text };
    let mut start = 0;
    loop {
        let mut end = (start + CHUNK).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if bad < end {
            return &text[..start];
        }
        start = end;
    }
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
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
        let mut cursor = Cursor::new("\r\n\r\n\u{85}\u{2028}x");
        let mut taken = String::new();
        (0..4).for_each(|_| cursor.take_break(&mut taken));
        assert_eq!(taken, "\n\n\n\u{2028}");
        assert_eq!(cursor.mark, Mark { index: 6, line: 4, column: 0 });
    }

    #[test]
    fn a_control_character_counts_only_when_its_chunk_is_read() {
        let text = format!("{}\u{1}", "a".repeat(600));
        let cursor = Cursor::new(&text);
        assert_eq!(cursor.peek(511), 'a');
        assert!(cursor.check().is_ok());
        assert_eq!(cursor.peek(512), END);
        assert!(cursor.check().is_err());
    }
}
