//! The memory that the files of all sources take while they are read.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bytes of all files together. A hub has 512 MiB by default.
const BUDGET: u64 = 256 << 20;

/// The bytes of a permit of the semaphore, whose number of permits is limited.
const UNIT: u64 = 1 << 10;

/// A budget of memory. A source waits until there is room for its files; a larger one waits until nothing else is read.
pub(crate) struct SourceMemory(Arc<Semaphore>);

impl Default for SourceMemory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(permits(BUDGET) as usize)))
    }
}

impl SourceMemory {
    /// Waits for room for this many bytes. It is free again when the permit is dropped.
    pub(crate) async fn acquire(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        Arc::clone(&self.0).acquire_many_owned(permits(bytes)).await.ok()
    }
}

fn permits(bytes: u64) -> u32 {
    // At most as many as there are.
    u32::try_from(bytes.min(BUDGET).div_ceil(UNIT)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn sources_wait_until_there_is_room() {
        let memory = SourceMemory::default();
        let acquire = |mib: u64| memory.acquire(mib << 20).now_or_never().flatten();
        let first = acquire(200).unwrap();
        let second = acquire(50).unwrap();
        assert!(acquire(64).is_none() && acquire(512).is_none());
        drop(first);
        assert!(acquire(64).is_some());
        drop(second);
        assert!(acquire(512).is_some(), "a larger one than the budget is read alone");
    }
}
