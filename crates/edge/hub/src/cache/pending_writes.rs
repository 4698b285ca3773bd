//! Read-your-writes: the writes that this hub knows of and its cache does not have yet.
//!
//! A watch reports a write milliseconds after it is done, or seconds where the watch has to be reopened. Meanwhile the
//! cache lacks an object that exists, or has one that is deleted.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fitout_model::ResourceVersion;
use kube::Resource;
use kube::runtime::watcher::Event;

use crate::cache::indexes::{Key, key};

/// The writes to the objects of a kind that the cache does not have yet.
#[derive(Default)]
pub(crate) struct PendingWrites(Mutex<State>);

#[derive(Default)]
struct State {
    awaited: BTreeMap<Key, Expected>,
    /// The writes that the cache has once a list that has begun is complete.
    listed: BTreeMap<Key, Expected>,
}

/// The state of an object that the cache has yet to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// It exists, in this version or a later one.
    Present(ResourceVersion),
    /// It was deleted, in this version or a later one.
    Deleted(ResourceVersion),
}

impl Expected {
    /// Whether an existing object of this version confirms it.
    fn is_confirmed_by(self, found: ResourceVersion) -> bool {
        matches!(self, Self::Present(version) if version <= found)
    }

    /// Whether a deletion in this version confirms it. Earlier versions of the object are past by then.
    fn is_confirmed_by_deletion(self, deleted: ResourceVersion) -> bool {
        let (Self::Present(version) | Self::Deleted(version)) = self;
        version <= deleted
    }
}

/// The resource version of an object; older than any where it cannot be parsed.
pub(crate) fn version(object: &impl Resource) -> ResourceVersion {
    ResourceVersion::parse(object.meta().resource_version.as_deref()).unwrap_or_default()
}

impl PendingWrites {
    /// Records a write, unless the cache has it. The cache is read after the write is recorded: its event may arrive in
    /// between.
    pub(crate) fn expect(&self, object: &Key, expected: Expected, cached: impl FnOnce() -> Option<ResourceVersion>) {
        let before = self.state().awaited.insert(object.clone(), expected);
        let confirmed = match cached() {
            Some(version) => expected.is_confirmed_by(version),
            // Where its creation is still pending, its deletion is too.
            None => matches!(expected, Expected::Deleted(_)) && before.is_none(),
        };
        if confirmed {
            self.state().confirm(object, expected);
        }
    }

    /// Whether the cache has every known write.
    pub(crate) fn is_empty(&self) -> bool {
        self.state().awaited.is_empty()
    }

    /// Whether the cache lacks a write to this object.
    pub(crate) fn has(&self, object: &Key) -> bool {
        self.state().awaited.contains_key(object)
    }

    /// Whether the cache lacks a write to any object in this namespace whose name has this prefix.
    pub(crate) fn has_any(&self, namespace: &str, prefix: &str) -> bool {
        let first = (namespace.to_owned(), prefix.to_owned());
        let state = self.state();
        let next = state.awaited.range(first..).next();
        next.is_some_and(|((found, name), _)| found == namespace && name.starts_with(prefix))
    }

