//! The rows of the case tables.
//!
//! A row is one line: a question about one or two texts, and the answer to it.
//!
//! ```text
//! lenient "v1.2" => "1.2.0"                    a version that is read, and how it is written again
//! matches "^1.2" "1.9.0" => true               a range and a version
//! compare "1.0.0-a" "1.0.0" => -1              two versions
//! range "1," !! "improper constraint: \"1,\""  a refusal
//! ```

use std::path::Path;

use anyhow::Context;
use fitout_helm_ranges::{Error, Range, Version, kubernetes};
use fitout_testkit::case_lines;
use serde_json::{Value, json};

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) op: String,
    pub(crate) texts: Vec<String>,
}

/// What is answered, or why there is no answer.
pub(crate) type Answer = Result<Value, String>;

/// A row, and where it is.
pub(crate) struct Row {
    pub(crate) place: String,
    pub(crate) question: Question,
    pub(crate) answer: Answer,
}

impl Question {
    pub(crate) fn new(op: &str, texts: &[&str]) -> Self {
        Self { op: op.to_owned(), texts: texts.iter().map(|&text| text.to_owned()).collect() }
    }

    /// Our own answer.
    pub(crate) fn ours(&self) -> Answer {
        let texts: Vec<_> = self.texts.iter().map(String::as_str).collect();
        let answer = match (self.op.as_str(), texts.as_slice()) {
            ("lenient", [text]) => Version::parse(text).map(|version| json!(version.to_string())),
            ("strict", [text]) => Version::parse_strict(text).map(|version| json!(version.to_string())),
            ("range", [text]) => Range::parse(text).map(|range| json!(range.to_string())),
            ("kubernetes", [text]) => kubernetes(text).map(|version| json!(version.to_string())),
            ("matches", [range, version]) => matches(range, version),
            ("compare", [one, other]) => compare(one, other),
            _ => return Err("there is no such question".to_owned()),
        };
        answer.map_err(|error| error.to_string())
    }
}

fn matches(range: &str, version: &str) -> Result<Value, Error> {
    Ok(json!(Range::parse(range)?.matches(&Version::parse(version)?)))
}

fn compare(one: &str, other: &str) -> Result<Value, Error> {
    Ok(json!(Version::parse(one)?.cmp(&Version::parse(other)?) as i8))
}

/// All rows of all tables.
pub(crate) fn all() -> anyhow::Result<Vec<Row>> {
    let lines = case_lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"))?;
    let row = |(place, line): (String, String)| {
        parse(place.clone(), &line).with_context(|| format!("{place} is not a row: {line}"))
    };
    lines.into_iter().map(row).collect()
}

fn parse(place: String, line: &str) -> Option<Row> {
    let (op, mut rest) = line.split_once(' ')?;
    let mut texts = Vec::new();
    while rest.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        texts.push(values.next()?.ok()?);
        rest = rest[values.byte_offset()..].trim_start();
    }
    let (mark, answer) = rest.split_once(' ')?;
    let answer = match mark {
        "=>" => Ok(serde_json::from_str(answer).ok()?),
        "!!" => Err(serde_json::from_str(answer).ok()?),
        _ => return None,
    };
    Some(Row { place, question: Question { op: op.to_owned(), texts }, answer })
}
