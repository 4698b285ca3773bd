//! Pipelines, commands and fields.

use super::Exec;
use super::call::Arguments;
use crate::error::Error;
use crate::host::{Host, Shape};
use crate::kind::Type;
use crate::map::Map;
use crate::node::{Id, Node};
use crate::number::Ideal;
use crate::operand::Operand;
use crate::quote;
use crate::set::MissingKey;
use crate::stack;
use crate::text::Text;
use crate::value::Value;

/// What is made of a field of a field, and of whether its type is `interface {}`; without a clone of anything. None
/// where it is not as simple as that.
fn reach<R>(value: &Value, fields: &[Text], then: impl FnOnce(&Value, bool) -> R) -> Option<R> {
    let (Value::Map(map), [first, rest @ ..]) = (value, fields) else { return None };
    if !map.has_string_keys() || map.has_method(first) {
        return None;
    }
    map.look(first, |value| match rest {
        [] => Some(then(value, map.holds_any())),
        rest => reach(value, rest, then),
    })?
}

impl<'e> Exec<'e> {
    /// What is made of the value of a pipeline that is nothing but a field or a variable, without a clone of it. None
    /// where it is not as simple as that.
    pub(super) fn glance<R>(
        &mut self,
        dot: &Operand,
        pipe: Id,
        then: impl FnOnce(&mut Self, &Value) -> R,
    ) -> Option<R> {
        let source = self.source;
        let Node::Pipe { variables, commands, .. } = source.node(pipe) else { return None };
        let ([command], []) = (&**commands, &**variables) else { return None };
        let Node::Command(words) = source.node(*command) else { return None };
        match (&**words, source.node(words[0])) {
            ([_], Node::Field(fields)) => reach(&dot.value, fields, |value, _| then(self, value)),
            ([_], Node::Variable(name, fields)) => {
                let variable = self.variables[self.base..].iter().rev().find(|(other, _)| other == name)?;
                // It shares what it holds.
                let value = variable.1.value.clone();
                if fields.is_empty() {
                    Some(then(self, &value))
                } else {
                    reach(&value, fields, |value, _| then(self, value))
                }
            }
            ([_], Node::Dot) => Some(then(self, &dot.value)),
            _ => None,
        }
    }

    /// The value of a pipeline. Variables that it declares stay until what is around it ends.
    pub(super) fn pipeline(&mut self, dot: &Operand, id: Id) -> Result<Operand, Error> {
        self.node = id;
        let source = self.source;
        let Node::Pipe { assigns, variables, commands } = source.node(id) else { return Ok(Operand::NONE) };
        if let ([command], []) = (&**commands, &**variables) {
            return Ok(self.command(dot, *command, None)?.unboxed());
        }
        let mut value = None;
        for command in commands {
            value = Some(self.command(dot, *command, value)?.unboxed());
        }
        let value = value.unwrap_or_default();
        for name in variables {
            if *assigns {
                self.set_variable(*name, value.clone())?;
            } else {
                self.variables.push((*name, value.clone()));
            }
        }
        Ok(value)
    }

    /// The value of a command, to which what comes through the pipe is the last argument.
    fn command(&mut self, dot: &Operand, id: Id, last: Option<Operand>) -> Result<Operand, Error> {
        let source = self.source;
        let Node::Command(words) = source.node(id) else { return Ok(Operand::NONE) };
        let first = words[0];
        match source.node(first) {
            Node::Field(fields) => {
                self.node = first;
                self.fields(dot, dot, first, fields, Arguments::new(words, last))
            }
            Node::Chain(node, fields) => self.chain(dot, first, *node, fields, Arguments::new(words, last)),
            Node::Identifier { function, end } => {
                self.node = first;
                self.call_function(dot, *function, source.written(first, *end), id, Arguments::new(words, last))
            }
            Node::Pipe { .. } => {
                self.is_no_function(words, last.as_ref())?;
                stack::enough(|| self.pipeline(dot, first))
            }
            Node::Variable(name, fields) => {
                self.node = first;
                let value = self.variable(*name)?.clone();
                if fields.is_empty() {
                    self.is_no_function(words, last.as_ref())?;
                    return Ok(value);
                }
                self.fields(dot, &value, first, fields, Arguments::new(words, last))
            }
            literal => {
                self.node = first;
                self.is_no_function(words, last.as_ref())?;
                match literal {
                    Node::Dot => Ok(dot.clone()),
                    Node::Nil => self.fail("nil is not a command"),
                    _ => self.literal(first),
                }
            }
        }
    }

    /// A constant of the type that its syntax gives it.
    pub(super) fn literal(&mut self, id: Id) -> Result<Operand, Error> {
        self.node = id;
        let source = self.source;
        Ok(Operand::plain(match source.node(id) {
            Node::Bool(value) => Value::Bool(*value),
            Node::String { text, .. } => Value::String(text.clone()),
            Node::Number { number, end } => match number.1 {
                Ideal::Int(int) => Value::int(int),
                Ideal::Float(float) => Value::float(float),
                Ideal::Complex(real, imaginary) => Value::Complex(real, imaginary),
                Ideal::Overflow => {
                    return self.fail(format!("{} overflows int", String::from_utf8_lossy(source.written(id, *end))));
                }
            },
            _ => {
                let shown = quote::quote(source.show(id).as_bytes());
                return self.fail(format!("can't evaluate command {shown}"));
            }
        }))
    }

