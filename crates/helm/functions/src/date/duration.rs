//! `time.Duration`.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use fitout_go_template::{Error, Format, Function, Host, Shape, Text, Type, Value};

use super::quote::quote;

/// `time.Duration`: nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Duration(pub(crate) i64);

/// The type, as parameters and results name it.
pub(crate) const DURATION: Type = Type::Whole("time.Duration");

pub(crate) const MICROSECOND: i64 = 1000;
pub(crate) const MILLISECOND: i64 = 1000 * MICROSECOND;
pub(crate) const SECOND: i64 = 1000 * MILLISECOND;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;

/// The largest number of nanoseconds that a negative duration may have.
const MOST: u64 = 1 << 63;

impl Duration {
    /// The duration that a value is, if it is one.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let Value::Host(host) = value else { return None };
        host.as_any()?.downcast_ref().copied()
    }

    /// The duration that an argument is: one, or the nanoseconds of one.
    pub(crate) fn given(value: &Value) -> Self {
        if let Value::Int(_, nanoseconds) = value { Self(*nanoseconds) } else { Self::of(value).unwrap_or(Self(0)) }
    }

    pub(crate) fn to_value(self) -> Value {
        Value::Host(Rc::new(self))
    }

    /// `time.ParseDuration`.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Error> {
        let invalid = || Error::new(format!("time: invalid duration {}", quote(text)));
        let (negative, mut rest) = sign(text);
        if rest == b"0" {
            return Ok(Self(0));
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut sum = 0_u64;
        while !rest.is_empty() {
            let (whole, after) = leading(rest).ok_or_else(invalid)?;
            let mut digits = rest.len() - after.len();
            let mut fraction = (0, 1.0);
            rest = after;
            if let [b'.', after @ ..] = rest {
                let (number, scale, after_digits) = leading_fraction(after);
                digits += after.len() - after_digits.len();
                fraction = (number, scale);
                rest = after_digits;
            }
            if digits == 0 {
                return Err(invalid());
            }
            let end = rest.iter().position(|byte| *byte == b'.' || byte.is_ascii_digit()).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            rest = after;
            if name.is_empty() {
                return Err(Error::new(format!("time: missing unit in duration {}", quote(text))));
            }
            let Some(unit) = unit(name) else {
                return Err(Error::new(format!("time: unknown unit {} in duration {}", quote(name), quote(text))));
            };
            sum = summed(sum, whole, fraction, unit).ok_or_else(invalid)?;
        }
        match i64::try_from(sum) {
            Ok(sum) => Ok(Self(if negative { -sum } else { sum })),
            Err(_) if negative => Ok(Self(i64::MIN)),
            Err(_) => Err(invalid()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as Go's conversion")]
    pub(crate) fn in_units(self, unit: i64) -> f64 {
        (self.0 / unit) as f64 + (self.0 % unit) as f64 / unit as f64
    }

    /// Rounded towards zero to a multiple of another.
    pub(crate) fn truncate(self, to: Self) -> Self {
        if to.0 <= 0 { self } else { Self(self.0 - self.0 % to.0) }
    }

    /// Rounded to the nearest multiple of another, halves away from zero.
    pub(crate) fn round(self, to: Self) -> Self {
        if to.0 <= 0 {
            return self;
        }
        let rest = self.0 % to.0;
        if rest.unsigned_abs() * 2 < to.0.unsigned_abs() {
            return Self(self.0 - rest);
        }
        Self((self.0 - rest).saturating_add(if self.0 < 0 { -to.0 } else { to.0 }))
    }

    pub(crate) fn abs(self) -> Self {
        Self(self.0.saturating_abs())
    }
}

/// What a number with a unit adds to a sum, unless it is too much.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as Go's conversions: it is never negative and less than an hour"
)]
fn summed(sum: u64, whole: u64, (fraction, scale): (u64, f64), unit: u64) -> Option<u64> {
    let mut more = if whole > MOST / unit { None } else { Some(whole * unit) }?;
    if fraction > 0 {
        more += (fraction as f64 * (unit as f64 / scale)) as u64;
        if more > MOST {
            return None;
        }
    }
    Some(sum.wrapping_add(more)).filter(|sum| *sum <= MOST)
}

/// Whether there is a minus at the beginning, and what comes after a sign.
pub(super) fn sign(text: &[u8]) -> (bool, &[u8]) {
    let negative = text.first() == Some(&b'-');
    let signed = negative || text.first() == Some(&b'+');
    (negative, &text[usize::from(signed)..])
}

