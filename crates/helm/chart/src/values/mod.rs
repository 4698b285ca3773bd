//! Values: from files and flags, coalesced with the defaults of charts, checked against their schemas.

mod coalesce;
mod copy;
mod explain;
mod path;
mod read;
mod render;
pub mod strvals;
mod user;

use std::rc::Rc;

use fitout_go_template::{Map, Type, Value};

pub use coalesce::{coalesce_values, merge_values};
pub use explain::{Leaf, explain};
pub use read::{load, merge_maps};
pub use render::{Release, Schemas, render_values};
pub use user::UserValues;

pub(crate) use coalesce::{endless, merge_tables};
pub(crate) use copy::{deep_copy, is_bounded};
pub(crate) use path::{path_value, table};
pub(crate) use read::{from_json, utf8};

/// A map without entries.
pub(crate) fn empty() -> Rc<Map> {
    Rc::new(Map::of(Type::MAP, []))
}

/// The table that a value is: a `map[string]interface {}`.
pub(crate) fn as_table(value: &Value) -> Option<&Rc<Map>> {
    match value {
        Value::Map(map) if map.kind() == Type::MAP => Some(map),
        _ => None,
    }
}

/// What recurses over values asks for the stack it needs: they can be nested as deeply as a flag is long.
pub(crate) fn with_stack<R>(task: impl FnOnce() -> R) -> R {
    const NEEDED: usize = 64 << 10;
    const GROWTH: usize = 4 << 20;
    stacker::maybe_grow(NEEDED, GROWTH, task)
}
