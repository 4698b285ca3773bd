//! Groups, and the flags that hold in them.

use super::Parser;
use super::runes::{check, first};
use crate::error::{Error, Reason};

/// What holds for what is read next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flags(u8);

impl Flags {
    /// Case does not count.
    pub(super) const FOLD: u8 = 1;
    /// A dot is a newline as well.
    pub(super) const DOT_NEWLINE: u8 = 2;
    /// `^` and `$` are the ends of the text, not of a line.
    pub(super) const ONE_LINE: u8 = 4;
    /// Repetitions take as little as they can.
    pub(super) const UNGREEDY: u8 = 8;
    /// What holds at the beginning.
    pub(super) const PERL: Self = Self(Self::ONE_LINE);

    pub(super) fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

impl<'p> Parser<'p> {
    /// What begins with `(?`.
    pub(super) fn group(&mut self, rest: &'p [u8]) -> Result<&'p [u8], Error> {
        let named = |marks: &[u8]| rest.len() > marks.len() && rest.starts_with(marks);
        if named(b"(?P<") || named(b"(?<") {
            return self.named_group(rest);
        }
        let mut after = &rest[2..];
        let (mut flags, mut negated, mut seen) = (self.flags.0, false, false);
        while !after.is_empty() {
            let (code, next) = first(after)?;
            after = next;
            match u8::try_from(code) {
                Ok(b'i') => flags |= Flags::FOLD,
                Ok(b'm') => flags &= !Flags::ONE_LINE,
                Ok(b's') => flags |= Flags::DOT_NEWLINE,
                Ok(b'U') => flags |= Flags::UNGREEDY,
                Ok(b'-') if !negated => {
                    // What is set from here on is taken away.
                    (flags, negated, seen) = (!flags, true, false);
                    continue;
                }
                Ok(end @ (b':' | b')')) if seen || !negated => {
                    let flags = Flags(if negated { !flags } else { flags });
                    if end == b':' {
                        self.open(None, false)?;
                    }
                    self.flags = flags;
                    return Ok(after);
                }
                _ => break,
            }
            seen = true;
        }
        Err(Reason::PerlSyntax.of(&rest[..rest.len() - after.len()]))
    }

    fn named_group(&mut self, rest: &'p [u8]) -> Result<&'p [u8], Error> {
        let Some(end) = rest.iter().position(|byte| *byte == b'>') else {
            check(rest)?;
            return Err(Reason::NamedCapture.of(rest));
        };
        let begin = if rest[2] == b'P' { 4 } else { 3 };
        let name = &rest[begin..end];
        check(name)?;
        if name.is_empty() || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            return Err(Reason::NamedCapture.of(&rest[..=end]));
        }
        self.open(Some(name), true)?;
        Ok(&rest[end + 1..])
    }
}
