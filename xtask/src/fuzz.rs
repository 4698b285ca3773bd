//! `fuzz`: gives what reads the input of strangers anything at all, and sees that it neither crashes, hangs nor swells.

use std::env::consts::ARCH;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use fitout_testkit::{Part, case_lines, paths};
use serde_json::Value;

use crate::{lint, testbed};

/// Pinned, so that a new release of it cannot fail a run that passed.
const CARGO_FUZZ: &str = "0.13.2";
/// What no input may need more of: memory in MB, and seconds.
const LIMITS: [&str; 3] = ["-rss_limit_mb=512", "-malloc_limit_mb=512", "-timeout=10"];

/// A program of `fuzz/`, and the case tables whose texts it begins with.
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
    /// How long each of them runs
    #[arg(long, default_value_t = 180)]
    seconds: u64,
    /// Which of them run [default: all]
    #[arg(value_parser = TARGETS.map(|(name, _)| name))]
    targets: Vec<String>,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    runs: u64,
    peak: u64,
    /// What was found, and the file with what it takes, if there is one.
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

/// Builds all of them, with the versions of all libraries that the product has.
fn build(folder: &Path) -> Result<()> {
    let cargo_fuzz = lint::install("cargo-fuzz", CARGO_FUZZ, &[])?;
    fs::copy(paths::checkout().join("Cargo.lock"), paths::checkout().join("fuzz/Cargo.lock"))?;
    // Sanitizers look for what only unsafe code can do wrong, need another toolchain, and would count their own memory as ours.
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

/// Gives a target what the tests know to be interesting, each text in a file of its own.
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

/// The text that a row asks about: the first JSON in it that is one, or a list that begins with one, or an object that has one.
fn asked(line: &str) -> Option<String> {
    let json = &line[line.find(['"', '[', '{'])?..];
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>().map_while(Result::ok);
    values.find_map(|value| {
        let text = if value.is_string() { &value } else { value.get(0).or_else(|| value.get("text"))? };
        text.as_str().map(str::to_owned)
    })
}

/// Some files of a chart. All of them would make each input large, and each run slow.
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

/// Runs one of them for a time. What it says is in a file, and so is any input that it could not bear.
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
    let said = fs::read(&log)?;
    Ok(outcome(&String::from_utf8_lossy(&said), status.success()))
}

fn outcome(said: &str, passed: bool) -> Outcome {
    let after = |mark: &str| said.lines().rev().find_map(|line| line.split_once(mark)).map(|(_, rest)| rest.trim());
    let number = |mark: &str| after(mark).and_then(|text| text.parse().ok()).unwrap_or(0);
    let found = || {
        let what = after("SUMMARY: libFuzzer: ").unwrap_or("it ended by itself");
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
    fn every_target_is_built_and_run() -> Result<()> {
        let manifest = fs::read_to_string(paths::checkout().join("fuzz/Cargo.toml"))?;
        let built: Vec<_> = manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")).collect();
        assert_eq!(built, TARGETS.map(|(name, _)| format!("{name}.rs\"")));
        Ok(())
    }

    #[test]
    fn rows_give_the_texts_that_they_ask_about() {
        assert_eq!(asked(r#"run "{{.a}}" {"a":1} => "1""#).unwrap(), "{{.a}}");
        assert_eq!(asked(r#"run ["{{template \"a\"}}",["a","x"]] => "x""#).unwrap(), r#"{{template "a"}}"#);
        assert_eq!(asked(r#"{"op":"strvals","text":"a=1"} => 1"#).unwrap(), "a=1");
        assert_eq!(asked(r#"with {"seed":1} ["{{now}}"] {} => "x""#).unwrap(), "{{now}}");
        assert_eq!(asked("nothing"), None);
    }

    #[test]
    fn what_a_run_says_is_read() {
        let stats = "stat::number_of_executed_units: 12\nstat::peak_rss_mb:             37\n";
        assert_eq!(outcome(stats, true), Outcome { runs: 12, peak: 37, found: None });
        let crash = "SUMMARY: libFuzzer: timeout\n...; Test unit written to /x/found-yaml-timeout-1\n";
        let found = outcome(&format!("{crash}{stats}"), false).found.unwrap();
        assert_eq!(found, "timeout: /x/found-yaml-timeout-1");
    }
}
