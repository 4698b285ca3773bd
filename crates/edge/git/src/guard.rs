//! The bounds of one read: its deadline, its cancellation and its bytes, and the first cause of its failure.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::Cause;

/// The bounds of one read, for the thread that blocks on it.
#[derive(Clone)]
pub(crate) struct Guard {
    runtime: Handle,
    deadline: Instant,
    limit: Duration,
    cancelled: watch::Receiver<()>,
    shared: Arc<Shared>,
}

struct Shared {
    interrupt: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failure: Option<Cause>,
    /// The part that is being received, and how many bytes of it may follow.
    allowance: Option<Allowance>,
}

struct Allowance {
    what: String,
    limit: u64,
    left: u64,
    remedy: &'static str,
}

/// Cancels the read when dropped.
pub(crate) struct Cancel {
    shared: Arc<Shared>,
    _open: watch::Sender<()>,
}

impl Cancel {
    /// Ends work that does not wait for the server.
    pub(crate) fn interrupt(&self) {
        self.shared.interrupt.store(true, Ordering::Relaxed);
    }
}

impl Drop for Cancel {
    fn drop(&mut self) {
        self.interrupt();
    }
}

impl Guard {
    pub(crate) fn new(limit: Duration) -> (Self, Cancel) {
        let (open, cancelled) = watch::channel(());
        let shared = Arc::new(Shared { interrupt: AtomicBool::new(false), state: Mutex::default() });
        let cancel = Cancel { shared: Arc::clone(&shared), _open: open };
        (Self { runtime: Handle::current(), deadline: Instant::now() + limit, limit, cancelled, shared }, cancel)
    }

    /// The runtime, for what has to be started in it.
    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Blocks until the operation is done, the deadline has passed or the read is cancelled.
    pub(crate) fn wait<T>(&self, operation: impl Future<Output = Result<T, Cause>>) -> io::Result<T> {
        let result = self.runtime.block_on(async {
            let mut cancelled = self.cancelled.clone();
            tokio::select! {
                result = operation => result,
                () = sleep_until(self.deadline) => Err(Cause::Deadline(self.limit)),
                _ = cancelled.changed() => Err(Cause::Deadline(self.limit)),
            }
        });
        result.map_err(|cause| self.fail(cause))
    }

    /// Records the cause of the failure, unless there is an earlier one, and returns an error for the code in between.
    pub(crate) fn fail(&self, cause: Cause) -> io::Error {
        self.state().failure.get_or_insert(cause);
        io::Error::other("the read has failed")
    }

    /// The recorded cause of the failure.
    pub(crate) fn failure(&self) -> Option<Cause> {
        self.state().failure.take()
    }

    /// Begins the receipt of something, with its limit in bytes and what to do if that is exceeded.
    pub(crate) fn allow(&self, what: &str, limit: u64, remedy: &'static str) {
        self.state().allowance = Some(Allowance { what: what.to_owned(), limit, left: limit, remedy });
    }

    /// Counts received bytes. Fails once they are too many, and after the deadline.
    pub(crate) fn count(&self, bytes: usize) -> io::Result<()> {
        self.check()?;
        let mut state = self.state();
        let Some(allowance) = &mut state.allowance else { return Ok(()) };
        if let Some(left) = allowance.left.checked_sub(bytes as u64) {
            allowance.left = left;
            return Ok(());
        }
        let Allowance { what, limit, remedy, .. } = allowance;
        let cause = Cause::TooLarge { what: what.clone(), limit: *limit, unit: " bytes", remedy };
        drop(state);
        Err(self.fail(cause))
    }

    /// Fails after the deadline, and once the read is cancelled.
    pub(crate) fn check(&self) -> io::Result<()> {
        if Instant::now() < self.deadline && !self.interrupt().load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(self.fail(Cause::Deadline(self.limit)))
    }

    /// Interrupts work that does not wait for the server. It is set when the read is cancelled.
    pub(crate) fn interrupt(&self) -> &AtomicBool {
        &self.shared.interrupt
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
