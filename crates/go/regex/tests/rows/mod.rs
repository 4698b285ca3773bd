//! The rows of the case tables.
//!
//! A row is one line: what is asked of which texts, and Go's answer. The first text is the pattern.
//!
//! ```text
//! compile ["(a)(b)"] => 2                        how many groups there are
//! compile ["("] !! "error parsing regexp: …"     a text that is no pattern
//! match ["a+","xaa"] => true                     also find (all places), all, split, replace, literal, quote
//! all ["a","aaa",2] => ["a","a"]                 with a limit
//! ```
//!
//! A text that is no UTF-8 is `{"$raw":"ff"}`.

use std::path::Path;

use anyhow::{Context, Result, bail};
use fitout_go_regex::{Regex, quote_meta};
use fitout_testkit::case_lines;
use serde_json::{Value as Json, json};

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) op: String,
    pub(crate) texts: Vec<Json>,
    pub(crate) limit: i64,
}

/// What is answered: a value, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Value(Json),
    Refusal(Json),
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
        let text = |at: usize| self.texts.get(at).map(bytes).unwrap_or_default();
        let pattern = text(0);
        if self.op == "quote" {
            return Answer::Value(encode(&quote_meta(&pattern)));
        }
        let regex = match Regex::compile(&pattern) {
            Ok(regex) => regex,
            Err(error) => return Answer::Refusal(encode(&error.to_bytes())),
        };
        let all = |texts: Vec<&[u8]>| Json::Array(texts.into_iter().map(encode).collect());
        Answer::Value(match self.op.as_str() {
            "compile" => json!(regex.groups()),
            "match" => json!(regex.is_match(&text(1))),
            "find" => places(&regex, &text(1)),
            "all" => all(regex.find_all(&text(1), self.limit)),
            "split" => all(regex.split(&text(1), self.limit).unwrap_or_default()),
            "replace" => encode(&regex.replace_all(&text(1), &text(2))),
            "literal" => encode(&regex.replace_all_literal(&text(1), &text(2))),
            other => json!({"there is no such question": other}),
        })
    }

    /// The question as the oracle wants it.
    #[allow(dead_code, reason = "one of the two test programs has no oracle")]
    pub(crate) fn to_json(&self) -> Json {
        json!({"op": self.op, "texts": self.texts, "limit": self.limit})
    }
}

fn places(regex: &Regex, text: &[u8]) -> Json {
    let found = regex.captures(text).unwrap_or_default();
    // What is found alone is the same as what is found with its groups.
    let whole = found.first().cloned().flatten().map(|range| &text[range]);
    if regex.find(text) != whole {
        return json!({"found alone": regex.find(text)});
    }
    let place = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
    let ends =
        found.into_iter().flat_map(|group| group.map_or([-1, -1], |range| [place(range.start), place(range.end)]));
    ends.collect()
}

fn bytes(text: &Json) -> Vec<u8> {
    let digits = match text {
        Json::String(text) => return text.clone().into_bytes(),
        other => other["$raw"].as_str().unwrap_or_default(),
    };
    (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap_or_default()).collect()
}

pub(crate) fn encode(text: &[u8]) -> Json {
    match str::from_utf8(text) {
        Ok(text) => json!(text),
        Err(_) => json!({"$raw": hex(text)}),
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
    let (op, rest) = line.split_once(' ').context("a row begins with what is asked")?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter();
    let mut texts: Vec<Json> = values.next().context("texts are missing")??;
    let rest = rest[values.byte_offset()..].trim_start();
    let limit = texts.pop_if(|last| last.is_number()).and_then(|last| last.as_i64()).unwrap_or(-1);
    let (mark, answer) = rest.split_at_checked(2).context("nothing is answered")?;
    let answer: Json = serde_json::from_str(answer)?;
    let answer = match mark {
        "=>" => Answer::Value(answer),
        "!!" => Answer::Refusal(answer),
        _ => bail!("there is no such answer"),
    };
    Ok((Question { op: op.to_owned(), texts, limit }, answer))
}
