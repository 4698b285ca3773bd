//! The cache of a cluster's objects, filled by watches and by the responses to our own writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fitout_health::{Health, health, run};
use fitout_model::{Digest, Gvk, ObjectId, ResourceVersion};
use fitout_plan::{KEEP, MANAGER, RELEASE_NAME, RELEASE_NAMESPACE, has_update_manager};
use fitout_reconcile::{ObjectState, Presence, Progress};
use serde_json::Value;
use tokio::sync::Notify;

/// The Helm release that owns an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The name of the release.
    pub name: String,
    /// The namespace of the release.
    pub namespace: String,
}

/// How ownership of an object is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// By the object's release annotations.
    ByAnnotations,
    /// By name, unless the object's annotations name another release: for hooks and CRDs from `crds/`.
    ByName,
}

/// The fields of an object that decisions depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedObject {
    /// The UID.
    pub uid: String,
    /// The release that owns it, from its annotations.
    pub owner: Option<Owner>,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// The digest of the field set that our manager owns; it changes when another manager changes one of these fields.
    pub fields: Option<Digest>,
    /// Whether its resource policy is `keep`: an uninstall does not delete it.
    pub keep: bool,
    /// Whether an older Helm owns fields of it by an `Update` manager.
    pub(crate) updated: bool,
    /// The health.
    pub health: Health,
    /// The health as a hook that runs to completion, for kinds that do.
    run: Option<Health>,
    version: ResourceVersion,
}

impl CachedObject {
    /// Reads a whole object, or its metadata alone.
    pub fn of(object: &Value) -> Self {
        let metadata = &object["metadata"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let annotation = |name: &str| metadata["annotations"][name].as_str().map(str::to_owned);
        let owner = annotation(RELEASE_NAME).zip(annotation(RELEASE_NAMESPACE));
        let managers = metadata["managedFields"].as_array().into_iter().flatten();
        let ours = |entry: &&Value| entry["manager"] == MANAGER && entry["operation"] == "Apply";
        Self {
            uid: text(&metadata["uid"]),
            owner: owner.map(|(name, namespace)| Owner { name, namespace }),
            terminating: !metadata["deletionTimestamp"].is_null(),
            fields: managers.filter(ours).map(|entry| Digest::of_value(&entry["fieldsV1"])).next(),
            updated: has_update_manager(metadata),
            keep: annotation(KEEP).as_deref() == Some("keep"),
            health: health(object),
            run: run(object),
            version: ResourceVersion::parse(metadata["resourceVersion"].as_str()).unwrap_or_default(),
        }
    }

    /// The state of the object for a release. `applied` is the digest of the applied object that it still matches.
    pub fn state_for(&self, release: &Owner, ownership: Ownership, applied: Option<Digest>) -> ObjectState {
        let state = match &self.owner {
            Some(owner) if owner != release => {
                Presence::Foreign(Some(format!("release {} in {}", owner.name, owner.namespace)))
            }
            None if ownership == Ownership::ByAnnotations => Presence::Foreign(None),
            _ if self.terminating => Presence::Terminating,
            _ => applied.map_or(Presence::Changed, Presence::Applied),
        };
        // A Job or Pod that is owned by name is a hook, which is healthy once it has completed.
        let health = self.run.as_ref().filter(|_| ownership == Ownership::ByName).unwrap_or(&self.health);
        ObjectState {
            state,
            progress: match health {
                Health::Current => Progress::Healthy,
                Health::Failed(_) => Progress::Failed,
                Health::InProgress(_) | Health::Terminating(_) => Progress::Underway,
            },
            keep: self.keep,
            recreate: false,
        }
    }
}

/// The cached objects of one cluster; only objects with a [`Subscription`] are cached.
#[derive(Debug, Default)]
pub struct ObjectCache {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    objects: BTreeMap<ObjectId, CachedObject>,
    /// The digest we applied, the UID, and the field set we owned after it: while that is unchanged, so is the object.
    applied: BTreeMap<ObjectId, (Digest, String, Option<Digest>)>,
    /// The last UID and version of each deleted object: the response to a write may arrive after the delete event. A
    /// newer version shows that the object was not deleted, but only had lost its label.
    deleted: BTreeMap<ObjectId, (String, ResourceVersion)>,
    /// The subscribers of each object.
    subscribers: BTreeMap<ObjectId, Vec<Arc<Notify>>>,
}

/// A subscription to changes of objects. An object without subscriptions is removed from the cache.
#[derive(Debug)]
pub struct Subscription {
    object_cache: Arc<ObjectCache>,
    ids: BTreeSet<ObjectId>,
    notify: Arc<Notify>,
}

impl Subscription {
    pub(crate) fn new(object_cache: &Arc<ObjectCache>) -> Self {
        Self { object_cache: Arc::clone(object_cache), ids: BTreeSet::new(), notify: Arc::default() }
    }

