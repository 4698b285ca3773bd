//! Go itself is asked again: for every row of the case tables, and for values and texts made up by chance.

mod chance;
mod rows;

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use chance::Chance;
use fitout_testkit::{Programs, sample};
use rows::{Answer, Question};
use serde_json::Value;

/// How many cases there are in all, and how many of them a run takes.
const CASES: u64 = 40_000;
const TAKEN: usize = 4_000;

#[test]
fn go_still_gives_the_answers_in_the_tables() -> Result<()> {
    let rows = rows::all()?;
    let answers = oracle(&rows.iter().map(|row| row.question.clone()).collect::<Vec<_>>())?;
    for (row, answer) in rows.iter().zip(answers) {
        assert_eq!(row.answer, answer, "{}: {:?}", row.place, row.question);
    }
    Ok(())
}

#[test]
fn values_are_written_byte_for_byte_as_go_writes_them() -> Result<()> {
    let questions = by_chance(|chance| Question::To(chance.value(4)));
    let mut refused = 0;
    for (question, theirs) in questions.iter().zip(oracle(&questions)?) {
        // What Go refuses to write, it could not have read: it writes by way of its reader.
        if matches!(theirs, Answer::Refusal(_)) {
            refused += 1;
        } else {
            assert_eq!(question.ours(), theirs, "{question:?}");
        }
    }
    println!("refused {refused} of {}", questions.len());
    ensure!(
        refused * 10 < questions.len(),
        "Go refused {refused} of {}: that is too much to learn from",
        questions.len()
    );
    Ok(())
}

#[test]
fn what_is_written_reads_as_the_same_value_for_both() -> Result<()> {
    let questions = by_chance(|chance| Question::Strict(fitout_go_yaml::to_yaml(&chance.value(4))));
    compare(&questions)
}

#[test]
fn texts_mean_the_same_to_both() -> Result<()> {
    compare(&by_chance(|chance| Question::From(chance.text())))
}

#[test]
fn texts_that_are_damaged_mean_the_same_to_both() -> Result<()> {
    compare(&by_chance(|chance| {
        let written = fitout_go_yaml::to_yaml(&chance.value(3));
        Question::Strict(chance.damage(&written))
    }))
}

fn by_chance(make: impl Fn(&mut Chance) -> Question) -> Vec<Question> {
    sample((0..CASES).collect(), TAKEN).into_iter().map(|case| make(&mut Chance::new(case))).collect()
}

/// Both read the same, or refuse in the same words. Enough has to be read for that to say something.
fn compare(questions: &[Question]) -> Result<()> {
    let mut read = 0;
    for (question, theirs) in questions.iter().zip(oracle(questions)?) {
        assert_eq!(question.ours(), theirs, "{question:?}");
        read += usize::from(matches!(theirs, Answer::Value(_)));
    }
    println!("read {read} of {}", questions.len());
    ensure!(read * 5 > questions.len(), "only {read} of {} could be read", questions.len());
    Ok(())
}

/// Go's answers.
fn oracle(questions: &[Question]) -> Result<Vec<Answer>> {
    let program = Programs::get()?.oracle("oracle-yaml")?;
    let mut oracle = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let asked = serde_json::to_vec(&questions.iter().map(Question::to_json).collect::<Vec<_>>())?;
    // The oracle reads everything before it answers, so neither waits for the other.
    oracle.stdin.take().context("the oracle has no input")?.write_all(&asked)?;
    let output = oracle.wait_with_output()?;
    ensure!(output.status.success(), "the oracle failed");
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    ensure!(answers.len() == questions.len(), "the oracle answered {} questions", answers.len());
    answers.into_iter().map(answer).collect()
}

fn answer(mut answer: Value) -> Result<Answer> {
    let fields = answer.as_object_mut().context("an answer is an object")?;
    if let Some(value) = fields.remove("value") {
        return Ok(Answer::Value(value));
    }
    let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
    text(fields.remove("text"))
        .map(Answer::Text)
        .or_else(|| text(fields.remove("error")).map(Answer::Refusal))
        .context("an answer has one of three fields")
}
