//! How large a pattern may be.

use super::stack::Entry;
use crate::error::{Error, Reason};
use crate::tree::{Kind, Tree};

/// How deep a tree may be.
const HEIGHT: usize = 1000;
/// How many instructions Go's program may have: what fits into 128 MiB, at 40 bytes for each.
const SIZE: u64 = (128 << 20) / 40;
/// How many ends of ranges and letters all parts may have that were ever made: what fits into 128 MiB, at 4 bytes for each.
const RUNES: usize = (128 << 20) / 4;

/// What was made so far, counted as Go counts it.
#[derive(Debug)]
pub(super) struct Limits {
    /// How many parts there were at once, at most.
    parts: u64,
    /// How many of them are not in use.
    free: u64,
    runes: usize,
    /// The product of all repetitions.
    repeats: u64,
    /// Whether sizes are looked at: only once they could matter.
    sized: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { parts: 0, free: 0, runes: 0, repeats: 1, sized: false }
    }
}

impl Limits {
    /// A part was made.
    pub(super) fn made(&mut self) {
        match self.free.checked_sub(1) {
            Some(free) => self.free = free,
            None => self.parts += 1,
        }
    }

    /// A part is not needed any more.
    pub(super) fn freed(&mut self) {
        self.free += 1;
    }

    /// A part was put onto the stack.
    pub(super) fn pushed(&mut self, kind: &Kind) {
        self.runes += match kind {
            Kind::Literal(literal) => literal.codes.len(),
            Kind::Class(class) => 2 * class.ranges().len(),
            _ => 0,
        };
    }

    /// That a part is not too large. What is on the stack is looked at once sizes begin to matter.
    pub(super) fn check(&mut self, tree: &Tree, stack: &[Entry], whole: &[u8]) -> Result<(), Error> {
        let before = self.sized;
        self.sized = before || self.begins_to_matter(tree);
        let stacked = if before { &[] } else { stack };
        let too_large = |entry: &Entry| matches!(entry, Entry::Part(part) if part.size > SIZE);
        if self.runes > RUNES || (self.sized && (tree.size > SIZE || stacked.iter().any(too_large))) {
            return Err(Reason::TooLarge.of(whole));
        }
        if tree.height > HEIGHT {
            return Err(Reason::NestingDepth.of(whole));
        }
        Ok(())
    }

    fn begins_to_matter(&mut self, tree: &Tree) -> bool {
        if let Kind::Repeat(repeat, _) = &tree.kind
            && repeat.counted
        {
            let times = u64::from(repeat.most.unwrap_or(repeat.least).max(1));
            self.repeats = if times > SIZE / self.repeats { SIZE } else { self.repeats * times };
        }
        self.parts >= SIZE / self.repeats
    }
}
