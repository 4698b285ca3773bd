//! Runs jobs side by side, within the processors and the memory of this machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use fitout_testkit::paths;

use super::Counts;
use super::jobs::{Job, cores};

/// Sets how many tests run at a time.
const JOBS: &str = "FITOUT_TEST_JOBS";

/// The memory of a test, in KiB: up to four control planes of half a gigabyte each.
const MEMORY: u64 = 2 << 20;

/// Runs jobs, and remembers how long each took, so that the next run starts the longest first.
pub(super) struct Scheduler {
    environment: Vec<(&'static str, OsString)>,
    /// The number of tests that run at a time.
    slots: usize,
    logs: PathBuf,
    seconds: BTreeMap<String, f32>,
}

/// The jobs that have not been started, and how many tests may still be started beside those that run.
struct Queue {
    jobs: Vec<Job>,
    free: usize,
    counts: Counts,
    seconds: BTreeMap<String, f32>,
    error: Option<anyhow::Error>,
}

impl Scheduler {
    pub(super) fn new(environment: Vec<(&'static str, OsString)>) -> Result<Self> {
        let logs = paths::cache()?.join("test-logs");
        fs::create_dir_all(&logs).with_context(|| format!("create {}", logs.display()))?;
        let seconds = fs::read(times()?).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let slots = std::env::var(JOBS).ok().and_then(|text| text.parse().ok());
        let slots = slots.unwrap_or_else(|| slots_for(cores(), &memory));
        Ok(Self { environment, slots, logs, seconds })
    }

    /// Runs these jobs and prints a line for each, and the output of each that fails.
    pub(super) fn run(&mut self, mut jobs: Vec<Job>) -> Result<Counts> {
        longest_last(&mut jobs, &self.seconds);
        let workers = self.slots.min(jobs.len());
        let (counts, error) = (Counts::default(), None);
        let queue = Mutex::new(Queue { jobs, free: self.slots, counts, seconds: BTreeMap::new(), error });
        let freed = Condvar::new();
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| self.work(&queue, &freed));
            }
        });
        let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.seconds.extend(queue.seconds);
        queue.error.map_or(Ok(queue.counts), Err)
    }

    /// Keeps how long each job took.
    pub(super) fn remember(&self) -> Result<()> {
        let path = times()?;
        fs::write(&path, serde_json::to_vec_pretty(&self.seconds)?).with_context(|| format!("write {}", path.display()))
    }

    fn work(&self, queue: &Mutex<Queue>, freed: &Condvar) {
        let mut all = queue.lock().unwrap_or_else(PoisonError::into_inner);
        while !all.jobs.is_empty() && all.error.is_none() {
            let Some((job, slots)) = all.take(self.slots) else {
                all = freed.wait(all).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(all);
            let began = Instant::now();
            let result = self.run_job(&job);
            let seconds = began.elapsed().as_secs_f32();
            all = queue.lock().unwrap_or_else(PoisonError::into_inner);
            all.free += slots;
            match result {
                Ok(counts) => {
                    all.counts.add(counts);
                    all.seconds.insert(job.name, seconds);
                }
                Err(error) => all.error = Some(error),
            }
            freed.notify_all();
        }
    }

    fn run_job(&self, job: &Job) -> Result<Counts> {
        let began = Instant::now();
        let log = self.logs.join(format!("{}.log", job.name.replace(' ', "-")));
        let passed = run_into(job.command().envs(self.environment.iter().cloned()), &log)
            .with_context(|| format!("run {}", job.name))?;
        let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        let mut counts = Counts::of_output(&text);
        if !passed {
            // A program that died in the middle has printed no counts.
            counts.failed = counts.failed.max(1);
        }
        let seconds = began.elapsed().as_secs_f32();
        let line =
            format!("  {:32} {:>4} passed {:>3} failed {seconds:>7.1} s", job.name, counts.passed, counts.failed);
        if passed {
            if counts != Counts::default() {
                println!("{line}");
            }
        } else {
            // In one write, so that the output of two jobs is not mixed.
            println!(
                "\n==== {} failed ====\n{text}\n==== {} failed: {} ====\n{line}",
                job.name,
                job.name,
                log.display()
            );
        }
        Ok(counts)
    }
}