/// The digits at the beginning, as a number that is not too large.
pub(super) fn leading(text: &[u8]) -> Option<(u64, &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(count);
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        let number = if number > MOST / 10 { None } else { Some(number * 10 + u64::from(digit - b'0')) }?;
        (number <= MOST).then_some(number)
    });
    Some((number?, rest))
}

/// The digits at the beginning, as many of them as are a number that is not too large, and by what it is to be divided.
fn leading_fraction(text: &[u8]) -> (u64, f64, &[u8]) {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(count);
    let (mut number, mut scale) = (0_u64, 1.0);
    for digit in digits {
        if number > (MOST - 1) / 10 {
            break;
        }
        let more = number * 10 + u64::from(digit - b'0');
        if more > MOST {
            break;
        }
        (number, scale) = (more, scale * 10.0);
    }
    (number, scale, rest)
}

fn unit(name: &[u8]) -> Option<u64> {
    Some(match name {
        b"ns" => 1,
        b"us" | b"\xC2\xB5s" | b"\xCE\xBCs" => MICROSECOND.unsigned_abs(),
        b"ms" => MILLISECOND.unsigned_abs(),
        b"s" => SECOND.unsigned_abs(),
        b"m" => MINUTE.unsigned_abs(),
        b"h" => HOUR.unsigned_abs(),
        _ => return None,
    })
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanoseconds = self.0.unsigned_abs();
        let small = |f: &mut fmt::Formatter<'_>, unit: i64, digits: usize, name: &str| {
            let unit = unit.unsigned_abs();
            f.write_str(sign)?;
            fraction(f, nanoseconds / unit, nanoseconds % unit, digits)?;
            f.write_str(name)
        };
        match i64::try_from(nanoseconds) {
            Ok(0) => f.write_str("0s"),
            Ok(..MICROSECOND) => small(f, 1, 0, "ns"),
            Ok(..MILLISECOND) => small(f, MICROSECOND, 3, "µs"),
            Ok(..SECOND) => small(f, MILLISECOND, 6, "ms"),
            _ => {
                f.write_str(sign)?;
                let second = SECOND.unsigned_abs();
                let seconds = nanoseconds / second;
                let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
                if hours > 0 {
                    write!(f, "{hours}h")?;
                }
                if seconds >= 60 {
                    write!(f, "{minutes}m")?;
                }
                fraction(f, seconds % 60, nanoseconds % second, 9)?;
                f.write_str("s")
            }
        }
    }
}

/// A number and its fraction without zeros at the end.
fn fraction(f: &mut fmt::Formatter<'_>, whole: u64, fraction: u64, digits: usize) -> fmt::Result {
    write!(f, "{whole}")?;
    if fraction > 0 {
        let digits = format!("{fraction:0digits$}");
        write!(f, ".{}", digits.trim_end_matches('0'))?;
    }
    Ok(())
}

impl Host for Duration {
    fn type_name(&self) -> &'static str {
        "time.Duration"
    }

    fn shape(&self) -> Shape {
        Shape::Like(Value::int64(self.0))
    }

    fn like(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Int(_, nanoseconds) => Some(Self(*nanoseconds).to_value()),
            _ => None,
        }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn marshal(&self, format: Format) -> Option<Result<Shape, Error>> {
        match format {
            Format::Json => None,
            Format::Yaml | Format::Toml => Some(Ok(Shape::Like(Value::string(self.to_string())))),
        }
    }

    fn text(&self) -> Option<Text> {
        Some(self.to_string().into())
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        let duration = *self;
        let whole = |unit| Function::plain(&[], Type::INT64, move |_, _| Value::int64(duration.0 / unit));
        let float = |unit| Function::plain(&[], Type::FLOAT64, move |_, _| Value::float(duration.in_units(unit)));
        let with = |body: fn(Self, Self) -> Self| {
            Function::plain(&[DURATION], DURATION, move |_, arguments| {
                body(duration, Self::given(&arguments[0])).to_value()
            })
        };
        Some(match name {
            b"String" => Function::plain(&[], Type::String, move |_, _| Value::string(duration.to_string())),
            b"Nanoseconds" => whole(1),
            b"Microseconds" => whole(MICROSECOND),
            b"Milliseconds" => whole(MILLISECOND),
            b"Seconds" => float(SECOND),
            b"Minutes" => float(MINUTE),
            b"Hours" => float(HOUR),
            b"Truncate" => with(Self::truncate),
            b"Round" => with(Self::round),
            b"Abs" => Function::plain(&[], DURATION, move |_, _| duration.abs().to_value()),
            _ => return None,
        })
    }
}
