//! Every row of the case tables holds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod rows;
mod world;

use anyhow::Result;

#[test]
fn every_row_holds() -> Result<()> {
    let rows = rows::all()?;
    assert!(!rows.is_empty(), "there are no rows");
    let mut wrong = Vec::new();
    for rows::Row { place, question, answer } in &rows {
        let ours = question.ours();
        if ours != *answer {
            wrong.push(format!("{place}: {question:?}\n  Go:   {answer:?}\n  ours: {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows do not hold:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    Ok(())
}
