//! The rows of the case tables.
//!
//! A row is one line: a question and Go's answer to it.
//!
//! ```text
//! from "a: yes" => {"a":true}         a text that is read
//! strict "a: 1\na: 2" !! "yaml: …"    a text that is read, and refused
//! to {"a":[1]} => "a:\n- 1\n"         a value that is written
//! ```

use std::path::Path;

use anyhow::{Context, Result, bail};
use fitout_go_yaml::{from_yaml, from_yaml_strict, to_yaml};
use fitout_testkit::case_lines;
use serde_json::{Value, json};

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    From(String),
    Strict(String),
    To(Value),
}

/// What is answered: a value that was read, a text that was written, or a refusal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Value(Value),
    Text(String),
    Refusal(String),
}

/// A row, and where it is.
pub(crate) struct Row {
    pub(crate) place: String,
    pub(crate) question: Question,
    pub(crate) answer: Answer,
}

impl Question {
    /// Our own answer.
    pub(crate) fn ours(&self) -> Answer {
        let read = match self {
            Self::To(value) => return Answer::Text(to_yaml(value)),
            Self::From(text) => from_yaml(text),
            Self::Strict(text) => from_yaml_strict(text),
        };
        match read {
            Ok(value) => Answer::Value(value),
            Err(error) => Answer::Refusal(error.to_string()),
        }
    }

    /// The question as the oracle wants it.
    #[allow(dead_code, reason = "one of the two test programs has no oracle")]
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::From(text) => json!({"op": "from", "text": text}),
            Self::Strict(text) => json!({"op": "strict", "text": text}),
            Self::To(value) => json!({"op": "to", "value": value}),
        }
    }
}

/// All rows of all tables.
pub(crate) fn all() -> Result<Vec<Row>> {
    let lines = case_lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"))?;
    let row = |(place, line): (String, String)| {
        let (question, answer) = parse(&line).with_context(|| format!("{place}: {line}"))?;
        Ok(Row { place, question, answer })
    };
    lines.into_iter().map(row).collect()
}

fn parse(line: &str) -> Result<(Question, Answer)> {
    let (op, rest) = line.split_once(' ').context("a row begins with what is asked")?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let asked = values.next().context("nothing is asked")??;
    let (mark, answer) =
        rest[values.byte_offset()..].trim_start().split_at_checked(2).context("nothing is answered")?;
    let answered: Value = serde_json::from_str(answer)?;
    let question = match (op, asked) {
        ("from", Value::String(text)) => Question::From(text),
        ("strict", Value::String(text)) => Question::Strict(text),
        ("to", value) => Question::To(value),
        _ => bail!("there is no such question"),
    };
    let answer = match (mark, answered) {
        ("!!", Value::String(reason)) => Answer::Refusal(reason),
        ("=>", Value::String(text)) if op == "to" => Answer::Text(text),
        ("=>", value) if op != "to" => Answer::Value(value),
        _ => bail!("there is no such answer"),
    };
    Ok((question, answer))
}
