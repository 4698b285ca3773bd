//! Why a text was refused, in Go's words.

use std::fmt;

use crate::cursor::Mark;

/// Why a text was refused: the message is Go's, line and column are where it happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.cause)]
pub struct Error(Box<Refusal>);

/// In a box, because it is in every result of functions that call themselves, and they share one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    cause: Cause,
    place: Option<Mark>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    /// The text is not YAML.
    Syntax { shown: Option<usize>, problem: String },
    /// The text is YAML that has no meaning.
    Meaning(String),
    /// Equal keys, each with its line.
    Duplicates(Vec<(usize, String)>),
    /// The value cannot be expressed in JSON.
    NotJson(String),
}

impl Error {
    /// The line on which it happened, from 1, where it is known.
    pub fn line(&self) -> Option<usize> {
        self.0.place.map(|mark| mark.line + 1)
    }

    /// The column at which it happened, from 1, where it is known.
    pub fn column(&self) -> Option<usize> {
        self.0.place.map(|mark| mark.column + 1)
    }

    fn new(cause: Cause, place: Option<Mark>) -> Self {
        Self(Box::new(Refusal { cause, place }))
    }

    /// Go names no line where the scanner stumbles on the first one.
    pub(crate) fn in_scanner(mark: Mark, problem: impl Into<String>) -> Self {
        let shown = (mark.line != 0).then_some(mark.line + 1);
        Self::new(Cause::Syntax { shown, problem: problem.into() }, Some(mark))
    }

    /// Go counts lines from 0 where the parser stumbles. People know these messages, so they are kept.
    pub(crate) fn in_parser(mark: Mark, problem: impl Into<String>) -> Self {
        let shown = (mark.line != 0).then_some(mark.line);
        Self::new(Cause::Syntax { shown, problem: problem.into() }, Some(mark))
    }

    pub(crate) fn in_reader(mark: Mark, problem: impl Into<String>) -> Self {
        Self::new(Cause::Syntax { shown: None, problem: problem.into() }, Some(mark))
    }

    pub(crate) fn in_meaning(mark: Mark, problem: impl Into<String>) -> Self {
        Self::new(Cause::Meaning(problem.into()), Some(mark))
    }

    pub(crate) fn duplicates(all: Vec<(Mark, String)>) -> Self {
        let place = all.first().map(|(mark, _)| *mark);
        Self::new(Cause::Duplicates(all.into_iter().map(|(mark, key)| (mark.line + 1, key)).collect()), place)
    }

    pub(crate) fn not_json(problem: String) -> Self {
        Self::new(Cause::NotJson(problem), None)
    }

    /// The same error in a text that has more lines before this one. It then names the line that a person would look at.
    #[must_use]
    pub fn after_lines(self, before: usize) -> Self {
        let place = self.0.place.map(|mark| Mark { line: mark.line + before, ..mark });
        let cause = match self.0.cause {
            Cause::Syntax { problem, .. } => Cause::Syntax { shown: place.map(|mark| mark.line + 1), problem },
            Cause::Duplicates(all) => {
                Cause::Duplicates(all.into_iter().map(|(line, key)| (line + before, key)).collect())
            }
            other => other,
        };
        Self::new(cause, place)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { shown: Some(line), problem } => write!(f, "yaml: line {line}: {problem}"),
            Self::Syntax { shown: None, problem } | Self::Meaning(problem) => write!(f, "yaml: {problem}"),
            Self::Duplicates(all) => {
                f.write_str("yaml: unmarshal errors:")?;
                all.iter().try_for_each(|(line, key)| write!(f, "\n  line {line}: key {key} already set in map"))
            }
            Self::NotJson(problem) => f.write_str(problem),
        }
    }
}
