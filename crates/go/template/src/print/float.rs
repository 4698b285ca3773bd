//! Floats, as Go's `strconv` writes them and `fmt` pads them.

use std::fmt::Write;

use super::format::Format;

/// More digits than any float has: from there on they are zeros.
const ALL_DIGITS: usize = 1100;

/// How many bits a float has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Single,
    Double,
}

impl Format {
    /// A float with this verb; false where floats have no such verb.
    pub(super) fn float(self, buffer: &mut Vec<u8>, float: f64, size: Size, verb: char) -> bool {
        match verb {
            'v' => self.float_as(buffer, float, size, 'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => self.float_as(buffer, float, size, verb, None),
            'f' | 'e' | 'E' => self.float_as(buffer, float, size, verb, Some(6)),
            'F' => self.float_as(buffer, float, size, 'f', Some(6)),
            _ => return false,
        }
        true
    }

    fn float_as(self, buffer: &mut Vec<u8>, float: f64, size: Size, verb: char, precision: Option<usize>) {
        let precision = self.precision.or(precision);
        // With a sign in any case.
        let mut number = written(float, size, verb, precision);
        if !number.starts_with(['+', '-']) {
            number.insert(0, '+');
        }
        if self.space && number.starts_with('+') && !self.plus {
            number.replace_range(..1, " ");
        }
        if !float.is_finite() {
            // Infinity always has its sign.
            let number = if float.is_nan() && !self.space && !self.plus { &number[1..] } else { &number };
            return self.pad_with_spaces(buffer, number.as_bytes());
        }
        if self.sharp && verb != 'b' {
            number = sharpened(&number, verb, precision);
        }
        let number = number.as_bytes();
        if !self.plus && number[0] == b'+' {
            return self.pad(buffer, &number[1..]);
        }
        match self.width {
            // The sign comes before the zeros.
            Some(width) if self.zero && !self.minus && width > number.len() => {
                buffer.push(number[0]);
                self.fill(buffer, width - number.len());
                buffer.extend_from_slice(&number[1..]);
            }
            _ => self.pad(buffer, number),
        }
    }
}

/// With a decimal point, and with the zeros at the end that were left out.
fn sharpened(number: &str, verb: char, precision: Option<usize>) -> String {
    let mut missing = match verb {
        'g' | 'G' | 'x' => precision.map_or(6, |precision| i64::try_from(precision).unwrap_or(i64::MAX)),
        _ => 0,
    };
    let hexadecimal = matches!(verb, 'x' | 'X');
    let is_exponent = |c: char| matches!(c, 'p' | 'P') || !hexadecimal && matches!(c, 'e' | 'E');
    let (digits, exponent) = number.split_at(number.find(is_exponent).unwrap_or(number.len()));
    let significant = digits[1..].trim_start_matches(['0', '.']).chars().filter(|c| *c != '.').count();
    missing -= i64::try_from(significant).unwrap_or(i64::MAX);
    let mut sharp = digits.to_owned();
    if !digits.contains('.') {
        if digits[1..] == *"0" {
            missing -= 1;
        }
        sharp.push('.');
    }
    sharp.extend((0..missing).map(|_| '0'));
    sharp + exponent
}

/// `strconv.FormatFloat`. Without a precision, as many digits as are needed to read the same float again.
fn written(float: f64, size: Size, format: char, precision: Option<usize>) -> String {
    if float.is_nan() {
        return "NaN".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    match format {
        'b' => binary(float, size),
        'x' | 'X' => hexadecimal(float, size, format, precision),
        _ => decimal(float, size, format, precision),
    }
}

/// The shortest number that is read as this float, such as `1.5e3`. Of two that are as near, Rust takes the higher one
/// and Go the even one.
pub(crate) fn shortest(float: f64, size: Size) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "it came from 32 bits")]
    let (written, most) = match size {
        Size::Double => (format!("{float:e}"), 16),
        Size::Single => (format!("{:e}", float as f32), 8),
    };
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let odd = mantissa.ends_with(['1', '3', '5', '7', '9']);
    if mantissa.len() <= most || !odd {
        return written;
    }
    // Enough digits to tell a half from all else.
    let places = mantissa.len() - 2;
    let exact = format!("{:.*e}", places + 25, float);
    let (before, after) = exact.split_at(places + 2);
    let last = before.as_bytes().last().copied().unwrap_or_default();
    let half = after.starts_with('5') && after[1..25].bytes().all(|byte| byte == b'0');
    let even = format!("{before}e{exponent}");
    // Below a power of two floats are nearer to each other than above it.
    let same = even.parse() == Ok(float);
    if half && last.is_multiple_of(2) && (same || size == Size::Single) { even } else { written }
}

/// The digits of a decimal number and where its point is: 0.ddd times ten to the power of `point`.
struct Decimal {
    digits: String,
    point: i64,
}

impl Decimal {
    /// So many digits, or as many as are needed; none where the number is zero.
    fn of(float: f64, size: Size, digits: Option<usize>) -> Self {
        let scientific = match (digits, size) {
            (Some(digits), _) => format!("{:.*e}", digits.saturating_sub(1).min(ALL_DIGITS), float.abs()),
            (None, size) => shortest(float.abs(), size),
        };
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let digits = mantissa.replace('.', "").trim_end_matches('0').to_owned();
        let point = if digits.is_empty() { 0 } else { exponent.parse::<i64>().unwrap_or(0) + 1 };
        Self { digits, point }
    }

    fn len(&self) -> i64 {
        i64::try_from(self.digits.len()).unwrap_or(i64::MAX)
    }

    /// The digit at a place, from the first one.
    fn digit(&self, place: i64) -> char {
        usize::try_from(place).ok().and_then(|place| self.digits.as_bytes().get(place)).map_or('0', |c| char::from(*c))
    }
}

