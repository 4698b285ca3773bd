//! Go's types, as far as values, parameters and messages need them.

use std::fmt;

/// The signed integers of Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signed {
    /// `int`, which has 64 bits.
    Int,
    /// `int8`
    Int8,
    /// `int16`
    Int16,
    /// `int32`, also called `rune`.
    Int32,
    /// `int64`
    Int64,
}

/// The unsigned integers of Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsigned {
    /// `uint`, which has 64 bits.
    Uint,
    /// `uint8`, also called `byte`.
    Uint8,
    /// `uint16`
    Uint16,
    /// `uint32`
    Uint32,
    /// `uint64`
    Uint64,
    /// `uintptr`
    Uintptr,
}

/// The floats of Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Floating {
    /// `float32`
    Float32,
    /// `float64`
    Float64,
}

/// A Go type. What composes others refers to them, so that a type is as cheap as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `interface {}`: any value, or nil.
    Any,
    /// `bool`
    Bool,
    /// A signed integer.
    Int(Signed),
    /// An unsigned integer.
    Uint(Unsigned),
    /// A float.
    Float(Floating),
    /// `complex128`
    Complex,
    /// `string`
    String,
    /// A slice.
    List(&'static Type),
    /// A map: of its keys, of its values.
    Map(&'static Type, &'static Type),
    /// Any function.
    Func,
    /// A type with a name; one that begins with `*` is a pointer.
    Named(&'static str),
    /// A type with a name that is made of `int64`: an integer that is written in the template may stand for it.
    Whole(&'static str),
}

impl Type {
    /// `int`
    pub const INT: Self = Self::Int(Signed::Int);
    /// `int64`
    pub const INT64: Self = Self::Int(Signed::Int64);
    /// `float64`
    pub const FLOAT64: Self = Self::Float(Floating::Float64);
    /// `[]uint8`
    pub const BYTES: Self = Self::List(&Self::Uint(Unsigned::Uint8));
    /// `[]interface {}`
    pub const LIST: Self = Self::List(&Self::Any);
    /// `[]string`
    pub const STRINGS: Self = Self::List(&Self::String);
    /// `map[string]interface {}`
    pub const MAP: Self = Self::Map(&Self::String, &Self::Any);

    /// Whether a value of this type may be nil.
    pub fn can_be_nil(self) -> bool {
        match self {
            Self::Any | Self::List(_) | Self::Map(..) | Self::Func => true,
            Self::Named(name) => name.starts_with('*'),
            _ => false,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("interface {}"),
            Self::Bool => f.write_str("bool"),
            Self::Int(signed) => f.write_str(signed.name()),
            Self::Uint(unsigned) => f.write_str(unsigned.name()),
            Self::Float(Floating::Float32) => f.write_str("float32"),
            Self::Float(Floating::Float64) => f.write_str("float64"),
            Self::Complex => f.write_str("complex128"),
            Self::String => f.write_str("string"),
            Self::List(item) => write!(f, "[]{item}"),
            Self::Map(key, value) => write!(f, "map[{key}]{value}"),
            Self::Func => f.write_str("func()"),
            Self::Named(name) | Self::Whole(name) => f.write_str(name),
        }
    }
}

impl Signed {
    fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
        }
    }
}

impl Unsigned {
    fn name(self) -> &'static str {
        match self {
            Self::Uint => "uint",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Uintptr => "uintptr",
        }
    }
}
