//! Templates at work.
//!
//! Which node an error names is what Go's executor happened to look at last. So `node` is set exactly where Go sets it.

mod argument;
mod call;
mod eval;
mod range;

use std::rc::Rc;

use crate::error::Error;
use crate::node::{Branch, Id, Name, Node, ROOT, Source, Template};
use crate::operand::Operand;
use crate::print;
use crate::quote;
use crate::set::Set;
use crate::stack;
use crate::text::Text;
use crate::value::Value;

pub(crate) use argument::{assignable, wrapped, wrapped_unsigned};

/// How deeply templates may call each other.
const MAX_DEPTH: usize = 100_000;

/// What a template makes of a value.
pub(crate) fn execute(set: &Rc<Set>, template: &Template, data: &Value) -> Result<Text, Error> {
    let mut output = Vec::with_capacity(256);
    let mut variables = Vec::with_capacity(8);
    let dot = Operand::plain(data.clone());
    Exec::new(set, template, &mut output, &mut variables, &dot, 0).walk(&dot, template.root)?;
    Ok(output.into())
}

/// How the rest of a loop's body goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// The execution of one template.
struct Exec<'e> {
    set: &'e Rc<Set>,
    template: &'e Template,
    source: &'e Source,
    output: &'e mut Vec<u8>,
    /// The variables of all templates at work; those of this one are at the end.
    variables: &'e mut Vec<(Name, Operand)>,
    /// Where those of this one begin.
    base: usize,
    /// Where an error happens, if one happens.
    node: Id,
    depth: usize,
}

impl<'e> Exec<'e> {
    fn new(
        set: &'e Rc<Set>,
        template: &'e Template,
        output: &'e mut Vec<u8>,
        variables: &'e mut Vec<(Name, Operand)>,
        dot: &Operand,
        depth: usize,
    ) -> Self {
        let base = variables.len();
        variables.push((ROOT, dot.clone()));
        Self { set, template, source: &template.source, output, variables, base, node: template.root, depth }
    }

    fn error(&self, reason: impl AsRef<str>, cause: Option<Error>) -> Error {
        let name = self.template.name.to_str().into_owned();
        let (location, shown) = (self.source.location(self.node), self.source.show(self.node));
        let executing = quote::quote(&self.template.name);
        let message = format!("template: {location}: executing {executing} at <{shown}>: {}", reason.as_ref());
        Error::executing(name, message, cause)
    }

    fn fail<T>(&self, reason: impl AsRef<str>) -> Result<T, Error> {
        Err(self.error(reason, None))
    }

    fn set_variable(&mut self, name: Name, value: Operand) -> Result<(), Error> {
        match self.variables[self.base..].iter_mut().rev().find(|(other, _)| *other == name) {
            Some(variable) => variable.1 = value,
            None => return self.fail(format!("undefined variable: {}", self.source.names[name].to_str())),
        }
        Ok(())
    }

    fn variable(&self, name: Name) -> Result<&Operand, Error> {
        match self.variables[self.base..].iter().rev().find(|(other, _)| *other == name) {
            Some((_, value)) => Ok(value),
            None => self.fail(format!("undefined variable: {}", self.source.names[name].to_str())),
        }
    }

    fn walk(&mut self, dot: &Operand, id: Id) -> Result<Flow, Error> {
        self.node = id;
        let source = self.source;
        match source.node(id) {
            Node::List(nodes) => {
                return stack::enough(|| {
                    for node in nodes {
                        let flow = self.walk(dot, *node)?;
                        if flow != Flow::Next {
                            return Ok(flow);
                        }
                    }
                    Ok(Flow::Next)
                });
            }
            Node::Text { end } => self.output.extend_from_slice(&source.text[source.nodes[id].pos..*end]),
            Node::Action(pipe) => self.walk_action(dot, id, *pipe)?,
            Node::If(branch) => return self.walk_branch(dot, branch, false),
            Node::With(branch) => return self.walk_branch(dot, branch, true),
            Node::Range(branch) => return self.walk_range(dot, id, branch),
            Node::Template { name, pipe } => self.walk_template(dot, name, *pipe)?,
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
            _ => return self.fail(format!("unknown node: {}", source.show(id))),
        }
        Ok(Flow::Next)
    }

    fn walk_action(&mut self, dot: &Operand, id: Id, pipe: Id) -> Result<(), Error> {
        if let Some(printed) = self.glance(dot, pipe, |exec, value| exec.print(id, value)) {
            return printed;
        }
        let value = self.pipeline(dot, pipe)?.value;
        // What declares variables prints nothing.
        match self.source.node(pipe) {
            Node::Pipe { variables, .. } if !variables.is_empty() => Ok(()),
            _ => self.print(id, &value),
        }
    }

    /// `{{if}}` and `{{with}}`, of which the latter gives its body another dot.
    fn walk_branch(&mut self, dot: &Operand, branch: &Branch, with: bool) -> Result<Flow, Error> {
        let mark = self.variables.len();
        let simple = if with { None } else { self.glance(dot, branch.pipe, |_, value| value.is_true()) };
        let (truth, value) = if let Some(truth) = simple {
            (truth, Operand::NONE)
        } else {
            let value = self.pipeline(dot, branch.pipe)?;
            (value.value.is_true(), value)
        };
        let flow = match (truth, branch.otherwise) {
            (true, _) => self.walk(if with { &value } else { dot }, branch.list)?,
            (false, Some(otherwise)) => self.walk(dot, otherwise)?,
            (false, None) => Flow::Next,
        };
        self.variables.truncate(mark);
        Ok(flow)
    }

    fn walk_template(&mut self, dot: &Operand, name: &Text, pipe: Option<Id>) -> Result<(), Error> {
        let Some(template) = self.set.lookup(name) else {
            return self.fail(format!("template {} not defined", quote::quote(name)));
        };
        if self.depth == MAX_DEPTH {
            return self.fail(format!("exceeded maximum template depth ({MAX_DEPTH})"));
        }
        // Variables that the pipeline declares stay, but the other template does not see them.
        let dot = pipe.map_or(Ok(Operand::NONE), |pipe| self.pipeline(dot, pipe))?;
        let mark = self.variables.len();
        Exec::new(self.set, &template, self.output, self.variables, &dot, self.depth + 1).walk(&dot, template.root)?;
        self.variables.truncate(mark);
        Ok(())
    }

    fn print(&mut self, id: Id, value: &Value) -> Result<(), Error> {
        self.node = id;
        match value {
            Value::Nil => self.output.extend_from_slice(b"<no value>"),
            Value::Func(_) => {
                let shown = self.source.show(id);
                return self.fail(format!("can't print {shown} of type {}", value.type_name()));
            }
            value => {
                let printed = print::print_one(self.output, value);
                printed.map_err(|problem| self.error(Error::from(problem).to_string(), None))?;
            }
        }
        Ok(())
    }
}