    /// Adds objects and returns those that are new to the subscription.
    pub fn add<'a>(&mut self, ids: impl IntoIterator<Item = &'a ObjectId>) -> Vec<&'a ObjectId> {
        let mut entries = self.object_cache.lock();
        let mut added = Vec::new();
        for id in ids {
            if self.ids.insert(id.clone()) {
                entries.subscribers.entry(id.clone()).or_default().push(Arc::clone(&self.notify));
                added.push(id);
            }
        }
        added
    }

    /// Waits until the cache was updated for one of the objects since the last wait.
    pub async fn changed(&self) {
        self.notify.notified().await;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut entries = self.object_cache.lock();
        for id in &self.ids {
            let Some(subscribers) = entries.subscribers.get_mut(id) else { continue };
            subscribers.retain(|other| !Arc::ptr_eq(other, &self.notify));
            if subscribers.is_empty() {
                entries.subscribers.remove(id);
                entries.objects.remove(id);
                entries.applied.remove(id);
                entries.deleted.remove(id);
            }
        }
    }
}

impl Entries {
    /// Stores an object. An older version never replaces a newer one, and a deleted object does not come back: watches
    /// lag behind our own writes, and the responses to our writes lag behind watches.
    fn store(&mut self, id: &ObjectId, cached: CachedObject) {
        let is_newer = |known: &CachedObject| known.uid == cached.uid && known.version > cached.version;
        let deleted = self.deleted.get(id).is_some_and(|(uid, last)| *uid == cached.uid && cached.version <= *last);
        if !deleted && !self.objects.get(id).is_some_and(is_newer) {
            self.objects.insert(id.clone(), cached);
        }
    }
}

impl ObjectCache {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the entry of an object with subscribers and notifies these.
    fn update(&self, id: &ObjectId, change: impl FnOnce(&mut Entries)) {
        let mut entries = self.lock();
        if entries.subscribers.contains_key(id) {
            change(&mut entries);
            entries.subscribers[id].iter().for_each(|subscriber| subscriber.notify_one());
        }
    }

    /// Stores an object that a watch or a read returned.
    pub fn store(&self, id: &ObjectId, cached: CachedObject) {
        self.update(id, |entries| entries.store(id, cached));
    }

    /// Stores an object that does not match what is to be applied.
    pub(crate) fn store_mismatch(&self, id: &ObjectId, cached: CachedObject) {
        self.update(id, |entries| {
            entries.applied.remove(id);
            entries.store(id, cached);
        });
    }

    /// Removes a deleted object, unless another one with the same name has taken its place.
    pub fn remove(&self, id: &ObjectId, last: &CachedObject) {
        self.update(id, |entries| {
            entries.deleted.insert(id.clone(), (last.uid.clone(), last.version));
            if entries.objects.get(id).is_some_and(|cached| cached.uid == last.uid) {
                entries.objects.remove(id);
            }
        });
    }

    /// Removes an object that a list did not contain.
    pub(crate) fn mark_absent(&self, id: &ObjectId) {
        if let Some(last) = self.get(id) {
            self.remove(id, &last);
        }
    }

    /// Removes the objects of this kind that belong to a release and are not in the list.
    pub(crate) fn retain_listed(&self, gvk: &Gvk, listed: &BTreeSet<ObjectId>) {
        let deleted: Vec<(ObjectId, CachedObject)> = {
            let entries = self.lock();
            let of_kind = entries.objects.iter().filter(|(id, cached)| id.gvk == *gvk && cached.owner.is_some());
            let deleted = of_kind.filter(|(id, _)| !listed.contains(id));
            deleted.map(|(id, cached)| (id.clone(), cached.clone())).collect()
        };
        for (id, last) in deleted {
            self.remove(&id, &last);
        }
    }

    /// Stores the digest that we applied and the object in the response.
    pub(crate) fn applied(&self, id: &ObjectId, digest: Digest, cached: CachedObject) {
        self.update(id, |entries| {
            entries.applied.insert(id.clone(), (digest, cached.uid.clone(), cached.fields.clone()));
            entries.store(id, cached);
        });
    }

    /// Marks an object as terminating after our own delete request.
    pub(crate) fn deleted(&self, id: &ObjectId) {
        self.update(id, |entries| {
            if let Some(cached) = entries.objects.get_mut(id) {
                cached.terminating = true;
            }
        });
    }

