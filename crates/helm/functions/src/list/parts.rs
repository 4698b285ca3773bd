//! Parts of lists, and lists of parts.

use std::rc::Rc;

use fitout_go_template::{Error, List, Text, Type, Value};

use super::{LIST, both, items, none};
use crate::argument::{Items, int, nil_dereference};
use crate::declare::Declare;
use crate::number::to_int;
use crate::value::kind_of;

const LISTS: Type = Type::List(&Type::LIST);

pub(super) fn add(declare: &mut Declare<'_>) {
    both(declare, [&["chunk"], &["mustChunk"]], &[Type::INT, Type::Any], LISTS, |a| {
        chunks(int(&a[0]), &items(&a[1], "Cannot chunk type")?)
    });
    both(declare, [&["reverse"], &["mustReverse"]], &[Type::Any], LIST, |a| {
        let items = items(&a[0], "Cannot find reverse on type")?;
        Ok(Value::list(items.iter().rev().cloned()))
    });
    declare.variadic(&["slice"], &[Type::Any, Type::Any], Type::Any, slice);
    declare.variadic_fallible(&["mustSlice"], &[Type::Any, Type::Any], Type::Any, slice);
    declare.variadic(&["concat"], &[Type::Any], Type::Any, concat);
}

/// Lists of so many items, of which the last may have fewer.
///
/// How many there are is counted with floats, and shows where the size is not a size.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as Go counts them")]
fn chunks(size: i64, items: &[Value]) -> Result<Value, Error> {
    let out_of_range = || Error::new("runtime error: makeslice: len out of range");
    let (length, width) = (items.len() as f64, size as f64);
    let count = ((length - 1.0) / width).floor() + 1.0;
    if !count.is_finite() || count < 0.0 {
        return Err(out_of_range());
    }
    let count = count as i64;
    let mut chunks = Vec::new();
    for number in 0..count {
        let mut wanted = size;
        if number == count - 1 {
            let rest = (length % width).floor() as i64;
            wanted = if rest == 0 { size } else { rest };
        }
        let begin = usize::try_from(number * size).map_err(|_| out_of_range())?;
        let wanted = usize::try_from(wanted).map_err(|_| out_of_range())?;
        let chunk = items.get(begin..begin + wanted).ok_or_else(out_of_range)?;
        chunks.push(Value::list(chunk.iter().cloned()));
    }
    Ok(Value::List(Rc::new(List::of(LISTS, chunks))))
}

/// A part of a list, of the same type. Of an empty list there is only nil.
fn slice(arguments: &[Value]) -> Result<Value, Error> {
    let (list, places) = (&arguments[0], &arguments[1..]);
    let items = items(list, "list should be type of slice or array but")?;
    if items.is_empty() {
        return Ok(Value::Nil);
    }
    let start = places.first().map_or(Ok(0), |place| usize::try_from(to_int(place)));
    let end = places.get(1).map_or(Ok(items.len()), |place| usize::try_from(to_int(place)));
    let (Ok(start), Ok(end)) = (start, end) else { return Err(beyond()) };
    let part = items.get(start..end).ok_or_else(beyond)?;
    Ok(alike(list, part, start..end))
}

fn beyond() -> Error {
    Error::new("reflect.Value.Slice: slice index out of bounds")
}

/// Items as a list of the same type as another.
fn alike(list: &Value, items: &[Value], range: std::ops::Range<usize>) -> Value {
    match list {
        Value::List(list) => Value::List(Rc::new(List::of(list.kind(), items.to_vec()))),
        Value::Bytes(bytes) => Value::Bytes(Text::from(&bytes[range])),
        Value::Host(host) => {
            let part = alike(&list.underlying(), items, range);
            host.like(&part).unwrap_or(part)
        }
        _ => Value::Nil,
    }
}

fn concat(lists: &[Value]) -> Result<Value, Error> {
    let mut all = Vec::new();
    for list in lists {
        let items = Items::of(list).ok_or_else(|| match list {
            Value::Nil => nil_dereference(),
            other => Error::new(format!("Cannot concat type {} as list", kind_of(other))),
        })?;
        all.extend_from_slice(&items);
    }
    Ok(if all.is_empty() { none() } else { Value::list(all) })
}
