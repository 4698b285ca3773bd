//! What is measured, and when there is something to measure.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, anyhow};
use fitout_testkit::{Cluster, Process, until};

/// What installing all releases took.
pub struct Measured {
    /// From the first request until the last release is ready.
    pub took: Duration,
    /// What the contender's programs computed for it, until they had nothing to do any more.
    pub cpu: Duration,
    /// The most memory that the contender's programs had in use, where they stay.
    pub memory: Option<u64>,
}

pub const HEAD: &str = "                      seconds      per s    CPU s    peak MB";

impl Measured {
    /// What is in the middle of several, each quantity by itself.
    pub fn middle(all: &[Self]) -> Self {
        fn of<T: Ord + Copy>(all: impl Iterator<Item = T>) -> Option<T> {
            let mut all: Vec<T> = all.collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied()
        }
        Self {
            took: of(all.iter().map(|one| one.took)).unwrap_or_default(),
            cpu: of(all.iter().map(|one| one.cpu)).unwrap_or_default(),
            memory: of(all.iter().filter_map(|one| one.memory)),
        }
    }

    /// A line of the table.
    pub fn line(&self, title: &str, count: usize) -> String {
        let (took, cpu) = (self.took.as_secs_f64(), self.cpu.as_secs_f64());
        let memory = self.memory.map_or_else(|| "—".to_owned(), |bytes| format!("{:.0}", megabytes(bytes)));
        format!("  {title:18} {took:>8.1} {:>10.1} {cpu:>8.1} {memory:>10}", as_number(count) / took)
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn as_number(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// The programs of a contender that stay.
pub struct Controllers<'a> {
    programs: Vec<&'a Process>,
    before: Duration,
}

impl<'a> Controllers<'a> {
    /// Begins to count once the cluster and they are calm.
    pub fn begin(cluster: &Cluster, programs: Vec<&'a Process>) -> Result<Self> {
        calm_cluster(cluster)?;
        let mut all = Self { programs, before: Duration::ZERO };
        calm("the contender", QUIET, || all.computed())?;
        all.before = all.computed()?;
        Ok(all)
    }

    /// Counts once they are calm again: what is put off until nobody waits is work too.
    pub fn end(self, took: Duration) -> Result<Measured> {
        calm("the contender", QUIET, || self.computed())?;
        let memory = self.programs.iter().map(|process| process.peak_memory()).sum::<Result<u64>>()?;
        Ok(Measured { took, cpu: self.computed()?.saturating_sub(self.before), memory: Some(memory) })
    }

    fn computed(&self) -> Result<Duration> {
        self.programs.iter().map(|process| process.cpu()).sum()
    }
}

/// Waits until an API server that was just started has done what it does at first.
pub fn calm_cluster(cluster: &Cluster) -> Result<()> {
    calm("the cluster", IDLE, || Ok(cluster.cpu()?.into_values().sum()))
}

/// What is looked at to find out whether a program is calm.
const WINDOW: Duration = Duration::from_secs(2);

/// What a program that has nothing to do computes in that time at most, for its timers.
const QUIET: Duration = Duration::from_millis(60);

/// The same for the programs of a control plane together, which are never quite idle.
const IDLE: Duration = Duration::from_millis(500);

const LIMIT: Duration = Duration::from_mins(3);

fn calm(who: &str, most: Duration, computed: impl Fn() -> Result<Duration>) -> Result<()> {
    until(&format!("{who} is calm"), LIMIT, || {
        let before = computed()?;
        // No wait for something to happen: it is how long is measured.
        sleep(WINDOW);
        let spent = computed()?.saturating_sub(before);
        if spent <= most { Ok(()) } else { Err(anyhow!("it computed {spent:?} in {WINDOW:?}")) }
    })
}
