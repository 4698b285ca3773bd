//! What this hub knows to be so and its index has not heard yet.
//!
//! A watch tells of a write some time after it is done: moments as a rule, seconds where it has to be opened again. Who reads
//! the index meanwhile would take what is written for what is not.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kube::runtime::watcher::Event;
use kube::{Resource, ResourceExt};

use crate::cache::indexes::{Key, key};

/// What is still to be heard of the objects of a kind.
#[derive(Default)]
pub(crate) struct PendingWrites(Mutex<State>);

#[derive(Default)]
struct State {
    awaited: BTreeMap<Key, Expected>,
    /// What will be heard once a list that has begun is complete.
    listed: BTreeMap<Key, Expected>,
}

/// What is to be heard of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// That it is there, in this version or a later one.
    Present(u64),
    /// That it is gone, which it went in this version or a later one.
    Deleted(u64),
}

impl Expected {
    /// Whether this is said by an object that is there in a version.
    fn is_confirmed_by(self, found: u64) -> bool {
        matches!(self, Self::Present(version) if version <= found)
    }

    /// The same of one that went in a version: what was awaited of it before is past.
    fn is_confirmed_by_deletion(self, end: u64) -> bool {
        let (Self::Present(version) | Self::Deleted(version)) = self;
        version <= end
    }
}

/// The version of an object. One that cannot be read is older than any.
pub(crate) fn version(object: &impl Resource) -> u64 {
    object.resource_version().and_then(|version| version.parse().ok()).unwrap_or_default()
}

impl PendingWrites {
    /// Has this waited for, unless it is known. What is known is asked afterwards, for it may be heard in between.
    pub(crate) fn expect(&self, of: &Key, word: Expected, known: impl FnOnce() -> Option<u64>) {
        let before = self.state().awaited.insert(of.clone(), word);
        let heard = match known() {
            Some(version) => word.is_confirmed_by(version),
            // Where not even its beginning was heard, its end is still to come.
            None => matches!(word, Expected::Deleted(_)) && before.is_none(),
        };
        if heard {
            self.state().confirm(of, word);
        }
    }

    /// Whether nothing is still to be heard.
    pub(crate) fn is_empty(&self) -> bool {
        self.state().awaited.is_empty()
    }

    /// Whether anything is still to be heard of an object.
    pub(crate) fn has(&self, of: &Key) -> bool {
        self.state().awaited.contains_key(of)
    }

    /// The same of any in this namespace whose name begins so.
    pub(crate) fn has_any(&self, namespace: &str, beginning: &str) -> bool {
        let first = (namespace.to_owned(), beginning.to_owned());
        let state = self.state();
        let next = state.awaited.range(first..).next();
        next.is_some_and(|((of, name), _)| of == namespace && name.starts_with(beginning))
    }

