//! Numbers in templates: Go's ideal constants, which are all the types that can hold them.

use crate::quote;
use crate::token::Kind;

/// A number, as each type that can hold it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Number {
    pub(crate) int: Option<i64>,
    pub(crate) uint: Option<u64>,
    pub(crate) float: Option<f64>,
    pub(crate) complex: Option<(f64, f64)>,
}

/// What a number is where nothing says what it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ideal {
    Int(i64),
    Float(f64),
    Complex(f64, f64),
    /// An integer that an `int` cannot hold.
    Overflow,
}

/// 2 to the power of 63 and of 64: the first floats beyond signed and unsigned integers.
const BEYOND_INT: f64 = 9_223_372_036_854_775_808.0;
const BEYOND_UINT: f64 = 18_446_744_073_709_551_616.0;

impl Number {
    /// Reads a token that the lexer took for a number.
    pub(crate) fn parse(text: &[u8], kind: Kind) -> Result<Self, String> {
        match kind {
            Kind::CharConstant => Self::of_char(text),
            Kind::Complex => Self::of_complex(text),
            _ => Self::of_digits(text),
        }
    }

    fn of_char(text: &[u8]) -> Result<Self, String> {
        let rune = quote::unquote_char(&text[1..], b'\'').map_err(|_| "invalid syntax")?;
        if text[1 + rune.width..] != *b"'" {
            return Err(format!("malformed character constant: {}", String::from_utf8_lossy(text)));
        }
        let code = rune.code();
        Ok(Self { int: Some(code.into()), uint: Some(code.into()), float: Some(code.into()), complex: None })
    }

    fn of_complex(text: &[u8]) -> Result<Self, String> {
        let text = str::from_utf8(text).map_err(|_| "syntax error scanning complex number")?;
        let tail = text[1..].strip_suffix('i').ok_or("syntax error scanning complex number")?;
        // The sign between the parts is one that no exponent comes before.
        let exponent = if text.contains(['x', 'X']) { ['p', 'P'] } else { ['e', 'E'] };
        let between = tail
            .char_indices()
            .find(|(at, sign)| matches!(sign, '+' | '-') && !text[..=*at].ends_with(exponent))
            .map(|(at, _)| at + 1)
            .ok_or("syntax error scanning complex number")?;
        if between + 2 == text.len() {
            return Err("syntax error scanning complex number".to_owned());
        }
        let part = |part: &str| {
            parse_float(part)
                .ok_or_else(|| format!("strconv.ParseFloat: parsing {}: invalid syntax", quote::quote(part.as_bytes())))
        };
        Ok(Self::simplified(part(&text[..between])?, part(&text[between..text.len() - 1])?))
    }

    fn of_digits(text: &[u8]) -> Result<Self, String> {
        let refuse = |reason| format!("{reason}: {}", quote::quote(text));
        let Ok(digits) = str::from_utf8(text) else { return Err(refuse("illegal number syntax")) };
        if let Some(imaginary) = digits.strip_suffix('i').and_then(parse_float) {
            return Ok(Self::simplified(0.0, imaginary));
        }
        let mut number = Self { uint: parse_uint(digits), int: parse_int(digits), ..Self::default() };
        if number.int == Some(0) {
            // -0 is one too.
            number.uint = Some(0);
        }
        #[expect(clippy::cast_precision_loss, reason = "a float is the nearest one")]
        match (number.int, number.uint) {
            (Some(int), _) => number.float = Some(int as f64),
            (None, Some(uint)) => number.float = Some(uint as f64),
            (None, None) => {
                let float = parse_float(digits).ok_or_else(|| refuse("illegal number syntax"))?;
                if !digits.contains(['.', 'e', 'E', 'p', 'P']) {
                    return Err(refuse("integer overflow"));
                }
                number = Self { complex: None, ..Self::simplified(float, 0.0) };
            }
        }
        Ok(number)
    }

