//! How a string is written: plain, in single quotes, in double quotes or as a block.

use crate::cursor::{is_blank, is_blank_or_end, is_break};
use crate::resolve::{Meaning, resolve};

/// The ways to write a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// How a string is written, as a key or elsewhere.
pub(crate) fn choose(text: &str, key: bool) -> Style {
    let pair = |found: fn(char, char) -> bool| text.chars().zip(text.chars().skip(1)).any(|(one, two)| found(one, two));
    let only_double = text.contains(|c| !is_printable(c)) || pair(|one, two| one == ' ' && is_break(two));
    if text.contains('\n') {
        let block = !key && !only_double && !text.ends_with(' ');
        return if block { Style::Literal } else { Style::Double };
    }
    let means_text = resolve(text) == Meaning::Text && !is_base_60(text);
    if !means_text || only_double || (key && has_break(text)) || pair(|one, two| is_break(one) && two == ' ') {
        return Style::Double;
    }
    let edge = |c| c == ' ' || is_break(c);
    let quoted = has_break(text) || text.starts_with(edge) || text.ends_with(edge) || has_indicator(text);
    if quoted { Style::Single } else { Style::Plain }
}

/// Whether a string has a line break of any kind.
pub(crate) fn has_break(text: &str) -> bool {
    text.contains(is_break)
}

fn has_indicator(text: &str) -> bool {
    let before = std::iter::once(None).chain(text.chars().map(Some));
    let after = text.chars().skip(1).map(Some).chain(std::iter::once(None));
    let mut places = before.zip(text.chars()).zip(after);
    text.starts_with("---")
        || text.starts_with("...")
        || places.any(|((before, c), after)| is_indicator(before, c, after))
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
            assert_eq!(choose(text, false), Style::Double, "{text:?}");
        }
    }

    #[test]
    fn what_reads_as_syntax_is_quoted() {
        for text in ["a: b", "a #b", "- a", "*a", "a:", " a", "a ", "---", "{a}", "@a", "? a"] {
            assert_eq!(choose(text, false), Style::Single, "{text:?}");
        }
    }

    #[test]
    fn lines_are_a_block() {
        assert_eq!(choose("a\nb\n", false), Style::Literal);
        assert_eq!(choose("a\nb\n", true), Style::Double);
        assert_eq!(choose("a \nb\n", false), Style::Double);
        assert_eq!(choose("a\tb\n", false), Style::Double);
    }
}
