//! What a scalar means: YAML 1.1, as Go understands it.

use crate::timestamp::is_timestamp;

/// The prefix that `!!` stands for.
const STANDARD: &str = "tag:yaml.org,2002:";

/// What a scalar means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Null,
    Bool(bool),
    Int(i64),
    /// A whole number that is too large for the other kind.
    Uint(u64),
    Float(f64),
    /// Text that reads as a time. It stays text, but it is quoted when it is written.
    Timestamp,
    Text,
    /// Text that stands for bytes.
    Binary,
}

impl Meaning {
    fn tag(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Uint(_) => "int",
            Self::Float(_) => "float",
            Self::Timestamp => "timestamp",
            Self::Text => "str",
            Self::Binary => "binary",
        }
    }
}

/// What a scalar with this tag means. An empty tag leaves it to the text.
#[expect(clippy::cast_precision_loss, reason = "Go rounds as well")]
pub(crate) fn resolve_tagged(tag: &str, text: &str) -> Result<Meaning, String> {
    if tag.is_empty() {
        return Ok(resolve(text));
    }
    let wanted = match tag.strip_prefix(STANDARD) {
        Some("binary") => return Ok(Meaning::Binary),
        Some(wanted @ ("bool" | "int" | "float" | "null" | "timestamp")) => wanted,
        // All else is text, whatever its tag says.
        _ => return Ok(Meaning::Text),
    };
    let found = if wanted == "timestamp" { resolve(text) } else { resolve_timeless(text) };
    match found {
        Meaning::Int(whole) if wanted == "float" => Ok(Meaning::Float(whole as f64)),
        found if found.tag() == wanted => Ok(found),
        found => Err(format!("cannot decode !!{} `{text}` as a !!{wanted}", found.tag())),
    }
}

/// What a plain scalar means.
pub(crate) fn resolve(text: &str) -> Meaning {
    // Most scalars begin with a letter, and most of these with one that means nothing.
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return resolve_word(text);
    }
    if is_timestamp(text) { Meaning::Timestamp } else { resolve_timeless(text) }
}

pub(crate) fn resolve_timeless(text: &str) -> Meaning {
    match resolve_word(text) {
        Meaning::Text => resolve_sign(text),
        word => word,
    }
}

/// What a word means.
fn resolve_word(text: &str) -> Meaning {
    if text.len() > "false".len() {
        return Meaning::Text;
    }
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Meaning::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Meaning::Bool(false),
        "null" | "Null" | "NULL" => Meaning::Null,
        _ => Meaning::Text,
    }
}

/// What begins with no letter means.
fn resolve_sign(text: &str) -> Meaning {
    match text {
        "" | "~" => Meaning::Null,
        ".nan" | ".NaN" | ".NAN" => Meaning::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Meaning::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Meaning::Float(f64::NEG_INFINITY),
        _ if text.starts_with('.') => point_number(text).map_or(Meaning::Text, Meaning::Float),
        _ if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-')) => number(text),
        _ => Meaning::Text,
    }
}

/// A number that begins with a digit or a sign. Underscores may be anywhere in it.
fn number(text: &str) -> Meaning {
    let plain = text.replace('_', "");
    if let Some(whole) = signed(&plain) {
        return Meaning::Int(whole);
    }
    if let Some(whole) = unsigned(&plain) {
        return Meaning::Uint(whole);
    }
    if is_float(&plain)
        && let Some(float) = finite(&plain)
    {
        return Meaning::Float(float);
    }
    // Here Go tries once more, and so takes a sign within: `0b-1`.
    plain.strip_prefix("0b").and_then(inner_binary).map_or(Meaning::Text, Meaning::Int)
}

fn signed(text: &str) -> Option<i64> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let size = i128::from(unsigned(rest)?);
    i64::try_from(if negative { -size } else { size }).ok()
}

/// A whole number, in the base that its beginning says.
fn unsigned(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let based = [("0b", 2), ("0o", 8), ("0x", 16)]
        .into_iter()
        .find_map(|(prefix, base)| Some((lower.strip_prefix(prefix).filter(|rest| !rest.is_empty())?, base)));
    let (digits, base) = match based {
        Some(based) => based,
        None if lower == "0" => return Some(0),
        None => lower.strip_prefix('0').map_or((lower.as_str(), 10), |rest| (rest, 8)),
    };
    // Rust would also take a sign.
    digits.chars().all(|c| c.is_digit(base)).then(|| u64::from_str_radix(digits, base).ok())?
}

fn inner_binary(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.chars().all(|c| c.is_digit(2)).then(|| i64::from_str_radix(text, 2).ok())?
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

/// A number that begins with its point. Here underscores have to be between digits.
fn point_number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let separates = |at: usize| at > 0 && is_digit(at - 1) && is_digit(at + 1);
    if bytes.iter().enumerate().any(|(at, c)| *c == b'_' && !separates(at)) {
        return None;
    }
    let plain = text.replace('_', "");
    if is_float(&plain) { finite(&plain) } else { None }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|float: &f64| float.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_too_large_for_a_float_is_text() {
        assert_eq!(resolve("1e309"), Meaning::Text);
    }

    #[test]
    fn a_whole_number_stays_whole_as_long_as_it_fits() {
        assert_eq!(resolve("9223372036854775807"), Meaning::Int(i64::MAX));
        assert_eq!(resolve("18446744073709551615"), Meaning::Uint(u64::MAX));
        assert_eq!(resolve("18446744073709551616"), Meaning::Float(18_446_744_073_709_551_616.0));
    }
}