    /// A complex number, which is also all that it can be without its imaginary part.
    fn simplified(real: f64, imaginary: f64) -> Self {
        let complex = Some((real, imaginary));
        if imaginary != 0.0 {
            return Self { complex, ..Self::default() };
        }
        let whole = real.fract() == 0.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only what fits is converted")]
        let (int, uint) = (
            (whole && (-BEYOND_INT..BEYOND_INT).contains(&real)).then_some(real as i64),
            (whole && (0.0..BEYOND_UINT).contains(&real)).then_some(real as u64),
        );
        Self { int, uint, float: Some(real), complex }
    }

    /// What it is where the syntax alone decides.
    pub(crate) fn ideal(&self, text: &[u8]) -> Ideal {
        let hexadecimal = matches!(text, [b'0', b'x' | b'X', _, ..]) && !text.iter().any(|c| matches!(c, b'p' | b'P'));
        let looks_like_float = text.iter().any(|c| matches!(c, b'.' | b'e' | b'E' | b'p' | b'P'));
        match (self.complex, self.float, self.int) {
            (Some((real, imaginary)), ..) => Ideal::Complex(real, imaginary),
            (_, Some(float), _) if !hexadecimal && text[0] != b'\'' && looks_like_float => Ideal::Float(float),
            (.., Some(int)) => Ideal::Int(int),
            _ => Ideal::Overflow,
        }
    }
}

/// `strconv.ParseInt` with the base that the prefix says.
pub fn parse_int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'+' => (false, &text[1..]),
        b'-' => (true, &text[1..]),
        _ => (false, text),
    };
    let magnitude = i128::from(parse_uint(digits)?);
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// `strconv.ParseUint` with the base that the prefix says.
fn parse_uint(text: &str) -> Option<u64> {
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'b' | b'B', _, ..] => (2, &text[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &text[2..]),
        [b'0', b'x' | b'X', _, ..] => (16, &text[2..]),
        [b'0', ..] => (8, &text[1..]),
        [] => return None,
        _ => (10, text),
    };
    let mut number = 0_u64;
    for digit in digits.chars().filter(|digit| *digit != '_') {
        number = number.checked_mul(radix.into())?.checked_add(digit.to_digit(radix)?.into())?;
    }
    (!text.contains('_') || underscores_separate_digits(text)).then_some(number)
}

/// `strconv.ParseFloat` of what is no word such as `inf`; refuses what is out of range.
pub fn parse_float(text: &str) -> Option<f64> {
    if text.contains('_') && !underscores_separate_digits(text) {
        return None;
    }
    let plain = text.replace('_', "");
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    let float = match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        Some(digits) => {
            let magnitude = parse_hexadecimal(digits)?;
            if plain.starts_with('-') { -magnitude } else { magnitude }
        }
        // What else Rust takes for a float: words.
        None if unsigned.contains(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | 'e' | 'E' | '+' | '-')) => None?,
        None => plain.parse().ok()?,
    };
    float.is_finite().then_some(float)
}

/// A float such as `1.8p-3`: sixteenths, times a power of two.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() || exponent.ends_with(['+', '-']) {
        return None;
    }
    // Beyond any float, and far from any limit of the type.
    let exponent = exponent.parse::<i64>().ok().map(|exponent| exponent.clamp(-100_000, 100_000))?;
    let (mut mantissa, mut power, mut rest) = (0_u64, exponent, false);
    for (place, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(digit.to_digit(16)?);
        let in_fraction = place >= whole.len();
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | digit;
            power -= if in_fraction { 4 } else { 0 };
        } else {
            rest |= digit != 0;
            power += if in_fraction { 0 } else { 4 };
        }
    }
    Some(scaled(mantissa | u64::from(rest), power))
}

