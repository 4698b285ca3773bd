//! Go itself is asked again: for every row of the case tables, for patterns and texts made up by chance, and for what it
//! knows of Unicode.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod chance;
mod rows;

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use chance::Chance;
use fitout_testkit::{Oracle, sample};
use rows::{Answer, Question};
use serde_json::{Value as Json, json};

/// How many cases there are in all, and how many of them a run takes.
const CASES: u64 = 1_000_000;
const TAKEN: usize = 10_000;
/// How many questions are asked at once.
const AT_ONCE: usize = 1000;

fn ask(oracle: &mut Oracle, questions: &[Question]) -> Result<Vec<Answer>> {
    let questions: Vec<_> = questions.iter().map(Question::to_json).collect();
    let answer = |answer: Json| match (answer.get("value"), answer.get("error")) {
        (Some(value), None) => Ok(Answer::Value(value.clone())),
        (None, Some(error)) => Ok(Answer::Refusal(error.clone())),
        _ => anyhow::bail!("an answer has one of two fields: {answer}"),
    };
    oracle.ask(&questions)?.into_iter().map(answer).collect()
}

#[test]
fn go_still_gives_the_answers_in_the_tables() -> Result<()> {
    let rows = rows::all()?;
    let questions: Vec<_> = rows.iter().map(|row| row.question.clone()).collect();
    for (row, answer) in rows.iter().zip(ask(&mut Oracle::start("oracle-regex")?, &questions)?) {
        assert_eq!(row.answer, answer, "{}: {:?}", row.place, row.question);
    }
    Ok(())
}

#[test]
fn patterns_find_the_same_in_texts() -> Result<()> {
    compare(Chance::question, 2)
}

#[test]
fn patterns_that_are_damaged_are_refused_in_the_same_words() -> Result<()> {
    compare(Chance::damaged, 5)
}

/// Both find the same, or refuse the pattern in the same words. One of so many has to be a pattern for that to say
/// something.
fn compare(make: impl Fn(&mut Chance) -> Question, one_of: usize) -> Result<()> {
    let cases = sample((0..CASES).collect(), TAKEN);
    let mut oracle = Oracle::start("oracle-regex")?;
    let mut accepted = 0;
    for some in cases.chunks(AT_ONCE) {
        let questions: Vec<_> = some.iter().map(|case| make(&mut Chance::new(*case))).collect();
        for (question, theirs) in questions.iter().zip(ask(&mut oracle, &questions)?) {
            assert_eq!(question.ours(), theirs, "{question:?}");
            accepted += usize::from(matches!(theirs, Answer::Value(_)));
        }
    }
    println!("{accepted} of {} were patterns", cases.len());
    ensure!(accepted * one_of > cases.len(), "only {accepted} of {} were patterns", cases.len());
    Ok(())
}

#[test]
fn the_tables_of_unicode_are_those_of_go() -> Result<()> {
    let answers = Oracle::start("oracle-regex")?.ask(&[json!({"op": "tables"})])?;
    let tables = &answers[0]["tables"];
    let mut classes = String::new();
    for (name, ranges) in tables["classes"].as_object().context("classes have names")? {
        classes += name;
        for (first, last) in serde_json::from_value::<Vec<(u32, u32)>>(ranges.clone())? {
            write!(classes, " {first:X}")?;
            if first != last {
                write!(classes, "-{last:X}")?;
            }
        }
        classes += "\n";
    }
    for (alias, name) in tables["aliases"].as_object().context("aliases have names")? {
        writeln!(classes, "{alias} = {}", name.as_str().context("a name is a text")?)?;
    }
    assert!(classes == include_str!("../src/unicode/classes.txt"), "src/unicode/classes.txt should be:\n{classes}");
    let mut folds = String::new();
    for orbit in serde_json::from_value::<Vec<Vec<u32>>>(tables["folds"].clone())? {
        let codes: Vec<_> = orbit.iter().map(|code| format!("{code:X}")).collect();
        writeln!(folds, "{}", codes.join(" "))?;
    }
    assert!(folds == include_str!("../src/unicode/folds.txt"), "src/unicode/folds.txt should be:\n{folds}");
    Ok(())
}