    /// Returns the cached object.
    pub fn get(&self, id: &ObjectId) -> Option<CachedObject> {
        self.lock().objects.get(id).cloned()
    }

    /// The state of an object for a release; none where it is not cached.
    pub fn state_for(&self, id: &ObjectId, release: &Owner, ownership: Ownership) -> Option<ObjectState> {
        let entries = self.lock();
        let cached = entries.objects.get(id)?;
        let unchanged = entries
            .applied
            .get(id)
            .filter(|(_, uid, fields)| *uid == cached.uid && *fields == cached.fields)
            .map(|(digest, ..)| digest.clone());
        Some(cached.state_for(release, ownership, unchanged))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id() -> ObjectId {
        ObjectId { gvk: Gvk::new("v1", "ConfigMap"), namespace: "shop".to_owned(), name: "web".to_owned() }
    }

    fn cached(uid: &str, version: u32, fields: &str) -> CachedObject {
        CachedObject::of(&json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "uid": uid, "resourceVersion": version.to_string(),
            "annotations": { RELEASE_NAME: "web", RELEASE_NAMESPACE: "shop" },
            "managedFields": [{ "manager": "helm", "operation": "Apply", "fieldsV1": { fields: {} } }],
        } }))
    }

    fn subscribed() -> (Arc<ObjectCache>, Subscription) {
        let object_cache = Arc::<ObjectCache>::default();
        let mut subscription = Subscription::new(&object_cache);
        subscription.add([&id()]);
        (object_cache, subscription)
    }

    fn state(object_cache: &ObjectCache) -> Option<Presence> {
        let release = Owner { name: "web".to_owned(), namespace: "shop".to_owned() };
        object_cache.state_for(&id(), &release, Ownership::ByAnnotations).map(|seen| seen.state)
    }

    #[test]
    fn write_response_after_delete_event_is_ignored() {
        let (object_cache, _subscription) = subscribed();
        object_cache.store(&id(), cached("a", 1, "f"));
        object_cache.remove(&id(), &cached("a", 2, "f"));
        object_cache.applied(&id(), Digest::of("x"), cached("a", 1, "f"));
        assert_eq!(state(&object_cache), None);
        object_cache.applied(&id(), Digest::of("x"), cached("b", 3, "f"));
        assert_eq!(state(&object_cache), Some(Presence::Applied(Digest::of("x"))));
    }

    #[test]
    fn object_that_regains_its_label_is_cached_again() {
        let (object_cache, _subscription) = subscribed();
        object_cache.store(&id(), cached("a", 1, "f"));
        // To a watch with a label selector, an object that loses the label is deleted.
        object_cache.remove(&id(), &cached("a", 2, "f"));
        assert_eq!(state(&object_cache), None);
        object_cache.applied(&id(), Digest::of("x"), cached("a", 3, "f"));
        assert_eq!(state(&object_cache), Some(Presence::Applied(Digest::of("x"))));
    }

    #[test]
    fn out_of_band_edit_before_the_write_response_is_detected() {
        let (object_cache, _subscription) = subscribed();
        object_cache.store(&id(), cached("a", 2, "edited"));
        object_cache.applied(&id(), Digest::of("x"), cached("a", 1, "f"));
        assert_eq!(state(&object_cache), Some(Presence::Changed));
    }

    #[test]
    fn hook_is_healthy_once_completed_and_job_of_a_release_once_started() {
        let release = Owner { name: "web".to_owned(), namespace: "shop".to_owned() };
        let progress = |status: Value, ownership| {
            let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "status": status });
            CachedObject::of(&job).state_for(&release, ownership, None).progress
        };
        let (started, ended) =
            (json!({ "startTime": "t" }), json!({ "conditions": [{ "type": "Complete", "status": "True" }] }));
        assert_eq!(progress(started.clone(), Ownership::ByName), Progress::Underway);
        assert_eq!(progress(started, Ownership::ByAnnotations), Progress::Healthy);
        assert_eq!(progress(ended, Ownership::ByName), Progress::Healthy);
    }

    #[test]
    fn objects_without_subscription_are_not_cached() {
        let (object_cache, subscription) = subscribed();
        object_cache.applied(&id(), Digest::of("x"), cached("a", 1, "f"));
        object_cache.remove(&id(), &cached("a", 2, "f"));
        drop(subscription);
        object_cache.store(&id(), cached("b", 2, "f"));
        let entries = object_cache.lock();
        assert!(entries.objects.is_empty() && entries.applied.is_empty() && entries.deleted.is_empty());
        assert!(entries.subscribers.is_empty());
    }
}
