//! Secondary indexes: objects by what they have in common, so that a lookup does not scan a whole store.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fitout_api::{ExtensionInstance, ExtensionRevision};
use kube::runtime::watcher::Event;
use kube::{Resource, ResourceExt};

/// Namespace and name of an object.
pub(crate) type Key = (String, String);

/// The key of an object.
pub(crate) fn key(object: &impl Resource) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}

/// The place of a release. Two instances with the same key compete for it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ReleaseKey {
    /// The namespace of the organization.
    organization: String,
    cluster: String,
    /// The namespace on the cluster.
    namespace: String,
    name: String,
}

impl ReleaseKey {
    pub(crate) fn of(instance: &ExtensionInstance) -> Self {
        let spec = &instance.spec;
        Self {
            organization: instance.namespace().unwrap_or_default(),
            cluster: spec.cluster.clone(),
            namespace: spec.namespace.clone(),
            name: spec.release_name().to_owned(),
        }
    }
}

/// A property by which revisions are looked up.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum RevisionKey {
    /// The instance.
    Instance(Key),
    /// The digest of content that the revision names.
    Content(String),
    /// The digest of the definition that was installed.
    Definition(String),
}

impl RevisionKey {
    pub(crate) fn all_of(revision: &ExtensionRevision) -> Vec<Self> {
        let spec = &revision.spec;
        let instance = Self::Instance((revision.namespace().unwrap_or_default(), spec.instance.clone()));
        let contents = spec.contents().cloned().map(Self::Content);
        [instance, Self::Definition(spec.definition_digest.clone())].into_iter().chain(contents).collect()
    }
}

/// Groups the objects of a kind, as a watch reports them. An object may be in several groups.
pub(crate) struct SecondaryIndex<K, G> {
    groups_of: fn(&K) -> Vec<G>,
    state: Mutex<State<G>>,
}

struct State<G> {
    known: Members<G>,
    /// The members of a list that is not complete yet. Until it is, the known ones stay.
    listed: Members<G>,
}

struct Members<G> {
    of_group: HashMap<G, BTreeSet<Key>>,
    groups: HashMap<Key, Vec<G>>,
}

impl<K: Resource, G: Clone + Eq + Hash> SecondaryIndex<K, G> {
    /// An index by the groups that this function returns for each object.
    pub(crate) fn by(groups_of: fn(&K) -> Vec<G>) -> Self {
        let state = State { known: Members::none(), listed: Members::none() };
        Self { groups_of, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State<G>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the index with an event of the watch.
    pub(crate) fn update(&self, event: &Event<K>) {
        let mut state = self.lock();
        match event {
            Event::Init => state.listed = Members::none(),
            Event::InitApply(object) => state.listed.put(key(object), (self.groups_of)(object)),
            Event::InitDone => state.known = std::mem::replace(&mut state.listed, Members::none()),
            Event::Apply(object) => state.known.put(key(object), (self.groups_of)(object)),
            Event::Delete(object) => state.known.put(key(object), vec![]),
        }
    }

    /// The objects in a group.
    pub(crate) fn of(&self, group: &G) -> Vec<Key> {
        self.lock().known.of_group.get(group).into_iter().flatten().cloned().collect()
    }

    /// Whether a group has any member.
    pub(crate) fn has(&self, group: &G) -> bool {
        self.lock().known.of_group.contains_key(group)
    }
}

impl<G: Clone + Eq + Hash> Members<G> {
    fn none() -> Self {
        Self { of_group: HashMap::new(), groups: HashMap::new() }
    }

    /// Puts an object into these groups, and removes it from all others.
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
    fn an_update_replaces_the_groups_of_an_object() {
        let groups = by_colour();
        groups.update(&Event::Apply(object("apple", &["red", "green"])));
        groups.update(&Event::Apply(object("leaf", &["green"])));
        assert_eq!(names(&groups, "red"), ["apple"]);
        assert_eq!(names(&groups, "green"), ["apple", "leaf"]);
        groups.update(&Event::Apply(object("apple", &["green"])));
        assert!(!groups.has(&"red".to_owned()));
        groups.update(&Event::Delete(object("apple", &["green"])));
        assert_eq!(names(&groups, "green"), ["leaf"]);
        groups.update(&Event::Delete(object("leaf", &["green"])));
        let state = groups.lock();
        assert!(state.known.of_group.is_empty() && state.known.groups.is_empty());
    }

    #[test]
    fn a_relist_takes_effect_once_complete() {
        let groups = by_colour();
        groups.update(&Event::Apply(object("apple", &["red"])));
        groups.update(&Event::Init);
        groups.update(&Event::InitApply(object("rose", &["red"])));
        assert_eq!(names(&groups, "red"), ["apple"]);
        groups.update(&Event::InitDone);
        assert_eq!(names(&groups, "red"), ["rose"]);
    }
}
