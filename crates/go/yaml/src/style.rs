//! How a string is written: plain, in single quotes, in double quotes or as a block.

use crate::cursor::{is_blank, is_blank_or_end, is_break};
use crate::resolve::{Meaning, resolve, resolve_timeless};
use crate::writer::Dialect;

/// The ways to write a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// How a string is written, as a key or elsewhere.
pub(crate) fn choose(text: &str, key: bool, dialect: Dialect) -> Style {
    if is_word(text) {
        return if resolve_timeless(text) == Meaning::Text { Style::Plain } else { Style::Double };
    }
    let found = Findings::of(text, dialect);
    if found.line_feed {
        let block = !key && !found.special && !found.space_before_break && !text.ends_with(' ');
        return if block { Style::Literal } else { Style::Double };
    }
    let only_double = found.special || found.tab || found.space_before_break || found.space_after_break;
    if only_double || (key && found.breaks) || !means_text(text, dialect) {
        return Style::Double;
    }
    let edge = |c| c == ' ' || is_break(c);
    let quoted = found.breaks || found.indicator || text.starts_with(edge) || text.ends_with(edge);
    if quoted { Style::Single } else { Style::Plain }
}

/// Whether a string is of the kind that most strings are: letters, digits and a few signs that are never syntax.
fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'=' | b'+');
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.iter().all(plain)
}

/// Whether a plain string is read as a string by all readers.
fn means_text(text: &str, dialect: Dialect) -> bool {
    let octal = || text.strip_prefix("0o").is_some_and(|digits| i64::from_str_radix(digits, 8).is_ok());
    resolve(text) == Meaning::Text && !is_base_60(text) && !(dialect == Dialect::Three && octal())
}

/// Whether a string has a line break of any kind.
pub(crate) fn has_break(text: &str) -> bool {
    if text.is_ascii() { text.bytes().any(|byte| matches!(byte, b'\n' | b'\r')) } else { text.contains(is_break) }
}

/// What is found in a string that decides how it is written.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is found on its own")]
struct Findings {
    line_feed: bool,
    breaks: bool,
    /// Characters that can only be escaped.
    special: bool,
    tab: bool,
    space_before_break: bool,
    space_after_break: bool,
    /// Characters that would be taken for syntax where they are.
    indicator: bool,
}

impl Findings {
    fn of(text: &str, dialect: Dialect) -> Self {
        let mut found = Self { indicator: text.starts_with("---") || text.starts_with("..."), ..Self::default() };
        let mut before = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if is_break(c) {
                found.breaks = true;
                found.line_feed |= c == '\n';
                found.space_before_break |= before == Some(' ');
            } else if c == ' ' {
                found.space_after_break |= before.is_some_and(is_break);
            }
            if c == '\t' && dialect == Dialect::Three {
                found.tab = true;
            } else if !is_printable(c) {
                found.special = true;
            }
            if c.is_ascii_punctuation() && !found.indicator {
                found.indicator = is_indicator(before, c, rest.clone().next());
            }
            before = Some(c);
        }
        found
    }
}

/// Whether a character would be taken for syntax where it is.
fn is_indicator(before: Option<char>, c: char, after: Option<char>) -> bool {
    let blank_follows = after.is_none_or(is_blank);
    match (before, c) {
        (None, '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`') => true,
        (None, '?' | '-') | (_, ':') => blank_follows,
        (Some(before), '#') => is_blank_or_end(before),
        _ => false,
    }
}

/// Whether Go writes a character as it is. It does not know those beyond the first 65,536.
pub(crate) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Whether other readers take a string for a number to the base of 60: `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`
fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (places, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit() || c == b'_');
    let mut places = places.split(':');
    let first = places.next().unwrap_or_default();
    let mut count = 0;
    let sixtieths = places.all(|place| {
        count += 1;
        matches!(place.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'])
    });
    first.starts_with(|c: char| c.is_ascii_digit()) && digits(first) && sixtieths && count > 0 && digits(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_as_something_else_is_quoted() {
        for text in ["yes", "1", "1.5", "~", "", "2001-01-01", "1:30", "0x1F", ".inf", "null"] {
            assert_eq!(choose(text, false, Dialect::Two), Style::Double, "{text:?}");
        }
    }

    #[test]
    fn what_reads_as_syntax_is_quoted() {
        for text in ["a: b", "a #b", "- a", "*a", "a:", " a", "a ", "---", "{a}", "@a", "? a"] {
            assert_eq!(choose(text, false, Dialect::Two), Style::Single, "{text:?}");
        }
    }

    #[test]
    fn lines_are_a_block() {
        assert_eq!(choose("a\nb\n", false, Dialect::Two), Style::Literal);
        assert_eq!(choose("a\nb\n", true, Dialect::Two), Style::Double);
        assert_eq!(choose("a \nb\n", false, Dialect::Two), Style::Double);
        assert_eq!(choose("a\tb\n", false, Dialect::Two), Style::Double);
        assert_eq!(choose("a\tb\n", false, Dialect::Three), Style::Literal);
    }
}
