//! Pipelines, commands and operands.

use smallvec::SmallVec;

use super::Parser;
use crate::error::Error;
use crate::node::{Called, Id, Name, Node};
use crate::number::Number;
use crate::quote;
use crate::stack;
use crate::text::Text;
use crate::token::{Kind, Token};

/// How deeply parentheses may nest.
const MAX_PARENS: usize = 10_000;

impl<'t> Parser<'_, 't> {
    /// `declarations? command ('|' command)*` up to a token that ends it.
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Result<Id, Error> {
        let pos = self.peek_non_space().pos;
        let (assigns, variables) = self.declarations(context)?;
        let mut commands: SmallVec<[Id; 4]> = SmallVec::new();
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => {
                    self.check_pipeline(&commands, context)?;
                    let (variables, commands) = (variables.into(), Box::from(&*commands));
                    return Ok(self.add(pos, Node::Pipe { assigns, variables, commands }));
                }
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParen => {
                    self.back_up();
                    commands.push(self.command()?);
                }
                _ => return self.unexpected(&token, context),
            }
        }
    }

    /// The variables that a pipeline declares, or to which it assigns: one, or two for a range.
    fn declarations(&mut self, context: &str) -> Result<(bool, Vec<Name>), Error> {
        let mut declared = Vec::new();
        while self.peek_non_space().kind == Kind::Variable {
            let variable = self.next();
            // In "$x foo", only "foo" tells that $x is an argument, and by then the space is lost: it may have to be
            // put back as well.
            let after = *self.peek();
            let next = *self.peek_non_space();
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    self.next_non_space();
                    declared.push(self.declare(&variable));
                    return Ok((next.kind == Kind::Assign, declared));
                }
                Kind::Char if *next.text == *b"," => {
                    self.next_non_space();
                    declared.push(self.declare(&variable));
                    if context != "range" || declared.len() > 1 {
                        return self.fail(format!("too many declarations in {context}"));
                    }
                    if !matches!(self.peek_non_space().kind, Kind::Variable | Kind::RightDelim | Kind::RightParen) {
                        return self.fail("range can only initialize variables");
                    }
                }
                _ => {
                    if after.kind == Kind::Space {
                        self.back_up_before_both(variable, after);
                    } else {
                        self.back_up_before(variable);
                    }
                    break;
                }
            }
        }
        Ok((false, declared))
    }

    fn declare(&mut self, variable: &Token<'t>) -> Name {
        let name = self.name_of(variable.text);
        self.variables.push(name);
        name
    }

    fn check_pipeline(&self, commands: &[Id], context: &str) -> Result<(), Error> {
        if commands.is_empty() {
            return self.fail(format!("missing value for {context}"));
        }
        let source = &self.shared.source;
        for (stage, command) in commands.iter().enumerate().skip(1) {
            let Node::Command(words) = source.node(*command) else { continue };
            if let Node::Bool(_) | Node::Dot | Node::Nil | Node::Number { .. } | Node::String { .. } =
                source.node(words[0])
            {
                return self.fail(format!("non executable command in pipeline stage {}", stage + 1));
            }
        }
        Ok(())
    }

    /// `operand (space operand)*` up to a pipe, which it takes, or to what ends the pipeline, which it leaves.
    fn command(&mut self) -> Result<Id, Error> {
        let pos = self.peek_non_space().pos;
        let mut words: SmallVec<[Id; 8]> = SmallVec::new();
        loop {
            self.peek_non_space();
            words.extend(self.operand()?);
            let token = self.next();
            match token.kind {
                Kind::Space => {}
                Kind::RightDelim | Kind::RightParen => {
                    self.back_up();
                    break;
                }
                Kind::Pipe => break,
                _ => return self.unexpected(&token, "operand"),
            }
        }
        if words.is_empty() {
            return self.fail("empty command");
        }
        Ok(self.add(pos, Node::Command(Box::from(&*words))))
    }

    /// A term, possibly followed by fields.
    fn operand(&mut self) -> Result<Option<Id>, Error> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Field => {
                let first = Text::from(&token.text[1..]);
                let (pos, fields) = self.fields(Some(first));
                return Ok(Some(self.add(pos.unwrap_or(token.pos), Node::Field(fields))));
            }
            Kind::Variable => {
                let name = self.name_of(token.text);
                if !self.variables.contains(&name) {
                    return self.fail(format!("undefined variable {}", quote::quote(token.text)));
                }
                let (pos, fields) = self.fields(None);
                return Ok(Some(self.add(pos.unwrap_or(token.pos), Node::Variable(name, fields))));
            }
            _ => {}
        }
        let Some(term) = self.term(token)? else { return Ok(None) };
        let (Some(pos), fields) = self.fields(None) else { return Ok(Some(term)) };
        if let Node::Bool(_) | Node::String { .. } | Node::Number { .. } | Node::Nil | Node::Dot =
            self.shared.source.node(term)
        {
            let shown = quote::quote(self.shared.source.show(term).as_bytes());
            return self.fail(format!("unexpected . after term {shown}"));
        }
        Ok(Some(self.add(pos, Node::Chain(term, fields))))
    }

    /// The fields that follow right here, after one that has been read, and where they begin.
    fn fields(&mut self, first: Option<Text>) -> (Option<usize>, Box<[Text]>) {
        let pos = Some(self.peek()).filter(|next| next.kind == Kind::Field).map(|next| next.pos);
        let mut fields: SmallVec<[Text; 8]> = first.into_iter().collect();
        while self.peek().kind == Kind::Field {
            fields.push(Text::from(&self.next().text[1..]));
        }
        (pos, Box::from(&*fields))
    }

    /// A literal, a function or a pipeline in parentheses.
    fn term(&mut self, token: Token<'t>) -> Result<Option<Id>, Error> {
        let end = token.pos + token.text.len();
        let node = match token.kind {
            Kind::Identifier => {
                let Some(function) = Called::find(token.text, self.shared.functions) else {
                    return self.fail(format!("function {} not defined", quote::quote(token.text)));
                };
                Node::Identifier { function, end }
            }
            Kind::Dot => Node::Dot,
            Kind::Nil => Node::Nil,
            Kind::Bool => Node::Bool(*token.text == *b"true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => match Number::parse(token.text, token.kind) {
                Ok(number) => {
                    let ideal = number.ideal(token.text);
                    Node::Number { number: Box::new((number, ideal)), end }
                }
                Err(reason) => return self.fail(reason),
            },
            Kind::LeftParen => return self.parenthesised().map(Some),
            Kind::String | Kind::RawString => {
                let text = self.unquote(&token)?;
                Node::String { text, end }
            }
            _ => {
                self.back_up();
                return Ok(None);
            }
        };
        Ok(Some(self.add(token.pos, node)))
    }

    fn parenthesised(&mut self) -> Result<Id, Error> {
        if self.parens >= MAX_PARENS {
            return self.fail("max expression depth exceeded");
        }
        self.parens += 1;
        let pipe = stack::enough(|| self.pipeline("parenthesized pipeline", Kind::RightParen));
        self.parens -= 1;
        pipe
    }
}
