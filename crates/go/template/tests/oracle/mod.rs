//! Go, which is asked many times.

use anyhow::{Context, Result};
use fitout_testkit::Oracle;
use serde_json::Value as Json;

use crate::rows::{Answer, Question};

pub(crate) fn start() -> Result<Oracle> {
    Oracle::start("oracle-template")
}

/// What Go makes of templates.
pub(crate) fn ask(oracle: &mut Oracle, questions: &[Question]) -> Result<Vec<Answer>> {
    let questions: Vec<_> = questions.iter().map(|question| question.to_json("run", 1)).collect();
    oracle.ask(&questions)?.iter().map(answer).collect()
}

fn answer(answer: &Json) -> Result<Answer> {
    let field = |name: &str| answer[name].as_str().map(str::to_owned);
    field("text")
        .map(Answer::Text)
        .or_else(|| field("hex").map(Answer::Hex))
        .or_else(|| field("error").map(Answer::Refusal))
        .context("an answer has one of three fields")
}
