//! What the lexer tells the parser.

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The text is wrong here; `text` says why.
    Error,
    End,
    /// A comment, or a part of a key that is not quoted.
    Text,
    Plain,
    Escaped,
    Raw,
    Multiline,
    RawMultiline,
    Bool,
    Integer,
    Float,
    Datetime,
    ArrayStart,
    ArrayEnd,
    TableStart,
    TableEnd,
    TablesStart,
    TablesEnd,
    KeyStart,
    KeyEnd,
    CommentStart,
    InlineStart,
    InlineEnd,
}

/// An item: what it is, what it says, and the line on which it ends, from 1.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) line: isize,
}
