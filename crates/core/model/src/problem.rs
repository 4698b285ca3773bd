//! What is wrong with something that a person wrote.

use std::fmt;

/// What is wrong with a document: where, what, and perhaps what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path of the field.
    pub field: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Problem {}
