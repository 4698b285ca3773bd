//! `fuzz`: runs the parsers of untrusted input on generated input. None may crash, hang or exceed its memory.

use std::env::consts::ARCH;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use fitout_testkit::{Part, case_lines, paths};
use serde_json::Value;

use crate::{lint, testbed};

/// Pinned, so that a new release cannot fail a run that passed.
const CARGO_FUZZ: &str = "0.13.2";
/// The limits of one input: memory in MB, and seconds.
const LIMITS: [&str; 3] = ["-rss_limit_mb=512", "-malloc_limit_mb=512", "-timeout=10"];

/// The targets of `fuzz/`, and the case tables that seed them.
const TARGETS: [(&str, &[&str]); 6] = [
    ("template", &["crates/go/template/tests/cases", "crates/helm/functions/tests/cases"]),
    ("lexer", &["crates/go/template/tests/cases"]),
    ("yaml", &["crates/go/yaml/tests/cases"]),
    ("archive", &[]),
    ("strvals", &["crates/helm/chart/tests/cases"]),
    ("release", &[]),
];

#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 180)]
    seconds: u64,
    /// The targets [default: all]
    #[arg(value_parser = TARGETS.map(|(name, _)| name))]
    targets: Vec<String>,
}

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    runs: u64,
    peak: u64,
    /// The failure that was found, with the file of its input if there is one.
    found: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let folder = paths::cache()?.join("fuzz");
    build(&folder)?;
    let chosen =
        TARGETS.iter().filter(|(name, _)| options.targets.is_empty() || options.targets.iter().any(|t| t == name));
    let mut failed = Vec::new();
    println!("{:10} {:>12} {:>8}  result", "target", "runs", "peak MB");
    for (name, tables) in chosen {
        seed(&folder, name, tables)?;
        let Outcome { runs, peak, found } = attack(&folder, name, options.seconds)?;
        println!("{name:10} {runs:>12} {peak:>8}  {}", found.as_deref().unwrap_or("nothing found"));
        failed.extend(found.map(|_| *name));
    }
    ensure!(failed.is_empty(), "found something in {}: see {}", failed.join(", "), folder.display());
    Ok(())
}

/// Builds all targets with the dependency versions of the product.
fn build(folder: &Path) -> Result<()> {
    let cargo_fuzz = lint::install("cargo-fuzz", CARGO_FUZZ, &[])?;
    fs::copy(paths::checkout().join("Cargo.lock"), paths::checkout().join("fuzz/Cargo.lock"))?;
    // Sanitizers find errors of unsafe code only, need another toolchain, and count their own memory as ours.
    let status = Command::new(cargo_fuzz)
        .args(["fuzz", "build", "--sanitizer=none", "--target", &triple(), "--target-dir"])
        .arg(folder.join("target"))
        .current_dir(paths::checkout())
        .status()
        .context("run cargo-fuzz")?;
    ensure!(status.success(), "the targets of fuzz/ do not build");
    Ok(())
}

fn triple() -> String {
    format!("{ARCH}-unknown-linux-gnu")
}

/// Writes the seeds of a target: each text of its case tables in its own file.
fn seed(folder: &Path, name: &str, tables: &[&str]) -> Result<()> {
    let seeds = folder.join("seeds").join(name);
    fs::create_dir_all(&seeds)?;
    fs::create_dir_all(folder.join("corpus").join(name))?;
    for table in tables {
        for (index, (_, line)) in case_lines(&paths::checkout().join(table))?.iter().enumerate() {
            if let Some(text) = asked(line) {
                fs::write(seeds.join(format!("{}-{index}", table.replace('/', "-"))), text)?;
            }
        }
    }
    match name {
        "archive" => pack_chart(&seeds.join("podinfo.tar")),
        "release" => {
            fs::copy(paths::checkout().join("fuzz/release.json"), seeds.join("full")).map(drop).map_err(Into::into)
        }
        _ => Ok(()),
    }
}

