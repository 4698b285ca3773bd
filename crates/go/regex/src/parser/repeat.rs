//! Repetitions.

use super::Parser;
use super::flags::Flags;
use super::stack::Entry;
use crate::error::{Error, Reason};
use crate::tree::{Kind, Repeat, Tree};

/// How often something may be repeated.
const MOST: u32 = 1000;

/// The repetition at the beginning, greedy so far, and what comes after it. A brace that begins none stands for itself.
pub(super) fn read(rest: &[u8]) -> Result<Option<(Repeat, &[u8])>, Error> {
    let plain = |least, most| Ok(Some((Repeat { least, most, greedy: true, counted: false }, &rest[1..])));
    match rest[0] {
        b'*' => return plain(0, None),
        b'+' => return plain(1, None),
        b'?' => return plain(0, Some(1)),
        _ => {}
    }
    let Some((least, most, after)) = counts(&rest[1..]) else { return Ok(None) };
    if least > MOST || most.is_some_and(|most| most > MOST || most < least) {
        return Err(Reason::RepeatCount.of(&rest[..rest.len() - after.len()]));
    }
    Ok(Some((Repeat { least, most, greedy: true, counted: true }, after)))
}

fn counts(text: &[u8]) -> Option<(u32, Option<u32>, &[u8])> {
    let (least, text) = number(text)?;
    let (most, text) = match text.split_first()? {
        (b',', rest) if rest.first()? == &b'}' => (None, rest),
        (b',', rest) => {
            let (most, rest) = number(rest)?;
            (Some(most), rest)
        }
        _ => (Some(least), text),
    };
    let (end, rest) = text.split_first()?;
    (*end == b'}').then_some((least, most, rest))
}

/// A number without zeros before it; one that is far too large is none that is allowed.
fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    if length == 0 || (length > 1 && digits[0] == b'0') {
        return None;
    }
    let number =
        digits.iter().fold(0_u32, |number, digit| number.saturating_mul(10).saturating_add((digit - b'0').into()));
    Some((number, rest))
}

impl<'p> Parser<'p> {
    /// Repeats what was read last. `before` begins with the repetition, `after` comes after it; `repeated` begins with
    /// a repetition that comes right before this one, which must not be.
    pub(super) fn repeat(
        &mut self,
        mut repeat: Repeat,
        before: &'p [u8],
        mut after: &'p [u8],
        repeated: Option<&'p [u8]>,
    ) -> Result<&'p [u8], Error> {
        repeat.greedy = !self.flags.has(Flags::UNGREEDY);
        if let [b'?', rest @ ..] = after {
            after = rest;
            repeat.greedy = !repeat.greedy;
        }
        if let Some(repeated) = repeated {
            return Err(Reason::RepeatOperator.of(&repeated[..repeated.len() - after.len()]));
        }
        let written = &before[..before.len() - after.len()];
        let Some(Entry::Part(part)) = self.stack.pop_if(|entry| matches!(entry, Entry::Part(_))) else {
            return Err(Reason::MissingRepeatArgument.of(written));
        };
        self.limits.made();
        let tree = Tree::new(Kind::Repeat(repeat, Box::new(part)));
        self.limits.check(&tree, &self.stack, self.whole)?;
        let several = repeat.least >= 2 || repeat.most.is_some_and(|most| most >= 2);
        if repeat.counted && several && !tree.repeats_at_most(MOST) {
            return Err(Reason::RepeatCount.of(written));
        }
        self.stack.push(Entry::Part(tree));
        Ok(after)
    }
}