/// A mantissa times a power of two, rounded once, to even.
fn scaled(mantissa: u64, power: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let bits = i64::from(64 - mantissa.leading_zeros());
    // 53 bits are kept, and fewer where the exponent is below the smallest one.
    let kept = (bits + power + 1074).clamp(-1, 53);
    let dropped = (bits - kept).max(0);
    let (mut rounded, power) = if dropped == 0 {
        (mantissa, power)
    } else if dropped > 64 {
        (0, power + dropped)
    } else {
        let wide = u128::from(mantissa);
        let (kept, half) = (wide >> dropped, 1_u128 << (dropped - 1));
        let rest = wide & ((half << 1) - 1);
        let up = rest > half || rest == half && kept & 1 == 1;
        (u64::try_from(kept + u128::from(up)).unwrap_or(u64::MAX), power + dropped)
    };
    let mut power = power;
    // Exact from here on: powers of two within what a float can hold, one step at a time.
    while power > 900 && rounded >> 52 == 0 {
        rounded <<= 1;
        power -= 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are at most 53 bits")]
    let mut float = rounded as f64;
    while power != 0 && float != 0.0 && float.is_finite() {
        let step = power.clamp(-1000, 1000);
        float *= 2_f64.powi(i32::try_from(step).unwrap_or(0));
        power -= step;
    }
    float
}

/// Whether each underscore stands between digits, of which a prefix counts as one.
fn underscores_separate_digits(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text).as_bytes();
    let (prefix, hexadecimal) = match text {
        [b'0', b'x' | b'X', ..] => (2, true),
        [b'0', b'b' | b'B' | b'o' | b'O', ..] => (2, false),
        _ => (0, false),
    };
    let mut last = if prefix > 0 { b'0' } else { b'^' };
    for byte in &text[prefix..] {
        let digit = byte.is_ascii_digit() || hexadecimal && byte.is_ascii_hexdigit();
        match byte {
            _ if digit => last = b'0',
            b'_' if last == b'0' => last = b'_',
            _ if *byte == b'_' || last == b'_' => return false,
            _ => last = b'!',
        }
    }
    last != b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ideal(text: &str) -> Ideal {
        Number::parse(text.as_bytes(), Kind::Number).unwrap().ideal(text.as_bytes())
    }

    #[test]
    fn the_syntax_decides_what_a_number_is() {
        assert_eq!(ideal("0x1F"), Ideal::Int(31));
        assert_eq!(ideal("017"), Ideal::Int(15));
        assert_eq!(ideal("1_000"), Ideal::Int(1000));
        assert_eq!(ideal("1e3"), Ideal::Float(1000.0));
        // The sign hides that it is hexadecimal, and the e makes it a float: as in Go.
        assert_eq!(ideal("-0x1e"), Ideal::Float(-30.0));
        assert_eq!(ideal("18446744073709551615"), Ideal::Overflow);
        assert_eq!(ideal("2i"), Ideal::Complex(0.0, 2.0));
    }

    #[test]
    fn hexadecimal_floats_are_rounded_to_even() {
        assert_eq!(parse_float("0x1.8p1"), Some(3.0));
        assert_eq!(parse_float("-0x1p-2"), Some(-0.25));
        assert_eq!(parse_float("0x1p-1074"), Some(f64::from_bits(1)));
        assert_eq!(parse_float("0x1p-1075"), Some(0.0));
        assert_eq!(parse_float("0x1.8p-1075"), Some(f64::from_bits(1)));
        assert_eq!(parse_float("0x1.fffffffffffff8p0"), Some(2.0));
        assert_eq!(parse_float("0x1.fffffffffffffp1023"), Some(f64::MAX));
        assert_eq!(parse_float("0x1p1024"), None);
        assert_eq!(parse_float("0x1p"), None);
    }

    #[test]
    fn underscores_stand_between_digits() {
        for good in ["1_0", "0x_1", "0b1_0", "1_0.5"] {
            assert!(underscores_separate_digits(good), "{good}");
        }
        for bad in ["_1", "1__0", "1_", "1_.5", "1._5"] {
            assert!(!underscores_separate_digits(bad), "{bad}");
        }
    }
}
