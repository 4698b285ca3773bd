//! Text in quotes as Go writes it.

use std::fmt::Write;

/// The text as Go's `%q` has it.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        push(c, &mut quoted);
    }
    quoted.push('"');
    quoted
}

fn push(c: char, into: &mut String) {
    let named = match c {
        '"' | '\\' => Some(c),
        '\u{7}' => Some('a'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\u{b}' => Some('v'),
        _ => None,
    };
    // Writing to a string cannot fail.
    let _ = match (named, u32::from(c)) {
        (Some(name), _) => write!(into, "\\{name}"),
        _ if printable(c) => write!(into, "{c}"),
        (_, code @ 0..=0x7f) => write!(into, "\\x{code:02x}"),
        (_, code @ 0x80..=0xffff) => write!(into, "\\u{code:04x}"),
        (_, code) => write!(into, "\\U{code:08x}"),
    };
}

/// Letters, marks, numbers, punctuation, symbols and the plain space. Rust escapes exactly the others in debug output,
/// besides quotes and, at the beginning of a text, marks that join what is before them. Rust knows a newer Unicode than
/// Go: characters that came in between are escaped there and not here.
fn printable(c: char) -> bool {
    let mut pair = String::from('a');
    pair.push(c);
    c == '\'' || pair.escape_debug().eq(pair.chars())
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn printable_text_stays_as_it_is() {
        assert_eq!(quote(">= 1, ä 語 e\u{301} '"), "\">= 1, ä 語 e\u{301} '\"");
    }

    #[test]
    fn what_has_a_name_is_escaped_by_it() {
        assert_eq!(quote("\"\\\u{7}\u{8}\u{c}\n\r\t\u{b}"), r#""\"\\\a\b\f\n\r\t\v""#);
    }

    #[test]
    fn what_cannot_be_seen_is_escaped_by_its_number() {
        assert_eq!(quote("\0\u{7f}\u{a0}\u{200b}\u{e0001}"), r#""\x00\x7f\u00a0\u200b\U000e0001""#);
    }
}
