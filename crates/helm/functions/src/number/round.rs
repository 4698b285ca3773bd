//! Rounding.

use fitout_go_template::{Type, Value};

use super::{FLOAT, to_float};
use crate::argument::int;
use crate::declare::Declare;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.variadic(&["round"], &[Type::Any, Type::INT, FLOAT], FLOAT, |a| {
        let up_from = a.get(2).map_or(0.5, to_float);
        Ok(Value::float(rounded(to_float(&a[0]), int(&a[1]), up_from)))
    });
}

/// Rounded to so many places: up, if what is beyond them is at least as much.
fn rounded(float: f64, places: i64, up_from: f64) -> f64 {
    let power = power_of_ten(places);
    let digits = power * float;
    // What Go calls the fraction of an infinite number is not a number.
    let fraction = if digits.is_infinite() { f64::NAN } else { digits.fract() };
    let whole = if fraction >= up_from { digits.ceil() } else { digits.floor() };
    whole / power
}

/// `math.Pow(10, …)`, which is not the nearest float for all exponents.
#[expect(clippy::cast_precision_loss, reason = "as Go does it")]
fn power_of_ten(exponent: i64) -> f64 {
    /// 2 to the power of 63: from here on the exponent is not looked at.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match exponent {
        0 => return 1.0,
        1 => return 10.0,
        _ if (exponent as f64).abs() >= BEYOND => return if exponent < 0 { 0.0 } else { f64::INFINITY },
        _ => {}
    }
    // The answer is a mantissa times a power of two; ten is 0.625 times 2 to the power of 4.
    let (mut mantissa, mut power) = (1.0_f64, 0_i64);
    let (mut factor, mut factor_power) = (0.625_f64, 4_i64);
    // Go takes the exponent for a float on its way.
    let mut bits = exponent.unsigned_abs();
    if bits > 1 << 53 {
        bits = 1 << 53;
    }
    while bits != 0 {
        if factor_power.abs() > 1 << 12 {
            power += factor_power;
            break;
        }
        if bits & 1 == 1 {
            mantissa *= factor;
            power += factor_power;
        }
        factor *= factor;
        factor_power <<= 1;
        if factor < 0.5 {
            factor += factor;
            factor_power -= 1;
        }
        bits >>= 1;
    }
    if exponent < 0 { scaled(1.0 / mantissa, -power) } else { scaled(mantissa, power) }
}

/// A float times a power of two.
fn scaled(float: f64, power: i64) -> f64 {
    // In steps that are exact, but for the last one.
    let power = i32::try_from(power.clamp(-5000, 5000)).unwrap_or_default();
    match power {
        -1000..=1000 => float * 2_f64.powi(power),
        ..-1000 => scaled(float * 2_f64.powi(-900), i64::from(power) + 900),
        _ => scaled(float * 2_f64.powi(900), i64::from(power) - 900),
    }
}
