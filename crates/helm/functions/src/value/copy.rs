//! Copies of all that a value holds.

use std::rc::Rc;

use fitout_go_template::{Error, List, Map, Value};

/// How deeply what is copied may be nested: one that holds itself has no end. Go ends with its stack.
const MAX_DEPTH: usize = 100_000;

/// A copy that shares no map with the value. What cannot be changed is shared.
pub(crate) fn deep_copy(value: &Value) -> Result<Value, Error> {
    if let Value::Nil = value {
        return Err(Error::new("reflect: call of reflect.Value.Type on zero Value"));
    }
    copied(value, 0)
}

fn copied(value: &Value, depth: usize) -> Result<Value, Error> {
    if depth > MAX_DEPTH {
        return Err(Error::new("the value is nested too deeply to be copied: does it hold itself?"));
    }
    crate::stack::enough(|| match value {
        Value::Map(map) if !map.is_nil() => {
            let entry = |(key, value): (Value, Value)| Ok((key, copied(&value, depth + 1)?));
            let entries = map.entries().into_iter().map(entry).collect::<Result<Vec<_>, Error>>()?;
            Ok(Value::Map(Rc::new(Map::of(map.kind(), entries))))
        }
        Value::List(list) if list.items().iter().any(holds) => {
            let items = list.items().iter().map(|item| copied(item, depth + 1)).collect::<Result<_, _>>()?;
            Ok(Value::List(Rc::new(List::of(list.kind(), items))))
        }
        Value::Host(host) => Ok(host.copied().unwrap_or_else(|| value.clone())),
        other => Ok(other.clone()),
    })
}

/// Whether a copy may be something else.
fn holds(value: &Value) -> bool {
    matches!(value, Value::Map(_) | Value::List(_) | Value::Host(_))
}
