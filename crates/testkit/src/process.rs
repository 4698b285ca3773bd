//! A process of the testbed.

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

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM and waits for the end. Kills the process after 20 seconds.
    pub fn stop(mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.child.try_wait()?.is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Kills it.
    pub fn kill(self) {}

    /// Sends SIGSTOP: connections stay open and no request is answered.
    pub fn freeze(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// Sends SIGCONT, which resumes it after [`Self::freeze`].
    pub fn thaw(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// Waits until `look` succeeds. Where the process ends first, the error has the end of its log.
    pub(crate) fn until_ready<T>(&mut self, limit: Duration, mut look: impl FnMut() -> Result<T>) -> Result<T> {
        let what = format!("{} is ready", self.name);
        // The inner result ends the wait. The outer error continues it.
        until(&what, limit, || match self.child.try_wait()? {
            Some(status) => {
                Ok(Err(anyhow!("{} ended with {status}; the end of its log:\n{}", self.name, self.tail(12))))
            }
            None => look().map(Ok),
        })?
    }

    /// The last lines of its output.
    pub fn tail(&self, lines: usize) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    /// Keeps it running after this program has ended.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }

    /// Its memory in bytes (PSS): shared pages count in proportion.
    pub fn memory(&self) -> Result<u64> {
        self.bytes("smaps_rollup", "Pss:")
    }

    /// Its peak memory in bytes.
    pub fn peak_memory(&self) -> Result<u64> {
        self.bytes("status", "VmHWM:")
    }

    /// Its CPU time so far.
    pub fn cpu(&self) -> Result<Duration> {
        cpu(self.id())
    }

    /// A size from a file in `/proc`, on the line that begins with this text.
    fn bytes(&self, file: &str, line: &str) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.id()))?;
        let size = text.lines().find_map(|found| found.strip_prefix(line));
        let size = size.with_context(|| format!("/proc has no {line} of {}", self.name))?;
        let kilobytes: u64 = size.trim().trim_end_matches(" kB").parse()?;
        Ok(kilobytes * 1024)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("a process id is positive")?;
        kill_process(id, signal).with_context(|| format!("signal {}", self.name))
    }
}

/// The library of `faketime`, which moves the clock of a program, where it is installed.
pub fn clock_mover() -> Option<PathBuf> {
    let path = PathBuf::from("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1");
    path.exists().then_some(path)
}

/// The CPU time of a process so far.
pub fn cpu(id: u32) -> Result<Duration> {
    times(&id.to_string(), 11)
}

/// The CPU time of the children of this process that have ended.
pub fn cpu_of_children() -> Result<Duration> {
    times("self", 13)
}

/// User and system time from `/proc/PID/stat`, at this field after the name.
fn times(process: &str, at: usize) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name may contain any character and ends with the last parenthesis.
    let (_, fields) = stat.rsplit_once(')').context("/proc has no CPU time")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks: u64 = fields[at].parse::<u64>()? + fields[at + 1].parse::<u64>()?;
    // The unit is a hundredth of a second on every Linux.
    Ok(Duration::from_millis(ticks * 10))
}

impl Drop for Process {
    fn drop(&mut self) {
        // Waited for in any case, so that no zombie is left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
