//! Templates to tokens.

use memchr::memmem;

use crate::quote;
use crate::rune;
use crate::token::{Kind, Token};

const LEFT: &[u8] = b"{{";
const RIGHT: &[u8] = b"}}";
/// A trim marker is a minus with a space on the side of what is trimmed.
const MARKER: usize = 2;

/// Hands out one token at a time. Inside and outside of actions it reads by different rules.
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
pub(crate) struct Lexer<'t> {
    input: &'t [u8],
    pos: usize,
    /// Where the token that is being read begins.
    start: usize,
    /// The end has been read; there is nothing to step back over.
    at_end: bool,
    parens: usize,
    line: usize,
    start_line: usize,
    inside: bool,
    /// Whether `break` and `continue` are keywords: they are not where there are functions of that name.
    pub(crate) break_is_keyword: bool,
    pub(crate) continue_is_keyword: bool,
    /// Why there is no other token.
    pub(crate) failure: String,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn is_space_rune(rune: Option<char>) -> bool {
    matches!(rune, Some(' ' | '\t' | '\r' | '\n'))
}

fn has_left_marker(text: &[u8]) -> bool {
    matches!(text, [b'-', space, ..] if is_space(*space))
}

fn has_right_marker(text: &[u8]) -> bool {
    matches!(text, [space, b'-', ..] if is_space(*space))
}

/// Where the next action begins.
fn find_left(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'{', text).find(|at| text.get(at + 1) == Some(&b'{'))
}

