//! Go itself is asked again: for every row of the case tables, and for templates and values made up by chance.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod chance;
mod oracle;
mod rows;
mod world;

use anyhow::{Result, ensure};
use chance::Chance;
use fitout_testkit::sample;
use rows::{Answer, Question};
use serde_json::{Value as Json, json};

/// How many cases there are in all, and how many of them a run takes.
const CASES: u64 = 1_000_000;
const TAKEN: usize = 10_000;
/// How many questions are asked at once.
const AT_ONCE: usize = 500;

#[test]
fn go_still_gives_the_answers_in_the_tables() -> Result<()> {
    let rows = rows::all()?;
    let answers = oracle::ask(&mut oracle::start()?, &rows.iter().map(|row| row.question.clone()).collect::<Vec<_>>())?;
    for (row, answer) in rows.iter().zip(answers) {
        assert_eq!(row.answer, answer, "{}: {:?}", row.place, row.question);
    }
    Ok(())
}

#[test]
fn templates_make_the_same_of_values() -> Result<()> {
    compare(Chance::question, 4)
}

#[test]
fn templates_that_are_damaged_are_refused_in_the_same_words() -> Result<()> {
    compare(Chance::damaged, 20)
}

/// Both make the same of it, or refuse it in the same words. One of so many has to be executed to the end for that to
/// say something.
fn compare(make: impl Fn(&mut Chance) -> Question, one_of: usize) -> Result<()> {
    let cases = sample((0..CASES).collect(), TAKEN);
    let mut oracle = oracle::start()?;
    let mut executed = 0;
    for some in cases.chunks(AT_ONCE) {
        let questions: Vec<_> = some.iter().map(|case| make(&mut Chance::new(*case))).collect();
        for (question, theirs) in questions.iter().zip(oracle::ask(&mut oracle, &questions)?) {
            assert_eq!(question.ours(), theirs, "{question:?}");
            executed += usize::from(!matches!(theirs, Answer::Refusal(_)));
        }
    }
    println!("executed {executed} of {}", cases.len());
    ensure!(executed * one_of > cases.len(), "only {executed} of {} were executed to the end", cases.len());
    Ok(())
}

#[test]
fn characters_are_of_the_same_classes() -> Result<()> {
    let answers = oracle::start()?.ask(&[json!({"op": "classes"})])?;
    let ranges = |class: &str| serde_json::from_value::<Vec<(u32, u32)>>(answers[0]["classes"][class].clone());
    let (letters, digits, printable) = (ranges("letter")?, ranges("digit")?, ranges("print")?);
    let within =
        |ranges: &[(u32, u32)], c: char| ranges.iter().any(|(first, last)| (*first..=*last).contains(&c.into()));
    let edges = letters.iter().chain(&digits).chain(&printable);
    let codes = edges.flat_map(|(first, last)| [first - 1, *first, *last, last + 1]);
    let mut tried = 0;
    for c in codes.filter_map(char::from_u32).filter(|c| !c.is_ascii()) {
        let name = Question {
            text: format!("{{{{$a{c} := 1}}}}"),
            others: Vec::new(),
            data: Json::Null,
            missing_key: "default",
        };
        let in_names = name.ours() == Answer::Text(String::new());
        assert_eq!(in_names, within(&letters, c) || within(&digits, c), "{c:?} in names");
        let shown = fitout_go_template::quote(c.to_string().as_bytes()).contains(c);
        assert_eq!(shown, within(&printable, c), "{c:?} in quotes");
        tried += 1;
    }
    ensure!(tried > 3000, "only {tried} characters were tried");
    Ok(())
}
