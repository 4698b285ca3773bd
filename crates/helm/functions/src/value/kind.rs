//! Go's kinds, by their names.

use fitout_go_template::{Shape, Type, Value};

/// The kind of a value, as `reflect` names it.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Host(host) => match host.shape() {
            Shape::Struct(_) => "struct",
            Shape::Pointer(_) => "ptr",
            Shape::Like(value) => kind_of(&value),
        },
        other => other.kind().map_or("invalid", kind_of_type),
    }
}

/// The kind of a type, as `reflect` names it.
pub(crate) fn kind_of_type(kind: Type) -> &'static str {
    use fitout_go_template::{Floating, Signed, Unsigned};
    match kind {
        Type::Any => "interface",
        Type::Bool => "bool",
        Type::Int(Signed::Int) => "int",
        Type::Int(Signed::Int8) => "int8",
        Type::Int(Signed::Int16) => "int16",
        Type::Int(Signed::Int32) => "int32",
        Type::Int(Signed::Int64) | Type::Whole(_) => "int64",
        Type::Uint(Unsigned::Uint) => "uint",
        Type::Uint(Unsigned::Uint8) => "uint8",
        Type::Uint(Unsigned::Uint16) => "uint16",
        Type::Uint(Unsigned::Uint32) => "uint32",
        Type::Uint(Unsigned::Uint64) => "uint64",
        Type::Uint(Unsigned::Uintptr) => "uintptr",
        Type::Float(Floating::Float32) => "float32",
        Type::Float(Floating::Float64) => "float64",
        Type::Complex => "complex128",
        Type::String => "string",
        Type::List(_) => "slice",
        Type::Map(..) => "map",
        Type::Func => "func",
        Type::Named(name) if name.starts_with('*') => "ptr",
        Type::Named(_) => "struct",
    }
}