    fn is_no_function(&self, words: &[Id], last: Option<&Operand>) -> Result<(), Error> {
        if words.len() > 1 || last.is_some() {
            return self.fail(format!("can't give argument to non-function {}", self.source.show(words[0])));
        }
        Ok(())
    }

    /// `(pipeline).Field` or `function.Field`
    pub(super) fn chain(
        &mut self,
        dot: &Operand,
        id: Id,
        node: Id,
        fields: &'e [Text],
        arguments: Arguments<'e>,
    ) -> Result<Operand, Error> {
        self.node = id;
        if let Node::Nil = self.source.node(node) {
            return self.fail(format!("indirection through explicit nil in {}", self.source.show(id)));
        }
        let receiver = self.any_argument(dot, node)?;
        self.fields(dot, &receiver, id, fields, arguments)
    }

    /// `.X.Y.Z`, of which the last may be a method that gets the arguments.
    pub(super) fn fields(
        &mut self,
        dot: &Operand,
        receiver: &Operand,
        id: Id,
        fields: &'e [Text],
        arguments: Arguments<'e>,
    ) -> Result<Operand, Error> {
        if !arguments.any()
            && let Some(found) = reach(&receiver.value, fields, |value, any| Operand::boxed(value.clone(), any))
        {
            return Ok(found);
        }
        let Some((last, before)) = fields.split_last() else { return Ok(receiver.clone()) };
        let Some((first, between)) = before.split_first() else {
            return self.field(dot, last, id, arguments, receiver);
        };
        let mut reached = self.field(dot, first, id, Arguments::default(), receiver)?;
        for field in between {
            reached = self.field(dot, field, id, Arguments::default(), &reached)?;
        }
        self.field(dot, last, id, arguments, &reached)
    }

    fn field(
        &mut self,
        dot: &Operand,
        name: &Text,
        id: Id,
        arguments: Arguments<'e>,
        receiver: &Operand,
    ) -> Result<Operand, Error> {
        match &receiver.value {
            Value::Nil if receiver.boxed => {
                self.fail(format!("nil pointer evaluating interface {{}}.{}", name.to_str()))
            }
            Value::Nil if self.set.missing_key() == MissingKey::Error => {
                self.fail(format!("nil data; no entry for key {}", quote::quote(name)))
            }
            Value::Nil => Ok(Operand::NONE),
            Value::Map(map) if matches!(map.key_kind(), Type::String | Type::Any) => {
                match map.named().and_then(|named| (named.method)(map, name)) {
                    Some(method) => self.call_method(dot, &method, name, id, arguments),
                    None => self.entry(map, name, &arguments),
                }
            }
            Value::Host(host) => {
                if let Some(method) = host.method(name) {
                    return self.call_method(dot, &method, name, id, arguments);
                }
                if let Some(field) = host.field(name) {
                    if arguments.any() {
                        let name = name.to_str();
                        return self.fail(format!("{name} has arguments but cannot be invoked as function"));
                    }
                    return Ok(Operand::boxed(field.value, field.any));
                }
                match receiver.value.underlying() {
                    Value::Map(map) if matches!(map.key_kind(), Type::String | Type::Any) => {
                        self.entry(&map, name, &arguments)
                    }
                    _ if has_hidden_field(&**host, name) => {
                        let (name, kind) = (name.to_str(), host.type_name());
                        self.fail(format!("{name} is an unexported field of struct type {kind}"))
                    }
                    _ => self.no_field(name, receiver),
                }
            }
            _ => self.no_field(name, receiver),
        }
    }

    fn no_field(&self, name: &Text, receiver: &Operand) -> Result<Operand, Error> {
        self.fail(format!("can't evaluate field {} in type {}", name.to_str(), receiver.type_name()))
    }

    fn entry(&self, map: &Map, name: &Text, arguments: &Arguments<'_>) -> Result<Operand, Error> {
        if arguments.any() {
            return self.fail(format!("{} is not a method but has arguments", name.to_str()));
        }
        let any = map.holds_any();
        match (map.get(name), self.set.missing_key()) {
            (Some(value), _) => Ok(Operand::boxed(value, any)),
            (None, MissingKey::Default) => Ok(Operand::NONE),
            (None, MissingKey::Zero) => Ok(Operand::boxed(Value::zero(map.value_kind()), any)),
            (None, MissingKey::Error) => self.fail(format!("map has no entry for key {}", quote::quote(name))),
        }
    }
}

/// Whether a struct has a field of this name, though templates do not see it.
fn has_hidden_field(host: &dyn Host, name: &[u8]) -> bool {
    let (Shape::Struct(fields) | Shape::Pointer(fields)) = host.shape() else { return false };
    fields.iter().any(|(field, _)| field.as_bytes() == name)
}
