//! Texts to templates.
//!
//! `{{define}}` and `{{block}}` begin a template of their own, with variables and a look ahead of its own: there is a
//! parser for each, and what they have in common is `Shared`.

mod control;
mod pipeline;

use std::rc::Rc;

use crate::error::Error;
use crate::function::Functions;
use crate::lexer::Lexer;
use crate::node::{Called, Id, Name, Node, Placed, Source, Template};
use crate::quick::Table;
use crate::quote;
use crate::text::Text;
use crate::token::{Kind, Token};

/// Parses a text: the template itself, and after it those it defines. A body of nothing but space is in it too.
pub(crate) fn parse(name: &Text, text: &Text, functions: &Functions) -> Result<Vec<Rc<Template>>, Error> {
    // An action begins with two braces, and has some six nodes.
    let nodes = Vec::with_capacity(3 * memchr::memchr_iter(b'{', text).count() + 1);
    let source = Source { name: name.clone(), text: text.clone(), nodes, names: vec!["$".into()] };
    let mut shared = Shared {
        lexer: Lexer::new(text),
        source,
        places: [(Text::from("$"), 0)].into_iter().collect(),
        functions,
        defined: Vec::new(),
    };
    shared.lexer.break_is_keyword = Called::find(b"break", functions).is_none();
    shared.lexer.continue_is_keyword = Called::find(b"continue", functions).is_none();
    Parser::new(&mut shared, name.clone()).parse_all()?;
    let Shared { source, defined, .. } = shared;
    let source = Rc::new(source);
    Ok(defined
        .into_iter()
        .map(|Defined { name, root, empty }| Rc::new(Template { name, source: Rc::clone(&source), root, empty }))
        .collect())
}

/// What all parsers of a text have in common.
struct Shared<'t> {
    lexer: Lexer<'t>,
    source: Source,
    /// Where the names of variables are.
    places: Table<Text, Name>,
    functions: &'t Functions,
    defined: Vec<Defined>,
}

/// A template that has been parsed.
struct Defined {
    name: Text,
    root: Id,
    empty: bool,
}

/// How a list of nodes ended.
#[derive(Clone, Copy)]
enum End {
    End,
    Else,
}

impl End {
    fn show(self) -> &'static str {
        match self {
            Self::End => "{{end}}",
            Self::Else => "{{else}}",
        }
    }
}

/// What an action turned out to be.
enum Parsed {
    Node(Id),
    End { end: End, pos: usize },
}

struct Parser<'p, 't> {
    shared: &'p mut Shared<'t>,
    name: Text,
    /// What has been read ahead: at most three tokens, the next one last.
    tokens: [Token<'t>; 3],
    peeked: usize,
    /// The variables that are declared here.
    variables: Vec<Name>,
    /// The line on which the action began, for messages.
    action_line: Option<usize>,
    ranges: usize,
    parens: usize,
}

impl<'p, 't> Parser<'p, 't> {
    fn new(shared: &'p mut Shared<'t>, name: Text) -> Self {
        let nothing = Token { kind: Kind::Error, pos: 0, text: &[], line: 0 };
        Self {
            shared,
            name,
            tokens: [nothing; 3],
            peeked: 0,
            variables: vec![0],
            action_line: None,
            ranges: 0,
            parens: 0,
        }
    }

    fn next(&mut self) -> Token<'t> {
        if self.peeked > 0 {
            self.peeked -= 1;
        } else {
            self.tokens[0] = self.shared.lexer.next_token();
        }
        self.tokens[self.peeked]
    }

    fn back_up(&mut self) {
        self.peeked += 1;
    }

    /// Puts a token back before the one that is there.
    fn back_up_before(&mut self, first: Token<'t>) {
        self.tokens[1] = first;
        self.peeked = 2;
    }

    /// Puts two tokens back before the one that is there.
    fn back_up_before_both(&mut self, first: Token<'t>, second: Token<'t>) {
        self.tokens[1] = second;
        self.tokens[2] = first;
        self.peeked = 3;
    }

