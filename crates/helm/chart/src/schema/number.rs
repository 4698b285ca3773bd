//! Numbers, exactly as they are written.

use std::cmp::Ordering;

use fitout_go_template::{Value, shortest};
use serde_json::Number;

/// A number: a whole one, times a power of ten.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal {
    digits: i128,
    exponent: i32,
    /// For what is too large to be counted out.
    float: f64,
}

impl Decimal {
    /// The number that a value is.
    #[expect(clippy::cast_precision_loss, reason = "the digits are kept beside it")]
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Int(_, whole) => Some(Self { digits: (*whole).into(), exponent: 0, float: *whole as f64 }),
            Value::Uint(_, whole) => Some(Self { digits: (*whole).into(), exponent: 0, float: *whole as f64 }),
            Value::Float(_, float) => Self::parse(&shortest(*float), *float),
            _ => None,
        }
    }

    /// The number that a schema names.
    pub(crate) fn of_json(number: &Number) -> Option<Self> {
        Self::parse(&number.to_string(), number.as_f64()?)
    }

    fn parse(text: &str, float: f64) -> Option<Self> {
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        let exponent: i32 = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
        let mut number = Self { digits: format!("{whole}{fraction}").parse().ok()?, exponent, float };
        while number.digits != 0 && number.digits % 10 == 0 {
            number.digits /= 10;
            number.exponent += 1;
        }
        if number.digits == 0 {
            number.exponent = 0;
        }
        Some(number)
    }

    pub(crate) fn is_whole(self) -> bool {
        self.exponent >= 0
    }

    /// The whole number that it is, as far as it fits.
    pub(crate) fn whole(self) -> Option<i64> {
        let power = 10i128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        i64::try_from(self.digits.checked_mul(power)?).ok()
    }

    /// Both with the same exponent.
    fn aligned(self, other: Self) -> Option<(i128, i128)> {
        let lower = self.exponent.min(other.exponent);
        let scaled = |number: Self| {
            let power = 10i128.checked_pow(number.exponent.checked_sub(lower)?.unsigned_abs())?;
            number.digits.checked_mul(power)
        };
        Some((scaled(self)?, scaled(other)?))
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        match self.aligned(other) {
            Some((one, other)) => one.cmp(&other),
            None => self.float.total_cmp(&other.float),
        }
    }

    pub(crate) fn is_multiple_of(self, other: Self) -> bool {
        match self.aligned(other) {
            Some((_, 0)) => false,
            Some((one, other)) => one % other == 0,
            None => self.float % other.float == 0.0,
        }
    }

    /// As people write it in English: thousands apart, and powers of ten where Go would write an exponent.
    pub(crate) fn english(self) -> String {
        let text = shortest(self.float);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or_default();
        if self.float != 0.0 && !(-4..6).contains(&exponent) {
            return format!("{digits}×10{}", superscript(exponent));
        }
        let plain = self.float.to_string();
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{}{point}{fraction}", grouped(whole))
    }
}

/// A count, with its thousands apart.
pub(crate) fn count(number: i64) -> String {
    grouped(&number.to_string())
}

fn grouped(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    let sign = if exponent < 0 { "⁻" } else { "" };
    let digits: String = format!("{:02}", exponent.abs()).chars().map(raised).collect();
    format!("{sign}{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_counted_out() {
        let number = |float| Decimal::of(&Value::float(float)).unwrap();
        assert!(number(0.3).is_multiple_of(number(0.1)));
        assert!(!number(0.35).is_multiple_of(number(0.1)));
        assert!(number(1e3).is_whole() && !number(1.5).is_whole());
        assert_eq!(number(0.1).compare(number(0.2)), Ordering::Less);
        assert_eq!(number(1e300).compare(number(2.0)), Ordering::Greater);
    }
}
