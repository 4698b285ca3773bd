//! Computing that takes long, beside which all else goes on: the lease is renewed, others are answered.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// What is made of so many bytes takes long enough to be in the way of others.
const LONG: usize = 256 << 10;

/// Computes something of so many bytes on this thread. Where these are many, another thread takes over what else this one
/// has to do.
pub(crate) fn run_blocking<T>(bytes: usize, compute: impl FnOnce() -> T) -> T {
    let shared = Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if shared && bytes >= LONG { block_in_place(compute) } else { compute() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn others_go_on_beside_what_takes_long() {
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
