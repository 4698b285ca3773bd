//! The queue of changes to a cluster.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of changes that run on one cluster concurrently: a few that end soon are better than many that all end late.
const MAX_CHANGES: usize = 8;

/// Limits the concurrent changes to a cluster, and knows whether others wait.
#[derive(Clone, Debug)]
pub struct ChangeQueue {
    slots: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

/// A slot to change a cluster, released when it is dropped.
#[derive(Debug)]
pub struct Slot {
    _permit: OwnedSemaphorePermit,
}

impl Default for ChangeQueue {
    fn default() -> Self {
        Self { slots: Arc::new(Semaphore::new(MAX_CHANGES)), waiting: Arc::default() }
    }
}

impl ChangeQueue {
    /// Waits for a slot.
    pub async fn acquire(&self) -> Option<Slot> {
        let _waiting = Waiting::new(&self.waiting);
        let permit = Arc::clone(&self.slots).acquire_owned().await.ok()?;
        Some(Slot { _permit: permit })
    }

    /// Whether changes wait for a slot.
    pub fn is_contended(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

/// Counts a waiting change until it is dropped, also when the wait is cancelled.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn queue_is_contended_while_a_change_waits() {
        let queue = ChangeQueue::default();
        let take = || queue.acquire().now_or_never().flatten();
        let mut slots: Vec<Slot> = std::iter::from_fn(take).collect();
        assert_eq!(slots.len(), MAX_CHANGES);
        assert!(!queue.is_contended(), "a cancelled wait does not count");
        let mut waits = Box::pin(queue.acquire());
        assert!((&mut waits).now_or_never().is_none());
        assert!(queue.is_contended());
        slots.pop();
        assert!(waits.now_or_never().flatten().is_some());
        assert!(!queue.is_contended());
    }
}