fn newlines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(input: &'t [u8]) -> Self {
        Self {
            input,
            pos: 0,
            start: 0,
            at_end: false,
            parens: 0,
            line: 1,
            start_line: 1,
            inside: false,
            break_is_keyword: true,
            continue_is_keyword: true,
            failure: String::new(),
        }
    }

    /// The next token. After the end or an error there is no other.
    pub(crate) fn next_token(&mut self) -> Token<'t> {
        if self.inside { self.lex_inside() } else { self.lex_text() }
    }

    fn next(&mut self) -> Option<char> {
        if self.pos >= self.input.len() {
            self.at_end = true;
            return None;
        }
        let (rune, width) = rune::first(&self.input[self.pos..]);
        self.pos += width;
        self.line += usize::from(rune == '\n');
        Some(rune)
    }

    fn back_up(&mut self) {
        if !self.at_end && self.pos > 0 {
            self.pos -= rune::last_width(&self.input[..self.pos]);
            self.line -= usize::from(self.input[self.pos] == b'\n');
        }
    }

    fn peek(&mut self) -> Option<char> {
        if self.pos >= self.input.len() {
            self.at_end = true;
            return None;
        }
        Some(rune::first(self.rest()).0)
    }

    fn rest(&self) -> &'t [u8] {
        &self.input[self.pos..]
    }

    fn emit(&mut self, kind: Kind) -> Token<'t> {
        let text = &self.input[self.start..self.pos];
        let token = Token { kind, pos: self.start, text, line: self.start_line };
        self.start = self.pos;
        self.start_line = self.line;
        token
    }

    /// Skips what was passed without `next`.
    fn ignore(&mut self) {
        self.line += newlines(&self.input[self.start..self.pos]);
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn accept(&mut self, valid: &[u8]) -> bool {
        let found = self.next().is_some_and(|rune| u8::try_from(rune).is_ok_and(|byte| valid.contains(&byte)));
        if !found {
            self.back_up();
        }
        found
    }

    fn accept_run(&mut self, valid: &[u8]) {
        while self.accept(valid) {}
    }

    fn fail(&mut self, reason: impl Into<String>) -> Token<'t> {
        self.failure = reason.into();
        let token = Token { kind: Kind::Error, pos: self.start, text: &[], line: self.start_line };
        (self.start, self.pos, self.input) = (0, 0, &[]);
        token
    }

    /// Text up to an action, or up to the end. Comments are passed over.
    fn lex_text(&mut self) -> Token<'t> {
        loop {
            let Some(ahead) = find_left(self.rest()) else {
                self.pos = self.input.len();
                if self.pos == self.start {
                    return self.emit(Kind::Eof);
                }
                self.line += newlines(&self.input[self.start..self.pos]);
                return self.emit(Kind::Text);
            };
            if ahead > 0 {
                let token = self.lex_text_before(ahead);
                if !token.text.is_empty() {
                    return token;
                }
            }
            self.pos += LEFT.len();
            let marker = if has_left_marker(self.rest()) { MARKER } else { 0 };
            if !self.rest()[marker..].starts_with(b"/*") {
                let token = self.emit(Kind::LeftDelim);
                self.inside = true;
                self.pos += marker;
                self.ignore();
                self.parens = 0;
                return token;
            }
            self.pos += marker;
            self.ignore();
            if let Err(reason) = self.skip_comment() {
                return self.fail(reason);
            }
        }
    }

    fn lex_text_before(&mut self, ahead: usize) -> Token<'t> {
        self.pos += ahead;
        let text = &self.input[self.start..self.pos];
        let trimmed = if has_left_marker(&self.rest()[LEFT.len()..]) {
            text.iter().rev().take_while(|byte| is_space(**byte)).count()
        } else {
            0
        };
        self.pos -= trimmed;
        self.line += newlines(&self.input[self.start..self.pos]);
        let token = self.emit(Kind::Text);
        self.pos += trimmed;
        self.ignore();
        token
    }

    fn skip_comment(&mut self) -> Result<(), &'static str> {
        self.pos += b"/*".len();
        self.pos += memmem::find(self.rest(), b"*/").ok_or("unclosed comment")? + b"*/".len();
        let trims = self.at_right().ok_or("comment ends before closing delimiter")?;
        self.pos += RIGHT.len();
        if trims {
            self.pos += MARKER;
            self.skip_space();
        }
        self.ignore();
        Ok(())
    }

    fn skip_space(&mut self) {
        self.pos += self.rest().iter().take_while(|byte| is_space(**byte)).count();
    }

    /// Whether an action ends here, and if so whether the space that follows is trimmed.
    fn at_right(&self) -> Option<bool> {
        let rest = self.rest();
        if has_right_marker(rest) && rest[MARKER..].starts_with(RIGHT) {
            return Some(true);
        }
        rest.starts_with(RIGHT).then_some(false)
    }

    fn lex_right(&mut self) -> Token<'t> {
        let trims = self.at_right() == Some(true);
        if trims {
            self.pos += MARKER;
            self.ignore();
        }
        self.pos += RIGHT.len();
        let token = self.emit(Kind::RightDelim);
        if trims {
            self.skip_space();
            self.ignore();
        }
        self.inside = false;
        token
    }

    fn lex_inside(&mut self) -> Token<'t> {
        if self.at_right().is_some() {
            return if self.parens == 0 { self.lex_right() } else { self.fail("unclosed left paren") };
        }
        let Some(rune) = self.next() else { return self.fail("unclosed action") };
        match rune {
            ' ' | '\t' | '\r' | '\n' => {
                self.back_up();
                self.lex_space()
            }
            '=' => self.emit(Kind::Assign),
            ':' => match self.next() {
                Some('=') => self.emit(Kind::Declare),
                _ => self.fail("expected :="),
            },
            '|' => self.emit(Kind::Pipe),
            '"' => self.lex_quote(b'"', Kind::String, "unterminated quoted string"),
            '`' => self.lex_raw_quote(),
            '$' => self.lex_name(Kind::Variable),
            '\'' => self.lex_quote(b'\'', Kind::CharConstant, "unterminated character constant"),
            '.' if self.rest().first().is_some_and(|byte| !byte.is_ascii_digit()) => self.lex_name(Kind::Field),
            '.' | '+' | '-' | '0'..='9' => {
                self.back_up();
                self.lex_number()
            }
            '(' => {
                self.parens += 1;
                self.emit(Kind::LeftParen)
            }
            ')' if self.parens == 0 => self.fail("unexpected right paren"),
            ')' => {
                self.parens -= 1;
                self.emit(Kind::RightParen)
            }
            _ if rune::is_alphanumeric(rune) => {
                self.back_up();
                self.lex_identifier()
            }
            ' '..='~' => self.emit(Kind::Char),
            _ => {
                let reason = format!("unrecognized character in action: {}", unicode(rune));
                self.fail(reason)
            }
        }
    }

    /// A run of spaces, without the one that belongs to a trim marker.
    fn lex_space(&mut self) -> Token<'t> {
        let count = self.rest().iter().take_while(|byte| is_space(**byte)).count();
        self.line += newlines(&self.rest()[..count]);
        self.pos += count;
        self.at_end = self.at_end || self.pos == self.input.len();
        let from_last = &self.input[self.pos - 1..];
        if has_right_marker(from_last) && from_last[MARKER..].starts_with(RIGHT) {
            self.back_up();
            if count == 1 {
                return self.lex_right();
            }
        }
        self.emit(Kind::Space)
    }

    fn lex_identifier(&mut self) -> Token<'t> {
        let after = self.pass_name();
        let word = &self.input[self.start..self.pos];
        if !self.at_terminator() {
            return self.fail_at(after);
        }
        let kind = match Kind::of_word(word) {
            Some(Kind::Break) if !self.break_is_keyword => Kind::Identifier,
            Some(Kind::Continue) if !self.continue_is_keyword => Kind::Identifier,
            Some(keyword) => keyword,
            None if word == b"true" || word == b"false" => Kind::Bool,
            None => Kind::Identifier,
        };
        self.emit(kind)
    }

    /// A field or a variable, of which the dot or the dollar has been read.
    fn lex_name(&mut self, kind: Kind) -> Token<'t> {
        if self.at_terminator() {
            return self.emit(if kind == Kind::Variable { Kind::Variable } else { Kind::Dot });
        }
        let after = self.pass_name();
        if self.at_terminator() { self.emit(kind) } else { self.fail_at(after) }
    }

    /// Passes letters and digits; what comes after them.
    fn pass_name(&mut self) -> Option<char> {
        // Most names are ASCII.
        self.pos += self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        loop {
            let rune = self.next();
            if !rune.is_some_and(rune::is_alphanumeric) {
                self.back_up();
                return rune;
            }
        }
    }

    fn fail_at(&mut self, rune: Option<char>) -> Token<'t> {
        self.fail(format!("bad character {}", rune.map_or_else(String::new, unicode)))
    }

    fn at_terminator(&mut self) -> bool {
        let rune = self.peek();
        is_space_rune(rune)
            || matches!(rune, None | Some('.' | ',' | '|' | ':' | ')' | '('))
            || self.rest().starts_with(RIGHT)
    }

    fn lex_quote(&mut self, quote: u8, kind: Kind, unterminated: &'static str) -> Token<'t> {
        loop {
            // Only these can mean anything.
            self.pos += memchr::memchr3(quote, b'\\', b'\n', self.rest()).unwrap_or(self.rest().len());
            match self.next() {
                Some('\\') if !matches!(self.next(), None | Some('\n')) => {}
                None | Some('\n' | '\\') => return self.fail(unterminated),
                Some(rune) if rune == char::from(quote) => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    fn lex_raw_quote(&mut self) -> Token<'t> {
        loop {
            match self.next() {
                None => return self.fail("unterminated raw quoted string"),
                Some('`') => return self.emit(Kind::RawString),
                Some(_) => {}
            }
        }
    }

    fn lex_number(&mut self) -> Token<'t> {
        let plain = self.scan_number();
        let complex = plain && matches!(self.peek(), Some('+' | '-'));
        if !plain || complex && !(self.scan_number() && self.input[self.pos - 1] == b'i') {
            let number = quote::quote(&self.input[self.start..self.pos]);
            return self.fail(format!("bad number syntax: {number}"));
        }
        self.emit(if complex { Kind::Complex } else { Kind::Number })
    }

    /// Not every number that passes here is one: the parser reads it.
    fn scan_number(&mut self) -> bool {
        const DECIMAL: &[u8] = b"0123456789_";
        const HEXADECIMAL: &[u8] = b"0123456789abcdefABCDEF_";
        self.accept(b"+-");
        let mut digits = DECIMAL;
        if self.accept(b"0") {
            if self.accept(b"xX") {
                digits = HEXADECIMAL;
            } else if self.accept(b"oO") {
                digits = b"01234567_";
            } else if self.accept(b"bB") {
                digits = b"01_";
            }
        }
        self.accept_run(digits);
        if self.accept(b".") {
            self.accept_run(digits);
        }
        if digits == DECIMAL && self.accept(b"eE") || digits == HEXADECIMAL && self.accept(b"pP") {
            self.accept(b"+-");
            self.accept_run(DECIMAL);
        }
        self.accept(b"i");
        if self.peek().is_some_and(rune::is_alphanumeric) {
            self.next();
            return false;
        }
        true
    }
}

/// Go's `%#U`.
fn unicode(rune: char) -> String {
    let code = u32::from(rune);
    if rune::is_print(rune) { format!("U+{code:04X} '{rune}'") } else { format!("U+{code:04X}") }
}
