//! Every row of the case tables holds.

mod rows;

use rows::Question;

#[test]
fn every_row_holds() {
    let rows = rows::all().unwrap();
    assert!(rows.len() > 1000, "there are only {} rows", rows.len());
    let wrong: Vec<_> = rows
        .iter()
        .map(|row| (row, row.question.ours()))
        .filter(|(row, ours)| *ours != row.answer)
        .map(|(row, ours)| format!("{}: {:?}\n  table: {:?}\n  ours:  {ours:?}", row.place, row.question, row.answer))
        .collect();
    assert!(wrong.is_empty(), "{} rows do not hold:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_fact_is_there_twice() {
    let rows = rows::all().unwrap();
    for (i, row) in rows.iter().enumerate() {
        let again = rows[..i].iter().find(|other| other.question == row.question);
        assert!(again.is_none(), "{} asks again what {} asks", row.place, again.unwrap().place);
    }
}

#[test]
fn what_is_written_reads_as_itself() {
    for row in
        rows::all().unwrap().iter().filter(|row| ["lenient", "strict", "range"].contains(&row.question.op.as_str()))
    {
        let Ok(written) = &row.answer else { continue };
        let again = Question::new(&row.question.op, &[written.as_str().unwrap()]);
        assert_eq!(again.ours().as_ref(), Ok(written), "{}", row.place);
    }
}
