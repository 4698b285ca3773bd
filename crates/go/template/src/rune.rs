//! Runes: UTF-8 as Go decodes it, one invalid byte at a time, and the classes of characters Go asks for.

use crate::classes::{DIGIT, LETTER, PRINT};

/// The first rune and its width in bytes. A byte that begins no rune is U+FFFD of width 1; nothing is of width 0.
pub fn first(bytes: &[u8]) -> (char, usize) {
    let Some(&lead) = bytes.first() else { return (char::REPLACEMENT_CHARACTER, 0) };
    let width = match lead {
        0..0x80 => return (char::from(lead), 1),
        0xC2..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF5 => 4,
        _ => 1,
    };
    let decoded = bytes.get(..width).and_then(|rune| str::from_utf8(rune).ok()).and_then(|rune| rune.chars().next());
    decoded.map_or((char::REPLACEMENT_CHARACTER, 1), |rune| (rune, width))
}

/// The width of the last rune.
pub fn last_width(bytes: &[u8]) -> usize {
    if bytes.last().is_some_and(u8::is_ascii) {
        return 1;
    }
    let fits = |width: &usize| bytes.len() >= *width && first(&bytes[bytes.len() - width..]).1 == *width;
    (1..=4).rev().find(fits).unwrap_or(0)
}

/// All runes, each with where it begins, its width and whether it was valid.
pub fn all(bytes: &[u8]) -> impl Iterator<Item = Rune> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (rune, width) = first(&bytes[at..]);
        let begin = at;
        at += width;
        (width > 0).then_some(Rune { char: rune, begin, width })
    })
}

/// A rune of a text.
#[derive(Clone, Copy, Debug)]
pub struct Rune {
    /// The rune itself.
    pub char: char,
    /// Where it begins.
    pub begin: usize,
    /// How many bytes it has.
    pub width: usize,
}

impl Rune {
    /// Whether it was in the text as such, rather than being put for an invalid byte.
    pub fn is_valid(self) -> bool {
        self.width > 1 || self.char != char::REPLACEMENT_CHARACTER
    }
}

/// How many runes there are.
pub fn count(bytes: &[u8]) -> usize {
    if bytes.is_ascii() { bytes.len() } else { all(bytes).count() }
}

/// Appends a rune.
pub fn push(buffer: &mut Vec<u8>, rune: char) {
    buffer.extend_from_slice(rune.encode_utf8(&mut [0; 4]).as_bytes());
}

/// `unicode.IsLetter`, `unicode.IsDigit` and the underscore.
pub fn is_alphanumeric(rune: char) -> bool {
    match rune {
        '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => true,
        '\0'..='\x7f' => false,
        _ => within(LETTER, rune) || within(DIGIT, rune),
    }
}

/// `unicode.IsPrint`, which is also `strconv.IsPrint`.
pub fn is_print(rune: char) -> bool {
    match rune {
        ' '..='~' => true,
        '\0'..='\x7f' => false,
        _ => within(PRINT, rune),
    }
}

fn within(ranges: &[(char, char)], rune: char) -> bool {
    let after = ranges.partition_point(|(_, last)| *last < rune);
    ranges.get(after).is_some_and(|(first, _)| *first <= rune)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_byte_is_a_rune_of_its_own() {
        let widths: Vec<_> = all(b"a\xff\xe4\xb8\xe4\xb8\xad").map(|rune| rune.width).collect();
        assert_eq!(widths, [1, 1, 1, 1, 3]);
        assert_eq!(last_width("a中".as_bytes()), 3);
        assert_eq!(last_width(b"a\xb8"), 1);
    }

    #[test]
    fn classes_are_those_of_go() {
        assert!(is_alphanumeric('é') && is_alphanumeric('中') && !is_alphanumeric('-'));
        // A number that is no digit, and a mark.
        assert!(!is_alphanumeric('½') && !is_alphanumeric('\u{301}'));
        assert!(is_print('½') && !is_print('\u{a0}') && !is_print('\u{200b}'));
    }
}
