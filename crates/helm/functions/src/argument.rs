//! Arguments, which have the types that the declarations ask for.

use std::rc::Rc;

use fitout_go_template::{Error, List, Map, Shape, Type, Value};

/// The bytes of an argument that is declared as a string.
pub(crate) fn text(value: &Value) -> &[u8] {
    if let Value::String(text) = value { text } else { &[] }
}

/// An argument that is declared as an integer.
pub(crate) fn int(value: &Value) -> i64 {
    if let Value::Int(_, int) = value { *int } else { 0 }
}

/// An argument that is declared as a map.
pub(crate) fn map(value: &Value) -> Rc<Map> {
    if let Value::Map(map) = value { Rc::clone(map) } else { Rc::new(Map::nil(Type::MAP)) }
}

/// The items of what is a slice to Go.
pub(crate) enum Items {
    Shared(Rc<List>),
    Made(Vec<Value>),
}

impl Items {
    /// The items, unless the value is no slice.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::List(list) => Some(Self::Shared(Rc::clone(list))),
            Value::Bytes(bytes) => {
                let byte = |byte: &u8| Value::Uint(fitout_go_template::Unsigned::Uint8, (*byte).into());
                Some(Self::Made(bytes.iter().map(byte).collect()))
            }
            Value::Host(host) => match host.shape() {
                Shape::Like(value) => Self::of(&value),
                Shape::Struct(_) | Shape::Pointer(_) => None,
            },
            _ => None,
        }
    }
}

impl std::ops::Deref for Items {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        match self {
            Self::Shared(list) => list.items(),
            Self::Made(items) => items,
        }
    }
}

/// What Go says where a value is nil that must not be.
pub(crate) fn nil_dereference() -> Error {
    Error::new("runtime error: invalid memory address or nil pointer dereference")
}
