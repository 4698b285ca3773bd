//! Go itself is asked again: for every row of the case tables.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod judge;
mod rows;
#[allow(dead_code, reason = "nothing is run by ourselves here yet")]
mod world;

use std::fs;

use anyhow::{Context, Result};

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