/// Runs a command with all its output in a file. Returns whether it succeeded.
fn run_into(command: &mut Command, log: &Path) -> Result<bool> {
    let output = File::create(log).with_context(|| format!("create {}", log.display()))?;
    Ok(command.stdout(output.try_clone()?).stderr(output).status()?.success())
}

impl Queue {
    /// Takes the longest job that fits beside those that run, with the slots it takes.
    fn take(&mut self, slots: usize) -> Option<(Job, usize)> {
        let needed = |job: &Job| job.threads.min(slots);
        let place = self.jobs.iter().rposition(|job| needed(job) <= self.free)?;
        let job = self.jobs.remove(place);
        let slots = needed(&job);
        self.free -= slots;
        Some((job, slots))
    }
}

/// Sorts jobs by how long they took the last time. A job that is not known may be the longest.
fn longest_last(jobs: &mut [Job], seconds: &BTreeMap<String, f32>) {
    let took = |job: &Job| seconds.get(&job.name).copied().unwrap_or(f32::MAX);
    jobs.sort_by(|a, b| took(a).total_cmp(&took(b)).then_with(|| b.name.cmp(&a.name)));
}

/// The number of tests that this machine runs at a time.
fn slots_for(cores: usize, meminfo: &str) -> usize {
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next());
    let available = available.and_then(|text| text.parse::<u64>().ok());
    let by_memory = available.map_or(usize::MAX, |kib| usize::try_from(kib / MEMORY).unwrap_or(usize::MAX));
    // Three tests for two processors: API servers mostly wait, but leases and deadlines need some reserve.
    (cores + cores / 2).min(by_memory).max(1)
}

/// The file with how long each job took the last time.
fn times() -> Result<PathBuf> {
    Ok(paths::cache()?.join("test-times.json"))
}

#[cfg(test)]
mod tests {
    use super::super::jobs::tests::job;
    use super::*;

    fn queue(jobs: Vec<Job>, free: usize) -> Queue {
        Queue { jobs, free, counts: Counts::default(), seconds: BTreeMap::new(), error: None }
    }

    #[test]
    fn the_longest_job_that_fits_is_taken_first() {
        let mut jobs = vec![job("a", 1), job("b", 2), job("new", 1)];
        longest_last(&mut jobs, &[("a".to_owned(), 9.0), ("b".to_owned(), 30.0)].into());
        let mut queue = queue(jobs, 2);
        let taken: Vec<_> = (0..3).filter_map(|_| queue.take(4)).map(|(job, slots)| (job.name, slots)).collect();
        assert_eq!(taken, [("new".to_owned(), 1), ("a".to_owned(), 1)], "b needs two slots");
        queue.free = 2;
        assert_eq!(queue.take(4).unwrap().0.name, "b");
    }

    #[test]
    fn a_job_larger_than_the_machine_still_runs() {
        assert_eq!(queue(vec![job("wide", 8)], 2).take(2).unwrap().1, 2);
    }

    #[test]
    fn memory_limits_what_runs_side_by_side() {
        assert_eq!(slots_for(2, "MemTotal: 1 kB\nMemAvailable:   20000000 kB\n"), 3);
        assert_eq!(slots_for(16, "MemAvailable: 20000000 kB\n"), 9);
        assert_eq!(slots_for(2, "MemAvailable: 1000 kB\n"), 1);
        assert_eq!(slots_for(2, ""), 3);
    }

    #[test]
    fn all_jobs_run_and_are_counted_once() {
        let logs = std::env::temp_dir().join(format!("fitout-schedule-{}", std::process::id()));
        fs::create_dir_all(&logs).unwrap();
        let mut scheduler = Scheduler { environment: vec![], slots: 2, logs: logs.clone(), seconds: BTreeMap::new() };
        let counts = scheduler.run((0..5).map(|number| job(&format!("j{number}"), 1 + number % 2)).collect()).unwrap();
        fs::remove_dir_all(logs).unwrap();
        assert_eq!(counts, Counts { passed: 5, failed: 0, skipped: 0 });
        assert_eq!(scheduler.seconds.len(), 5);
    }
}
