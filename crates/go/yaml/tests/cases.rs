//! Every row of the case tables holds.

mod rows;

use anyhow::Result;
use fitout_go_yaml::from_yaml;
use rows::{Answer, Question, Row};

#[test]
fn every_row_holds() -> Result<()> {
    let rows = rows::all()?;
    assert!(rows.len() > 1500, "there are only {} rows", rows.len());
    let wrong: Vec<_> = rows.iter().filter_map(difference).collect();
    assert!(wrong.is_empty(), "{} rows do not hold:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

fn difference(row: &Row) -> Option<String> {
    let ours = row.question.ours();
    let holds = match (&row.question, &row.answer, &ours) {
        // What Go refuses to write, we write: then it has to read as the same value.
        (Question::To(value), Answer::Refusal(_), Answer::Text(text)) => from_yaml(text).as_ref() == Ok(value),
        (_, theirs, ours) => ours == theirs,
    };
    let Row { place, question, answer } = row;
    (!holds).then(|| format!("{place}: {question:?}\n  Go:   {answer:?}\n  ours: {ours:?}"))
}
