//! Writes a value of JSON.

use std::borrow::Cow;

use serde_json::Value;

use crate::keys::sort_keys;
use crate::writer::{Dialect, Writer};

/// A value in YAML, as `yaml.Marshal` writes the same value.
///
/// Where Go refuses (control characters, keys longer than 1024 characters), this writes what Go's lower layer would.
pub fn to_yaml(value: &Value) -> String {
    let mut writer = Writer::new(Dialect::Two);
    write(&mut writer, value);
    writer.finish()
}

fn write(writer: &mut Writer, value: &Value) {
    match value {
        Value::Null => writer.scalar("null"),
        Value::Bool(true) => writer.scalar("true"),
        Value::Bool(false) => writer.scalar("false"),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), ..) => writer.int(whole),
            (_, Some(whole), _) => writer.uint(whole),
            (.., float) => writer.float(float.unwrap_or_default()),
        },
        Value::String(text) => writer.string(&folded_by_json(text)),
        Value::Array(items) if items.is_empty() => writer.scalar("[]"),
        Value::Object(pairs) if pairs.is_empty() => writer.scalar("{}"),
        Value::Array(items) => {
            writer.begin_sequence();
            for item in items {
                write(writer, item);
            }
            writer.end();
        }
        Value::Object(pairs) => {
            let mut pairs: Vec<_> = pairs.iter().collect();
            sort_keys(&mut pairs, Dialect::Two, |(key, _)| key.as_str());
            writer.begin_mapping();
            for (key, value) in pairs {
                writer.key(&folded_by_json(key));
                write(writer, value);
            }
            writer.end();
        }
    }
}

/// Go writes JSON and reads it as YAML, to which one character that JSON does not escape is a line break, and so folded.
fn folded_by_json(text: &str) -> Cow<'_, str> {
    const NEXT_LINE: char = '\u{85}';
    if !text.contains(NEXT_LINE) {
        return text.into();
    }
    let lines: Vec<_> = text.split(NEXT_LINE).collect();
    let mut folded = String::new();
    let mut breaks = 0;
    for (number, line) in lines.iter().enumerate() {
        let line = if number == 0 { line } else { line.trim_start_matches(' ') };
        let line = if number == lines.len() - 1 { line } else { line.trim_end_matches(' ') };
        if !line.is_empty() || number == 0 || number == lines.len() - 1 {
            match breaks {
                0 => {}
                1 => folded.push(' '),
                more => folded.extend(std::iter::repeat_n('\n', more - 1)),
            }
            folded.push_str(line);
            breaks = 0;
        }
        breaks += 1;
    }
    folded.into()
}
