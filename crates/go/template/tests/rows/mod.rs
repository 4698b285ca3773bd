//! The rows of the case tables.
//!
//! A row is one line: a template, the value it is given, if any, and what Go makes of them.
//!
//! ```text
//! run "{{.a}}" {"a":1} => "1"                  a template and its output
//! run "{{.a}" !! "template: t:1: …"            a template that is refused
//! run "{{.}}" {"$raw":"ff"} =x "ff"            an output that is no UTF-8, in hexadecimal
//! run ["{{template \"a\"}}",["a","x"]] => "x"  a template with others beside it
//! zero "{{.a}}" {} => "<no value>"             with missingkey=zero; also error
//! ```
//!
//! What JSON cannot say about a value is said by `$`: see `world/values.rs`.

use std::path::Path;

use anyhow::{Context, Result, bail};
use fitout_go_template::MissingKey;
use fitout_testkit::case_lines;
use serde_json::{Value as Json, json};

use crate::world;

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) others: Vec<(String, String)>,
    pub(crate) data: Json,
    pub(crate) missing_key: &'static str,
}

/// What is answered: an output, or a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Text(String),
    Hex(String),
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
        let missing_key = match self.missing_key {
            "zero" => MissingKey::Zero,
            "error" => MissingKey::Error,
            _ => MissingKey::Default,
        };
        match world::run(&self.text, &self.others, &world::decode(&self.data), missing_key) {
            Ok(output) => match str::from_utf8(&output) {
                Ok(text) => Answer::Text(text.to_owned()),
                Err(_) => Answer::Hex(hex(&output)),
            },
            Err(error) => Answer::Refusal(error.to_string()),
        }
    }

    /// The question as the oracle wants it.
    #[allow(dead_code, reason = "one of the two test programs has no oracle")]
    pub(crate) fn to_json(&self, op: &str, times: usize) -> Json {
        let Self { text, others, data, missing_key } = self;
        json!({"op": op, "text": text, "others": others, "data": data, "missingkey": missing_key, "times": times})
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
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
    let (op, rest) = line.split_once(' ').context("a row begins with how it is run")?;
    let missing_key = match op {
        "run" => "default",
        "zero" => "zero",
        "error" => "error",
        _ => bail!("there is no such way to run"),
    };
    let (asked, rest) = value(rest)?;
    let (data, rest) = if rest.starts_with(['=', '!']) { (Json::Null, rest) } else { value(rest)? };
    let (mark, answer) = rest.split_at_checked(2).context("nothing is answered")?;
    let answer: String = serde_json::from_str(answer)?;
    let answer = match mark {
        "=>" => Answer::Text(answer),
        "=x" => Answer::Hex(answer),
        "!!" => Answer::Refusal(answer),
        _ => bail!("there is no such answer"),
    };
    let (text, others) = match asked {
        Json::String(text) => (text, Vec::new()),
        asked => {
            let (text, others): (String, Vec<_>) = match asked.as_array().and_then(|all| all.split_first()) {
                Some((text, others)) => (serde_json::from_value(text.clone())?, others.to_vec()),
                None => bail!("a template is a text, or a text and others with their names"),
            };
            (text, others.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?)
        }
    };
    Ok((Question { text, others, data, missing_key }, answer))
}

/// The JSON at the beginning of a text, and what comes after it.
fn value(text: &str) -> Result<(Json, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let value = values.next().context("something is missing")??;
    Ok((value, text[values.byte_offset()..].trim_start()))
}
