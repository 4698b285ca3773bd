//! Arguments, which have to fit the types of parameters.

use super::Exec;
use super::call::Arguments;
use crate::error::Error;
use crate::kind::{Floating, Signed, Type, Unsigned};
use crate::node::{Id, Node};
use crate::operand::Operand;
use crate::stack;
use crate::value::Value;

impl Exec<'_> {
    /// An argument of any type: nil is one too, and an interface stays one.
    pub(super) fn any_argument(&mut self, dot: &Operand, id: Id) -> Result<Operand, Error> {
        self.node = id;
        match self.source.node(id) {
            Node::Nil => Ok(Operand::NONE),
            Node::Bool(_) | Node::Number { .. } | Node::String { .. } => self.literal(id),
            _ => self.evaluated(dot, id),
        }
    }

    /// An argument for a parameter of a type.
    pub(super) fn argument(&mut self, dot: &Operand, kind: Type, id: Id) -> Result<Value, Error> {
        if matches!(kind, Type::Any) {
            return Ok(self.any_argument(dot, id)?.value);
        }
        self.node = id;
        match self.source.node(id) {
            Node::Nil if kind.can_be_nil() => Ok(Value::zero(kind)),
            Node::Nil => self.fail(format!("cannot assign nil to {kind}")),
            Node::Bool(_) | Node::Number { .. } | Node::String { .. } => self.constant(kind, id),
            _ => {
                let value = self.evaluated(dot, id)?;
                self.fitting(value, kind)
            }
        }
    }

    /// What is no constant.
    fn evaluated(&mut self, dot: &Operand, id: Id) -> Result<Operand, Error> {
        let source = self.source;
        match source.node(id) {
            Node::Dot => Ok(dot.clone()),
            Node::Field(fields) => self.fields(dot, dot, id, fields, Arguments::default()),
            Node::Variable(name, fields) => {
                let value = self.variable(*name)?.clone();
                self.fields(dot, &value, id, fields, Arguments::default())
            }
            Node::Pipe { .. } => stack::enough(|| self.pipeline(dot, id)),
            Node::Identifier { function, end } => {
                self.call_function(dot, *function, source.written(id, *end), id, Arguments::default())
            }
            Node::Chain(node, fields) => self.chain(dot, id, *node, fields, Arguments::default()),
            _ => self.fail(format!("can't handle assignment of {} to empty interface argument", source.show(id))),
        }
    }

    /// A constant takes the type of its parameter, if it can.
    fn constant(&mut self, kind: Type, id: Id) -> Result<Value, Error> {
        let source = self.source;
        let node = source.node(id);
        let number = if let Node::Number { number, .. } = node { Some(&number.0) } else { None };
        let (value, expected) = match (kind, node) {
            (Type::Bool, Node::Bool(value)) => (Some(Value::Bool(*value)), "bool"),
            (Type::Bool, _) => (None, "bool"),
            (Type::String, Node::String { text, .. }) => (Some(Value::String(text.clone())), "string"),
            (Type::String, _) => (None, "string"),
            (Type::Int(signed), _) => {
                (number.and_then(|number| number.int).map(|int| Value::Int(signed, wrapped(signed, int))), "integer")
            }
            (Type::Whole(_), _) => (number.and_then(|number| number.int).map(Value::int64), "integer"),
            (Type::Uint(unsigned), _) => {
                let uint = number.and_then(|number| number.uint);
                (uint.map(|uint| Value::Uint(unsigned, wrapped_unsigned(unsigned, uint))), "unsigned integer")
            }
            (Type::Float(floating), _) => (
                number.and_then(|number| number.float).map(|float| Value::Float(floating, rounded(floating, float))),
                "float",
            ),
            (Type::Complex, _) => {
                let complex = number.and_then(|number| number.complex);
                (complex.map(|(real, imaginary)| Value::Complex(real, imaginary)), "complex")
            }
            _ => return self.fail(format!("can't handle {} for arg of type {kind}", source.show(id))),
        };
        value.map_or_else(|| self.fail(format!("expected {expected}; found {}", source.show(id))), Ok)
    }

    /// A value, if it may be assigned to a type.
    pub(super) fn fitting(&self, operand: Operand, kind: Type) -> Result<Value, Error> {
        if matches!(kind, Type::Any) {
            return Ok(operand.value);
        }
        if operand.is_none() {
            if kind.can_be_nil() {
                return Ok(Value::zero(kind));
            }
            return self.fail(format!("invalid value; expected {kind}"));
        }
        if let Some(value) = assignable(&operand.value, kind) {
            return Ok(value);
        }
        // An interface that holds something else is forgotten.
        let got = if operand.is_boxed_nil() { operand.type_name() } else { operand.value.type_name() };
        self.fail(format!("wrong type for value; expected {kind}; got {got}"))
    }
}

/// The value as one of that type. A named type may stand for the type that it is made of, and a pointer for what it
/// points to.
pub(crate) fn assignable(value: &Value, kind: Type) -> Option<Value> {
    if matches!((kind, value), (Type::Any, _) | (Type::String, Value::String(_))) || value.kind() == Some(kind) {
        return Some(value.clone());
    }
    match (value, kind) {
        (Value::Host(host), Type::Named(name)) if host.type_name().strip_prefix('*') == Some(name) => {
            Some(value.clone())
        }
        (Value::Host(host), Type::Whole(name)) if host.type_name() == name => Some(value.clone()),
        (Value::Host(_), Type::List(_) | Type::Map(..)) => {
            let underlying = value.underlying();
            (underlying.kind() == Some(kind)).then_some(underlying)
        }
        _ => None,
    }
}

/// What is left of an integer in fewer bits.
#[expect(clippy::cast_possible_truncation, reason = "as Go's SetInt does it")]
pub(crate) fn wrapped(kind: Signed, int: i64) -> i64 {
    match kind {
        Signed::Int | Signed::Int64 => int,
        Signed::Int8 => (int as i8).into(),
        Signed::Int16 => (int as i16).into(),
        Signed::Int32 => (int as i32).into(),
    }
}

/// What is left of an integer in fewer bits.
pub(crate) fn wrapped_unsigned(kind: Unsigned, uint: u64) -> u64 {
    match kind {
        Unsigned::Uint | Unsigned::Uint64 | Unsigned::Uintptr => uint,
        Unsigned::Uint8 => uint & 0xFF,
        Unsigned::Uint16 => uint & 0xFFFF,
        Unsigned::Uint32 => uint & 0xFFFF_FFFF,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "as Go's SetFloat does it")]
fn rounded(kind: Floating, float: f64) -> f64 {
    match kind {
        Floating::Float32 => (float as f32).into(),
        Floating::Float64 => float,
    }
}
