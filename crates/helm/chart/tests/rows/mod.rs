//! The rows of the case tables.
//!
//! A row is one line: a question as the oracle takes it, in JSON, and its answer.
//!
//! ```text
//! {"op":"strvals","form":"typed","text":"a=1"} => {"value":{"a":{"$int64":"1"}}}
//! ```
//!
//! A question alone is a row that waits for its answer: `fill_in_the_tables` asks Helm for it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use fitout_testkit::case_lines;
use serde_json::Value as Json;

/// A row, and where it is.
pub(crate) struct Row {
    pub(crate) place: String,
    pub(crate) question: Json,
    pub(crate) answer: Json,
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// All rows of all tables.
pub(crate) fn all() -> Result<Vec<Row>> {
    let row = |(place, line): (String, String)| {
        let (question, rest) = question(&line).with_context(|| format!("{place}: {line}"))?;
        let answer = rest.strip_prefix("=> ").with_context(|| format!("{place}: there is no answer"))?;
        Ok(Row { place, question, answer: serde_json::from_str(answer)? })
    };
    case_lines(&folder())?.into_iter().map(row).collect()
}

/// The question at the beginning of a line, and what comes after it.
pub(crate) fn question(line: &str) -> Result<(Json, &str)> {
    let mut values = serde_json::Deserializer::from_str(line).into_iter();
    let question: Json = values.next().context("there is no question")??;
    ensure!(question.is_object(), "a question is an object");
    Ok((question, line[values.byte_offset()..].trim_start()))
}
