//! Numbers, as they are checked once they are found.

use crate::quote::quote;
use crate::value::Value;

/// An integer.
pub(crate) fn integer(text: &str) -> Result<Value, String> {
    if !are_underscores_good(text) {
        return Err(format!("Invalid integer {}: underscores must be surrounded by digits", quote(text)));
    }
    if has_leading_zero(text) {
        return Err(format!("Invalid integer {}: cannot have leading zeroes", quote(text)));
    }
    let plain = text.replace('_', "");
    let (digits, base) = match plain.get(..2) {
        Some("0b") => (&plain[2..], 2),
        Some("0o") => (&plain[2..], 8),
        Some("0x") => (&plain[2..], 16),
        _ => (plain.as_str(), 10),
    };
    i64::from_str_radix(digits, base).map(Value::Int).map_err(|_| format!("{text} is out of range for int64"))
}

/// A float.
pub(crate) fn float(text: &str) -> Result<Value, String> {
    let mut parts = text.split(['.', 'e', 'E']).filter(|part| !part.is_empty());
    if !parts.clone().all(are_underscores_good) {
        return Err(format!("Invalid float {}: underscores must be surrounded by digits", quote(text)));
    }
    if parts.next().is_some_and(has_leading_zero) {
        return Err(format!("Invalid float {}: cannot have leading zeroes", quote(text)));
    }
    if !are_periods_good(text) {
        return Err(format!("Invalid float {}: '.' must be followed by one or more digits", quote(text)));
    }
    match text {
        "nan" | "+nan" => return Ok(Value::Float(f64::NAN)),
        "-nan" => return Ok(Value::Float(-f64::NAN)),
        "inf" | "+inf" => return Ok(Value::Float(f64::INFINITY)),
        "-inf" => return Ok(Value::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    match text.replace('_', "").parse::<f64>() {
        Ok(float) if float.is_finite() => Ok(Value::Float(float)),
        Ok(_) => Err(format!("{text} is out of range for float64")),
        Err(_) => Err(format!("Invalid float value: {}", quote(text))),
    }
}

fn has_leading_zero(text: &str) -> bool {
    match text.as_bytes() {
        [b'0', b'b' | b'o' | b'x', ..] => false,
        [b'0', _, ..] | [b'+' | b'-', b'0', _, ..] => true,
        _ => false,
    }
}

/// Whether digits are before and after each underscore.
fn are_underscores_good(text: &str) -> bool {
    if matches!(text.trim_start_matches(['+', '-']), "nan" | "inf") {
        return true;
    }
    let mut after_digit = false;
    for byte in text.bytes() {
        if byte == b'_' && !after_digit {
            return false;
        }
        after_digit = byte.is_ascii_hexdigit();
    }
    after_digit
}

fn are_periods_good(text: &str) -> bool {
    let mut after_period = false;
    for byte in text.bytes() {
        if after_period && !byte.is_ascii_digit() {
            return false;
        }
        after_period = byte == b'.';
    }
    !after_period
}
