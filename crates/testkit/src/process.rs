//! A process of the testbed, and what can be done to it.

use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use rustix::process::{Pid, Signal, kill_process};

use crate::Sandbox;
use crate::wait::until;

/// A running program, ended when dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    log: PathBuf,
    child: Child,
}

impl Process {
    pub(crate) fn start(sandbox: &Sandbox, name: &str, command: &[String]) -> Result<Self> {
        let child = sandbox.spawn(name, command)?;
        Ok(Self { name: name.to_owned(), log: sandbox.dir().join(format!("{name}.log")), child })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, and waits until it has. One that does not listen is killed after 20 seconds.
    pub fn stop(mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.child.try_wait()?.is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(self) {}

    /// Stops it from running without ending it: connections stay open and nobody answers.
    pub fn freeze(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// Lets it run on.
    pub fn thaw(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// Waits until `look` finds it ready. When it ends instead, that is the error at once, with the end of its log.
    pub(crate) fn until_ready<T>(&mut self, limit: Duration, mut look: impl FnMut() -> Result<T>) -> Result<T> {
        let what = format!("{} is ready", self.name);
        // The inner result is an end of the waiting, whichever it is; the outer error is a reason to look again.
        until(&what, limit, || match self.child.try_wait()? {
            Some(status) => {
                Ok(Err(anyhow!("{} ended with {status}; the end of its log:\n{}", self.name, self.tail(12))))
            }
            None => look().map(Ok),
        })?
    }

    /// The last lines it printed.
    pub fn tail(&self, lines: usize) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    /// Leaves it running when this program ends.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }

    /// Its memory in bytes; what it shares with others, as the program's own code, counts for each in part.
    pub fn memory(&self) -> Result<u64> {
        self.bytes("smaps_rollup", "Pss:")
    }

    /// The most memory in bytes that it ever had in use.
    pub fn peak_memory(&self) -> Result<u64> {
        self.bytes("status", "VmHWM:")
    }

    /// What it has computed so far, as the kernel counts it.
    pub fn cpu(&self) -> Result<Duration> {
        cpu(self.id())
    }

    /// A size that the kernel tells in a file on the process, on the line that begins so.
    fn bytes(&self, file: &str, line: &str) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.id()))?;
        let size = text.lines().find_map(|found| found.strip_prefix(line));
        let size = size.with_context(|| format!("the kernel tells no {line} of {}", self.name))?;
        let kilobytes: u64 = size.trim().trim_end_matches(" kB").parse()?;
        Ok(kilobytes * 1024)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("a process id is positive")?;
        kill_process(id, signal).with_context(|| format!("signal {}", self.name))
    }
}

/// The library that moves a program's clock, where the machine has it.
pub fn clock_mover() -> Option<PathBuf> {
    let path = PathBuf::from("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1");
    path.exists().then_some(path)
}

/// What a process has computed so far.
pub fn cpu(id: u32) -> Result<Duration> {
    times(&id.to_string(), 11)
}

/// What the processes that this one started, and that have ended, have computed.
pub fn cpu_of_children() -> Result<Duration> {
    times("self", 13)
}

/// User and system time, which the kernel tells this many words after the name.
fn times(process: &str, at: usize) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name, which may hold anything, ends with the last parenthesis.
    let (_, fields) = stat.rsplit_once(')').context("the kernel tells no times")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks: u64 = fields[at].parse::<u64>()? + fields[at + 1].parse::<u64>()?;
    // Linux counts hundredths of a second for programs, whatever its own clock does.
    Ok(Duration::from_millis(ticks * 10))
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is waited for, so that no zombie is left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
