//! Values by their paths.

use std::rc::Rc;

use fitout_go_template::{Map, Value};

use super::as_table;

/// The table at a path with dots, or which part of the path is none.
pub(crate) fn table<'p>(values: &Rc<Map>, path: &'p str) -> Result<Rc<Map>, &'p str> {
    let mut table = Rc::clone(values);
    for part in path.split('.') {
        let inner = table.get(part.as_bytes());
        table = Rc::clone(inner.as_ref().and_then(as_table).ok_or(part)?);
    }
    Ok(table)
}

/// The value at a path with dots, where it is there and no table.
pub(crate) fn path_value(values: &Rc<Map>, path: &str) -> Option<Value> {
    let value = match path.rsplit_once('.') {
        None => values.get(path.as_bytes()),
        Some((around, key)) => table(values, around).ok()?.get(key.as_bytes()),
    };
    value.filter(|value| as_table(value).is_none())
}
