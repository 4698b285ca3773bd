//! What the scanner tells the parser.

use std::borrow::Cow;

use crate::cursor::Mark;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    StreamStart,
    StreamEnd,
    /// `%YAML`, with the version in `value`.
    VersionDirective,
    /// `%TAG`, with the handle in `value` and the prefix in `suffix`.
    TagDirective,
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias,
    Anchor,
    /// With the handle in `value` and the rest in `suffix`.
    Tag,
    /// A scalar that is not quoted.
    Plain,
    /// A scalar that is quoted or a block, and so is always a string.
    Text,
}

/// A token, where it is, and what it says.
#[derive(Clone, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) start: Mark,
    pub(crate) end: Mark,
    pub(crate) value: Cow<'t, str>,
    pub(crate) suffix: String,
}

impl<'t> Token<'t> {
    pub(crate) fn bare(kind: Kind, start: Mark, end: Mark) -> Self {
        Self::with(kind, start, end, "")
    }

    pub(crate) fn with(kind: Kind, start: Mark, end: Mark, value: impl Into<Cow<'t, str>>) -> Self {
        Self { kind, start, end, value: value.into(), suffix: String::new() }
    }
}

/// All that the parser has to know of a token before it takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glance {
    pub(crate) kind: Kind,
    pub(crate) start: Mark,
    pub(crate) end: Mark,
}
