//! Objects by what they have in common, so that nobody has to look through all of them.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kube::runtime::watcher::Event;
use kube::{Resource, ResourceExt};

/// Namespace and name of an object.
pub(crate) type Key = (String, String);

/// Who is in which group, as a watch tells it. An object may be in several.
pub(crate) struct SecondaryIndex<K, G> {
    of: fn(&K) -> Vec<G>,
    told: Mutex<Told<G>>,
}

struct Told<G> {
    known: Members<G>,
    /// Those of a list that is not yet complete: until then what was known stays.
    coming: Members<G>,
}

struct Members<G> {
    of_group: HashMap<G, BTreeSet<Key>>,
    groups: HashMap<Key, Vec<G>>,
}

impl<K: Resource, G: Clone + Eq + Hash> SecondaryIndex<K, G> {
    /// `SecondaryIndex` objects by what is said of each.
    pub(crate) fn by(of: fn(&K) -> Vec<G>) -> Self {
        let told = Told { known: Members::none(), coming: Members::none() };
        Self { of, told: Mutex::new(told) }
    }

    fn lock(&self) -> MutexGuard<'_, Told<G>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what has become of an object.
    pub(crate) fn tell(&self, event: &Event<K>) {
        let mut told = self.lock();
        match event {
            Event::Init => told.coming = Members::none(),
            Event::InitApply(object) => told.coming.put(key(object), (self.of)(object)),
            Event::InitDone => told.known = std::mem::replace(&mut told.coming, Members::none()),
            Event::Apply(object) => told.known.put(key(object), (self.of)(object)),
            Event::Delete(object) => told.known.put(key(object), vec![]),
        }
    }

    /// Those in a group.
    pub(crate) fn of(&self, group: &G) -> Vec<Key> {
        self.lock().known.of_group.get(group).into_iter().flatten().cloned().collect()
    }

    /// Whether anybody is in a group.
    pub(crate) fn has(&self, group: &G) -> bool {
        self.lock().known.of_group.contains_key(group)
    }
}

impl<G: Clone + Eq + Hash> Members<G> {
    fn none() -> Self {
        Self { of_group: HashMap::new(), groups: HashMap::new() }
    }

    /// Puts an object into these groups and takes it from all others.
    fn put(&mut self, object: Key, groups: Vec<G>) {
        for group in self.groups.remove(&object).into_iter().flatten() {
            if let Some(members) = self.of_group.get_mut(&group) {
                members.remove(&object);
                if members.is_empty() {
                    self.of_group.remove(&group);
                }
            }
        }
        for group in &groups {
            self.of_group.entry(group.clone()).or_default().insert(object.clone());
        }
        if !groups.is_empty() {
            self.groups.insert(object, groups);
        }
    }
}

/// The key of an object.
pub(crate) fn key(object: &impl Resource) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;

    fn object(name: &str, colours: &[&str]) -> ConfigMap {
        let colours: serde_json::Map<String, serde_json::Value> =
            colours.iter().map(|&colour| (colour.to_owned(), json!(""))).collect();
        serde_json::from_value(json!({ "metadata": { "namespace": "shop", "name": name }, "data": colours })).unwrap()
    }

    fn by_colour() -> SecondaryIndex<ConfigMap, String> {
        SecondaryIndex::by(|object| object.data.iter().flat_map(|data| data.keys().cloned()).collect())
    }

    fn names(groups: &SecondaryIndex<ConfigMap, String>, colour: &str) -> Vec<String> {
        groups.of(&colour.to_owned()).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn an_object_is_in_all_its_groups_and_leaves_those_that_it_is_in_no_more() {
        let groups = by_colour();
        groups.tell(&Event::Apply(object("apple", &["red", "green"])));
        groups.tell(&Event::Apply(object("leaf", &["green"])));
        assert_eq!(names(&groups, "red"), ["apple"]);
        assert_eq!(names(&groups, "green"), ["apple", "leaf"]);
        groups.tell(&Event::Apply(object("apple", &["green"])));
        assert!(!groups.has(&"red".to_owned()));
        groups.tell(&Event::Delete(object("apple", &["green"])));
        assert_eq!(names(&groups, "green"), ["leaf"]);
        groups.tell(&Event::Delete(object("leaf", &["green"])));
        let told = groups.lock();
        assert!(told.known.of_group.is_empty() && told.known.groups.is_empty());
    }

    #[test]
    fn a_new_list_counts_once_it_is_complete() {
        let groups = by_colour();
        groups.tell(&Event::Apply(object("apple", &["red"])));
        groups.tell(&Event::Init);
        groups.tell(&Event::InitApply(object("rose", &["red"])));
        assert_eq!(names(&groups, "red"), ["apple"]);
        groups.tell(&Event::InitDone);
        assert_eq!(names(&groups, "red"), ["rose"]);
    }
}
