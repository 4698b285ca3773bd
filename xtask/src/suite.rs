//! `test`: everything that has to pass, how long each part took, and a closing line that counts it.

mod jobs;
mod schedule;

use std::env;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, bail};
use clap::Args;
use fitout_testkit::{Part, leak_check, paths, skip, sweep};

use crate::{lint, packages, testbed};
use jobs::Job;
use schedule::Scheduler;

#[derive(Args)]
pub(crate) struct Options {
    /// Run only what needs no cluster
    #[arg(long, conflicts_with = "full")]
    fast: bool,
    /// Take all cases where otherwise a sample is taken
    #[arg(long)]
    full: bool,
}

/// The result of a part of the suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u32,
    failed: u32,
    skipped: u32,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut times = Times::start();
    packages::install_tools();
    let mut counts = checks();
    times.end_of("checks");
    let programs = jobs::build()?;
    times.end_of("build");
    let seed = env::var("FITOUT_SEED").unwrap_or_else(|_| fresh_seed());
    println!("\ntests: seed {seed}; FITOUT_SEED={seed} takes the same samples again");
    let skips = paths::cache()?.join(format!("skipped-{}", std::process::id()));
    let mut environment = vec![(skip::RECORD, skips.as_os_str().to_owned()), ("FITOUT_SEED", seed.into())];
    if options.full {
        environment.push(("FITOUT_FULL", "1".into()));
    }
    let mut scheduler = Scheduler::new(environment)?;
    let (live, offline): (Vec<_>, Vec<_>) = programs.iter().partition(|program| program.live);
    let jobs = offline.into_iter().map(Job::whole).collect();
    run_jobs(&mut scheduler, jobs, "tests without a cluster", &mut counts, &mut times)?;
    if !options.fast {
        packages::install();
        packages::install_git_server();
        let testbed = testbed::build(&Part::ALL)?;
        times.end_of("testbed");
        let mut jobs = Vec::new();
        for program in live {
            jobs.extend(jobs::modules(program)?);
        }
        run_jobs(&mut scheduler, jobs, "live tests", &mut counts, &mut times)?;
        sweep(&testbed)?;
        counts.add(nothing_left()?);
    }
    scheduler.remember()?;
    counts.skip(&skips)?;
    println!("\ntook {times}{}", if options.full { ", all cases" } else { "" });
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    if counts.failed > 0 {
        bail!("{} failed", counts.failed);
    }
    Ok(())
}

/// Runs jobs side by side, then those that have to be alone.
fn run_jobs(
    scheduler: &mut Scheduler,
    jobs: Vec<Job>,
    what: &str,
    counts: &mut Counts,
    times: &mut Times,
) -> Result<()> {
    let (alone, shared): (Vec<_>, Vec<_>) = jobs.into_iter().partition(Job::runs_alone);
    println!("{what}, side by side:");
    counts.add(scheduler.run(shared)?);
    times.end_of(&format!("{what} side by side"));
    println!("{what}, one at a time:");
    for job in alone {
        counts.add(scheduler.run(vec![job])?);
    }
    times.end_of(&format!("{what} one at a time"));
    Ok(())
}

fn checks() -> Counts {
    let mut counts = Counts::default();
    println!("checks:");
    for (what, check) in lint::CHECKS {
        let began = Instant::now();
        match check() {
            Ok(()) => {
                println!("  {what:28} passed {:>22.1} s", began.elapsed().as_secs_f32());
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

/// The last test: nothing of the testbed is left on the machine.
fn nothing_left() -> Result<Counts> {
    let left = leak_check::all()?;
    if left.is_empty() {
        println!("  nothing of the testbed is left");
        return Ok(Counts { passed: 1, ..Counts::default() });
    }
    println!("  left of the testbed:\n    {}", left.join("\n    "));
    Ok(Counts { failed: 1, ..Counts::default() })
}

/// How long each part of a run took.
struct Times {
    began: Instant,
    last: Instant,
    parts: Vec<(String, Duration)>,
}

impl Times {
    fn start() -> Self {
        Self { began: Instant::now(), last: Instant::now(), parts: vec![] }
    }

    /// Books the time since the end of the last part.
    fn end_of(&mut self, part: &str) {
        let now = Instant::now();
        self.parts.push((part.to_owned(), now - self.last));
        self.last = now;
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} s", self.began.elapsed().as_secs_f32())?;
        for (index, (part, took)) in self.parts.iter().enumerate() {
            write!(f, "{} {part} {:.0} s", if index == 0 { ":" } else { "," }, took.as_secs_f32())?;
        }
        Ok(())
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Reads the closing line of Rust's test harness. Tests that are only run by other tests are marked as ignored and
    /// do not count.
    fn of_output(output: &str) -> Self {
        let line = output.lines().rev().find(|line| line.starts_with("test result:")).unwrap_or_default();
        let number = |what: &str| {
            let before = line.split(what).next().unwrap_or_default();
            before.split_whitespace().last().and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        if line.is_empty() {
            return Self::default();
        }
        Self { passed: number(" passed"), failed: number(" failed"), skipped: 0 }
    }

    /// Moves tests that recorded that they cannot run here from passed to skipped: for Rust's harness they have passed.
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
        assert_eq!(Counts::of_output(output), Counts { passed: 12, failed: 2, skipped: 0 });
    }

    #[test]
    fn output_without_a_closing_line_counts_nothing() {
        assert_eq!(Counts::of_output("thread panicked: 7 passed"), Counts::default());
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

    #[test]
    fn every_part_has_its_time() {
        let mut times = Times::start();
        times.end_of("checks");
        times.end_of("build");
        assert_eq!(times.to_string(), "0 s: checks 0 s, build 0 s");
    }
}
