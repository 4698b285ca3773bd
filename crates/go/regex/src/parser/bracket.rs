//! Classes in brackets, and those of Unicode.

use super::flags::Flags;
use super::runes::{check, first};
use super::{Parser, escape};
use crate::class::{self, Class};
use crate::error::{Error, Reason};
use crate::tree::Kind;
use crate::unicode;

impl<'p> Parser<'p> {
    /// What begins with `[`.
    pub(super) fn bracket(&mut self, whole: &'p [u8]) -> Result<&'p [u8], Error> {
        let mut rest = &whole[1..];
        let negated = rest.first() == Some(&b'^');
        if negated {
            rest = &rest[1..];
        }
        let mut class = Class::default();
        let begin = rest.len();
        // A bracket that comes first stands for itself.
        while rest.first() != Some(&b']') || rest.len() == begin {
            let (more, after) = self.item(rest, whole)?;
            class.add_all(&more);
            rest = after;
        }
        let class = class.in_order();
        self.push(Kind::Class(if negated { class.negated() } else { class }))?;
        Ok(&rest[1..])
    }

    /// A class inside of a bracket, or a character or a range of them.
    fn item(&mut self, rest: &'p [u8], whole: &'p [u8]) -> Result<(Class, &'p [u8]), Error> {
        if rest.len() > 2
            && rest.starts_with(b"[:")
            && let Some(end) = rest[2..].windows(2).position(|pair| pair == b":]")
        {
            return self.posix(&rest[..end + 4], &rest[end + 4..]);
        }
        if rest.starts_with(b"\\p") || rest.starts_with(b"\\P") {
            return self.unicode(rest);
        }
        if let Some(found) = self.perl(rest) {
            return Ok(found);
        }
        let (low, mut after) = character(rest, whole)?;
        let mut high = low;
        if after.len() >= 2 && after[0] == b'-' && after[1] != b']' {
            (high, after) = character(&after[1..], whole)?;
            if high < low {
                return Err(Reason::CharacterRange.of(&rest[..rest.len() - after.len()]));
            }
        }
        let class = Class::of(&[(low, high)]);
        Ok((if self.flags.has(Flags::FOLD) { class.folded() } else { class }, after))
    }

    /// `[:alnum:]` or `[:^alnum:]`.
    fn posix(&self, written: &[u8], rest: &'p [u8]) -> Result<(Class, &'p [u8]), Error> {
        let name = &written[2..written.len() - 2];
        let (name, positive) = name.strip_prefix(b"^").map_or((name, true), |name| (name, false));
        let class = class::posix(name).ok_or_else(|| Reason::CharacterRange.of(written))?;
        Ok((self.signed(class, positive), rest))
    }

    /// `\pN`, `\p{Greek}`, `\P{^Greek}`.
    pub(super) fn unicode(&self, text: &'p [u8]) -> Result<(Class, &'p [u8]), Error> {
        let (code, after) = first(&text[2..])?;
        let (written, name, rest) = if code == u32::from('{') {
            let Some(end) = text.iter().position(|byte| *byte == b'}') else {
                check(text)?;
                return Err(Reason::CharacterRange.of(text));
            };
            check(&text[3..end])?;
            (&text[..=end], &text[3..end], &text[end + 1..])
        } else {
            let written = &text[..text.len() - after.len()];
            (written, &written[2..], after)
        };
        let (name, negated) = name.strip_prefix(b"^").map_or((name, false), |name| (name, true));
        let class = unicode::class(name).ok_or_else(|| Reason::CharacterRange.of(written))?;
        Ok((self.signed(class, (text[1] == b'p') != negated), rest))
    }
}

fn character<'t>(rest: &'t [u8], whole: &[u8]) -> Result<(u32, &'t [u8]), Error> {
    match rest.first() {
        None => Err(Reason::MissingBracket.of(whole)),
        Some(b'\\') => escape::read(rest),
        Some(_) => first(rest),
    }
}
