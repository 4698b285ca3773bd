//! The memory that the files of all sources take while they are read.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;
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

/// Room for the files of a git repository, whose size is known only once they are unpacked.
pub(super) struct GitMemory {
    semaphore: Arc<Semaphore>,
    permit: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl SourceMemory {
    pub(super) fn for_git(&self) -> GitMemory {
        GitMemory { semaphore: Arc::clone(&self.0), permit: Arc::default() }
    }
}

impl GitMemory {
    /// Waits for room for as many bytes as the files may have.
    pub(super) fn admit(&self) -> fitout_git::Admit {
        let (semaphore, permit, runtime) = (Arc::clone(&self.semaphore), Arc::clone(&self.permit), Handle::current());
        Arc::new(move |bytes| {
            let held = permit.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            // A source that reads twice would wait for itself.
            if !held {
                let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                let acquired = runtime.block_on(Arc::clone(&semaphore).acquire_many_owned(permits(bytes)));
                *permit.lock().unwrap_or_else(PoisonError::into_inner) = acquired.ok();
            }
        })
    }

    /// The room for files of this many bytes. What was acquired beyond that is free again.
    pub(super) fn shrink(self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let mut permit = self.permit.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let needed = permits(u64::try_from(bytes).unwrap_or(u64::MAX)) as usize;
        drop(permit.split(permit.num_permits().saturating_sub(needed)));
        Some(permit)
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

    #[tokio::test]
    async fn git_frees_what_its_files_do_not_take() {
        let memory = SourceMemory::default();
        let git = memory.for_git();
        let admit = git.admit();
        tokio::task::spawn_blocking(move || (admit(200 << 20), admit(200 << 20))).await.unwrap();
        assert!(memory.acquire(100 << 20).now_or_never().is_none());
        let permit = git.shrink(10 << 20).unwrap();
        assert!(memory.acquire(246 << 20).now_or_never().is_some());
        assert!(memory.acquire(247 << 20).now_or_never().is_none());
        drop(permit);
        assert!(memory.acquire(256 << 20).now_or_never().is_some());
    }

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
