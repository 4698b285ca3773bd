//! Scalars in quotes.

use std::borrow::Cow;

use crate::Error;
use crate::cursor::{Cursor, END, Mark, is_blank, is_blank_or_end, is_break};
use crate::scanner::Scanner;
use crate::tokens::{Kind, Token};

impl<'t> Scanner<'t> {
    /// A scalar between two of these quotes.
    pub(crate) fn quoted(&mut self, quote: char) -> Result<Token<'t>, Error> {
        let start = self.cursor.mark;
        self.cursor.skip();
        let mut text = Pieces::new(self.cursor.at());
        loop {
            if self.cursor.is_boundary('-') || self.cursor.is_boundary('.') {
                return self.fail("found unexpected document indicator");
            }
            if self.cursor.peek(0) == END {
                return self.fail("found unexpected end of stream");
            }
            let break_escaped = self.words(quote, &mut text)?;
            text.to = self.cursor.at();
            if self.cursor.peek(0) == quote {
                break;
            }
            let mut space = Space { broken: break_escaped, ..Space::default() };
            self.take_space(&mut space, None).unwrap_or_default();
            if space.broken {
                text.fold(&self.cursor, &space);
            }
        }
        text.to = self.cursor.at();
        let text = text.whole(&self.cursor);
        self.cursor.skip();
        Ok(Token::with(Kind::Text, start, self.cursor.mark, text))
    }

    /// Takes what is neither blank nor the closing quote. Says whether it ended with a line break that was escaped.
    fn words(&mut self, quote: char, text: &mut Pieces) -> Result<bool, Error> {
        loop {
            self.cursor.skip_ascii_while(|c| matches!(c, b'!'..=b'~') && !matches!(c, b'\'' | b'"' | b'\\'));
            match (self.cursor.peek(0), self.cursor.peek(1)) {
                (first, _) if is_blank_or_end(first) => return Ok(false),
                ('\'', '\'') if quote == '\'' => {
                    text.replace(&self.cursor, "'");
                    self.cursor.skip();
                    self.cursor.skip();
                    text.from = self.cursor.at();
                }
                (first, _) if first == quote => return Ok(false),
                ('\\', second) if quote == '"' && is_break(second) => {
                    text.replace(&self.cursor, "");
                    self.cursor.skip();
                    self.cursor.take_break();
                    text.from = self.cursor.at();
                    return Ok(true);
                }
                ('\\', second) if quote == '"' => {
                    text.replace(&self.cursor, "");
                    let c = self.escape(second)?;
                    text.owned.push(c);
                    text.from = self.cursor.at();
                }
                _ => self.cursor.skip(),
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
        // As Go, look at all of them first: what it does not have may be among them.
        self.cursor.peek(digits - 1);
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

    /// Takes blanks and line breaks. At the beginning of a line there may be no tab before this column.
    pub(crate) fn take_space(&mut self, space: &mut Space, tab_from: Option<isize>) -> Result<(), Mark> {
        loop {
            let c = self.cursor.peek(0);
            if is_blank(c) {
                let early = tab_from.is_some_and(|column| self.cursor.mark.column.cast_signed() < column);
                if space.broken && c == '\t' && early {
                    return Err(self.cursor.mark);
                }
                self.cursor.skip();
                self.cursor.skip_ascii_while(|c| c == b' ');
            } else if let Some(taken) = self.cursor.take_break() {
                if space.broken {
                    space.more.push(taken);
                } else {
                    space.first = Some(taken);
                }
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
    first: Option<char>,
    more: String,
}

/// A scalar in pieces: as long as it is written as it is, it is only a place in the text.
pub(crate) struct Pieces {
    /// What comes before the piece that is being taken, where that is not the beginning.
    owned: String,
    split: bool,
    from: usize,
    /// Where the last word ended.
    pub(crate) to: usize,
}

impl Pieces {
    pub(crate) fn new(from: usize) -> Self {
        Self { owned: String::new(), split: false, from, to: from }
    }

    /// Puts something else in the place of what comes next.
    fn replace(&mut self, cursor: &Cursor<'_>, with: &str) {
        self.owned.push_str(cursor.slice(self.from, cursor.at()));
        self.owned.push_str(with);
        self.split = true;
        // Until it is known where the next piece begins.
        self.from = cursor.at();
    }

    /// Puts what line breaks mean in their place, and goes on after them: one is a space, more are one less.
    pub(crate) fn fold(&mut self, cursor: &Cursor<'_>, space: &Space) {
        self.owned.push_str(cursor.slice(self.from, self.to));
        match (space.first == Some('\n'), space.more.as_str()) {
            (true, "") => self.owned.push(' '),
            (true, more) => self.owned.push_str(more),
            (false, more) => {
                self.owned.extend(space.first);
                self.owned.push_str(more);
            }
        }
        self.split = true;
        self.from = cursor.at();
        self.to = self.from;
    }

    /// The scalar up to where its last word ended.
    pub(crate) fn whole<'t>(mut self, cursor: &Cursor<'t>) -> Cow<'t, str> {
        let last = cursor.slice(self.from, self.to);
        if !self.split {
            return Cow::Borrowed(last);
        }
        self.owned.push_str(last);
        Cow::Owned(self.owned)
    }
}
