//! Whether values are the same to JSON.

use std::cmp::Ordering;

use fitout_go_template::Value;
use serde_json::Value as Json;

use super::number::Decimal;
use crate::values::with_stack;

/// Whether a value is what a schema names.
pub(crate) fn is(value: &Value, wanted: &Json) -> bool {
    match (value, wanted) {
        (Value::Nil, Json::Null) => true,
        (Value::Bool(one), Json::Bool(other)) => one == other,
        (Value::String(one), Json::String(other)) => **one == *other.as_bytes(),
        (Value::List(list), Json::Array(items)) => {
            list.len() == items.len()
                && with_stack(|| list.items().iter().zip(items).all(|(one, other)| is(one, other)))
        }
        (Value::Map(map), Json::Object(object)) => {
            let same =
                |(key, wanted): (&String, &Json)| map.get(key.as_bytes()).is_some_and(|value| is(&value, wanted));
            map.len() == object.len() && with_stack(|| object.iter().all(same))
        }
        (value, Json::Number(number)) => match (Decimal::of(value), Decimal::of_json(number)) {
            (Some(one), Some(other)) => one.compare(other) == Ordering::Equal,
            _ => false,
        },
        _ => false,
    }
}

/// Whether two values are the same.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::String(one), Value::String(other)) => one == other,
        (Value::List(one), Value::List(other)) => {
            let mut pairs = one.items().iter().zip(other.items());
            one.len() == other.len() && with_stack(|| pairs.all(|(one, other)| same(one, other)))
        }
        (Value::Map(one), Value::Map(other)) => {
            let (one, other) = (one.entries(), other.entries());
            let equal = |((key, one), (other_key, other)): (&(Value, Value), &(Value, Value))| {
                same(key, other_key) && same(one, other)
            };
            one.len() == other.len() && with_stack(|| one.iter().zip(&other).all(equal))
        }
        _ => match (Decimal::of(one), Decimal::of(other)) {
            (Some(one), Some(other)) => one.compare(other) == Ordering::Equal,
            _ => false,
        },
    }
}

/// The first two items that are the same, by the place of the second.
pub(crate) fn duplicates(items: &[Value]) -> Option<(usize, usize)> {
    (1..items.len()).find_map(|later| {
        let earlier = (0..later).find(|earlier| same(&items[later], &items[*earlier]))?;
        Some((earlier, later))
    })
}