    fn peek(&mut self) -> &Token<'t> {
        if self.peeked == 0 {
            self.peeked = 1;
            self.tokens[0] = self.shared.lexer.next_token();
        }
        &self.tokens[self.peeked - 1]
    }

    fn next_non_space(&mut self) -> Token<'t> {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> &Token<'t> {
        while self.peek().kind == Kind::Space {
            self.next();
        }
        self.peek()
    }

    fn add(&mut self, pos: usize, node: Node) -> Id {
        self.shared.source.nodes.push(Placed { pos, node });
        self.shared.source.nodes.len() - 1
    }

    fn name_of(&mut self, text: &[u8]) -> Name {
        if let Some(name) = self.shared.places.get(text) {
            return *name;
        }
        let name = self.shared.source.names.len();
        self.shared.source.names.push(text.into());
        self.shared.places.insert(text.into(), name);
        name
    }

    fn fail<T>(&self, reason: impl AsRef<str>) -> Result<T, Error> {
        let (name, line) = (self.shared.source.name.to_str(), self.tokens[0].line);
        Err(Error::new(format!("template: {name}:{line}: {}", reason.as_ref())))
    }

    fn unexpected<T>(&self, token: &Token<'_>, context: &str) -> Result<T, Error> {
        if token.kind != Kind::Error {
            return self.fail(format!("unexpected {token} in {context}"));
        }
        let why = &self.shared.lexer.failure;
        let began = match self.action_line {
            Some(line) if line != token.line => {
                let what = if why.ends_with(" action") { "" } else { " in action" };
                format!("{what} started at {}:{line}", self.shared.source.name.to_str())
            }
            _ => String::new(),
        };
        self.fail(format!("{why}{began}"))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Result<Token<'t>, Error> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { self.unexpected(&token, context) }
    }

    fn unquote(&self, token: &Token<'_>) -> Result<Text, Error> {
        match quote::unquote(token.text) {
            Ok(text) => Ok(Text::from(&*text)),
            Err(_) => self.fail("invalid syntax"),
        }
    }

    /// The whole text: like a list, but with definitions in it.
    fn parse_all(&mut self) -> Result<(), Error> {
        let pos = self.peek().pos;
        let mut nodes = Vec::new();
        while self.peek().kind != Kind::Eof {
            if self.peek().kind == Kind::LeftDelim {
                let delim = self.next();
                if self.next_non_space().kind == Kind::Define {
                    Parser::new(self.shared, Text::from("definition")).parse_definition()?;
                    continue;
                }
                self.back_up_before(delim);
            }
            match self.text_or_action()? {
                Parsed::Node(node) => nodes.push(node),
                Parsed::End { end, .. } => return self.fail(format!("unexpected {}", end.show())),
            }
        }
        let root = self.add(pos, Node::List(nodes.into()));
        self.define(root)
    }

    /// The rest of a `{{define}}`.
    fn parse_definition(&mut self) -> Result<(), Error> {
        const CONTEXT: &str = "define clause";
        let name = self.next_non_space();
        if !matches!(name.kind, Kind::String | Kind::RawString) {
            return self.unexpected(&name, CONTEXT);
        }
        self.name = self.unquote(&name)?;
        self.expect(Kind::RightDelim, CONTEXT)?;
        let (root, end, _) = self.item_list()?;
        if let End::Else = end {
            return self.fail(format!("unexpected {} in {CONTEXT}", end.show()));
        }
        self.define(root)
    }

    /// Adds the template to those of the text. One that is empty gives way.
    fn define(&mut self, root: Id) -> Result<(), Error> {
        let empty = self.shared.source.is_empty(root);
        let new = Defined { name: self.name.clone(), root, empty };
        match self.shared.defined.iter_mut().find(|defined| defined.name == new.name) {
            None => self.shared.defined.push(new),
            Some(old) if old.empty => *old = new,
            Some(_) if empty => {}
            Some(_) => {
                return self.fail(format!("template: multiple definition of template {}", quote::quote(&self.name)));
            }
        }
        Ok(())
    }
}
