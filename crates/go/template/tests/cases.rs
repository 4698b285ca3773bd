//! Every row of the case tables holds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod rows;
mod world;

use anyhow::Result;

#[test]
fn every_row_holds() -> Result<()> {
    let rows = rows::all()?;
    assert!(rows.len() > 1000, "there are only {} rows", rows.len());
    let wrong: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let ours = row.question.ours();
            let rows::Row { place, question, answer } = row;
            (ours != *answer).then(|| format!("{place}: {question:?}\n  Go:   {answer:?}\n  ours: {ours:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} rows do not hold:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}
