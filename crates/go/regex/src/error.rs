//! Why a text is no pattern, in Go's words.

use std::error;
use std::fmt;

/// Why a text is no pattern. It is shown as Go shows it, with U+FFFD for what is no UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    reason: Reason,
    /// What of the pattern is wrong.
    part: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    CharacterRange,
    Escape,
    NamedCapture,
    PerlSyntax,
    RepeatOperator,
    RepeatCount,
    Utf8,
    MissingBracket,
    MissingParenthesis,
    MissingRepeatArgument,
    TrailingBackslash,
    UnexpectedParenthesis,
    NestingDepth,
    TooLarge,
}

impl Reason {
    pub(crate) fn of(self, part: &[u8]) -> Error {
        Error { reason: self, part: part.into() }
    }

    fn words(self) -> &'static str {
        match self {
            Self::CharacterRange => "invalid character class range",
            Self::Escape => "invalid escape sequence",
            Self::NamedCapture => "invalid named capture",
            Self::PerlSyntax => "invalid or unsupported Perl syntax",
            Self::RepeatOperator => "invalid nested repetition operator",
            Self::RepeatCount => "invalid repeat count",
            Self::Utf8 => "invalid UTF-8",
            Self::MissingBracket => "missing closing ]",
            Self::MissingParenthesis => "missing closing )",
            Self::MissingRepeatArgument => "missing argument to repetition operator",
            Self::TrailingBackslash => "trailing backslash at end of expression",
            Self::UnexpectedParenthesis => "unexpected )",
            Self::NestingDepth => "expression nests too deeply",
            Self::TooLarge => "expression too large",
        }
    }
}

impl Error {
    /// What Go says, to the byte: it quotes the pattern, which need not be UTF-8.
    pub fn to_bytes(&self) -> Vec<u8> {
        [b"error parsing regexp: ", self.reason.words().as_bytes(), b": `", &self.part, b"`"].concat()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

impl error::Error for Error {}
