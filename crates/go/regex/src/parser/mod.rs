//! From a text to a tree, as Go reads it.

mod bracket;
mod escape;
mod flags;
mod limits;
mod repeat;
mod runes;
mod stack;

use regex_syntax::hir::Look;

use crate::class::{self, Class};
use crate::error::{Error, Reason};
use crate::tree::{Kind, Literal, Tree};
use flags::Flags;
use limits::Limits;
use runes::first;
use stack::Entry;

/// A pattern that was understood.
pub(crate) struct Parsed {
    pub(crate) tree: Tree,
    /// The names of the groups; the first is the whole match.
    pub(crate) names: Vec<Option<Box<[u8]>>>,
}

/// Reads a pattern.
pub(crate) fn parse(pattern: &[u8]) -> Result<Parsed, Error> {
    let mut parser =
        Parser { whole: pattern, flags: Flags::PERL, stack: Vec::new(), names: vec![None], limits: Limits::default() };
    let mut rest = pattern;
    // Where the repetition begins that was read last, if it was the last that was read.
    let mut repeated = None;
    while let Some(byte) = rest.first() {
        let before = rest;
        rest = match byte {
            b'*' | b'+' | b'?' | b'{' => {
                if let Some((repeat, after)) = repeat::read(rest)? {
                    let after = parser.repeat(repeat, rest, after, repeated)?;
                    repeated = Some(before);
                    rest = after;
                    continue;
                }
                parser.literal('{'.into())?;
                &rest[1..]
            }
            _ => parser.next(rest)?,
        };
        repeated = None;
    }
    parser.finish()
}

struct Parser<'p> {
    whole: &'p [u8],
    flags: Flags,
    stack: Vec<Entry>,
    names: Vec<Option<Box<[u8]>>>,
    limits: Limits,
}

impl<'p> Parser<'p> {
    /// Reads what is no repetition, and answers what comes after it.
    fn next(&mut self, rest: &'p [u8]) -> Result<&'p [u8], Error> {
        match rest[0] {
            b'(' if rest.get(1) == Some(&b'?') => return self.group(rest),
            b'(' => self.open(None, true)?,
            b'|' => self.bar()?,
            b')' => self.close()?,
            b'^' if self.flags.has(Flags::ONE_LINE) => self.look(Look::Start)?,
            b'^' => self.look(Look::StartLF)?,
            b'$' if self.flags.has(Flags::ONE_LINE) => self.look(Look::End)?,
            b'$' => self.look(Look::EndLF)?,
            b'.' if self.flags.has(Flags::DOT_NEWLINE) => self.push(Kind::any())?,
            b'.' => self.push(Kind::any_but_newline())?,
            b'[' => return self.bracket(rest),
            b'\\' => return self.backslash(rest),
            _ => {
                let (code, rest) = first(rest)?;
                self.literal(code)?;
                return Ok(rest);
            }
        }
        Ok(&rest[1..])
    }

    fn look(&mut self, look: Look) -> Result<(), Error> {
        self.push(Kind::Look(look))
    }

    fn literal(&mut self, code: u32) -> Result<(), Error> {
        self.push(Kind::Literal(Literal { codes: vec![code], folded: self.flags.has(Flags::FOLD) }))
    }

    fn backslash(&mut self, rest: &'p [u8]) -> Result<&'p [u8], Error> {
        match rest.get(1) {
            Some(b'A') => self.look(Look::Start)?,
            Some(b'b') => self.look(Look::WordAscii)?,
            Some(b'B') => self.look(Look::WordAsciiNegate)?,
            Some(b'z') => self.look(Look::End)?,
            // A byte of a character is nothing that could be matched.
            Some(b'C') => return Err(Reason::Escape.of(&rest[..2])),
            Some(b'Q') => return self.quoted(&rest[2..]),
            Some(b'p' | b'P') => {
                let (class, rest) = self.unicode(rest)?;
                self.push(Kind::Class(class))?;
                return Ok(rest);
            }
            _ => {
                if let Some((class, rest)) = self.perl(rest) {
                    self.push(Kind::Class(class))?;
                    return Ok(rest);
                }
                let (code, rest) = escape::read(rest)?;
                self.literal(code)?;
                return Ok(rest);
            }
        }
        Ok(&rest[2..])
    }

    /// What comes after `\Q`, up to `\E`.
    fn quoted(&mut self, rest: &'p [u8]) -> Result<&'p [u8], Error> {
        let end = rest.windows(2).position(|pair| pair == b"\\E");
        let (mut quoted, rest) = end.map_or((rest, &rest[rest.len()..]), |end| (&rest[..end], &rest[end + 2..]));
        while !quoted.is_empty() {
            let (code, after) = first(quoted)?;
            self.literal(code)?;
            quoted = after;
        }
        Ok(rest)
    }

    /// `\d` and the like.
    fn perl(&self, rest: &'p [u8]) -> Option<(Class, &'p [u8])> {
        let letter = rest.get(1).filter(|_| rest[0] == b'\\')?;
        let class = class::perl(letter.to_ascii_lowercase())?;
        Some((self.signed(class, letter.is_ascii_lowercase()), &rest[2..]))
    }

    /// A class or all others, with what is the same but for case where case does not count.
    fn signed(&self, class: Class, positive: bool) -> Class {
        let class = if self.flags.has(Flags::FOLD) { class.folded() } else { class };
        if positive { class } else { class.negated() }
    }
}
