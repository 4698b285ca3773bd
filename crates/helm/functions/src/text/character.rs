//! Characters: what they are, and what they are in another case, as Go's `unicode` knows it.

use super::letters;

/// `unicode.IsUpper`.
pub(super) fn is_upper(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_uppercase() } else { within(letters::UPPER, c) }
}

/// `unicode.IsLower`.
pub(super) fn is_lower(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_lowercase() } else { within(letters::LOWER, c) }
}

/// `unicode.IsTitle`: what is the title case of something, but neither upper nor lower.
pub(super) fn is_title(c: char) -> bool {
    matches!(c, '\u{1c5}' | '\u{1c8}' | '\u{1cb}' | '\u{1f2}')
        || matches!(c, '\u{1f88}'..='\u{1f8f}' | '\u{1f98}'..='\u{1f9f}' | '\u{1fa8}'..='\u{1faf}')
        || matches!(c, '\u{1fbc}' | '\u{1fcc}' | '\u{1ffc}')
}

/// `unicode.IsLetter`.
pub(super) fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { within(letters::LETTER, c) }
}

/// `unicode.IsNumber`.
pub(super) fn is_number(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { within(letters::NUMBER, c) }
}

/// `unicode.IsPunct`.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        // To Unicode these are symbols.
        c.is_ascii_punctuation() && !matches!(c, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
    } else {
        within(letters::PUNCT, c)
    }
}

/// `unicode.ToUpper`.
pub(super) fn to_upper(c: char) -> char {
    if c.is_ascii() { c.to_ascii_uppercase() } else { mapped(letters::TO_UPPER, c).unwrap_or(c) }
}

/// `unicode.ToLower`.
pub(super) fn to_lower(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { mapped(letters::TO_LOWER, c).unwrap_or(c) }
}

/// `unicode.ToTitle`.
pub(super) fn to_title(c: char) -> char {
    mapped(letters::TO_TITLE, c).unwrap_or_else(|| to_upper(c))
}

fn within(ranges: &[(u32, u32, u32)], c: char) -> bool {
    let code = u32::from(c);
    let after = ranges.partition_point(|(_, last, _)| *last < code);
    // Where every second one counts, the next range may begin before this one ends.
    let holds = |(first, _, step): &(u32, u32, u32)| *first <= code && (code - first) % step == 0;
    ranges[after..].iter().take(2).any(holds)
}

fn mapped(ranges: &[(u32, u32, u32, i32)], c: char) -> Option<char> {
    let code = u32::from(c);
    let after = ranges.partition_point(|(_, last, ..)| *last < code);
    let holds = |(first, _, step, _): &&(u32, u32, u32, i32)| *first <= code && (code - first) % step == 0;
    let (.., add) = ranges[after..].iter().take(2).find(holds)?;
    char::from_u32(code.checked_add_signed(*add)?)
}
