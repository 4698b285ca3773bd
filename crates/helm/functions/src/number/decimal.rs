//! Arithmetic without the errors of floats: Go's library decimal.

use fitout_go_template::{Error, Type, Value, shortest, sprint};
use num_bigint::{BigInt, BigUint, Sign};

use super::{FLOAT, to_float};
use crate::declare::Declare;

/// How many places a quotient has.
const PLACES: i64 = 16;

pub(super) fn add(declare: &mut Declare<'_>) {
    const PAIR: &[Type] = &[Type::Any, Type::Any];
    declare.panicking(&["add1f"], &[Type::Any], FLOAT, |a| {
        computed(&a[0], &[Value::int(1)], |one, other| Ok(one.plus(&other)))
    });
    declare.variadic(&["addf"], &[Type::Any], FLOAT, |a| {
        computed(&Value::float(0.0), a, |one, other| Ok(one.plus(&other)))
    });
    declare.variadic(&["subf"], PAIR, FLOAT, |a| {
        computed(&a[0], &a[1..], |one, other| Ok(one.plus(&Decimal { value: -other.value, ..other })))
    });
    declare.variadic(&["mulf"], PAIR, FLOAT, |a| computed(&a[0], &a[1..], |one, other| Ok(one.times(&other))));
    declare.variadic(&["divf"], PAIR, FLOAT, |a| computed(&a[0], &a[1..], |one, other| one.over(&other)));
}

/// A number computed with each of the others in turn.
fn computed(
    first: &Value,
    others: &[Value],
    compute: impl Fn(Decimal, Decimal) -> Result<Decimal, Error>,
) -> Result<Value, Error> {
    let mut total = Decimal::of(to_float(first))?;
    for other in others {
        total = compute(total, Decimal::of(to_float(other))?)?;
    }
    Ok(Value::float(total.to_float()))
}

/// An integer times a power of ten.
struct Decimal {
    value: BigInt,
    exponent: i64,
}

fn power_of_ten(exponent: i64) -> BigUint {
    BigUint::from(10_u8).pow(u32::try_from(exponent).unwrap_or(u32::MAX))
}

impl Decimal {
    /// The shortest number that is read as this float.
    fn of(float: f64) -> Result<Self, Error> {
        if !float.is_finite() {
            let shown = sprint(&[Value::float(float)])?;
            return Err(Error::new(format!("Cannot create a Decimal from {}", shown.to_str())));
        }
        // Such as 1.25e-3.
        let written = shortest(float);
        let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let value = format!("{whole}{fraction}").parse().unwrap_or(0_i64);
        let exponent = exponent.parse().unwrap_or(0_i64) - i64::try_from(fraction.len()).unwrap_or(0);
        Ok(Self { value: value.into(), exponent })
    }

    fn plus(self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let value = self.in_units_of(exponent) + other.in_units_of(exponent);
        Self { value, exponent }
    }

    fn in_units_of(&self, exponent: i64) -> BigInt {
        &self.value * BigInt::from(power_of_ten(self.exponent - exponent))
    }

    fn times(self, other: &Self) -> Self {
        Self { value: self.value * &other.value, exponent: self.exponent + other.exponent }
    }

    /// The quotient, with a half rounded away from zero.
    fn over(self, other: &Self) -> Result<Self, Error> {
        if other.value.sign() == Sign::NoSign {
            return Err(Error::new("decimal division by 0"));
        }
        let shift = self.exponent - other.exponent + PLACES;
        let (mut dividend, mut divisor) = (self.value.magnitude().clone(), other.value.magnitude().clone());
        if shift < 0 {
            divisor *= power_of_ten(-shift);
        } else {
            dividend *= power_of_ten(shift);
        }
        let mut quotient = &dividend / &divisor;
        let rest = dividend - &quotient * &divisor;
        if rest * 2_u8 >= divisor {
            quotient += 1_u8;
        }
        let sign = if self.value.sign() == other.value.sign() { Sign::Plus } else { Sign::Minus };
        Ok(Self { value: BigInt::from_biguint(sign, quotient), exponent: -PLACES })
    }

    /// The nearest float.
    fn to_float(&self) -> f64 {
        format!("{}e{}", self.value, self.exponent).parse().unwrap_or_default()
    }
}
