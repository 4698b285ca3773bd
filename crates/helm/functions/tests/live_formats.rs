//! Go is asked what it makes of values and texts that are made up by chance.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod formats;
mod oracle;
#[allow(dead_code, reason = "no rows are read here")]
mod rows;
mod world;

use anyhow::{Result, ensure};
use fitout_testkit::sample;
use formats::Chance;
use rows::{Answer, Question};
use serde_json::Value as Json;

/// How many cases there are in all, and how many of them a run takes.
const CASES: u64 = 100_000;
const TAKEN: usize = 1_500;
/// How many questions are asked at once.
const AT_ONCE: usize = 500;

#[test]
fn values_are_written_in_json_as_go_writes_them() -> Result<()> {
    compare("{{toJson .}}", |chance| chance.value(4), 2)?;
    compare("{{toPrettyJson .}}", |chance| chance.value(4), 2)?;
    compare("{{mustToRawJson .}}", |chance| chance.value(4), 2)
}

#[test]
fn values_are_written_in_yaml_as_go_writes_them() -> Result<()> {
    compare("{{toYaml .}}", |chance| chance.value(4), 2)?;
    compare("{{mustToYaml .}}", |chance| chance.value(4), 2)
}

#[test]
fn values_are_written_in_yaml_as_version_3_writes_them() -> Result<()> {
    compare("{{toYamlPretty .}}", |chance| chance.value(4), 2)
}

#[test]
fn values_are_written_in_toml_as_go_writes_them() -> Result<()> {
    compare("{{toToml .}}", Chance::table, 2)?;
    compare("{{mustToToml .}}", |chance| chance.value(4), 4)
}

#[test]
fn texts_in_toml_mean_the_same() -> Result<()> {
    compare(
        "{{fromToml .}}|{{fromToml . | toJson}}|{{fromToml . | toToml}}|{{fromToml . | toYamlPretty}}",
        Chance::toml,
        2,
    )
}

#[test]
fn texts_in_json_mean_the_same() -> Result<()> {
    compare("{{fromJson .}}|{{fromJsonArray .}}", Chance::json, 2)?;
    compare("{{mustFromJson . | printf \"%v\"}}", Chance::json, 4)
}

#[test]
fn texts_in_yaml_mean_the_same() -> Result<()> {
    compare("{{fromYaml .}}|{{fromYamlArray .}}|{{fromYaml . | toJson}}", Chance::yaml, 2)
}

#[test]
fn texts_in_yaml_that_end_within_a_character_are_refused_alike() -> Result<()> {
    compare("{{fromYaml .}}|{{fromYamlArray .}}", Chance::cut_yaml, 2)
}

#[test]
fn durations_are_as_long() -> Result<()> {
    compare("{{mustToDuration .}}", Chance::duration, 4)?;
    compare(
        "{{durationSeconds .}} {{durationMinutes .}} {{durationHours .}} {{durationDays .}} {{durationWeeks .}}",
        Chance::duration,
        2,
    )?;
    compare("{{durationMilliseconds .}} {{durationMicroseconds .}} {{durationNanoseconds .}}", Chance::duration, 2)?;
    compare(
        "{{range .}}{{durationRoundTo $.a .}} {{durationTruncateTo . $.a}} {{end}}",
        |chance| serde_json::json!({"a": chance.duration(), "b": chance.duration()}),
        2,
    )
}

/// Both make the same of it, or refuse it in the same words. One of so many has to be executed to the end for that to
/// say something.
fn compare(template: &str, make: impl Fn(&mut Chance) -> Json, one_of: usize) -> Result<()> {
    let cases = sample((0..CASES).collect(), TAKEN);
    let mut oracle = oracle::start()?;
    let (mut executed, mut wrong) = (0, Vec::new());
    for some in cases.chunks(AT_ONCE) {
        let questions: Vec<_> =
            some.iter().map(|case| Question::new(template.to_owned(), make(&mut Chance::new(*case)))).collect();
        for (question, theirs) in questions.iter().zip(oracle::ask(&mut oracle, &questions)?) {
            let ours = question.ours();
            executed += usize::from(!matches!(theirs, Answer::Refusal(_)));
            if ours != theirs {
                wrong.push(format!("{}\n  Go:   {theirs:?}\n  ours: {ours:?}", question.data));
            }
        }
    }
    println!("{template}: executed {executed} of {}", cases.len());
    let shown = wrong.iter().take(8).cloned().collect::<Vec<_>>().join("\n");
    ensure!(wrong.is_empty(), "{template}: {} of {} differ:\n{shown}", wrong.len(), cases.len());
    ensure!(executed * one_of > cases.len(), "only {executed} of {} were executed to the end", cases.len());
    Ok(())
}
