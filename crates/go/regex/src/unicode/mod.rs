//! Unicode as Go's patterns know it: `classes.txt` has a line for each class, or for another name of one, and `folds.txt`
//! a line for characters that are the same but for case. Both are asked of Go: see `tests/live_oracle.rs`.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::class::Class;

const CLASSES: &str = include_str!("classes.txt");
const FOLDS: &str = include_str!("folds.txt");

/// The class of a name, in which case and what separates words do not count.
pub(crate) fn class(name: &[u8]) -> Option<Class> {
    let separates = |byte: &u8| matches!(byte, b'_' | b'-' | b' ');
    let plain = name.iter().filter(|byte| !separates(byte)).map(u8::to_ascii_lowercase).collect();
    let ranges = by_name().get(String::from_utf8(plain).ok()?.as_str())?;
    ranges.split(' ').map(range).collect::<Option<Vec<_>>>().map(|ranges| Class::of(&ranges))
}

/// Whether a character is a letter or a digit.
pub(crate) fn is_alphanumeric(char: char) -> bool {
    static BOTH: OnceLock<[Class; 2]> = OnceLock::new();
    if char.is_ascii() {
        return char.is_ascii_alphanumeric();
    }
    let both = BOTH.get_or_init(|| [b"l".as_slice(), b"nd"].map(|name| class(name).unwrap_or_default()));
    both.iter().any(|class| {
        let after = class.ranges().partition_point(|(_, last)| *last < char.into());
        class.ranges().get(after).is_some_and(|(first, _)| *first <= char.into())
    })
}

fn by_name() -> &'static HashMap<&'static str, &'static str> {
    static LINES: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    LINES.get_or_init(|| {
        let lines: HashMap<_, _> = CLASSES.lines().filter_map(|line| line.split_once(' ')).collect();
        let resolve = |ranges: &'static str| match ranges.strip_prefix("= ") {
            Some(other) => lines.get(other).copied().unwrap_or_default(),
            None => ranges,
        };
        lines.iter().map(|(name, ranges)| (*name, resolve(ranges))).collect()
    })
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((code(first)?, code(last)?))
}

fn code(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 16).ok()
}

/// All that is the same, but for case, as a code point; without itself.
pub(crate) fn same_as(code: u32) -> &'static [u32] {
    let folds = folds();
    folds.binary_search_by_key(&code, |(code, _)| *code).map_or(&[], |at| &folds[at].1)
}

/// All that is the same, but for case, as a code point of a range.
pub(crate) fn same_as_any_of(first: u32, last: u32) -> impl Iterator<Item = u32> {
    let folds = folds();
    let begin = folds.partition_point(|(code, _)| *code < first);
    folds[begin..].iter().take_while(move |(code, _)| *code <= last).flat_map(|(_, same)| same.iter().copied())
}

fn folds() -> &'static [(u32, Box<[u32]>)] {
    static FOLDED: OnceLock<Vec<(u32, Box<[u32]>)>> = OnceLock::new();
    FOLDED.get_or_init(|| {
        let mut folds = Vec::new();
        for line in FOLDS.lines() {
            let all: Vec<_> = line.split(' ').filter_map(code).collect();
            let others = |one: &u32| all.iter().copied().filter(|other| other != one).collect();
            folds.extend(all.iter().map(|one| (*one, others(one))));
        }
        folds.sort_unstable();
        folds
    })
}
