//! Lists of nodes, and the actions that decide about them.

use super::{End, Parsed, Parser};
use crate::error::Error;
use crate::node::{Branch, Id, Node};
use crate::stack;
use crate::text::Text;
use crate::token::{Kind, Token};

/// The actions that have a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    If,
    Range,
    With,
}

impl Control {
    fn context(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::Range => "range",
            Self::With => "with",
        }
    }
}

impl<'t> Parser<'_, 't> {
    /// Nodes up to `{{end}}` or `{{else}}`.
    pub(super) fn item_list(&mut self) -> Result<(Id, End, usize), Error> {
        stack::enough(|| {
            let start = self.peek_non_space().pos;
            let mut nodes = Vec::new();
            while self.peek_non_space().kind != Kind::Eof {
                match self.text_or_action()? {
                    Parsed::Node(node) => nodes.push(node),
                    Parsed::End { end, pos } => return Ok((self.add(start, Node::List(nodes.into())), end, pos)),
                }
            }
            self.fail("unexpected EOF")
        })
    }

    pub(super) fn text_or_action(&mut self) -> Result<Parsed, Error> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => {
                let end = token.pos + token.text.len();
                Ok(Parsed::Node(self.add(token.pos, Node::Text { end })))
            }
            Kind::LeftDelim => {
                self.action_line = Some(token.line);
                let parsed = self.action();
                self.action_line = None;
                parsed
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> Result<Parsed, Error> {
        let token = self.next_non_space();
        let node = match token.kind {
            Kind::Block => self.block(),
            Kind::Break => self.leave_range(&token, "{{break}}", Node::Break),
            Kind::Continue => self.leave_range(&token, "{{continue}}", Node::Continue),
            Kind::Else => return self.otherwise(),
            Kind::End => {
                let pos = self.expect(Kind::RightDelim, "end")?.pos;
                return Ok(Parsed::End { end: End::End, pos });
            }
            Kind::If => self.control(Control::If),
            Kind::Range => self.control(Control::Range),
            Kind::Template => self.template(),
            Kind::With => self.control(Control::With),
            _ => {
                self.back_up();
                let pos = self.peek().pos;
                // Variables stay until the end of what is around the action.
                let pipe = self.pipeline("command", Kind::RightDelim)?;
                Ok(self.add(pos, Node::Action(pipe)))
            }
        };
        node.map(Parsed::Node)
    }

    fn leave_range(&mut self, keyword: &Token<'t>, shown: &str, node: Node) -> Result<Id, Error> {
        let token = self.next_non_space();
        if token.kind != Kind::RightDelim {
            return self.unexpected(&token, shown);
        }
        if self.ranges == 0 {
            return self.fail(format!("{shown} outside {{{{range}}}}"));
        }
        Ok(self.add(keyword.pos, node))
    }

    /// `{{else}}`, or the first half of `{{else if}}` and `{{else with}}`.
    fn otherwise(&mut self) -> Result<Parsed, Error> {
        let ahead = self.peek_non_space();
        let pos = match ahead.kind {
            Kind::If | Kind::With => ahead.pos,
            _ => self.expect(Kind::RightDelim, "else")?.pos,
        };
        Ok(Parsed::End { end: End::Else, pos })
    }

    fn control(&mut self, control: Control) -> Result<Id, Error> {
        let declared = self.variables.len();
        let pipe = self.pipeline(control.context(), Kind::RightDelim)?;
        self.ranges += usize::from(control == Control::Range);
        let (list, end, pos) = self.item_list()?;
        self.ranges -= usize::from(control == Control::Range);
        let otherwise = match end {
            End::End => None,
            End::Else => Some(self.else_list(control, pos)?),
        };
        self.variables.truncate(declared);
        let branch = Branch { pipe, list, otherwise };
        let node = match control {
            Control::If => Node::If(branch),
            Control::Range => Node::Range(branch),
            Control::With => Node::With(branch),
        };
        let pos = self.shared.source.nodes[pipe].pos;
        Ok(self.add(pos, node))
    }

    /// What is done otherwise. The `{{end}}` of an `{{else if}}` ends both.
    fn else_list(&mut self, control: Control, pos: usize) -> Result<Id, Error> {
        let same = match control {
            Control::If => self.peek().kind == Kind::If,
            Control::With => self.peek().kind == Kind::With,
            Control::Range => false,
        };
        if same {
            self.next();
            let nested = stack::enough(|| self.control(control))?;
            return Ok(self.add(pos, Node::List([nested].into())));
        }
        let (list, end, _) = self.item_list()?;
        match end {
            End::End => Ok(list),
            End::Else => self.fail(format!("expected end; found {}", end.show())),
        }
    }

    fn block(&mut self) -> Result<Id, Error> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, Kind::RightDelim)?;
        let mut body = Parser::new(self.shared, name.clone());
        let (root, end, _) = body.item_list()?;
        if let End::Else = end {
            return self.fail(format!("unexpected {} in {CONTEXT}", end.show()));
        }
        body.define(root)?;
        Ok(self.add(token.pos, Node::Template { name, pipe: Some(pipe) }))
    }

    fn template(&mut self) -> Result<Id, Error> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = if self.next_non_space().kind == Kind::RightDelim {
            None
        } else {
            self.back_up();
            Some(self.pipeline(CONTEXT, Kind::RightDelim)?)
        };
        Ok(self.add(token.pos, Node::Template { name, pipe }))
    }

    fn template_name(&self, token: &Token<'t>, context: &str) -> Result<Text, Error> {
        match token.kind {
            Kind::String | Kind::RawString => self.unquote(token),
            _ => self.unexpected(token, context),
        }
    }
}
