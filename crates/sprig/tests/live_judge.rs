//! Go itself is asked again: for every row of the case tables, and for calls made up by chance.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod chance;
mod judge;
mod rows;
mod world;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use chance::Chance;
use fitout_testkit::sample;
use rows::{Answer, Question};
use serde_json::json;

/// How many cases there are in all, and how many of them a run takes.
const CASES: u64 = 1_000_000;
const TAKEN: usize = 10_000;
/// How many questions are asked at once.
const AT_ONCE: usize = 500;

#[test]
fn go_still_gives_the_answers_in_the_tables() -> Result<()> {
    let rows = rows::all()?;
    let answers = judge::ask(&mut judge::start()?, &rows.iter().map(|row| row.question.clone()).collect::<Vec<_>>())?;
    for (row, answer) in rows.iter().zip(answers) {
        assert_eq!(row.answer, answer, "{}: {:?}", row.place, row.question);
    }
    Ok(())
}

#[test]
fn functions_make_the_same_of_values() -> Result<()> {
    let cases = sample((0..CASES).collect(), TAKEN);
    let mut judge = judge::start()?;
    let mut executed = 0;
    for some in cases.chunks(AT_ONCE) {
        let questions: Vec<_> = some.iter().map(|case| Chance::new(*case).question()).collect();
        for (question, theirs) in questions.iter().zip(judge::ask(&mut judge, &questions)?) {
            executed += usize::from(!matches!(theirs, Answer::Refusal(_)));
            assert_eq!(question.ours().readable(), theirs.readable(), "{question:?}");
        }
    }
    println!("executed {executed} of {}", cases.len());
    ensure!(executed * 4 > cases.len(), "only {executed} of {} were executed to the end", cases.len());
    Ok(())
}

#[test]
fn functions_are_declared_as_in_go() -> Result<()> {
    /// These need a chart.
    const OF_CHARTS: &[&str] = &["include", "lookup", "required", "tpl"];
    let answers = judge::start()?.ask(&[json!({"op": "list"})])?;
    let declared: BTreeMap<String, String> = serde_json::from_value(answers[0]["functions"].clone())?;
    assert_eq!(declared.len(), 233);
    let functions = world::functions(&world::World::default());
    for (name, declaration) in &declared {
        match functions.get(name) {
            Some(function) => assert_eq!(function.signature().to_string(), *declaration, "{name}"),
            None => assert!(OF_CHARTS.contains(&name.as_str()), "there is no {name}"),
        }
    }
    Ok(())
}

#[test]
fn characters_are_the_same_in_every_case() -> Result<()> {
    // From here on, nothing has a case or a class that matters.
    let all: Vec<char> = ('\u{0}'..'\u{32400}').chain('\u{e0000}'..'\u{e0200}').collect();
    let mut questions = Vec::new();
    for some in all.chunks(4096) {
        for function in ["upper", "lower", "swapcase"] {
            questions.push(Question::new(format!("{{{{{function} .}}}}"), json!(some.iter().collect::<String>())));
        }
        for function in ["title", "camelcase", "snakecase"] {
            let words: String = some.iter().flat_map(|c| ['a', *c, '.', *c, 'B', ' ']).collect();
            questions.push(Question::new(format!("{{{{{function} .}}}}"), json!(words)));
        }
    }
    let mut judge = judge::start()?;
    for some in questions.chunks(AT_ONCE) {
        for (question, theirs) in some.iter().zip(judge::ask(&mut judge, some)?) {
            assert!(question.ours() == theirs, "{question:?}\n{theirs:?}");
        }
    }
    Ok(())
}

#[test]
#[ignore = "fills in what Go answers to rows without an answer"]
fn fill_in_the_tables() -> Result<()> {
    let mut judge = judge::start()?;
    for entry in fs::read_dir(rows::folder())? {
        let path = entry?.path();
        let mut filled = String::new();
        for line in fs::read_to_string(&path)?.lines() {
            let open = if line.is_empty() || line.starts_with('#') {
                None
            } else {
                let (question, answer) = rows::asked(line).with_context(|| format!("{}: {line}", path.display()))?;
                answer.is_empty().then_some(question)
            };
            filled += line.trim_end();
            if let Some(question) = open {
                let answer = judge::ask(&mut judge, &[question])?.remove(0);
                filled = filled + " " + &answer.written();
            }
            filled.push('\n');
        }
        fs::write(&path, filled)?;
    }
    Ok(())
}
