//! Copies that share nothing that can change.

use std::rc::Rc;

use fitout_go_template::{List, Map, Value};

use super::with_stack;

/// A copy of a map whose tables are its own, however deep.
pub(crate) fn deep_copy(map: &Map) -> Rc<Map> {
    let entries = map.entries().into_iter().map(|(key, value)| {
        let value = copied(&value).unwrap_or(value);
        (key, value)
    });
    Rc::new(Map::of(map.kind(), entries))
}

/// A copy, where there is anything in it that can change: lists of plain values are shared.
fn copied(value: &Value) -> Option<Value> {
    match value {
        Value::Map(map) if !map.is_nil() => Some(Value::Map(with_stack(|| deep_copy(map)))),
        Value::List(list) => with_stack(|| copied_list(list)),
        _ => None,
    }
}

fn copied_list(list: &List) -> Option<Value> {
    let items = list.items();
    let (first, copy) = items.iter().enumerate().find_map(|(place, item)| Some((place, copied(item)?)))?;
    let mut all = Vec::with_capacity(items.len());
    all.extend_from_slice(&items[..first]);
    all.push(copy);
    all.extend(items[first + 1..].iter().map(|item| copied(item).unwrap_or_else(|| item.clone())));
    Some(Value::List(Rc::new(List::of(list.kind(), all))))
}

/// Whether it has at most so many tables and lists, counted as often as they are there: what contains itself has no end.
pub(crate) fn is_bounded(map: &Map, most: usize) -> bool {
    let mut left = most;
    let mut open: Vec<Value> = map.entries().into_iter().map(|(_, value)| value).collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Map(map) => open.extend(map.entries().into_iter().map(|(_, value)| value)),
            Value::List(list) => open.extend(list.items().iter().cloned()),
            _ => continue,
        }
        if left == 0 {
            return false;
        }
        left -= 1;
    }
    true
}
