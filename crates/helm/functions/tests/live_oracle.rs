//! Go itself is asked again: for every row of the case tables, and for templates made up by chance.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod chance;
#[allow(dead_code, reason = "not everything is part of templates")]
mod formats;
mod oracle;
mod rows;
mod world;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use chance::Chance;
use chance::calls::{CALLS, INCOMPARABLE};
use rows::{Answer, Question};
use serde_json::json;

/// How many questions are asked at once.
const AT_ONCE: usize = 200;
/// How long templates are made up for, unless `FITOUT_FUZZ_SECONDS` says otherwise. `FITOUT_FUZZ_TEMPLATES` says how many at most.
const SECONDS: u64 = 60;
/// How many templates begin with each function in the test that reaches them all.
const ROUNDS: u64 = 24;
/// How many numbers of questions belong to a seed.
const A_SEED: u64 = 1 << 40;

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
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse().ok());
    let seconds = number("FITOUT_FUZZ_SECONDS").unwrap_or(SECONDS);
    let seed = number("FITOUT_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("FITOUT_SEED={seed} makes the same templates again");
    let began = Instant::now();
    let first = seed * A_SEED;
    let most = number("FITOUT_FUZZ_TEMPLATES").unwrap_or(A_SEED);
    let numbers = (first..first + most).take_while(move |_| began.elapsed() < Duration::from_secs(seconds));
    let (mut asked, mut executed) = (0, 0);
    compare(numbers, |_, theirs| {
        asked += 1;
        executed += u64::from(!matches!(theirs, Answer::Refusal(_)));
    })?;
    println!("executed {executed} of {asked} in {:.0} s", began.elapsed().as_secs_f32());
    ensure!(executed * 5 > asked * 2, "only {executed} of {asked} were executed to the end");
    Ok(())
}

#[test]
fn every_function_is_reached() -> Result<()> {
    let mut reached: BTreeMap<String, u64> = BTreeMap::new();
    compare(0..CALLS.len() as u64 * ROUNDS, |number, theirs| {
        if !matches!(theirs, Answer::Refusal(_)) {
            for name in Chance::leading(number).0.split([' ', '(']) {
                *reached.entry(name.to_owned()).or_default() += 1;
            }
        }
    })?;
    for (name, declaration) in declared()? {
        let reason = INCOMPARABLE.iter().find(|(incomparable, _)| *incomparable == name);
        let count = reached.get(&name).copied().unwrap_or(0);
        ensure!((count == 0) == reason.is_some(), "{name} {declaration}: {count} times, {reason:?}");
    }
    Ok(())
}

/// Asks Go and ourselves, side by side, and says each of Go's answers. What differs is an error, written as a row.
fn compare(numbers: impl Iterator<Item = u64> + Send + 'static, mut seen: impl FnMut(u64, &Answer)) -> Result<()> {
    let mut oracle = oracle::start()?;
    let (sender, receiver) = mpsc::sync_channel(2);
    let asking = thread::spawn(move || -> Result<()> {
        let mut numbers = numbers.peekable();
        while numbers.peek().is_some() {
            let some: Vec<_> = numbers.by_ref().take(AT_ONCE).collect();
            let questions: Vec<_> = some.iter().map(|number| Chance::new(*number).question()).collect();
            let answers =
                oracle::ask(&mut oracle, &questions).with_context(|| format!("ask from number {} on", some[0]))?;
            if sender.send((some, questions, answers)).is_err() {
                break;
            }
        }
        Ok(())
    });
    for (numbers, questions, answers) in &receiver {
        let mut wrong = Vec::new();
        for ((number, question), theirs) in numbers.into_iter().zip(questions).zip(answers) {
            seen(number, &theirs);
            let (ours, theirs) = (question.ours().readable(), theirs.readable());
            if ours != theirs {
                wrong.push(format!("{}\n  ours: {}", question.written(&theirs), ours.written()));
            }
        }
        ensure!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    }
    match asking.join() {
        Ok(result) => result,
        Err(_) => bail!("Go could not be asked"),
    }
}

/// How Go declares each function.
fn declared() -> Result<BTreeMap<String, String>> {
    let answers = oracle::start()?.ask(&[json!({"op": "list"})])?;
    Ok(serde_json::from_value(answers[0]["functions"].clone())?)
}

#[test]
fn functions_are_declared_as_in_go() -> Result<()> {
    /// Helm declares these without their errors, and then puts others in their places.
    const OF_CHARTS: &[&str] = &["include", "lookup", "required", "tpl"];
    let declared = declared()?;
    assert_eq!(declared.len(), 233);
    let functions = world::functions(&world::World::default());
    for (name, declaration) in &declared {
        let function = functions.get(name).with_context(|| format!("there is no {name}"))?;
        if !OF_CHARTS.contains(&name.as_str()) {
            assert_eq!(function.signature().to_string(), *declaration, "{name}");
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
    let mut oracle = oracle::start()?;
    for some in questions.chunks(AT_ONCE) {
        for (question, theirs) in some.iter().zip(oracle::ask(&mut oracle, some)?) {
            assert!(question.ours() == theirs, "{question:?}\n{theirs:?}");
        }
    }
    Ok(())
}

#[test]
#[ignore = "fills in what Go answers to rows without an answer"]
fn fill_in_the_tables() -> Result<()> {
    let mut oracle = oracle::start()?;
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
                let answer = oracle::ask(&mut oracle, &[question])?.remove(0);
                filled = filled + " " + &answer.written();
            }
            filled.push('\n');
        }
        fs::write(&path, filled)?;
    }
    Ok(())
}
