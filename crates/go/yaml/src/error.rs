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

    /// The problem on one line, without Go's prefix and without the line on which it happened: for messages that name the
    /// line of a file as [`Error::line`] counts.
    pub fn problem(&self) -> String {
        match &self.0.cause {
            Cause::Syntax { problem, .. } | Cause::Meaning(problem) | Cause::NotJson(problem) => problem.clone(),
            Cause::Duplicates(all) => {
                let mut all = all.iter();
                let first = all.next().map_or_else(String::new, |(_, key)| format!("key {key} already set in map"));
                let others = all.map(|(line, key)| format!(", and key {key} on line {line}"));
                first + &others.collect::<String>()
            }
        }
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

#[cfg(test)]
mod tests {
    use crate::from_yaml_strict;

    #[test]
    fn problems_have_one_line_without_a_place() {
        let rows = [
            ("x: 1\na: @b", Some(2), "found character that cannot start any token"),
            // Go counts this line from 0.
            ("x: 1\na: [b\nc: 1\n", Some(3), "did not find expected ',' or ']'"),
            ("a: 1\na: 2\nb: 1\nb: 2\n", Some(2), "key \"a\" already set in map, and key \"b\" on line 4"),
            ("a: .inf", None, "json: unsupported value: +Inf"),
        ];
        for (text, line, problem) in rows {
            let error = from_yaml_strict(text).unwrap_err();
            assert_eq!((error.line(), error.problem().as_str()), (line, problem), "{text}");
        }
    }
}
