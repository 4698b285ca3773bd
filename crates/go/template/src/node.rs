//! What a template is parsed into.

use std::fmt;
use std::rc::Rc;

use crate::function::Functions;
use crate::number::{Ideal, Number};
use crate::text::Text;

/// A node, by its place in the arena of its source.
pub(crate) type Id = usize;

/// A variable's name, by its place among the names of its source.
pub(crate) type Name = usize;

/// The name of the variable that holds what a template was given: `$`.
pub(crate) const ROOT: Name = 0;

/// A node and where it begins, in bytes.
pub(crate) struct Placed {
    pub(crate) pos: usize,
    pub(crate) node: Node,
}

/// What a node is. Children are places in the arena, so that nothing here is recursive.
pub(crate) enum Node {
    List(Box<[Id]>),
    /// Text from where the node begins up to here.
    Text {
        end: usize,
    },
    Action(Id),
    If(Branch),
    With(Branch),
    Range(Branch),
    Template {
        name: Text,
        pipe: Option<Id>,
    },
    Break,
    Continue,
    Pipe {
        assigns: bool,
        variables: Box<[Name]>,
        commands: Box<[Id]>,
    },
    Command(Box<[Id]>),
    /// The name of a function, up to here.
    Identifier {
        function: Called,
        end: usize,
    },
    Variable(Name, Box<[Text]>),
    Field(Box<[Text]>),
    Chain(Id, Box<[Text]>),
    Dot,
    Nil,
    Bool(bool),
    /// A number, written up to here.
    Number {
        number: Box<(Number, Ideal)>,
        end: usize,
    },
    /// A text, quoted up to here.
    String {
        text: Text,
        end: usize,
    },
}

/// A pipeline and what it decides about.
#[derive(Clone, Copy)]
pub(crate) struct Branch {
    pub(crate) pipe: Id,
    pub(crate) list: Id,
    pub(crate) otherwise: Option<Id>,
}

/// Where a function is: one of the set's, or one of Go's own.
#[derive(Clone, Copy)]
pub(crate) enum Called {
    Builtin(Builtin),
    Registered(usize),
}

/// Go's own functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    And,
    Call,
    Html,
    Index,
    Slice,
    Js,
    Len,
    Not,
    Or,
    Print,
    Printf,
    Println,
    UrlQuery,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
}

impl Builtin {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "and" => Self::And,
            "call" => Self::Call,
            "html" => Self::Html,
            "index" => Self::Index,
            "slice" => Self::Slice,
            "js" => Self::Js,
            "len" => Self::Len,
            "not" => Self::Not,
            "or" => Self::Or,
            "print" => Self::Print,
            "printf" => Self::Printf,
            "println" => Self::Println,
            "urlquery" => Self::UrlQuery,
            "eq" => Self::Eq,
            "ge" => Self::Ge,
            "gt" => Self::Gt,
            "le" => Self::Le,
            "lt" => Self::Lt,
            "ne" => Self::Ne,
            _ => return None,
        })
    }
}

impl Called {
    /// The function of that name, if there is one.
    pub(crate) fn find(name: &[u8], functions: &Functions) -> Option<Self> {
        let name = str::from_utf8(name).ok()?;
        functions.place(name).map(Self::Registered).or_else(|| Builtin::named(name).map(Self::Builtin))
    }
}

/// One parsed text: the nodes of the template in it and of all that it defines.
pub(crate) struct Source {
    /// The name under which the text was parsed, for messages.
    pub(crate) name: Text,
    pub(crate) text: Text,
    pub(crate) nodes: Vec<Placed>,
    pub(crate) names: Vec<Text>,
}

impl Source {
    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id].node
    }

    /// What is written from where a node begins up to a place.
    pub(crate) fn written(&self, id: Id, end: usize) -> &[u8] {
        &self.text[self.nodes[id].pos..end]
    }

    /// Where a node is, as `name:line:column`.
    pub(crate) fn location(&self, id: Id) -> String {
        let before = &self.text[..self.nodes[id].pos];
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let column = memchr::memrchr(b'\n', before).map_or(before.len(), |newline| before.len() - newline - 1);
        format!("{}:{line}:{column}", self.name.to_str())
    }

    /// Whether there is nothing but space below a node.
    pub(crate) fn is_empty(&self, id: Id) -> bool {
        match self.node(id) {
            Node::List(nodes) => nodes.iter().all(|id| self.is_empty(*id)),
            Node::Text { end } => str::from_utf8(self.written(id, *end)).is_ok_and(|text| text.trim().is_empty()),
            _ => false,
        }
    }
}

/// A template: one body of a source, under its own name.
pub struct Template {
    pub(crate) name: Text,
    pub(crate) source: Rc<Source>,
    pub(crate) root: Id,
    pub(crate) empty: bool,
}

impl Template {
    /// The name under which other templates call it.
    pub fn name(&self) -> &Text {
        &self.name
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "template {:?} of {:?}", self.name, self.source.name)
    }
}
