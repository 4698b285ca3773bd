//! `test`: everything that has to pass, and a closing line that counts it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, bail};
use clap::Args;
use fitout_testkit::{leak_check, paths, skip, sweep};
use serde_json::Value;

use crate::{lint, packages, testbed};

#[derive(Args)]
pub(crate) struct Options {
    /// Only what needs no cluster
    #[arg(long, conflicts_with = "full")]
    fast: bool,
    /// All cases where otherwise a sample is taken
    #[arg(long)]
    full: bool,
}

/// What came of a part of the suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u32,
    failed: u32,
    skipped: u32,
}

/// A program that cargo built from tests.
#[derive(Debug)]
struct Program {
    name: String,
    /// Whether its tests start clusters: their file's name begins with `live`.
    live: bool,
    path: PathBuf,
    /// The directory that tests expect to be in, as under `cargo test`.
    directory: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let began = Instant::now();
    packages::install_tools();
    let mut counts = checks();
    let programs = build()?;
    let seed = env::var("FITOUT_SEED").unwrap_or_else(|_| fresh_seed());
    println!("\ntests: seed {seed}; FITOUT_SEED={seed} takes the same samples again");
    let skips = paths::cache()?.join(format!("skipped-{}", std::process::id()));
    let environment = |command: &mut Command| {
        command.env(skip::RECORD, &skips).env("FITOUT_SEED", &seed);
        if options.full {
            command.env("FITOUT_FULL", "1");
        }
    };
    for program in programs.iter().filter(|program| !program.live) {
        counts.add(run_program(program, &environment)?);
    }
    if !options.fast {
        packages::install();
        let testbed = testbed::build()?;
        for program in programs.iter().filter(|program| program.live) {
            counts.add(run_program(program, &environment)?);
        }
        sweep(&testbed)?;
        counts.add(nothing_left()?);
    }
    counts.skip(&skips)?;
    println!("\ntook {:.0} s{}", began.elapsed().as_secs_f32(), if options.full { ", all cases" } else { "" });
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    if counts.failed > 0 {
        bail!("{} failed", counts.failed);
    }
    Ok(())
}

fn checks() -> Counts {
    let mut counts = Counts::default();
    println!("checks:");
    for (what, check) in lint::CHECKS {
        match check() {
            Ok(()) => {
                println!("  {what} passed");
                counts.passed += 1;
            }
            Err(error) => {
                println!("  {what} FAILED: {error:#}");
                counts.failed += 1;
            }
        }
    }
    counts
}

fn fresh_seed() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() % 1_000_000).to_string()
}

/// Builds all tests and says where they are, in the order of their names.
fn build() -> Result<Vec<Program>> {
    let output = Command::new(env!("CARGO"))
        .args(["test", "--workspace", "--locked", "--no-run", "--message-format=json-render-diagnostics"])
        .current_dir(paths::checkout())
        .stderr(Stdio::inherit())
        .output()
        .context("run cargo")?;
    if !output.status.success() {
        bail!("the tests do not compile");
    }
    let text = String::from_utf8(output.stdout)?;
    let mut programs: Vec<Program> = text.lines().filter_map(program).collect();
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}

fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let package = Path::new(message["manifest_path"].as_str()?).parent()?;
    let target = message["target"]["name"].as_str()?;
    Some(Program {
        name: format!("{} {target}", package.file_name()?.display()),
        live: target.starts_with("live"),
        path: message["executable"].as_str()?.into(),
        directory: package.to_owned(),
    })
}

fn run_program(program: &Program, environment: &impl Fn(&mut Command)) -> Result<Counts> {
    let began = Instant::now();
    let mut command = Command::new(&program.path);
    command.current_dir(&program.directory).stderr(Stdio::inherit());
    environment(&mut command);
    let output = command.output().with_context(|| format!("run {}", program.path.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut counts = count(&text);
    if !output.status.success() {
        print!("{text}");
        // One that died in the middle counted nothing.
        counts.failed = counts.failed.max(1);
    }
    let seconds = began.elapsed().as_secs_f32();
    println!("  {:28} {:>4} passed {:>3} failed {seconds:>7.1} s", program.name, counts.passed, counts.failed);
    Ok(counts)
}

/// Reads the closing line of Rust's test harness. Tests that are only run by other tests are marked as ignored, and are
/// neither here nor there.
fn count(output: &str) -> Counts {
    let line = output.lines().rev().find(|line| line.starts_with("test result:")).unwrap_or_default();
    let number = |what: &str| {
        let before = line.split(what).next().unwrap_or_default();
        before.split_whitespace().last().and_then(|word| word.parse().ok()).unwrap_or(0)
    };
    if line.is_empty() {
        return Counts::default();
    }
    Counts { passed: number(" passed"), failed: number(" failed"), skipped: 0 }
}

/// The last test of all: that nothing is left of the others.
fn nothing_left() -> Result<Counts> {
    let left = leak_check::all()?;
    if left.is_empty() {
        println!("  nothing of the testbed is left");
        return Ok(Counts { passed: 1, ..Counts::default() });
    }
    println!("  left of the testbed:\n    {}", left.join("\n    "));
    Ok(Counts { failed: 1, ..Counts::default() })
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// A test that found it could not run says so, and passes as far as Rust's harness can tell.
    fn skip(&mut self, record: &Path) -> Result<()> {
        let Ok(text) = fs::read_to_string(record) else { return Ok(()) };
        fs::remove_file(record)?;
        println!("\nskipped:");
        for line in text.lines() {
            println!("  {line}");
            self.skipped += 1;
            self.passed = self.passed.saturating_sub(1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harness_closing_line_is_counted() {
        let output =
            "running 3 tests\n\ntest result: FAILED. 12 passed; 2 failed; 3 ignored; 0 measured; 0 filtered out";
        assert_eq!(count(output), Counts { passed: 12, failed: 2, skipped: 0 });
    }

    #[test]
    fn output_without_a_closing_line_counts_nothing() {
        assert_eq!(count("thread panicked: 7 passed"), Counts::default());
    }

    #[test]
    fn only_test_programs_are_taken_from_cargos_messages() {
        let test = r#"{"reason":"compiler-artifact","manifest_path":"/x/testkit/Cargo.toml","executable":"/t/live-1",
            "target":{"name":"live_node"},"profile":{"test":true}}"#;
        let found = program(&test.replace('\n', "")).unwrap();
        assert_eq!((found.name.as_str(), found.live), ("testkit live_node", true));
        assert!(program(&test.replace('\n', "").replace(r#""test":true"#, r#""test":false"#)).is_none());
        assert!(program("not json").is_none());
    }

    #[test]
    fn a_skipped_test_is_not_a_passed_one() {
        let record = std::env::temp_dir().join(format!("fitout-skips-{}", std::process::id()));
        fs::write(&record, "pods_run: pods need root\n").unwrap();
        let mut counts = Counts { passed: 3, ..Counts::default() };
        counts.skip(&record).unwrap();
        assert_eq!(counts, Counts { passed: 2, failed: 0, skipped: 1 });
        assert!(!record.exists());
    }
}