/// The input text of a row: the first JSON value that is a string, a list that begins with one, or an object with `text`.
fn asked(line: &str) -> Option<String> {
    let json = &line[line.find(['"', '[', '{'])?..];
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>().map_while(Result::ok);
    values.find_map(|value| {
        let text = if value.is_string() { &value } else { value.get(0).or_else(|| value.get("text"))? };
        text.as_str().map(str::to_owned)
    })
}

/// Packs some files of a chart. All of them would make inputs large and runs slow.
fn pack_chart(archive: &Path) -> Result<()> {
    let chart =
        testbed::build(&[Part::Charts])?.charts()?.remove("podinfo").context("the testbed has the chart of podinfo")?;
    let packed = Command::new("tar")
        .arg("--create")
        .args([
            Path::new("--file"),
            archive,
            Path::new("--directory"),
            chart.parent().context("a chart is in a folder")?,
        ])
        .args(["Chart.yaml", "values.yaml", "templates/service.yaml"].map(|file| format!("podinfo/{file}")))
        .status()
        .context("run tar")?;
    ensure!(packed.success(), "tar could not pack the files of a chart");
    Ok(())
}

/// Runs a target for a time. Its log is in a file, and so is an input that made it fail.
fn attack(folder: &Path, name: &str, seconds: u64) -> Result<Outcome> {
    let program = folder.join("target").join(triple()).join("release").join(name);
    let log = folder.join(format!("{name}.log"));
    let status = Command::new(program)
        .args(LIMITS)
        .args([format!("-max_total_time={seconds}"), "-print_final_stats=1".to_owned()])
        .arg(format!("-artifact_prefix={}/found-{name}-", folder.display()))
        .args(["corpus", "seeds"].map(|kind| folder.join(kind).join(name)))
        .stderr(File::create(&log)?)
        .status()
        .with_context(|| format!("run the target {name}"))?;
    let text = fs::read(&log)?;
    Ok(outcome(&String::from_utf8_lossy(&text), status.success()))
}

fn outcome(log: &str, passed: bool) -> Outcome {
    let after = |mark: &str| log.lines().rev().find_map(|line| line.split_once(mark)).map(|(_, rest)| rest.trim());
    let number = |mark: &str| after(mark).and_then(|text| text.parse().ok()).unwrap_or(0);
    let found = || {
        let what = after("SUMMARY: libFuzzer: ").unwrap_or("it exited");
        after("Test unit written to ").map_or(what.to_owned(), |file| format!("{what}: {file}"))
    };
    Outcome {
        runs: number("stat::number_of_executed_units:"),
        peak: number("stat::peak_rss_mb:"),
        found: (!passed).then(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_listed() -> Result<()> {
        let manifest = fs::read_to_string(paths::checkout().join("fuzz/Cargo.toml"))?;
        let built: Vec<_> = manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")).collect();
        assert_eq!(built, TARGETS.map(|(name, _)| format!("{name}.rs\"")));
        Ok(())
    }

    #[test]
    fn row_gives_its_input_text() {
        assert_eq!(asked(r#"run "{{.a}}" {"a":1} => "1""#).unwrap(), "{{.a}}");
        assert_eq!(asked(r#"run ["{{template \"a\"}}",["a","x"]] => "x""#).unwrap(), r#"{{template "a"}}"#);
        assert_eq!(asked(r#"{"op":"strvals","text":"a=1"} => 1"#).unwrap(), "a=1");
        assert_eq!(asked(r#"with {"seed":1} ["{{now}}"] {} => "x""#).unwrap(), "{{now}}");
        assert_eq!(asked("nothing"), None);
    }

    #[test]
    fn output_of_a_run_is_parsed() {
        let stats = "stat::number_of_executed_units: 12\nstat::peak_rss_mb:             37\n";
        assert_eq!(outcome(stats, true), Outcome { runs: 12, peak: 37, found: None });
        let crash = "SUMMARY: libFuzzer: timeout\n...; Test unit written to /x/found-yaml-timeout-1\n";
        let found = outcome(&format!("{crash}{stats}"), false).found.unwrap();
        assert_eq!(found, "timeout: /x/found-yaml-timeout-1");
    }
}
