//! Change notification: counters for controllers, and one wake-up for the worker of each instance.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fitout_api::ExtensionInstance;
use kube::runtime::watcher::Event;
use tokio::sync::{Notify, watch};

use crate::cache::indexes::{Key, key};

/// Notifies controllers and workers of changes to the cache, each only of the changes that concern it.
#[derive(Default)]
pub(crate) struct Notifier {
    /// Counts changes to any instance.
    pub(crate) instances: watch::Sender<u64>,
    /// Counts instances that were added or deleted, or whose generation changed.
    pub(crate) members: watch::Sender<u64>,
    /// Counts changes to the other kinds. Revisions are not counted: only the worker that writes them reads them.
    others: watch::Sender<u64>,
    /// The generation of each known instance. It changes once the instance is marked as deleted.
    generations: Mutex<HashMap<Key, Option<i64>>>,
    /// The worker that waits for changes of an instance. One counter for all instances would wake every worker.
    subscribers: Mutex<HashMap<Key, Arc<Notify>>>,
}

/// Wakes the worker of one instance. Each instance has at most one subscription at a time.
pub(crate) struct InstanceChanges {
    notifier: Arc<Notifier>,
    instance: Key,
    changed: Arc<Notify>,
}

impl InstanceChanges {
    /// Waits until the instance has changed since the last wait.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for InstanceChanges {
    fn drop(&mut self) {
        let mut subscribers = self.notifier.subscribers();
        // The next worker of the same instance may have subscribed by now.
        if subscribers.get(&self.instance).is_some_and(|changed| Arc::ptr_eq(changed, &self.changed)) {
            subscribers.remove(&self.instance);
        }
    }
}

impl Notifier {
    /// Subscribes to the changes of one instance.
    pub(crate) fn subscribe(self: &Arc<Self>, instance: Key) -> InstanceChanges {
        let changed = Arc::<Notify>::default();
        self.subscribers().insert(instance.clone(), Arc::clone(&changed));
        InstanceChanges { notifier: Arc::clone(self), instance, changed }
    }

    /// Subscribes to changes of kinds other than instances and revisions.
    pub(crate) fn others(&self) -> watch::Receiver<u64> {
        self.others.subscribe()
    }

    /// Counts a change of a kind other than instances and revisions.
    pub(crate) fn other_changed(&self) {
        self.others.send_modify(|count| *count += 1);
    }

    /// Notifies everything that an event of an instance concerns.
    pub(crate) fn instance_event(&self, event: &Event<ExtensionInstance>) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let subscribers = self.subscribers();
        let members = match event {
            Event::Init => return generations.clear(),
            // The store has the objects of a list once the list is complete.
            Event::InitApply(instance) => {
                generations.insert(key(instance), instance.metadata.generation);
                return;
            }
            Event::InitDone => {
                subscribers.values().for_each(|changed| changed.notify_one());
                true
            }
            Event::Apply(instance) => {
                subscribers.get(&key(instance)).inspect(|changed| changed.notify_one());
                let generation = instance.metadata.generation;
                generations.insert(key(instance), generation) != Some(generation)
            }
            Event::Delete(instance) => {
                subscribers.get(&key(instance)).inspect(|changed| changed.notify_one());
                generations.remove(&key(instance));
                true
            }
        };
        self.instances.send_modify(|count| *count += 1);
        if members {
            self.members.send_modify(|count| *count += 1);
        }
    }

    fn subscribers(&self) -> MutexGuard<'_, HashMap<Key, Arc<Notify>>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use serde_json::json;

    use super::*;

    fn instance(name: &str, generation: i64) -> ExtensionInstance {
        serde_json::from_value(json!({
            "metadata": { "namespace": "org-acme", "name": name, "generation": generation },
            "spec": { "cluster": "c0", "namespace": name, "extension": { "name": "thing", "catalog": "local" } },
        }))
        .unwrap()
    }

    #[test]
    fn an_event_wakes_only_the_worker_of_its_instance() {
        let notifier = Arc::<Notifier>::default();
        let [web, db] = ["web", "db"].map(|name| notifier.subscribe(("org-acme".to_owned(), name.to_owned())));
        notifier.instance_event(&Event::Apply(instance("web", 1)));
        assert!(web.changed().now_or_never().is_some());
        assert!(db.changed().now_or_never().is_none());
    }

    #[test]
    fn a_dropped_subscription_leaves_the_next_one_in_place() {
        let notifier = Arc::<Notifier>::default();
        let of = || notifier.subscribe(("org-acme".to_owned(), "web".to_owned()));
        let first = of();
        let second = of();
        drop(first);
        notifier.instance_event(&Event::Apply(instance("web", 1)));
        assert!(second.changed().now_or_never().is_some());
        drop(second);
        assert!(notifier.subscribers().is_empty());
    }

    #[test]
    fn members_change_with_the_generation_and_not_with_the_status() {
        let notifier = Notifier::default();
        for (generation, members, instances) in [(1, 1, 1), (1, 1, 2), (2, 2, 3)] {
            notifier.instance_event(&Event::Apply(instance("web", generation)));
            assert_eq!((*notifier.members.borrow(), *notifier.instances.borrow()), (members, instances));
        }
    }
}
