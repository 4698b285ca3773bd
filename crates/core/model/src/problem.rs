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

impl Problem {
    /// The problem of a file that is not valid YAML.
    pub fn of_yaml(file: &str, error: &fitout_go_yaml::Error) -> Self {
        Self { field: at(file, error.line()), message: error.problem(), hint: Some("fix the YAML".to_owned()) }
    }

    /// The same problem in a field of a YAML file: it names the file and the line.
    #[must_use]
    pub fn in_file(self, file: &str, text: &str) -> Self {
        let place = at(file, fitout_go_yaml::line(text, &self.field));
        let hint = self.hint.unwrap_or_else(|| "correct it".to_owned());
        Self { field: format!("{place}: {}", self.field), message: self.message, hint: Some(hint) }
    }
}

/// A file, with the line where it is known.
fn at(file: &str, line: Option<usize>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Problem {}
