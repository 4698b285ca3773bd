//! Numbers of any value, as Go's library cast makes them: what is none is zero.

use fitout_go_template::{Error, Shape, Value, parse_float, parse_int, sprint};

/// An integer. What is beyond 64 bits is what the processor makes of it.
pub(crate) fn to_int(value: &Value) -> i64 {
    match value {
        Value::Int(_, int) => *int,
        Value::Uint(fitout_go_template::Unsigned::Uintptr, _) => 0,
        Value::Uint(_, uint) => uint.cast_signed(),
        Value::Float(_, float) => truncated(*float),
        Value::Bool(truth) => (*truth).into(),
        Value::String(text) => str::from_utf8(text).ok().and_then(|text| parse_int(without_zeros(text))).unwrap_or(0),
        Value::Host(host) if matches!(host.type_name(), "time.Month" | "time.Weekday") => match host.shape() {
            Shape::Like(Value::Int(_, int)) => int,
            _ => 0,
        },
        _ => 0,
    }
}

/// A float.
pub(crate) fn to_float(value: &Value) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a float is the nearest one")]
    match value {
        Value::Float(_, float) => *float,
        Value::Uint(fitout_go_template::Unsigned::Uintptr, _) => 0.0,
        Value::Uint(_, uint) => *uint as f64,
        Value::String(text) => str::from_utf8(text).ok().and_then(float).unwrap_or(0.0),
        other => to_int(other) as f64,
    }
}

/// `int64(f)` as it is on the machines that Helm runs on: what does not fit is the smallest integer.
#[expect(clippy::cast_possible_truncation, reason = "only what fits is converted")]
fn truncated(float: f64) -> i64 {
    /// 2 to the power of 63.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if (-BEYOND..BEYOND).contains(&float) { float as i64 } else { i64::MIN }
}

/// `strconv.ParseFloat`, which also reads words.
pub(crate) fn float(text: &str) -> Option<f64> {
    let (sign, word) = match text.as_bytes() {
        [b'-', ..] => (-1.0, &text[1..]),
        [b'+', ..] => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    if word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("infinity") {
        Some(sign * f64::INFINITY)
    } else if text.eq_ignore_ascii_case("nan") {
        Some(f64::NAN)
    } else {
        parse_float(text)
    }
}

/// Without the zeros after a point. As in the library, there may be more points after these zeros.
fn without_zeros(text: &str) -> &str {
    let end = text.trim_end_matches(['0', '.']).len();
    let tail = &text.as_bytes()[end..];
    let last_zero = tail.iter().rposition(|&byte| byte == b'0').unwrap_or(0);
    match tail[..last_zero].iter().rposition(|&byte| byte == b'.') {
        Some(point) => &text[..end + point],
        None => text,
    }
}

/// `strconv.Atoi`, of which only the number counts: the nearest one where there are too many digits.
pub(super) fn atoi(text: &[u8]) -> i64 {
    digits(text, 10).map_or(0, |number| number.unwrap_or_else(|nearest| nearest))
}

/// A value that is printed with octal digits.
pub(super) fn octal(value: &Value) -> Result<i64, Error> {
    let text = sprint(std::slice::from_ref(value))?;
    Ok(digits(&text, 8).and_then(Result::ok).unwrap_or(0))
}

/// `strconv.ParseInt` with a base: nothing where there is anything but digits, and the nearest number where there are
/// too many of them. What comes after more digits than 64 bits can hold is not looked at.
fn digits(text: &[u8], base: u32) -> Option<Result<i64, i64>> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let nearest = if negative { i64::MIN } else { i64::MAX };
    let mut number = 0_u64;
    for byte in digits {
        let digit = char::from(*byte).to_digit(base)?;
        let Some(next) = number.checked_mul(base.into()).and_then(|number| number.checked_add(digit.into())) else {
            return Some(Err(nearest));
        };
        number = next;
    }
    let number = if negative { 0_i64.checked_sub_unsigned(number) } else { i64::try_from(number).ok() };
    Some(number.ok_or(nearest))
}
