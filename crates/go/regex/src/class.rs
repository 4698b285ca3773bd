//! Sets of characters.

use regex_syntax::hir::{Class as HirClass, ClassUnicode, ClassUnicodeRange, Hir};

use crate::unicode;

/// The last code point there is.
pub(crate) const LAST: u32 = 0x10_FFFF;

/// A set of code points. Surrogates may be named in a pattern, though no text has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Class {
    ranges: Vec<(u32, u32)>,
}

impl Class {
    pub(crate) fn of(ranges: &[(u32, u32)]) -> Self {
        Self { ranges: ranges.to_vec() }
    }

    pub(crate) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub(crate) fn add(&mut self, first: u32, last: u32) {
        match self.ranges.last_mut() {
            Some(range) if range.0 <= first && first <= range.1 + 1 => range.1 = range.1.max(last),
            _ => self.ranges.push((first, last)),
        }
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        for (first, last) in &other.ranges {
            self.add(*first, *last);
        }
    }

    /// The same set with its ranges in order and apart from each other.
    pub(crate) fn in_order(mut self) -> Self {
        if self.ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0) {
            return self;
        }
        self.ranges.sort_unstable();
        let mut ordered = Self { ranges: Vec::with_capacity(self.ranges.len()) };
        ordered.add_all(&self);
        ordered
    }

    /// All other code points, of a set in order.
    pub(crate) fn negated(&self) -> Self {
        let mut others = Self::default();
        let mut next = 0;
        for (first, last) in &self.ranges {
            if next < *first {
                others.ranges.push((next, first - 1));
            }
            next = last + 1;
        }
        if next <= LAST {
            others.ranges.push((next, LAST));
        }
        others
    }

    /// The set, in order, with all that is the same but for case.
    pub(crate) fn folded(mut self) -> Self {
        let mut same = Vec::new();
        for (first, last) in &self.ranges {
            same.extend(unicode::same_as_any_of(*first, *last));
        }
        self.ranges.extend(same.into_iter().map(|code| (code, code)));
        self.in_order()
    }

    pub(crate) fn to_hir(&self) -> Hir {
        let ranges = self.ranges.iter().flat_map(|(first, last)| {
            // What lies on both sides of the surrogates.
            [(*first, (*last).min(0xD7FF)), ((*first).max(0xE000), *last)]
        });
        let chars = ranges.filter_map(|(first, last)| {
            let range = ClassUnicodeRange::new(char::from_u32(first)?, char::from_u32(last)?);
            (first <= last).then_some(range)
        });
        Hir::class(HirClass::Unicode(ClassUnicode::new(chars)))
    }
}

/// `\d`, `\s`, `\w` by their letter. They are of ASCII.
pub(crate) fn perl(letter: u8) -> Option<Class> {
    Some(Class::of(match letter {
        b'd' => &[(0x30, 0x39)],
        b's' => &[(0x9, 0xA), (0xC, 0xD), (0x20, 0x20)],
        b'w' => &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
        _ => return None,
    }))
}

/// The classes of POSIX by their name, such as `alnum`.
pub(crate) fn posix(name: &[u8]) -> Option<Class> {
    Some(Class::of(match name {
        b"alnum" => &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
        b"alpha" => &[(0x41, 0x5A), (0x61, 0x7A)],
        b"ascii" => &[(0, 0x7F)],
        b"blank" => &[(0x9, 0x9), (0x20, 0x20)],
        b"cntrl" => &[(0, 0x1F), (0x7F, 0x7F)],
        b"digit" => &[(0x30, 0x39)],
        b"graph" => &[(0x21, 0x7E)],
        b"lower" => &[(0x61, 0x7A)],
        b"print" => &[(0x20, 0x7E)],
        b"punct" => &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
        b"space" => &[(0x9, 0xD), (0x20, 0x20)],
        b"upper" => &[(0x41, 0x5A)],
        b"word" => &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
        b"xdigit" => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_and_all_others_are_everything() {
        let some = Class::of(&[(5, 9), (0x30, 0x30), (0xE000, LAST)]);
        assert_eq!(some.negated().ranges(), [(0, 4), (10, 0x2F), (0x31, 0xDFFF)]);
        assert_eq!(some.negated().negated(), some);
        assert_eq!(Class::default().negated().ranges(), [(0, LAST)]);
    }

    #[test]
    fn ranges_that_touch_are_one() {
        assert_eq!(Class::of(&[(7, 9), (1, 3), (4, 5), (8, 12)]).in_order().ranges(), [(1, 5), (7, 12)]);
    }
}
