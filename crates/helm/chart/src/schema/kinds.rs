//! The types of JSON.

use fitout_go_template::{Type, Value};
use serde_json::Value as Json;

use super::number::Decimal;

/// A set of types, in the order in which they are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

/// What JSON calls its types.
const NAMES: [&str; 7] = ["null", "boolean", "number", "integer", "string", "array", "object"];
const NUMBER: u8 = 2;
const INTEGER: u8 = 3;

impl Kinds {
    /// What a schema allows; nothing, where it names no type at all.
    pub(crate) fn of(json: &Json) -> Option<Self> {
        let bit = |name: &str| NAMES.iter().position(|known| *known == name).map_or(0, |place| 1 << place);
        let bits = match json {
            Json::String(name) => bit(name),
            Json::Array(names) => names.iter().filter_map(Json::as_str).fold(0, |bits, name| bits | bit(name)),
            _ => 0,
        };
        (bits != 0).then_some(Self(bits))
    }

    fn has(self, place: u8) -> bool {
        self.0 & (1 << place) != 0
    }

    pub(crate) fn allows(self, value: &Value) -> bool {
        kind(value).is_some_and(|place| {
            self.has(place)
                || (place == NUMBER
                    && self.has(INTEGER)
                    && Decimal::of(value).is_some_and(super::number::Decimal::is_whole))
        })
    }

    pub(crate) fn names(self) -> String {
        let named = (0..).zip(NAMES).filter(|(place, _)| self.has(*place)).map(|(_, name)| name);
        named.collect::<Vec<_>>().join(" or ")
    }
}

fn kind(value: &Value) -> Option<u8> {
    Some(match value {
        Value::Nil => 0,
        Value::Bool(_) => 1,
        Value::Float(_, float) if !float.is_finite() => return None,
        Value::Int(..) | Value::Uint(..) | Value::Float(..) => NUMBER,
        Value::String(_) => 4,
        Value::List(list) if list.kind() == Type::LIST => 5,
        Value::Map(map) if map.kind() == Type::MAP => 6,
        _ => return None,
    })
}

/// The type of a value; nothing, where JSON has none like it.
pub(crate) fn kind_name(value: &Value) -> Option<&'static str> {
    kind(value).map(|place| NAMES[usize::from(place)])
}
