//! The change queues of all connected clusters.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fitout_cluster_client::ChangeQueue;

use crate::cache::indexes::Key;

/// The change queue of each connected cluster, by the cluster's namespace and name.
#[derive(Default)]
pub(crate) struct ChangeQueues(Mutex<BTreeMap<Key, ChangeQueue>>);

impl ChangeQueues {
    /// Adds the queue of a cluster that was connected.
    pub(crate) fn add(&self, cluster: &Key, queue: ChangeQueue) {
        self.lock().insert(cluster.clone(), queue);
    }

    /// Removes the queue of a cluster that was disconnected.
    pub(crate) fn remove(&self, cluster: &Key) {
        self.lock().remove(cluster);
    }

    /// Whether changes wait for a slot on any cluster.
    pub(crate) fn is_contended(&self) -> bool {
        self.lock().values().any(ChangeQueue::is_contended)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, ChangeQueue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
