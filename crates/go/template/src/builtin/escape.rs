//! `html`, `js` and `urlquery`.

use std::fmt::Write;

use crate::print::{self, TooDeep};
use crate::rune;
use crate::text::Text;
use crate::value::Value;

/// The arguments as one text: nil as a template prints it.
pub(super) fn printed(values: &[Value]) -> Result<Text, TooDeep> {
    if let [Value::String(text)] = values {
        return Ok(text.clone());
    }
    let values: Vec<_> = values
        .iter()
        .map(|value| if let Value::Nil = value { Value::from("<no value>") } else { value.clone() })
        .collect();
    if let [value] = &*values {
        return print::printed(|buffer| print::print_one(buffer, value));
    }
    print::printed(|buffer| print::print(buffer, &values))
}

/// Escapes what has a meaning in HTML.
pub(super) fn html(text: &[u8]) -> Text {
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => escaped.extend_from_slice("\u{FFFD}".as_bytes()),
            b'"' => escaped.extend_from_slice(b"&#34;"),
            b'\'' => escaped.extend_from_slice(b"&#39;"),
            b'&' => escaped.extend_from_slice(b"&amp;"),
            b'<' => escaped.extend_from_slice(b"&lt;"),
            b'>' => escaped.extend_from_slice(b"&gt;"),
            _ => escaped.push(*byte),
        }
    }
    escaped.into()
}

/// Escapes what has a meaning in a string of JavaScript.
pub(super) fn js(text: &[u8]) -> Text {
    let mut escaped = Vec::with_capacity(text.len());
    for rune in rune::all(text) {
        match rune.char {
            '\\' => escaped.extend_from_slice(b"\\\\"),
            '\'' => escaped.extend_from_slice(b"\\'"),
            '"' => escaped.extend_from_slice(b"\\\""),
            '<' | '>' | '&' | '=' | '\0'..' ' => push_code(&mut escaped, rune.char),
            // What is no UTF-8 stays what it is.
            other if other.is_ascii() || rune::is_print(other) => {
                escaped.extend_from_slice(&text[rune.begin..rune.begin + rune.width]);
            }
            other => push_code(&mut escaped, other),
        }
    }
    escaped.into()
}

fn push_code(escaped: &mut Vec<u8>, rune: char) {
    let mut code = String::new();
    let written = write!(code, "\\u{:04X}", u32::from(rune));
    debug_assert!(written.is_ok(), "a string takes everything");
    escaped.extend_from_slice(code.as_bytes());
}

/// `url.QueryEscape`.
pub(super) fn url_query(text: &[u8]) -> Text {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(*byte),
            b' ' => escaped.push(b'+'),
            _ => escaped.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]),
        }
    }
    escaped.into()
}
