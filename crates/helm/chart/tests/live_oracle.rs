//! Helm itself is asked again: for every row of the case tables, and for flags, values and charts made up by chance.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod chance;
mod rows;
mod world;

use std::fmt::Write;
use std::fs;

use anyhow::{Result, ensure};
use chance::Chance;
use fitout_testkit::{Oracle, sample};
use serde_json::Value as Json;

/// How many cases there are in all, and how many of them a run takes.
const CASES: u64 = 1_000_000;
const TAKEN: usize = 5_000;
/// How many questions are asked at once.
const AT_ONCE: usize = 200;

fn ask(oracle: &mut Oracle, questions: &[Json]) -> Result<Vec<Json>> {
    let asked: Vec<_> = questions.iter().map(world::for_the_judge).collect();
    Ok(oracle.ask(&asked)?.into_iter().map(world::comparable).collect())
}

#[test]
fn helm_still_gives_the_answers_in_the_tables() -> Result<()> {
    let rows = rows::all()?;
    let questions: Vec<_> = rows.iter().map(|row| row.question.clone()).collect();
    for (row, answer) in rows.iter().zip(ask(&mut Oracle::start("oracle-chart")?, &questions)?) {
        assert_eq!(world::comparable(row.answer.clone()), answer, "{}: {}", row.place, row.question);
    }
    Ok(())
}

#[test]
fn flags_set_the_same_values() -> Result<()> {
    compare(Chance::strvals, 3)
}

#[test]
fn many_flags_together_make_the_same_values() -> Result<()> {
    compare(Chance::flags, 8)
}

#[test]
fn the_same_files_are_ignored() -> Result<()> {
    compare(Chance::ignore, 3)
}

#[test]
fn charts_are_loaded_or_refused_alike() -> Result<()> {
    compare(Chance::load, 3)
}

#[test]
fn dependencies_and_values_come_out_alike() -> Result<()> {
    compare_some(Chance::process, 1_000, 5)
}

fn compare(make: impl Fn(&mut Chance) -> Json, one_of: usize) -> Result<()> {
    compare_some(make, TAKEN, one_of)
}

#[test]
fn schemas_refuse_the_same_values_in_the_same_words() -> Result<()> {
    compare_some(Chance::schema, 2_000, 20)
}

/// Both answer the same. One of so many has to be no refusal for that to say something.
fn compare_some(make: impl Fn(&mut Chance) -> Json, taken: usize, one_of: usize) -> Result<()> {
    let cases = sample((0..CASES).collect(), taken);
    let mut oracle = Oracle::start("oracle-chart")?;
    let mut accepted = 0;
    for some in cases.chunks(AT_ONCE) {
        let questions: Vec<_> = some.iter().map(|case| make(&mut Chance::new(*case))).collect();
        for (question, theirs) in questions.iter().zip(ask(&mut oracle, &questions)?) {
            if theirs["value"] == "chance" {
                continue;
            }
            let ours = world::ours(question);
            assert!(ours == theirs, "{question}\n  Helm: {theirs}\n  ours: {ours}");
            accepted += usize::from(theirs.get("value").is_some());
        }
    }
    println!("accepted {accepted} of {}", cases.len());
    ensure!(accepted * one_of > cases.len(), "only {accepted} of {} were accepted", cases.len());
    Ok(())
}

/// Writes Helm's answer behind every question of the tables.
#[test]
#[ignore = "writes the tables"]
fn fill_in_the_tables() -> Result<()> {
    let mut oracle = Oracle::start("oracle-chart")?;
    for entry in fs::read_dir(rows::folder())? {
        let path = entry?.path();
        let mut filled = String::new();
        for line in fs::read_to_string(&path)?.lines() {
            if line.is_empty() || line.starts_with('#') {
                filled.push_str(line);
            } else {
                let (question, _) = rows::question(line)?;
                let answer = world::kept(oracle.ask(&[world::for_the_judge(&question)])?.remove(0));
                write!(filled, "{question} => {answer}")?;
            }
            filled.push('\n');
        }
        fs::write(path, filled)?;
    }
    Ok(())
}
