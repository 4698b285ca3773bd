//! Scalars in quotes.

use crate::Error;
use crate::cursor::{END, Mark, is_blank, is_blank_or_end, is_break};
use crate::scanner::Scanner;
use crate::tokens::{Kind, Token};

impl Scanner {
    /// A scalar between two of these quotes.
    pub(crate) fn quoted(&mut self, quote: char) -> Result<Token, Error> {
        let start = self.cursor.mark;
        self.cursor.skip();
        let mut text = String::new();
        loop {
            if self.cursor.is_boundary('-') || self.cursor.is_boundary('.') {
                return self.fail("found unexpected document indicator");
            }
            if self.cursor.peek(0) == END {
                return self.fail("found unexpected end of stream");
            }
            let break_escaped = self.words(quote, &mut text)?;
            if self.cursor.peek(0) == quote {
                break;
            }
            self.space_between(break_escaped, &mut text);
        }
        self.cursor.skip();
        Ok(Token::with(Kind::Text, start, self.cursor.mark, text))
    }

    /// Takes what is neither blank nor the closing quote. Says whether it ended with a line break that was escaped.
    fn words(&mut self, quote: char, text: &mut String) -> Result<bool, Error> {
        loop {
            match (self.cursor.peek(0), self.cursor.peek(1)) {
                (first, _) if is_blank_or_end(first) => return Ok(false),
                ('\'', '\'') if quote == '\'' => {
                    text.push('\'');
                    self.cursor.skip();
                    self.cursor.skip();
                }
                (first, _) if first == quote => return Ok(false),
                ('\\', second) if quote == '"' && is_break(second) => {
                    self.cursor.skip();
                    self.cursor.skip_break();
                    return Ok(true);
                }
                ('\\', second) if quote == '"' => {
                    let c = self.escape(second)?;
                    text.push(c);
                }
                _ => self.cursor.take(text),
            }
        }
    }

    fn escape(&mut self, letter: char) -> Result<char, Error> {
        let simple = match letter {
            '0' => '\0',
            'a' => '\x07',
            'b' => '\x08',
            't' | '\t' => '\t',
            'n' => '\n',
            'v' => '\x0b',
            'f' => '\x0c',
            'r' => '\r',
            'e' => '\x1b',
            ' ' | '"' | '\'' | '\\' => letter,
            'N' => '\u{85}',
            '_' => '\u{a0}',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            'x' => return self.coded(2),
            'u' => return self.coded(4),
            'U' => return self.coded(8),
            _ => return self.fail("found unknown escape character"),
        };
        self.cursor.skip();
        self.cursor.skip();
        Ok(simple)
    }

    /// A character that is written as so many digits.
    fn coded(&mut self, digits: usize) -> Result<char, Error> {
        self.cursor.skip();
        self.cursor.skip();
        let mut code = 0;
        for ahead in 0..digits {
            match self.cursor.peek(ahead).to_digit(16) {
                Some(digit) => code = code << 4 | digit,
                None => return self.fail("did not find expected hexdecimal number"),
            }
        }
        let Some(c) = char::from_u32(code) else {
            return self.fail("found invalid Unicode character escape code");
        };
        (0..digits).for_each(|_| self.cursor.skip());
        Ok(c)
    }

    /// Takes blanks and line breaks, and adds what they mean.
    fn space_between(&mut self, break_escaped: bool, text: &mut String) {
        let mut space = Space { broken: break_escaped, ..Space::default() };
        self.take_space(&mut space, None).unwrap_or_default();
        space.add_to(text);
    }

    /// Takes blanks and line breaks. At the beginning of a line there may be no tab before this column.
    pub(crate) fn take_space(&mut self, space: &mut Space, tab_from: Option<isize>) -> Result<(), Mark> {
        loop {
            let c = self.cursor.peek(0);
            if is_blank(c) {
                let early = tab_from.is_some_and(|column| self.cursor.mark.column.cast_signed() < column);
                if space.broken && c == '\t' && early {
                    return Err(self.cursor.mark);
                }
                if !space.broken {
                    space.blanks.push(c);
                }
                self.cursor.skip();
            } else if is_break(c) {
                let breaks = if space.broken { &mut space.more } else { &mut space.first };
                self.cursor.take_break(breaks);
                space.broken = true;
            } else {
                return Ok(());
            }
        }
    }
}

/// What is between two words of a scalar.
#[derive(Default)]
pub(crate) struct Space {
    /// Whether there is a line break among it.
    pub(crate) broken: bool,
    blanks: String,
    first: String,
    more: String,
}

impl Space {
    /// One line break is a space, more are one less, and without one, blanks are themselves.
    pub(crate) fn add_to(self, text: &mut String) {
        match (self.broken, self.first.starts_with('\n')) {
            (false, _) => text.push_str(&self.blanks),
            (true, true) if self.more.is_empty() => text.push(' '),
            (true, true) => text.push_str(&self.more),
            (true, false) => {
                text.push_str(&self.first);
                text.push_str(&self.more);
            }
        }
    }
}
