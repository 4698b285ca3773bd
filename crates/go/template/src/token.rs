//! The tokens of a template.

use std::fmt;

use crate::quote;
use crate::rune;

/// What a token is. Those after `Keyword` are shown as `<word>` in messages, as in Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Error,
    Bool,
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Keyword,
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl Kind {
    /// The keyword that a word is.
    pub(crate) fn of_word(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"block" => Self::Block,
            b"break" => Self::Break,
            b"continue" => Self::Continue,
            b"define" => Self::Define,
            b"else" => Self::Else,
            b"end" => Self::End,
            b"if" => Self::If,
            b"range" => Self::Range,
            b"nil" => Self::Nil,
            b"template" => Self::Template,
            b"with" => Self::With,
            _ => return None,
        })
    }
}

/// A token. One that is an error says nothing: the lexer knows why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    /// Where it begins, in bytes.
    pub(crate) pos: usize,
    pub(crate) text: &'t [u8],
    /// The line on which it begins, from 1.
    pub(crate) line: usize,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text;
        match self.kind {
            Kind::Eof => f.write_str("EOF"),
            kind if kind > Kind::Keyword => write!(f, "<{}>", String::from_utf8_lossy(text)),
            _ if text.len() > 10 => {
                let end = rune::all(text).nth(10).map_or(text.len(), |rune| rune.begin);
                write!(f, "{}...", quote::quote(&text[..end]))
            }
            _ => f.write_str(&quote::quote(text)),
        }
    }
}