    /// Takes note of what has become of an object, once that is in the store.
    pub(crate) fn tell<K: Resource>(&self, event: &Event<K>) {
        let mut state = self.state();
        match event {
            // What was written before a list is asked for is in it.
            Event::Init => state.listed = state.awaited.clone(),
            Event::InitApply(object) => {
                let word = state.awaited.get(&key(object)).copied();
                if let Some(word) = word.filter(|word| word.is_confirmed_by(version(object))) {
                    state.listed.insert(key(object), word);
                }
            }
            Event::InitDone => {
                for (of, word) in std::mem::take(&mut state.listed) {
                    state.confirm(&of, word);
                }
            }
            Event::Apply(object) => state.confirm_if(&key(object), |word| word.is_confirmed_by(version(object))),
            Event::Delete(object) => {
                state.confirm_if(&key(object), |word| word.is_confirmed_by_deletion(version(object)));
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// This was heard. Another word may be awaited by now.
    fn confirm(&mut self, of: &Key, word: Expected) {
        if self.awaited.get(of) == Some(&word) {
            self.awaited.remove(of);
        }
    }

    fn confirm_if(&mut self, of: &Key, said: impl FnOnce(Expected) -> bool) {
        if self.awaited.get(of).copied().is_some_and(said) {
            self.awaited.remove(of);
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

    fn awaiting(words: &[(&str, Expected)]) -> PendingWrites {
        let pending = PendingWrites::default();
        // Whatever it is, the index has heard of nothing but an early version.
        for (name, word) in words {
            pending.expect(&of(name), *word, || Some(1));
        }
        pending
    }

    #[test]
    fn a_write_is_awaited_until_its_version_or_a_later_one_is_heard() {
        let pending = awaiting(&[("a", Expected::Present(7)), ("b", Expected::Present(7))]);
        pending.tell(&Event::Apply(map("a", 6)));
        assert!(awaits(&pending, "a"));
        pending.tell(&Event::Apply(map("a", 7)));
        pending.tell(&Event::Apply(map("b", 9)));
        assert!(!awaits(&pending, "a") && !awaits(&pending, "b"));
    }

    #[test]
    fn what_was_heard_before_it_is_waited_for_is_not_awaited() {
        let pending = PendingWrites::default();
        pending.expect(&of("a"), Expected::Present(7), || Some(8));
        pending.expect(&of("b"), Expected::Deleted(7), || None);
        assert!(!awaits(&pending, "a") && !awaits(&pending, "b"));
    }

    #[test]
    fn an_end_is_awaited_whatever_else_is_heard_before_it() {
        let pending = awaiting(&[("a", Expected::Deleted(8))]);
        pending.tell(&Event::Delete(map("a", 3)));
        pending.tell(&Event::Apply(map("a", 8)));
        assert!(awaits(&pending, "a"));
        pending.tell(&Event::Delete(map("a", 9)));
        assert!(!awaits(&pending, "a"));
    }

    #[test]
    fn the_end_of_what_was_not_heard_of_is_still_to_come() {
        let pending = PendingWrites::default();
        pending.expect(&of("a"), Expected::Present(7), || None);
        pending.expect(&of("a"), Expected::Deleted(7), || None);
        pending.tell(&Event::Apply(map("a", 7)));
        assert!(awaits(&pending, "a"));
        pending.tell(&Event::Delete(map("a", 9)));
        assert!(!awaits(&pending, "a"));
    }

    #[test]
    fn what_has_gone_since_it_was_written_is_not_awaited() {
        let pending = awaiting(&[("a", Expected::Present(7))]);
        pending.tell(&Event::Delete(map("a", 5)));
        assert!(awaits(&pending, "a"), "that was another one of the same name");
        pending.tell(&Event::Delete(map("a", 9)));
        assert!(!awaits(&pending, "a"));
    }

    #[test]
    fn what_was_written_before_a_list_is_heard_with_it_and_nothing_that_came_later() {
        let pending = awaiting(&[("a", Expected::Present(7)), ("b", Expected::Deleted(5))]);
        pending.tell(&Event::<ConfigMap>::Init);
        for (name, version) in [("in-it", 8), ("not-in-it", 20)] {
            pending.expect(&of(name), Expected::Present(version), || None);
        }
        pending.tell(&Event::InitApply(map("a", 7)));
        pending.tell(&Event::InitApply(map("in-it", 8)));
        pending.tell(&Event::InitApply(map("not-in-it", 9)));
        assert!(awaits(&pending, "a"), "the store has a list once it is complete");
        pending.tell(&Event::<ConfigMap>::InitDone);
        let left = ["a", "b", "in-it", "not-in-it"].map(|name| awaits(&pending, name));
        assert_eq!(left, [false, false, false, true]);
    }

    #[test]
    fn those_whose_names_begin_alike_are_found() {
        let pending = awaiting(&[("web.3", Expected::Present(7))]);
        assert!(pending.has_any("shop", "web."));
        assert!(!pending.has_any("shop", "we."));
        assert!(!pending.has_any("shop", "xeb."));
        assert!(!pending.has_any("other", "web."));
    }
}
