//! Calls of functions and methods.

use smallvec::SmallVec;

use super::Exec;
use crate::builtin::{self, Operands};
use crate::error::Error;
use crate::function::{Function, Signature};
use crate::kind::Type;
use crate::node::{Builtin, Called, Id};
use crate::operand::Operand;
use crate::set::Context;
use crate::stack;
use crate::value::Value;

/// The arguments of a call: words after the first one, and what comes through the pipe.
#[derive(Default)]
pub(super) struct Arguments<'e> {
    words: &'e [Id],
    last: Option<Operand>,
}

impl<'e> Arguments<'e> {
    /// Those of a command.
    pub(super) fn new(words: &'e [Id], last: Option<Operand>) -> Self {
        Self { words: &words[1..], last }
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        !self.words.is_empty() || self.last.is_some()
    }

    fn count(&self) -> usize {
        self.words.len() + usize::from(self.last.is_some())
    }
}

impl<'e> Exec<'e> {
    /// Calls a function by its name. An error of it is said to have happened at the node.
    pub(super) fn call_function(
        &mut self,
        dot: &Operand,
        function: Called,
        name: &[u8],
        id: Id,
        arguments: Arguments<'e>,
    ) -> Result<Operand, Error> {
        match function {
            Called::Builtin(builtin) => self.call_builtin(dot, builtin, name, id, arguments),
            Called::Registered(place) => {
                let set = self.set;
                self.call_method(dot, set.functions().at(place), name, id, arguments)
            }
        }
    }

    /// Calls a function that is at hand.
    pub(super) fn call_method(
        &mut self,
        dot: &Operand,
        function: &Function,
        name: &[u8],
        id: Id,
        arguments: Arguments<'e>,
    ) -> Result<Operand, Error> {
        let signature = function.signature();
        let fixed = signature.params.len() - usize::from(signature.variadic);
        self.check_count(name, fixed, signature.variadic, &arguments)?;
        if let Some(reason) = function.why_unfit() {
            return self.fail(reason);
        }
        let mut values: SmallVec<[Value; 8]> = SmallVec::new();
        for (place, word) in arguments.words.iter().enumerate() {
            values.push(self.argument(dot, param(signature, place), *word)?);
        }
        if let Some(last) = arguments.last {
            values.push(self.fitting(last, param(signature, values.len()))?);
        }
        let result = stack::enough(|| function.call(&Context::new(self.set), &values));
        self.node = match result {
            Ok(value) => return Ok(Operand::boxed(value, matches!(signature.result, Type::Any))),
            Err(_) => id,
        };
        result.map(Operand::plain).map_err(|cause| self.calling(name, cause))
    }

    fn calling(&self, name: &[u8], cause: Error) -> Error {
        self.error(format!("error calling {}: ", String::from_utf8_lossy(name)), Some(cause))
    }

    fn check_count(&self, name: &[u8], fixed: usize, variadic: bool, arguments: &Arguments<'_>) -> Result<(), Error> {
        let (count, words) = (arguments.count(), arguments.words.len());
        match variadic {
            true if count < fixed => self.fail(format!(
                "wrong number of args for {}: want at least {fixed} got {words}",
                String::from_utf8_lossy(name)
            )),
            false if count != fixed => self
                .fail(format!("wrong number of args for {}: want {fixed} got {count}", String::from_utf8_lossy(name))),
            _ => Ok(()),
        }
    }

    fn call_builtin(
        &mut self,
        dot: &Operand,
        builtin: Builtin,
        name: &[u8],
        id: Id,
        arguments: Arguments<'e>,
    ) -> Result<Operand, Error> {
        let (fixed, variadic) = builtin::arity(builtin);
        self.check_count(name, fixed, variadic, &arguments)?;
        if let Builtin::And | Builtin::Or = builtin {
            return self.short_circuit(dot, builtin == Builtin::Or, arguments);
        }
        let result = match (builtin, arguments.words, &arguments.last) {
            (Builtin::Call, ..) => {
                let (set, callee) = (self.set, self.callee_name(&arguments));
                let mut operands = Operands::new();
                self.push_operands(&mut operands, dot, None, arguments)?;
                stack::enough(|| builtin::call(&Context::new(set), &callee, &operands))
            }
            (Builtin::Printf, ..) => {
                let mut operands = Operands::new();
                self.push_operands(&mut operands, dot, Some(Type::String), arguments)?;
                builtin::apply(builtin, &operands)
            }
            // Most calls are of these two kinds: a list of arguments would cost as much as they do.
            (_, [one], None) => builtin::apply(builtin, &[self.any_argument(dot, *one)?]),
            (_, [one, other], None) => {
                let operands = [self.any_argument(dot, *one)?, self.any_argument(dot, *other)?];
                builtin::apply(builtin, &operands)
            }
            _ => {
                let mut operands = Operands::new();
                self.push_operands(&mut operands, dot, None, arguments)?;
                builtin::apply(builtin, &operands)
            }
        };
        result.map_err(|cause| {
            self.node = id;
            self.calling(name, cause)
        })
    }

    /// How messages name the function that `call` gets.
    fn callee_name(&self, arguments: &Arguments<'_>) -> String {
        match (arguments.words.first(), &arguments.last) {
            (Some(word), _) => self.source.show(*word),
            (None, Some(last)) => builtin::callee_name(&last.value),
            (None, None) => String::new(),
        }
    }

    /// All arguments, of which the first may have to be of a type.
    fn push_operands(
        &mut self,
        operands: &mut Operands,
        dot: &Operand,
        first: Option<Type>,
        arguments: Arguments<'e>,
    ) -> Result<(), Error> {
        for word in arguments.words {
            operands.push(match first {
                Some(kind) if operands.is_empty() => Operand::plain(self.argument(dot, kind, *word)?),
                _ => self.any_argument(dot, *word)?,
            });
        }
        if let Some(last) = arguments.last {
            operands.push(match first {
                Some(kind) if operands.is_empty() => Operand::plain(self.fitting(last, kind)?),
                _ => last,
            });
        }
        Ok(())
    }

    /// `and` and `or` evaluate no more than they have to.
    fn short_circuit(&mut self, dot: &Operand, until: bool, arguments: Arguments<'e>) -> Result<Operand, Error> {
        let mut value = Operand::NONE;
        for word in arguments.words {
            value = self.any_argument(dot, *word)?;
            if value.value.is_true() == until {
                return Ok(value);
            }
        }
        Ok(arguments.last.unwrap_or(value))
    }
}

/// The type of the parameter at a place.
fn param(signature: &Signature, place: usize) -> Type {
    let last = signature.params.len().saturating_sub(1);
    signature.params.get(place.min(last)).copied().unwrap_or(Type::Any)
}
