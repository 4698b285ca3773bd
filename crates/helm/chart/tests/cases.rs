//! Every row of the case tables holds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod rows;
#[allow(dead_code, reason = "this program has no oracle")]
mod world;

use anyhow::Result;

#[test]
fn every_row_holds() -> Result<()> {
    let rows = rows::all()?;
    assert!(rows.len() > 200, "there are only {} rows", rows.len());
    let wrong: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let (ours, theirs) = (world::ours(&row.question), world::comparable(row.answer.clone()));
            let rows::Row { place, question, .. } = row;
            (ours != theirs).then(|| format!("{place}: {question}\n  Helm: {theirs}\n  ours: {ours}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} rows do not hold:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}
