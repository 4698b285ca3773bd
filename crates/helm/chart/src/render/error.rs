//! Why a chart was not rendered, in Helm's words.

use std::fmt::Write as _;

use fitout_go_template::Error as Cause;

use super::functions::{BEGIN, END};

/// Why a chart was not rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What Helm says.
    pub message: String,
    /// Whether values were good, and rendering had begun.
    pub begun: bool,
    /// Where in the templates it was, the innermost last; as Go names places: template, line, column.
    pub places: Vec<Place>,
}

/// A place in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The template's name, which is its path.
    pub template: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 0, where Go knows it.
    pub column: Option<usize>,
    /// What was evaluated, such as `.Values.image.tag`.
    pub at: Option<String>,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self { message, begun: false, places: Vec::new() }
    }
}

impl Error {
    /// An error of what rendering gave.
    pub(crate) fn later(message: String) -> Self {
        Self { message, begun: true, places: Vec::new() }
    }
}

/// A text that is no template.
pub(super) fn unparsed(file: &str, cause: &Cause) -> Error {
    let said = cause.to_string();
    let parts: Vec<&str> = said.split(": ").collect();
    let message = match parts[..] {
        [_] => format!("parse error in ({file}): {said}"),
        [_, location, .., why] => format!("parse error at ({location}): {why}"),
        [_, location] => format!("parse error at ({location}): {location}"),
        [] => said.clone(),
    };
    Error { message, begun: true, places: place(&said).into_iter().collect() }
}

/// A template that could not be executed.
pub(super) fn unexecuted(file: &str, cause: &Cause) -> Error {
    let places = causes(cause).filter_map(|cause| place(&cause.to_string())).collect();
    Error { message: message(file, cause), begun: true, places }
}

fn causes(first: &Cause) -> impl Iterator<Item = &Cause> {
    std::iter::successors(Some(first), |error| error.cause())
}

fn message(file: &str, cause: &Cause) -> String {
    let said = cause.to_string();
    if causes(cause).all(|cause| cause.template().is_none()) {
        return said;
    }
    let mut parts = said.splitn(3, ": ");
    let (Some(_), Some(location), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return format!("execution error in ({file}): {said}");
    };
    if let Some(own) = between(rest) {
        return format!("execution error at ({location}): {own}");
    }
    let mut leak_check: Vec<Trace> = Vec::new();
    for cause in causes(cause) {
        let text = cause.to_string();
        let Some(trace) = Trace::read(&text) else { return said };
        if leak_check.last() != Some(&trace) {
            leak_check.push(trace);
        }
    }
    let shown = leak_check.iter().fold(String::new(), |mut shown, trace| {
        trace.show(&mut shown);
        shown
    });
    shown.trim().to_owned()
}

/// What `required` or `fail` was given.
fn between(text: &str) -> Option<&str> {
    let begin = text.find(BEGIN)? + BEGIN.len();
    let end = text.rfind(END)?;
    text.get(begin..end)
}

/// One error of those inside of each other, as Helm shows it.
#[derive(Debug, PartialEq, Eq)]
struct Trace {
    location: String,
    executing: String,
    message: String,
}

impl Trace {
    /// Helm finds the parts of an error again by its text.
    fn read(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("template: ")?;
        if rest.starts_with("no template ") {
            return Some(Self { location: String::new(), executing: String::new(), message: text.to_owned() });
        }
        let uncut = |message: &str| message.split(" template:").next().unwrap_or_default().to_owned();
        if let Some(trace) = Self::read_executing(rest, uncut) {
            return Some(trace);
        }
        let (location, message) = rest.rsplit_once(": ")?;
        Some(Self { location: location.to_owned(), executing: String::new(), message: uncut(message) })
    }

    fn read_executing(rest: &str, uncut: impl Fn(&str) -> String) -> Option<Self> {
        let (location, after) = rest.split_once(": executing ")?;
        let (function, after) = after.strip_prefix('"')?.split_once('"')?;
        let (at, message) = after.strip_prefix(" at <")?.split_once(">: ")?;
        let executing = format!("executing \"{function}\" at <{at}>:");
        Some(Self { location: location.to_owned(), executing, message: uncut(message) })
    }

    fn show(&self, shown: &mut String) {
        for (part, after) in [(&self.location, "\n  "), (&self.executing, "\n    "), (&self.message, "\n")] {
            if !part.is_empty() {
                let _ = write!(shown, "{part}{after}");
            }
        }
    }
}

/// The place that an error of Go names first.
fn place(text: &str) -> Option<Place> {
    let rest = &text[text.find("template: ")? + "template: ".len()..];
    let location = rest.split(": ").next()?;
    let (before, last) = location.rsplit_once(':')?;
    let last: usize = last.parse().ok()?;
    let (template, line, column) = match before.rsplit_once(':').map(|(template, line)| (template, line.parse())) {
        Some((template, Ok(line))) => (template, line, Some(last)),
        _ => (before, last, None),
    };
    let at = rest.split_once(" at <").and_then(|(_, after)| after.split_once(">: "));
    Some(Place { template: template.to_owned(), line, column, at: at.map(|(at, _)| at.to_owned()) })
}