    /// Forgets the writes that an event confirms. The store has the event by then.
    pub(crate) fn confirm<K: Resource>(&self, event: &Event<K>) {
        let mut state = self.state();
        match event {
            // A list contains every write that was done before it was requested.
            Event::Init => state.listed = state.awaited.clone(),
            Event::InitApply(object) => {
                let expected = state.awaited.get(&key(object)).copied();
                if let Some(expected) = expected.filter(|expected| expected.is_confirmed_by(version(object))) {
                    state.listed.insert(key(object), expected);
                }
            }
            Event::InitDone => {
                for (object, expected) in std::mem::take(&mut state.listed) {
                    state.confirm(&object, expected);
                }
            }
            Event::Apply(object) => {
                state.confirm_if(&key(object), |expected| expected.is_confirmed_by(version(object)));
            }
            Event::Delete(object) => {
                state.confirm_if(&key(object), |expected| expected.is_confirmed_by_deletion(version(object)));
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets a write that the cache has. A later write to the same object stays.
    fn confirm(&mut self, object: &Key, expected: Expected) {
        if self.awaited.get(object) == Some(&expected) {
            self.awaited.remove(object);
        }
    }

    fn confirm_if(&mut self, object: &Key, is_confirmed: impl FnOnce(Expected) -> bool) {
        if self.awaited.get(object).copied().is_some_and(is_confirmed) {
            self.awaited.remove(object);
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;

    fn map(name: &str, version: u64) -> ConfigMap {
        let metadata = json!({ "namespace": "shop", "name": name, "resourceVersion": version.to_string() });
        serde_json::from_value(json!({ "metadata": metadata })).unwrap()
    }

    fn awaits(pending: &PendingWrites, name: &str) -> bool {
        pending.has(&of(name))
    }

    fn of(name: &str) -> Key {
        ("shop".to_owned(), name.to_owned())
    }

    fn awaiting(expected: &[(&str, Expected)]) -> PendingWrites {
        let pending = PendingWrites::default();
        // The cache has an early version of each.
        for (name, expected) in expected {
            pending.expect(&of(name), *expected, || Some(ResourceVersion::new(1)));
        }
        pending
    }

    #[test]
    fn a_write_is_pending_until_its_version_or_a_later_one_is_cached() {
        let pending = awaiting(&[
            ("a", Expected::Present(ResourceVersion::new(7))),
            ("b", Expected::Present(ResourceVersion::new(7))),
        ]);
        pending.confirm(&Event::Apply(map("a", 6)));
        assert!(awaits(&pending, "a"));
        pending.confirm(&Event::Apply(map("a", 7)));
        pending.confirm(&Event::Apply(map("b", 9)));
        assert!(!awaits(&pending, "a") && !awaits(&pending, "b"));
    }

    #[test]
    fn a_write_that_the_cache_has_is_not_pending() {
        let pending = PendingWrites::default();
        pending.expect(&of("a"), Expected::Present(ResourceVersion::new(7)), || Some(ResourceVersion::new(8)));
        pending.expect(&of("b"), Expected::Deleted(ResourceVersion::new(7)), || None);
        assert!(!awaits(&pending, "a") && !awaits(&pending, "b"));
    }

    #[test]
    fn a_deletion_is_pending_until_it_is_cached() {
        let pending = awaiting(&[("a", Expected::Deleted(ResourceVersion::new(8)))]);
        pending.confirm(&Event::Delete(map("a", 3)));
        pending.confirm(&Event::Apply(map("a", 8)));
        assert!(awaits(&pending, "a"));
        pending.confirm(&Event::Delete(map("a", 9)));
        assert!(!awaits(&pending, "a"));
    }

    #[test]
    fn a_deletion_is_pending_while_the_creation_is() {
        let pending = PendingWrites::default();
        pending.expect(&of("a"), Expected::Present(ResourceVersion::new(7)), || None);
        pending.expect(&of("a"), Expected::Deleted(ResourceVersion::new(7)), || None);
        pending.confirm(&Event::Apply(map("a", 7)));
        assert!(awaits(&pending, "a"));
        pending.confirm(&Event::Delete(map("a", 9)));
        assert!(!awaits(&pending, "a"));
    }

    #[test]
    fn a_later_deletion_confirms_a_write() {
        let pending = awaiting(&[("a", Expected::Present(ResourceVersion::new(7)))]);
        pending.confirm(&Event::Delete(map("a", 5)));
        assert!(awaits(&pending, "a"), "an earlier object of the same name was deleted");
        pending.confirm(&Event::Delete(map("a", 9)));
        assert!(!awaits(&pending, "a"));
    }

    #[test]
    fn a_list_confirms_earlier_writes_only() {
        let pending = awaiting(&[
            ("a", Expected::Present(ResourceVersion::new(7))),
            ("b", Expected::Deleted(ResourceVersion::new(5))),
        ]);
        pending.confirm(&Event::<ConfigMap>::Init);
        for (name, version) in [("in-it", 8), ("not-in-it", 20)] {
            pending.expect(&of(name), Expected::Present(ResourceVersion::new(version)), || None);
        }
        pending.confirm(&Event::InitApply(map("a", 7)));
        pending.confirm(&Event::InitApply(map("in-it", 8)));
        pending.confirm(&Event::InitApply(map("not-in-it", 9)));
        assert!(awaits(&pending, "a"), "the store has the objects of a list once it is complete");
        pending.confirm(&Event::<ConfigMap>::InitDone);
        let left = ["a", "b", "in-it", "not-in-it"].map(|name| awaits(&pending, name));
        assert_eq!(left, [false, false, false, true]);
    }

    #[test]
    fn pending_writes_are_found_by_prefix() {
        let pending = awaiting(&[("web.3", Expected::Present(ResourceVersion::new(7)))]);
        assert!(pending.has_any("shop", "web."));
        assert!(!pending.has_any("shop", "we."));
        assert!(!pending.has_any("shop", "xeb."));
        assert!(!pending.has_any("other", "web."));
    }
}
