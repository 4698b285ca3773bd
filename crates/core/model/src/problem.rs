//! Problems in documents that users write.

use std::fmt;

/// A problem in a document: the field, a message, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path of the field.
    pub field: String,
    /// The problem in a sentence.
    pub message: String,
    /// How to solve it.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Problem {}
