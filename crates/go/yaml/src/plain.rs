//! Scalars without quotes: plain ones, and blocks.

use crate::Error;
use crate::cursor::{END, is_blank, is_blank_or_end, is_break, is_break_or_end};
use crate::quoted::{Pieces, Space};
use crate::scanner::Scanner;
use crate::tokens::{Kind, Token};

/// What becomes of the line breaks at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    /// `-`: none stays.
    Strip,
    /// The first stays.
    Clip,
    /// `+`: all stay.
    Keep,
}

impl<'t> Scanner<'t> {
    /// A scalar that ends where something else can begin.
    pub(crate) fn plain(&mut self) -> Result<Token<'t>, Error> {
        let start = self.cursor.mark;
        let mut end = start;
        let mut text = Pieces::new(self.cursor.at());
        let mut space = Space::default();
        let indent = self.indent + 1;
        loop {
            let boundary = self.cursor.is_boundary('-') || self.cursor.is_boundary('.');
            if boundary || self.cursor.peek(0) == '#' {
                break;
            }
            if !self.ends_plain() {
                if space.broken {
                    text.fold(&self.cursor, &std::mem::take(&mut space));
                }
                self.skip_word();
                // As Go, look at two characters after each that is taken: what it does not have may be among them.
                self.cursor.peek(1);
                end = self.cursor.mark;
                text.to = self.cursor.at();
            }
            let next = self.cursor.peek(0);
            if !is_blank(next) && !is_break(next) {
                break;
            }
            if self.take_space(&mut space, Some(indent)).is_err() {
                return self.fail("found a tab character that violates indentation");
            }
            if self.flow_level == 0 && self.cursor.mark.column.cast_signed() < indent {
                break;
            }
        }
        if space.broken {
            self.key_allowed = true;
        }
        Ok(Token::with(Kind::Plain, start, end, text.whole(&self.cursor)))
    }

    /// Skips what is neither space nor the end of a plain scalar.
    fn skip_word(&mut self) {
        loop {
            self.cursor.skip_ascii_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'.' | b'/' | b'_'));
            if self.ends_plain() {
                return;
            }
            self.cursor.skip();
        }
    }

    fn ends_plain(&self) -> bool {
        let c = self.cursor.peek(0);
        is_blank_or_end(c)
            || (c == ':' && is_blank_or_end(self.cursor.peek(1)))
            || (self.flow_level > 0 && matches!(c, ',' | '?' | '[' | ']' | '{' | '}'))
    }

    /// The scalar after `|` (literal) or `>` (folded).
    pub(crate) fn block_scalar(&mut self, literal: bool) -> Result<Token<'t>, Error> {
        let start = self.cursor.mark;
        self.cursor.skip();
        let (chomp, increment) = self.block_header()?;
        let mut indent = increment.map(|increment| self.indent.max(0).cast_unsigned() + increment);
        let mut end = self.cursor.mark;
        let mut text = String::new();
        let mut first_break = None;
        let mut breaks = String::new();
        let mut after_blank = false;
        let column = self.block_breaks(&mut indent, &mut breaks)?;
        while self.cursor.mark.column == column && self.cursor.peek(0) != END {
            let blank = is_blank(self.cursor.peek(0));
            if !literal && !after_blank && !blank && first_break == Some('\n') {
                if breaks.is_empty() {
                    text.push(' ');
                }
            } else {
                text.extend(first_break);
            }
            text.push_str(&breaks);
            after_blank = blank;
            let from = self.cursor.at();
            self.cursor.skip_line();
            text.push_str(self.cursor.slice(from, self.cursor.at()));
            breaks.clear();
            first_break = self.cursor.take_break();
            end = self.cursor.mark;
            self.block_breaks(&mut indent, &mut breaks)?;
        }
        if chomp != Chomp::Strip {
            text.extend(first_break);
        }
        if chomp == Chomp::Keep {
            text.push_str(&breaks);
        }
        Ok(Token::with(Kind::Text, start, end, text))
    }

    /// What follows `|` or `>` on its line: how to chomp and how far in the block is, in either order.
    fn block_header(&mut self) -> Result<(Chomp, Option<usize>), Error> {
        let chomp = self.block_chomp();
        let increment = self.block_increment()?;
        let chomp = chomp.or_else(|| increment.and_then(|_| self.block_chomp())).unwrap_or(Chomp::Clip);
        self.cursor.skip_rest_of_line();
        if !is_break_or_end(self.cursor.peek(0)) {
            return self.fail("did not find expected comment or line break");
        }
        self.cursor.take_break();
        Ok((chomp, increment))
    }

    fn block_chomp(&mut self) -> Option<Chomp> {
        let chomp = match self.cursor.peek(0) {
            '+' => Chomp::Keep,
            '-' => Chomp::Strip,
            _ => return None,
        };
        self.cursor.skip();
        Some(chomp)
    }

    fn block_increment(&mut self) -> Result<Option<usize>, Error> {
        let Some(digit) = self.cursor.peek(0).to_digit(10).and_then(|digit| usize::try_from(digit).ok()) else {
            return Ok(None);
        };
        if digit == 0 {
            return self.fail("found an indentation indicator equal to 0");
        }
        self.cursor.skip();
        Ok(Some(digit))
    }

    /// Takes indentation and empty lines. Where the block's column is not known yet, the first line decides it.
    fn block_breaks(&mut self, indent: &mut Option<usize>, breaks: &mut String) -> Result<usize, Error> {
        let mut furthest = 0;
        loop {
            let most = indent.map_or(usize::MAX, |column| column.saturating_sub(self.cursor.mark.column));
            self.cursor.skip_spaces(most);
            furthest = furthest.max(self.cursor.mark.column);
            let before = indent.is_none_or(|column| self.cursor.mark.column < column);
            if before && self.cursor.peek(0) == '\t' {
                return self.fail("found a tab character where an indentation space is expected");
            }
            let Some(taken) = self.cursor.take_break() else { break };
            breaks.push(taken);
        }
        let least = (self.indent + 1).max(1).cast_unsigned();
        Ok(*indent.get_or_insert(furthest.max(least)))
    }
}
