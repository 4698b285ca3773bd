//! Helm's functions on durations, which take numbers for seconds.

use fitout_go_template::{Error, Type, Value, quote, sprint};

use crate::date::{DURATION, Duration, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND};
use crate::declare::Declare;
use crate::number::parse_float;

pub(crate) fn add(declare: &mut Declare<'_>) {
    declare.panicking(&["mustToDuration"], &[Type::Any], DURATION, |arguments| Ok(duration(&arguments[0])?.to_value()));
    for (name, unit) in [("durationSeconds", SECOND), ("durationMinutes", MINUTE), ("durationHours", HOUR)] {
        declare.plain(&[name], &[Type::Any], Type::FLOAT64, move |arguments| {
            Value::float(or_nothing(&arguments[0]).in_units(unit))
        });
    }
    for (name, divisors) in [("durationDays", &[24.0][..]), ("durationWeeks", &[24.0, 7.0])] {
        declare.plain(&[name], &[Type::Any], Type::FLOAT64, move |arguments| {
            let hours = or_nothing(&arguments[0]).in_units(HOUR);
            Value::float(divisors.iter().fold(hours, |time, divisor| time / divisor))
        });
    }
    let units =
        [("durationNanoseconds", 1), ("durationMicroseconds", MICROSECOND), ("durationMilliseconds", MILLISECOND)];
    for (name, unit) in units {
        declare.plain(&[name], &[Type::Any], Type::INT64, move |arguments| {
            Value::int64(or_nothing(&arguments[0]).0 / unit)
        });
    }
    declare.plain(&["durationRoundTo"], &[Type::Any, Type::Any], DURATION, |arguments| {
        to_multiple(arguments, Duration::round)
    });
    declare.plain(&["durationTruncateTo"], &[Type::Any, Type::Any], DURATION, |arguments| {
        to_multiple(arguments, Duration::truncate)
    });
}

/// A duration made a multiple of another. If there is no other, it stays what it is.
fn to_multiple(arguments: &[Value], round: fn(Duration, Duration) -> Duration) -> Value {
    let Ok(time) = duration(&arguments[0]) else { return Duration(0).to_value() };
    duration(&arguments[1]).map_or(time, |multiple| round(time, multiple)).to_value()
}

fn or_nothing(value: &Value) -> Duration {
    duration(value).unwrap_or(Duration(0))
}

/// The duration that a value stands for.
fn duration(value: &Value) -> Result<Duration, Error> {
    if let Some(duration) = Duration::of(value) {
        return Ok(duration);
    }
    if let Value::String(text) = value {
        return written(text);
    }
    match value.underlying() {
        Value::Nil => Err(Error::new("invalid duration")),
        Value::Int(_, seconds) => whole(seconds.into()),
        Value::Uint(_, seconds) => whole(seconds.into()),
        Value::Float(_, seconds) => float(seconds),
        _ => Err(Error::new(format!("unsupported duration type {}", value.type_name()))),
    }
}

fn written(text: &[u8]) -> Result<Duration, Error> {
    // Not of ASCII alone: Go trims all white space there is.
    let trimmed = str::from_utf8(text).map_or_else(|_| text.trim_ascii(), |text| text.trim().as_bytes());
    if trimmed.is_empty() {
        return Err(Error::new("empty duration"));
    }
    if let Ok(duration) = Duration::parse(trimmed) {
        return Ok(duration);
    }
    match str::from_utf8(trimmed).ok().and_then(parse_float) {
        Some(seconds) => float(seconds),
        None => Err(Error::new(format!("could not parse duration {}", quote(text)))),
    }
}

fn whole(seconds: i128) -> Result<Duration, Error> {
    let overflow = || Error::new(format!("duration seconds overflow: {seconds}"));
    i64::try_from(seconds * i128::from(SECOND)).map(Duration).map_err(|_| overflow())
}

fn shown(seconds: f64) -> String {
    sprint(&[Value::float(seconds)]).map(|text| text.to_str().into_owned()).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as Go's conversions")]
fn float(seconds: f64) -> Result<Duration, Error> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if !seconds.is_finite() {
        return Err(Error::new(format!("invalid duration seconds: {}", shown(seconds))));
    }
    let most = LIMIT / SECOND as f64;
    if seconds.abs() > most {
        return Err(Error::new(format!("duration seconds overflow: {}", shown(seconds))));
    }
    let nanoseconds = seconds * SECOND as f64;
    // The limit itself is one too many, and to Go that is the least there is.
    Ok(Duration(if nanoseconds >= LIMIT { i64::MIN } else { nanoseconds as i64 }))
}
