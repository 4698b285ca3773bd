//! Numbers one after the other.

use std::fmt::Write;
use std::rc::Rc;

use fitout_go_template::{Error, List, Type, Value};

use crate::argument::int;
use crate::declare::Declare;

const INTS: Type = Type::List(&Type::INT);
/// The longest sequence that is made. Go goes on until the machine has no memory left.
const LONGEST: usize = 10_000_000;

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.panicking(&["until"], &[Type::INT], INTS, |a| {
        let count = int(&a[0]);
        list(steps(0, count, if count < 0 { -1 } else { 1 })?)
    });
    declare.panicking(&["untilStep"], &[Type::INT, Type::INT, Type::INT], INTS, |a| {
        list(steps(int(&a[0]), int(&a[1]), int(&a[2]))?)
    });
    declare.variadic(&["seq"], &[Type::INT], Type::String, |a| {
        let toward = |start: i64, end: i64| if end < start { -1 } else { 1 };
        let (start, end, step) = match *a {
            [ref end] => (1, int(end), toward(1, int(end))),
            [ref start, ref end] => (int(start), int(end), toward(int(start), int(end))),
            [ref start, ref step, ref end] => (int(start), int(end), int(step)),
            _ => return Ok("".into()),
        };
        if a.len() == 3 && end < start && step > 0 {
            return Ok("".into());
        }
        let mut written = String::new();
        for (place, number) in steps(start, end.wrapping_add(toward(start, end)), step)?.into_iter().enumerate() {
            let before = if place == 0 { "" } else { " " };
            let result = write!(written, "{before}{number}");
            debug_assert!(result.is_ok(), "a string takes everything");
        }
        Ok(Value::string(written))
    });
}

#[expect(clippy::unnecessary_wraps, reason = "it is the last thing that functions do")]
fn list(numbers: Vec<i64>) -> Result<Value, Error> {
    Ok(Value::List(Rc::new(List::of(INTS, numbers.into_iter().map(Value::int).collect()))))
}

/// The numbers from a start to before an end. Those that go the other way are none.
fn steps(start: i64, end: i64, step: i64) -> Result<Vec<i64>, Error> {
    let mut numbers = Vec::new();
    let down = end < start;
    if down && step >= 0 || !down && step <= 0 {
        return Ok(numbers);
    }
    let mut number = start;
    while if down { number > end } else { number < end } {
        if numbers.len() == LONGEST {
            return Err(Error::new(format!("there would be more than {LONGEST} numbers")));
        }
        numbers.push(number);
        number = number.wrapping_add(step);
    }
    Ok(numbers)
}
