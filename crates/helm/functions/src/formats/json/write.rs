//! JSON as Go writes it.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fitout_go_template::{Error, Floating, Value};
use fitout_go_yaml::{is_halfway, is_halfway_single};

use crate::formats::view::{self, Sink, Stop};

/// How JSON is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// On one line, without characters that mean something in HTML.
    Compact,
    /// On one line.
    Raw,
    /// On many lines, without characters that mean something in HTML.
    Pretty,
}

/// A value in JSON.
pub(crate) fn to_json(value: &Value, layout: Layout) -> Result<String, Error> {
    let mut writer = Writer { out: String::new(), layout, depth: 0, begun: false, after_key: false };
    match view::show(value, &mut writer) {
        Ok(()) => Ok(writer.out),
        Err(Stop::Refused(error)) => Err(error),
        // Only YAML finds something unusual.
        Err(Stop::Unusual) => Ok(String::new()),
    }
}

struct Writer {
    out: String,
    layout: Layout,
    depth: usize,
    /// Whether the collection has something in it already.
    begun: bool,
    after_key: bool,
}

impl Writer {
    /// Divides a value of an array from the one before it. What comes after a key needs nothing.
    fn item(&mut self) {
        if self.depth > 0 && !std::mem::take(&mut self.after_key) {
            self.divide();
        }
    }

    fn divide(&mut self) {
        if self.begun {
            self.out.push(',');
        }
        self.begun = true;
        self.line();
    }

    fn line(&mut self) {
        if self.layout == Layout::Pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", self.depth));
        }
    }

    fn begin(&mut self, bracket: char) {
        self.item();
        self.out.push(bracket);
        self.depth += 1;
        self.begun = false;
    }

    fn end(&mut self, bracket: char) {
        self.depth -= 1;
        self.begun = true;
        self.line();
        self.out.push(bracket);
    }

    fn put(&mut self, text: &str) {
        self.item();
        self.out.push_str(text);
    }

    fn display(&mut self, scalar: std::fmt::Arguments<'_>) {
        self.item();
        let written = self.out.write_fmt(scalar);
        debug_assert!(written.is_ok(), "a string takes everything");
    }
}

impl Sink for Writer {
    const NATURAL: bool = false;

    fn null(&mut self) {
        self.put("null");
    }

    fn bool(&mut self, value: bool) {
        self.put(if value { "true" } else { "false" });
    }

    fn int(&mut self, whole: i64) {
        self.display(format_args!("{whole}"));
    }

    fn uint(&mut self, whole: u64) {
        self.display(format_args!("{whole}"));
    }

    fn float(&mut self, float: f64, kind: Floating) {
        self.item();
        push_float(&mut self.out, float, kind);
    }

    fn text(&mut self, text: &[u8]) -> Result<(), Stop> {
        self.item();
        push_quoted(&mut self.out, text, self.layout != Layout::Raw);
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.item();
        self.out.push('"');
        BASE64_STANDARD.encode_string(bytes, &mut self.out);
        self.out.push('"');
    }

    fn empty_array(&mut self) {
        self.put("[]");
    }

    fn begin_array(&mut self) -> Result<(), Stop> {
        self.begin('[');
        Ok(())
    }

    fn end_array(&mut self) {
        self.end(']');
    }

    fn empty_object(&mut self) {
        self.put("{}");
    }

    fn begin_object(&mut self) -> Result<(), Stop> {
        self.begin('{');
        Ok(())
    }

    fn key(&mut self, key: &[u8]) -> Result<(), Stop> {
        self.divide();
        push_quoted(&mut self.out, key, self.layout != Layout::Raw);
        self.out.push_str(if self.layout == Layout::Pretty { ": " } else { ":" });
        self.after_key = true;
        Ok(())
    }

    fn end_object(&mut self) {
        self.end('}');
    }
}

/// Pushes a float in as few digits as possible; with an exponent where it is very small or very large.
#[expect(clippy::cast_possible_truncation, reason = "it has been of 32 bits all the time")]
pub(crate) fn push_float(out: &mut String, float: f64, kind: Floating) {
    let size = float.abs();
    let before = out.len();
    let written = match kind {
        Floating::Float32 => {
            let single = float as f32;
            let exponent = single != 0.0 && (single.abs() < 1e-6 || single.abs() >= 1e21);
            match single {
                single if exponent => write!(out, "{single:e}"),
                single if is_halfway_single(single) => write!(out, "{single:.1}"),
                single => write!(out, "{single}"),
            }
        }
        Floating::Float64 => {
            let exponent = float != 0.0 && !(1e-6..1e21).contains(&size);
            match float {
                float if exponent => write!(out, "{float:e}"),
                float if is_halfway(float) => write!(out, "{float:.1}"),
                float => write!(out, "{float}"),
            }
        }
    };
    debug_assert!(written.is_ok(), "a string takes everything");
    // Rust leaves out the sign of an exponent.
    if let Some(at) = out[before..].find('e').filter(|at| !out[before + at..].starts_with("e-")) {
        out.insert(before + at + 1, '+');
    }
}

/// Pushes a text in quotes.
fn push_quoted(out: &mut String, text: &[u8], html: bool) {
    out.push('"');
    for chunk in text.utf8_chunks() {
        push_escaped(out, chunk.valid(), html);
        out.extend(chunk.invalid().iter().map(|_| "\\ufffd"));
    }
    out.push('"');
}

fn push_escaped(out: &mut String, text: &str, html: bool) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            8 => "\\b",
            12 => "\\f",
            b'<' if html => "\\u003c",
            b'>' if html => "\\u003e",
            b'&' if html => "\\u0026",
            // The first byte of the two line breaks that JavaScript does not have in strings.
            0xE2 if bytes[at..].starts_with("\u{2028}".as_bytes()) => "\\u2028",
            0xE2 if bytes[at..].starts_with("\u{2029}".as_bytes()) => "\\u2029",
            0..32 => {
                out.push_str(&text[from..at]);
                let written = write!(out, "\\u{byte:04x}");
                debug_assert!(written.is_ok(), "a string takes everything");
                from = at + 1;
                continue;
            }
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(escape);
        from = at + if *byte == 0xE2 { 3 } else { 1 };
    }
    out.push_str(&text[from..]);
}
