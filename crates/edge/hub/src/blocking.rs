//! Long computations that must not block other tasks, such as the renewal of the lease.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// An input of this many bytes takes long enough to compute that it would delay other tasks.
const LONG: usize = 256 << 10;

/// Computes something from an input of this many bytes on the current thread. If the input is long, tokio moves the
/// other tasks to another thread.
pub(crate) fn run_blocking<T>(bytes: usize, compute: impl FnOnce() -> T) -> T {
    let is_multi_thread =
        Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if is_multi_thread && bytes >= LONG { block_in_place(compute) } else { compute() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn other_tasks_run_beside_a_long_computation() {
        static TICKS: AtomicUsize = AtomicUsize::new(0);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let long = runtime.spawn(async {
            tokio::spawn(async {
                loop {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    TICKS.fetch_add(1, Ordering::Relaxed);
                }
            });
            run_blocking(LONG, || {
                std::thread::sleep(Duration::from_millis(500));
                TICKS.load(Ordering::Relaxed)
            })
        });
        let meanwhile = runtime.block_on(long).unwrap();
        assert!(meanwhile > 5, "{meanwhile}");
    }
}
