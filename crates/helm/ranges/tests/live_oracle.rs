//! Go itself is asked again: for every row of the case tables, and for versions and ranges made up by chance.

mod chance;
mod rows;

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use chance::Chance;
use fitout_testkit::{Programs, sample};
use rows::{Answer, Question};
use serde_json::{Value, json};

/// How many cases there are in all, and how many of them a run takes.
const CASES: u64 = 100_000;
const TAKEN: usize = 10_000;

#[test]
fn go_still_gives_the_answers_in_the_tables() -> Result<()> {
    // Go has no notion of a cluster's version.
    let rows: Vec<_> = rows::all()?.into_iter().filter(|row| row.question.op != "kubernetes").collect();
    let answers = oracle(&rows.iter().map(|row| row.question.clone()).collect::<Vec<_>>())?;
    for (row, answer) in rows.iter().zip(answers) {
        assert_eq!(row.answer, answer, "{}: {:?}", row.place, row.question);
    }
    Ok(())
}

#[test]
fn versions_are_in_a_range_for_both_or_for_neither() -> Result<()> {
    let (ins, outs) = compare(|chance| {
        let range = chance.range();
        Question::new("matches", &[&range, &chance.version()])
    })?;
    // Chance that never agrees, or always does, proves nothing.
    ensure!(ins > TAKEN / 20 && outs > TAKEN / 20, "only {ins} were in a range, and {outs} were not");
    Ok(())
}

#[test]
fn versions_compare_the_same_for_both() -> Result<()> {
    compare(|chance| Question::new("compare", &[&chance.version(), &chance.version()])).map(drop)
}

#[test]
fn prereleases_compare_the_same_for_both() -> Result<()> {
    compare(|chance| {
        let mut version = || chance.version().replace(['2', '3'], "1");
        Question::new("compare", &[&version(), &version()])
    })
    .map(drop)
}

#[test]
fn ranges_that_are_damaged_are_refused_in_the_same_words() -> Result<()> {
    compare(|chance| {
        let range = chance.range();
        Question::new("range", &[&chance.damage(&range)])
    })
    .map(drop)
}

#[test]
fn versions_that_are_damaged_are_refused_in_the_same_words() -> Result<()> {
    compare(|chance| {
        let version = chance.version();
        let op = if version.len() % 2 == 0 { "strict" } else { "lenient" };
        Question::new(op, &[&chance.damage(&version)])
    })
    .map(drop)
}

/// Asks both and has them agree. How often the answer was yes, and how often no, where it can be that.
fn compare(make: impl Fn(&mut Chance) -> Question) -> Result<(usize, usize)> {
    let cases = sample((0..CASES).collect(), TAKEN);
    let questions: Vec<_> = cases.into_iter().map(|case| make(&mut Chance::new(case))).collect();
    let answers = oracle(&questions)?;
    for (question, theirs) in questions.iter().zip(&answers) {
        assert_eq!(question.ours(), *theirs, "{question:?}");
    }
    let count = |wanted: bool| answers.iter().filter(|answer| **answer == Ok(Value::Bool(wanted))).count();
    Ok((count(true), count(false)))
}

/// Go's answers.
fn oracle(questions: &[Question]) -> Result<Vec<Answer>> {
    let program = Programs::get()?.oracle("oracle-range")?;
    let mut oracle = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let asked: Vec<_> = questions.iter().map(|question| json!({"op": question.op, "texts": question.texts})).collect();
    // The oracle reads everything before it answers, so neither waits for the other.
    oracle.stdin.take().context("the oracle has no input")?.write_all(&serde_json::to_vec(&asked)?)?;
    let output = oracle.wait_with_output()?;
    ensure!(output.status.success(), "the oracle failed");
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    ensure!(answers.len() == questions.len(), "the oracle answered {} questions", answers.len());
    answers.into_iter().map(answer).collect()
}

fn answer(mut answer: Value) -> Result<Answer> {
    let fields = answer.as_object_mut().context("an answer is an object")?;
    if let Some(value) = fields.remove("value") {
        return Ok(Ok(value));
    }
    let reason = fields.get("error").and_then(Value::as_str);
    Ok(Err(reason.context("an answer has one of two fields")?.to_owned()))
}
