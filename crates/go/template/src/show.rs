//! Nodes as the text they could have been parsed from, for messages.

use crate::node::{Branch, Id, Name, Node, Source};
use crate::quote;
use crate::stack;
use crate::text::Text;

impl Source {
    /// A node as Go shows it.
    pub(crate) fn show(&self, id: Id) -> String {
        let mut shown = Vec::new();
        self.show_to(&mut shown, id);
        String::from_utf8_lossy(&shown).into_owned()
    }

    fn show_to(&self, shown: &mut Vec<u8>, id: Id) {
        stack::enough(|| match self.node(id) {
            Node::List(nodes) => nodes.iter().for_each(|id| self.show_to(shown, *id)),
            Node::Text { end } | Node::Identifier { end, .. } | Node::Number { end, .. } | Node::String { end, .. } => {
                shown.extend_from_slice(self.written(id, *end));
            }
            Node::Action(pipe) => self.show_action(shown, "", *pipe),
            Node::If(branch) => self.show_branch(shown, "if ", branch),
            Node::With(branch) => self.show_branch(shown, "with ", branch),
            Node::Range(branch) => self.show_branch(shown, "range ", branch),
            Node::Template { name, pipe } => self.show_template(shown, name, *pipe),
            Node::Break => shown.extend_from_slice(b"{{break}}"),
            Node::Continue => shown.extend_from_slice(b"{{continue}}"),
            Node::Pipe { assigns, variables, commands } => {
                self.show_variables(shown, variables, *assigns);
                self.show_joined(shown, commands, b" | ");
            }
            Node::Command(words) => self.show_joined(shown, words, b" "),
            Node::Variable(name, fields) => {
                shown.extend_from_slice(&self.names[*name]);
                show_fields(shown, fields);
            }
            Node::Field(fields) => show_fields(shown, fields),
            Node::Chain(node, fields) => {
                self.show_operand(shown, *node);
                show_fields(shown, fields);
            }
            Node::Dot => shown.push(b'.'),
            Node::Nil => shown.extend_from_slice(b"nil"),
            Node::Bool(value) => shown.extend_from_slice(value.to_string().as_bytes()),
        });
    }

    fn show_action(&self, shown: &mut Vec<u8>, keyword: &str, pipe: Id) {
        shown.extend_from_slice(b"{{");
        shown.extend_from_slice(keyword.as_bytes());
        self.show_to(shown, pipe);
        shown.extend_from_slice(b"}}");
    }

    fn show_branch(&self, shown: &mut Vec<u8>, keyword: &str, branch: &Branch) {
        self.show_action(shown, keyword, branch.pipe);
        self.show_to(shown, branch.list);
        if let Some(otherwise) = branch.otherwise {
            shown.extend_from_slice(b"{{else}}");
            self.show_to(shown, otherwise);
        }
        shown.extend_from_slice(b"{{end}}");
    }

    fn show_template(&self, shown: &mut Vec<u8>, name: &Text, pipe: Option<Id>) {
        shown.extend_from_slice(b"{{template ");
        shown.extend_from_slice(quote::quote(name).as_bytes());
        if let Some(pipe) = pipe {
            shown.push(b' ');
            self.show_to(shown, pipe);
        }
        shown.extend_from_slice(b"}}");
    }

    fn show_variables(&self, shown: &mut Vec<u8>, variables: &[Name], assigns: bool) {
        for (place, name) in variables.iter().enumerate() {
            if place > 0 {
                shown.extend_from_slice(b", ");
            }
            shown.extend_from_slice(&self.names[*name]);
        }
        if !variables.is_empty() {
            shown.extend_from_slice(if assigns { b" = " } else { b" := " });
        }
    }

    fn show_joined(&self, shown: &mut Vec<u8>, nodes: &[Id], between: &[u8]) {
        for (place, id) in nodes.iter().enumerate() {
            if place > 0 {
                shown.extend_from_slice(between);
            }
            self.show_operand(shown, *id);
        }
    }

    /// A pipeline inside of another has parentheses.
    fn show_operand(&self, shown: &mut Vec<u8>, id: Id) {
        if matches!(self.node(id), Node::Pipe { .. }) {
            shown.push(b'(');
            self.show_to(shown, id);
            shown.push(b')');
        } else {
            self.show_to(shown, id);
        }
    }
}

fn show_fields(shown: &mut Vec<u8>, fields: &[Text]) {
    for field in fields {
        shown.push(b'.');
        shown.extend_from_slice(field);
    }
}
