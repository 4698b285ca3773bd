//! The rows of the case tables.
//!
//! A row is one line: a template, the value it is given, if any, and what Go makes of them with Helm's functions.
//!
//! ```text
//! run "{{upper .a}}" {"a":"x"} => "X"          a template and its output
//! run "{{fail \"no\"}}" !! "template: t:1: …"   a template that is refused
//! run "{{.}}" {"$raw":"ff"} =x "ff"            an output that is no UTF-8, in hexadecimal
//! run ["{{template \"a\"}}",["a","x"]] => "x"  a template with others beside it
//! with {"seed":1,"zone":"Asia/Tokyo","now":5} "{{now}}" => "…"   in a world of its own
//! ```
//!
//! What JSON cannot say about a value is said by `$`: see the values of the tests of `gotmpl`. Who writes a row leaves
//! the answer out and runs `cargo test -p fitout-helm-functions --test live_oracle -- --ignored`: Go fills it in.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fitout_testkit::case_lines;
use serde_json::{Value as Json, json};

use crate::world::{self, World};

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) others: Vec<(String, String)>,
    pub(crate) data: Json,
    pub(crate) world: World,
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
    /// A question about a template alone.
    #[allow(dead_code, reason = "one of the two test programs has no oracle")]
    pub(crate) fn new(text: String, data: Json) -> Self {
        Self { text, others: Vec::new(), data, world: World::default() }
    }

    /// Our own answer.
    pub(crate) fn ours(&self) -> Answer {
        match world::run(&self.text, &self.others, &world::decode(&self.data), &self.world) {
            Ok(output) => match str::from_utf8(&output) {
                Ok(text) => Answer::Text(text.to_owned()),
                Err(_) => Answer::Hex(hex(&output)),
            },
            Err(error) => Answer::Refusal(error.to_string()),
        }
    }

    /// As a row, with an answer.
    #[allow(dead_code, reason = "one of the two test programs has no oracle")]
    pub(crate) fn written(&self, answer: &Answer) -> String {
        let Self { text, others, data, world: World { seed, zone, now, strict } } = self;
        let world = json!({"seed": seed, "zone": zone, "now": now, "strict": strict});
        let mut template = vec![json!(text)];
        template.extend(others.iter().map(|other| json!(other)));
        format!("with {world} {} {data} {}", Json::from(template), answer.written())
    }

    /// The question as the oracle wants it: as Helm asks, for which a missing key is zero unless it is strict.
    #[allow(dead_code, reason = "one of the two test programs has no oracle")]
    pub(crate) fn to_json(&self) -> Json {
        let Self { text, others, data, world: World { seed, zone, now, strict } } = self;
        let missing = if *strict { "error" } else { "zero" };
        json!({
            "op": "run", "text": text, "others": others, "data": data, "missingkey": missing,
            "seed": seed, "zone": zone, "now": now,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Where the tables are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// All rows of all tables.
pub(crate) fn all() -> Result<Vec<Row>> {
    let row = |(place, line): (String, String)| {
        let (question, answer) = asked(&line).with_context(|| format!("{place}: {line}"))?;
        let answer = answered(answer).with_context(|| format!("{place}: {line}"))?;
        Ok(Row { place, question, answer })
    };
    case_lines(&folder())?.into_iter().map(row).collect()
}

/// What a row asks, and the rest of it: its answer, if there is one.
pub(crate) fn asked(line: &str) -> Result<(Question, &str)> {
    let (op, rest) = line.split_once(' ').context("a row begins with how it is run")?;
    let (world, rest) = match op {
        "run" => (World::default(), rest),
        "with" => {
            let (json, rest) = value(rest)?;
            (World::of(&json), rest)
        }
        _ => bail!("there is no such way to run"),
    };
    let (template, rest) = value(rest)?;
    let none = rest.is_empty() || rest.starts_with(['=', '!']);
    let (data, rest) = if none { (Json::Null, rest) } else { value(rest)? };
    let (text, others) = match template {
        Json::String(text) => (text, Vec::new()),
        Json::Array(all) => {
            let (text, others) = all.split_first().context("there is no template")?;
            let others = others.iter().cloned().map(serde_json::from_value).collect::<Result<_, _>>()?;
            (serde_json::from_value(text.clone())?, others)
        }
        _ => bail!("a template is a text, or a text and others with their names"),
    };
    Ok((Question { text, others, data, world }, rest))
}

fn answered(text: &str) -> Result<Answer> {
    let (mark, answer) = text.split_at_checked(2).context("nothing is answered")?;
    let answer: String = serde_json::from_str(answer)?;
    Ok(match mark {
        "=>" => Answer::Text(answer),
        "=x" => Answer::Hex(answer),
        "!!" => Answer::Refusal(answer),
        _ => bail!("there is no such answer"),
    })
}

impl Answer {
    /// A message is text with us: what is no UTF-8 in it is replaced, but not byte by byte. And which of several things
    /// cannot be merged is found first, Go leaves to chance.
    #[allow(dead_code, reason = "one of the two test programs has no oracle")]
    pub(crate) fn readable(mut self) -> Self {
        if let Self::Refusal(message) = &mut self {
            message.retain(|c| c != char::REPLACEMENT_CHARACTER);
            let merged = message.find("error calling merge").or_else(|| message.find("error calling mustMerge"));
            if let Some(reason) = merged.and_then(|at| Some(at + message[at..].find("reflect")?)) {
                message.truncate(reason);
            }
        }
        self
    }

    /// As it is written in a row.
    #[allow(dead_code, reason = "one of the two test programs has no oracle")]
    pub(crate) fn written(&self) -> String {
        let (mark, text) = match self {
            Self::Text(text) => ("=>", text),
            Self::Hex(text) => ("=x", text),
            Self::Refusal(text) => ("!!", text),
        };
        format!("{mark} {}", json!(text))
    }
}

/// The JSON at the beginning of a text, and what comes after it.
fn value(text: &str) -> Result<(Json, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let value = values.next().context("something is missing")??;
    Ok((value, text[values.byte_offset()..].trim_start()))
}
