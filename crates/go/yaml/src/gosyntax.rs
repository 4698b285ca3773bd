//! Values as Go's `%#v` shows them, for messages.

use std::fmt::Write;

use crate::decode::{Decoded, Key};
use crate::float;
use crate::stack::enough;

/// A value.
pub(crate) fn value(value: &Decoded<'_>) -> String {
    match value {
        Decoded::Scalar(scalar) => key(scalar),
        other => {
            let mut shown = String::new();
            push(&mut shown, other);
            shown
        }
    }
}

/// A key.
pub(crate) fn key(key: &Key<'_>) -> String {
    match key {
        Key::Null => "<nil>".to_owned(),
        Key::Bool(value) => value.to_string(),
        Key::Int(whole) => whole.to_string(),
        Key::Uint(whole) => format!("{whole:#x}"),
        Key::Float(bits) => match bits.get() {
            float if float.is_nan() => "NaN".to_owned(),
            float if float.is_infinite() => if float > 0.0 { "+Inf" } else { "-Inf" }.to_owned(),
            float => float::shortest(float),
        },
        Key::Text(text) => quote(text),
    }
}

/// Pushes a value that is inside of another.
fn push(shown: &mut String, value: &Decoded<'_>) {
    match value {
        Decoded::Scalar(scalar) => push_key(shown, scalar),
        Decoded::Sequence(items) => {
            shown.push_str("[]interface {}{");
            for (place, item) in items.iter().enumerate() {
                shown.push_str(if place > 0 { ", " } else { "" });
                enough(|| push(shown, item));
            }
            shown.push('}');
        }
        Decoded::Mapping(mapping) => {
            shown.push_str("map[interface {}]interface {}{");
            for (place, (name, value)) in mapping.iter().enumerate() {
                shown.push_str(if place > 0 { ", " } else { "" });
                push_key(shown, name);
                shown.push(':');
                enough(|| push(shown, value));
            }
            shown.push('}');
        }
    }
}

fn push_key(shown: &mut String, scalar: &Key<'_>) {
    match scalar {
        Key::Null => shown.push_str("interface {}(nil)"),
        scalar => shown.push_str(&key(scalar)),
    }
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            ' '..='~' => quoted.push(c),
            _ => push_unusual(&mut quoted, c),
        }
    }
    quoted.push('"');
    quoted
}

fn push_unusual(quoted: &mut String, c: char) {
    // What Rust shows as it is, Go does too.
    let written = match u32::from(c) {
        code @ 0..0x80 => write!(quoted, "\\x{code:02x}"),
        _ if c.escape_debug().count() == 1 => write!(quoted, "{c}"),
        code @ 0..0x1_0000 => write!(quoted, "\\u{code:04x}"),
        code => write!(quoted, "\\U{code:08x}"),
    };
    debug_assert!(written.is_ok(), "a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted() {
        assert_eq!(quote("a\"\\\n\u{1}é\u{200b}"), "\"a\\\"\\\\\\n\\x01é\\u200b\"");
    }
}
