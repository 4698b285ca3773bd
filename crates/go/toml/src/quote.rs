//! Texts in quotes, as Go's `%q` shows them.

use std::fmt::Write;

/// A text in double quotes.
pub(crate) fn quote(text: &str) -> String {
    quoted(text, '"')
}

/// A character in single quotes.
pub(crate) fn quote_char(c: char) -> String {
    quoted(c.encode_utf8(&mut [0; 4]), '\'')
}

fn quoted(text: &str, mark: char) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push(mark);
    for c in text.chars() {
        match c {
            '\\' => quoted.push_str("\\\\"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            c if c == mark => quoted.extend(['\\', c]),
            ' '..='~' => quoted.push(c),
            c => push_unusual(&mut quoted, c),
        }
    }
    quoted.push(mark);
    quoted
}

fn push_unusual(quoted: &mut String, c: char) {
    let written = match u32::from(c) {
        code @ 0..0x80 => write!(quoted, "\\x{code:02x}"),
        _ if is_printable(c) => write!(quoted, "{c}"),
        code @ 0..0x1_0000 => write!(quoted, "\\u{code:04x}"),
        code => write!(quoted, "\\U{code:08x}"),
    };
    debug_assert!(written.is_ok(), "a string takes everything");
}

/// Whether a character is shown as it is. Rust escapes marks only where they have nothing to be put on.
fn is_printable(c: char) -> bool {
    let mut after_a_letter = String::from("a");
    after_a_letter.push(c);
    after_a_letter.escape_debug().count() == 2
}
