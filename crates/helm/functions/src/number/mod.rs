//! Functions on numbers.

mod cast;
mod decimal;
mod round;

use fitout_go_template::{Error, Type, Value};

pub(crate) use cast::{float as parse_float, to_float, to_int};

use crate::argument::text;
use crate::declare::Declare;

const INT64: Type = Type::INT64;
const FLOAT: Type = Type::FLOAT64;

pub(crate) fn add(declare: &mut Declare<'_>) {
    casts(declare);
    integers(declare);
    floats(declare);
    decimal::add(declare);
    round::add(declare);
}

fn casts(declare: &mut Declare<'_>) {
    declare.plain(&["int"], &[Type::Any], Type::INT, |a| Value::int(to_int(&a[0])));
    declare.plain(&["int64"], &[Type::Any], INT64, |a| Value::int64(to_int(&a[0])));
    declare.plain(&["float64"], &[Type::Any], FLOAT, |a| Value::float(to_float(&a[0])));
    declare.plain(&["atoi"], &[Type::String], Type::INT, |a| Value::int(cast::atoi(text(&a[0]))));
    declare.panicking(&["toDecimal"], &[Type::Any], INT64, |a| Ok(Value::int64(cast::octal(&a[0])?)));
}

fn integers(declare: &mut Declare<'_>) {
    const PAIR: &[Type] = &[Type::Any, Type::Any];
    declare.plain(&["add1"], &[Type::Any], INT64, |a| Value::int64(to_int(&a[0]).wrapping_add(1)));
    declare.variadic(&["add"], &[Type::Any], INT64, |a| Ok(folded(0, a, i64::wrapping_add)));
    declare.plain(&["sub"], PAIR, INT64, |a| Value::int64(to_int(&a[0]).wrapping_sub(to_int(&a[1]))));
    declare.variadic(&["mul"], PAIR, INT64, |a| Ok(folded(to_int(&a[0]), &a[1..], i64::wrapping_mul)));
    declare.panicking(&["div"], PAIR, INT64, |a| divided(a, i64::wrapping_div));
    declare.panicking(&["mod"], PAIR, INT64, |a| divided(a, i64::wrapping_rem));
    declare.variadic(&["max", "biggest"], PAIR, INT64, |a| Ok(folded(to_int(&a[0]), &a[1..], i64::max)));
    declare.variadic(&["min"], PAIR, INT64, |a| Ok(folded(to_int(&a[0]), &a[1..], i64::min)));
}

fn folded(first: i64, others: &[Value], fold: impl Fn(i64, i64) -> i64) -> Value {
    Value::int64(others.iter().fold(first, |total, other| fold(total, to_int(other))))
}

fn divided(arguments: &[Value], divide: impl Fn(i64, i64) -> i64) -> Result<Value, Error> {
    match to_int(&arguments[1]) {
        0 => Err(Error::new("runtime error: integer divide by zero")),
        divisor => Ok(Value::int64(divide(to_int(&arguments[0]), divisor))),
    }
}

fn floats(declare: &mut Declare<'_>) {
    declare.plain(&["floor"], &[Type::Any], FLOAT, |a| Value::float(to_float(&a[0]).floor()));
    declare.plain(&["ceil"], &[Type::Any], FLOAT, |a| Value::float(to_float(&a[0]).ceil()));
    declare.variadic(&["maxf"], &[Type::Any, Type::Any], FLOAT, |a| Ok(Value::float(extreme(a, true))));
    declare.variadic(&["minf"], &[Type::Any, Type::Any], FLOAT, |a| Ok(Value::float(extreme(a, false))));
}

/// `math.Max` or `math.Min` of all: infinity counts more than what is not a number, and that more than all else. A
/// negative zero is less than zero.
fn extreme(values: &[Value], max: bool) -> f64 {
    let infinity = if max { f64::INFINITY } else { f64::NEG_INFINITY };
    let of_two = |one: f64, other: f64| {
        if one.is_infinite() && one.is_sign_positive() == max || other.is_infinite() && other.is_sign_positive() == max
        {
            infinity
        } else if one.is_nan() || other.is_nan() {
            f64::NAN
        } else if (one.total_cmp(&other).is_gt()) == max {
            one
        } else {
            other
        }
    };
    let mut floats = values.iter().map(to_float);
    let first = floats.next().unwrap_or_default();
    floats.fold(first, of_two)
}
