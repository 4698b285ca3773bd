//! `{{range}}`

use super::{Exec, Flow};
use crate::error::Error;
use crate::kind::{Type, Unsigned};
use crate::node::{Branch, Id, Name, Node};
use crate::operand::Operand;
use crate::print;
use crate::value::Value;

/// The variables that a loop sets.
struct Loop<'e> {
    assigns: bool,
    variables: &'e [Name],
    body: Id,
    /// How many variables there are before the body.
    mark: usize,
}

impl Exec<'_> {
    pub(super) fn walk_range(&mut self, dot: &Operand, id: Id, branch: &Branch) -> Result<Flow, Error> {
        self.node = id;
        let before = self.variables.len();
        let value = self.pipeline(dot, branch.pipe)?.value;
        let (assigns, variables) = match self.source.node(branch.pipe) {
            Node::Pipe { assigns, variables, .. } => (*assigns, &**variables),
            _ => (false, &[][..]),
        };
        let turns = Loop { assigns, variables, body: branch.list, mark: self.variables.len() };
        let mut flow = Flow::Next;
        if !self.iterate(&turns, &value)?
            && let Some(otherwise) = branch.otherwise
        {
            // As in Go, this loop takes a break for its own, but leaves a continue to the one around it.
            flow = match self.walk(dot, otherwise)? {
                Flow::Break | Flow::Next => Flow::Next,
                Flow::Continue => Flow::Continue,
            };
        }
        self.variables.truncate(before);
        Ok(flow)
    }

    /// Whether there was anything to iterate over.
    fn iterate(&mut self, turns: &Loop<'_>, value: &Value) -> Result<bool, Error> {
        match value {
            Value::Nil => Ok(false),
            Value::Int(kind, count) => {
                self.one_variable(turns, value)?;
                self.each(turns, 0..*count, |turn| (Operand::NONE, Operand::plain(Value::Int(*kind, turn))))
            }
            Value::Uint(kind, count) => {
                self.one_variable(turns, value)?;
                self.each(turns, 0..*count, |turn| (Operand::NONE, Operand::plain(Value::Uint(*kind, turn))))
            }
            Value::List(list) => {
                let any = matches!(list.item_kind(), Type::Any);
                self.each(turns, (0..).zip(list.items()), |(place, item)| {
                    (Operand::plain(Value::int(place)), Operand::boxed(item.clone(), any))
                })
            }
            Value::Bytes(bytes) => self.each(turns, (0..).zip(bytes.iter()), |(place, byte)| {
                let byte = Value::Uint(Unsigned::Uint8, u64::from(*byte));
                (Operand::plain(Value::int(place)), Operand::plain(byte))
            }),
            Value::Map(map) => {
                let (any_key, any) = (matches!(map.key_kind(), Type::Any), map.holds_any());
                self.each(turns, map.entries(), |(key, item)| (Operand::boxed(key, any_key), Operand::boxed(item, any)))
            }
            Value::Host(host) => match value.underlying() {
                Value::Host(_) => self.cannot_iterate(value),
                Value::Int(kind, count) => {
                    self.one_variable(turns, value)?;
                    self.each(turns, 0..count, |turn| {
                        let turn = Value::Int(kind, turn);
                        (Operand::NONE, Operand::plain(host.like(&turn).unwrap_or(turn)))
                    })
                }
                underlying => self.iterate(turns, &underlying),
            },
            _ => self.cannot_iterate(value),
        }
    }

    fn cannot_iterate(&self, value: &Value) -> Result<bool, Error> {
        self.fail(format!("range can't iterate over {}", print::dereferenced(value)))
    }

    fn one_variable(&self, turns: &Loop<'_>, value: &Value) -> Result<(), Error> {
        if turns.variables.len() < 2 {
            return Ok(());
        }
        self.fail(format!("can't use {} to iterate over more than one variable", print::reflected(value, 'v')))
    }

    fn each<T>(
        &mut self,
        turns: &Loop<'_>,
        items: impl IntoIterator<Item = T>,
        operands: impl Fn(T) -> (Operand, Operand),
    ) -> Result<bool, Error> {
        let mut any = false;
        for item in items {
            any = true;
            let (index, element) = operands(item);
            if self.turn(turns, index, &element)? == Flow::Break {
                break;
            }
        }
        Ok(any)
    }

    /// One run of the body.
    fn turn(&mut self, turns: &Loop<'_>, index: Operand, element: &Operand) -> Result<Flow, Error> {
        match *turns.variables {
            [] => {}
            [only] if turns.assigns => self.set_variable(only, element.clone())?,
            [first, second, ..] if turns.assigns => {
                self.set_variable(first, index)?;
                self.set_variable(second, element.clone())?;
            }
            [_] => self.variables[turns.mark - 1].1 = element.clone(),
            _ => {
                self.variables[turns.mark - 1].1 = element.clone();
                self.variables[turns.mark - 2].1 = index;
            }
        }
        let flow = self.walk(element, turns.body)?;
        self.variables.truncate(turns.mark);
        Ok(flow)
    }
}
