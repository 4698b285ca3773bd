//! Values, with Go's kinds kept apart.

use std::borrow::Cow;
use std::rc::Rc;

use crate::function::Function;
use crate::host::{Host, Shape};
use crate::kind::{Floating, Signed, Type, Unsigned};
use crate::list::List;
use crate::map::Map;
use crate::text::Text;

/// A Go value. A clone is cheap and shares what it holds: who changes a map changes it for all.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// nil, without a type.
    #[default]
    Nil,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(Signed, i64),
    /// An unsigned integer.
    Uint(Unsigned, u64),
    /// A float.
    Float(Floating, f64),
    /// A complex number: its real and its imaginary part.
    Complex(f64, f64),
    /// A string.
    String(Text),
    /// `[]byte`
    Bytes(Text),
    /// A slice of anything else.
    List(Rc<List>),
    /// A map.
    Map(Rc<Map>),
    /// A function.
    Func(Rc<Function>),
    /// Something of the program that runs the template.
    Host(Rc<dyn Host>),
}

impl Value {
    /// An `int`.
    pub fn int(number: i64) -> Self {
        Self::Int(Signed::Int, number)
    }

    /// An `int64`.
    pub fn int64(number: i64) -> Self {
        Self::Int(Signed::Int64, number)
    }

    /// A `float64`.
    pub fn float(number: f64) -> Self {
        Self::Float(Floating::Float64, number)
    }

    /// A string.
    pub fn string(text: impl Into<Text>) -> Self {
        Self::String(text.into())
    }

    /// A `[]interface {}`.
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self::List(Rc::new(List::of(Type::LIST, items.into_iter().collect())))
    }

    /// A `[]string`.
    pub fn strings(items: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        let items = items.into_iter().map(Self::string).collect();
        Self::List(Rc::new(List::of(Type::STRINGS, items)))
    }

    /// A `map[string]interface {}`.
    pub fn map(entries: impl IntoIterator<Item = (impl Into<Text>, Self)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (Self::string(key), value));
        Self::Map(Rc::new(Map::of(Type::MAP, entries)))
    }

    /// The zero value of a type. For a type with a name there is only nil.
    pub fn zero(kind: Type) -> Self {
        match kind {
            Type::Any | Type::Func | Type::Named(_) | Type::Whole(_) => Self::Nil,
            Type::Bool => Self::Bool(false),
            Type::Int(signed) => Self::Int(signed, 0),
            Type::Uint(unsigned) => Self::Uint(unsigned, 0),
            Type::Float(floating) => Self::Float(floating, 0.0),
            Type::Complex => Self::Complex(0.0, 0.0),
            Type::String => Self::string(""),
            Type::List(_) => Self::List(Rc::new(List::nil(kind))),
            Type::Map(..) => Self::Map(Rc::new(Map::nil(kind))),
        }
    }

    /// The type, unless it is nil.
    pub fn kind(&self) -> Option<Type> {
        Some(match self {
            Self::Nil => return None,
            Self::Bool(_) => Type::Bool,
            Self::Int(signed, _) => Type::Int(*signed),
            Self::Uint(unsigned, _) => Type::Uint(*unsigned),
            Self::Float(floating, _) => Type::Float(*floating),
            Self::Complex(..) => Type::Complex,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::BYTES,
            Self::List(list) => list.kind(),
            Self::Map(map) => map.kind(),
            Self::Func(_) => Type::Func,
            Self::Host(host) => Type::Named(host.type_name()),
        })
    }

    /// The name of the type as Go writes it.
    pub fn type_name(&self) -> Cow<'static, str> {
        match self {
            Self::Nil => "<nil>".into(),
            Self::Bool(_) => "bool".into(),
            Self::String(_) => "string".into(),
            Self::Func(function) => function.signature().to_string().into(),
            Self::Host(host) => host.type_name().into(),
            Self::Map(map) if let Some(named) = map.named() => named.name.into(),
            other => other.kind().map_or_else(String::new, |kind| kind.to_string()).into(),
        }
    }

    /// Whether it counts as true: whether it is not the zero value of its type, and not empty.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(_, number) => *number != 0,
            Self::Uint(_, number) => *number != 0,
            Self::Float(_, number) => *number != 0.0,
            Self::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
            Self::String(bytes) | Self::Bytes(bytes) => !bytes.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Func(_) => true,
            Self::Host(host) => match host.shape() {
                Shape::Like(value) => value.is_true(),
                Shape::Struct(_) | Shape::Pointer(_) => true,
            },
        }
    }

    /// What it is made of: a host's value that has one of Go's own kinds, else itself.
    #[must_use]
    pub fn underlying(&self) -> Self {
        match self {
            Self::Host(host) => match host.shape() {
                Shape::Like(value) => value,
                Shape::Struct(_) | Shape::Pointer(_) => self.clone(),
            },
            other => other.clone(),
        }
    }

    /// Whether it is nil, or nil of a type that has one.
    pub fn is_nil(&self) -> bool {
        match self {
            Self::Nil => true,
            Self::List(list) => list.is_nil(),
            Self::Map(map) => map.is_nil(),
            _ => false,
        }
    }
}

impl AsRef<Self> for Value {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::string(text)
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::String(text)
    }
}