fn decimal(float: f64, size: Size, format: char, precision: Option<usize>) -> String {
    let sign = if float.is_sign_negative() { "-" } else { "" };
    let unsigned = match (format, precision) {
        ('f', Some(precision)) => {
            let digits = format!("{:.*}", precision.min(ALL_DIGITS), float.abs());
            digits + &"0".repeat(precision.saturating_sub(ALL_DIGITS))
        }
        ('e' | 'E', Some(precision)) => {
            scientific(&Decimal::of(float, size, Some(precision + 1)), signed(precision), format)
        }
        ('e' | 'E', None) => {
            let decimal = Decimal::of(float, size, None);
            scientific(&decimal, (decimal.len() - 1).max(0), format)
        }
        ('f', None) => {
            let decimal = Decimal::of(float, size, None);
            positional(&decimal, (decimal.len() - decimal.point).max(0))
        }
        _ => general(float, size, format, precision),
    };
    sign.to_owned() + &unsigned
}

/// `%g`: with an exponent where it is large or small.
fn general(float: f64, size: Size, format: char, precision: Option<usize>) -> String {
    let decimal = Decimal::of(float, size, precision.map(|precision| precision.max(1)));
    let mut digits = precision.map_or(decimal.len(), |precision| signed(precision.max(1)));
    let limit = match precision {
        None => 6,
        Some(_) if digits > decimal.len() && decimal.len() >= decimal.point => decimal.len(),
        Some(_) => digits,
    };
    let exponent = decimal.point - 1;
    if exponent < -4 || exponent >= limit {
        let format = if format == 'G' { 'E' } else { 'e' };
        return scientific(&decimal, digits.min(decimal.len()) - 1, format);
    }
    if digits > decimal.point {
        digits = decimal.len();
    }
    positional(&decimal, (digits - decimal.point).max(0))
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// d.ddde±dd
fn scientific(decimal: &Decimal, precision: i64, format: char) -> String {
    let mut text = String::from(decimal.digit(0));
    if precision > 0 {
        text.push('.');
        text.extend((1..=precision).map(|place| decimal.digit(place)));
    }
    let exponent = if decimal.digits.is_empty() { 0 } else { decimal.point - 1 };
    push_exponent(&mut text, format, exponent);
    text
}

/// ddd.ddd
fn positional(decimal: &Decimal, precision: i64) -> String {
    let mut text = String::new();
    if decimal.point > 0 {
        text.extend((0..decimal.point).map(|place| decimal.digit(place)));
    } else {
        text.push('0');
    }
    if precision > 0 {
        text.push('.');
        text.extend((0..precision).map(|place| decimal.digit(decimal.point + place)));
    }
    text
}

fn push_exponent(text: &mut String, letter: char, exponent: i64) {
    let sign = if exponent < 0 { '-' } else { '+' };
    let pushed = write!(text, "{letter}{sign}{:02}", exponent.abs());
    debug_assert!(pushed.is_ok(), "a string takes everything");
}

/// The parts of a float: its mantissa and the power of two that its last bit stands for.
fn parts(float: f64, size: Size) -> (u64, i64) {
    let (bits, mantissa_bits, exponent_bits, offset) = match size {
        Size::Double => (float.to_bits(), 52, 11, 1023),
        #[expect(clippy::cast_possible_truncation, reason = "it came from 32 bits")]
        Size::Single => (u64::from((float as f32).to_bits()), 23, 8, 127),
    };
    let exponent = (bits >> mantissa_bits & ((1 << exponent_bits) - 1)).cast_signed();
    let mantissa = bits & ((1 << mantissa_bits) - 1);
    let (mantissa, exponent) = if exponent == 0 { (mantissa, 1) } else { (mantissa | 1 << mantissa_bits, exponent) };
    (mantissa, exponent - offset - mantissa_bits)
}

/// `%b`: the mantissa and its power of two.
fn binary(float: f64, size: Size) -> String {
    let (mantissa, exponent) = parts(float, size);
    let sign = if float.is_sign_negative() { "-" } else { "" };
    format!("{sign}{mantissa}p{exponent:+}")
}

/// `%x`: the mantissa with one bit before the point.
fn hexadecimal(float: f64, size: Size, format: char, precision: Option<usize>) -> String {
    let (mut mantissa, exponent) = parts(float, size);
    let mut exponent = exponent + 60;
    if mantissa == 0 {
        exponent = 0;
    }
    // The leading one goes to the bit with the value of 1.
    while mantissa != 0 && mantissa & (1 << 60) == 0 {
        mantissa <<= 1;
        exponent -= 1;
    }
    if let Some(precision @ 0..15) = precision {
        let shift = precision * 4;
        let extra = (mantissa << shift) & ((1 << 60) - 1);
        mantissa >>= 60 - shift;
        mantissa += u64::from(extra | (mantissa & 1) > 1 << 59);
        mantissa <<= 60 - shift;
        if mantissa & (1 << 61) != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let mut fraction = mantissa << 4;
    let mut text = String::new();
    if float.is_sign_negative() {
        text.push('-');
    }
    text.push_str(if mantissa >> 60 & 1 == 1 { "0x1" } else { "0x0" });
    let digits =
        precision.unwrap_or_else(|| usize::try_from((64 - fraction.trailing_zeros()).div_ceil(4)).unwrap_or(0));
    if digits > 0 && (precision.is_some() || fraction != 0) {
        text.push('.');
        for _ in 0..digits {
            text.extend(char::from_digit(u32::try_from(fraction >> 60).unwrap_or(0), 16));
            fraction <<= 4;
        }
    }
    push_exponent(&mut text, 'p', exponent);
    if format == 'X' { text.to_uppercase() } else { text }
}
