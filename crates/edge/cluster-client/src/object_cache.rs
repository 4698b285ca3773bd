//! What is known of a cluster's objects, from watches and from the answers to our own writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fitout_health::{Health, health, run};
use fitout_model::{Digest, Gvk, ObjectId};
use fitout_plan::{KEEP, MANAGER, RELEASE_NAME, RELEASE_NAMESPACE, has_update_manager};
use fitout_reconcile::{ObjectState, Presence, Progress};
use serde_json::Value;
use tokio::sync::Notify;

/// Whose an object is: a release and its namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The release.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
}

/// How a release knows an object for its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// By what the object says.
    ByLabel,
    /// By name alone, unless the object says that it is another release's: hooks, and definitions that come before all else.
    ByName,
}

/// An object as it was seen: no more of it than decisions are made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedObject {
    /// Its identity.
    pub uid: String,
    /// Whose it is; none where no release claims it.
    pub owner: Option<Owner>,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// Of the set of fields that we own in it: it changes when anybody changes or takes one of them.
    pub fields: Option<Digest>,
    /// It stays when its release goes.
    pub keep: bool,
    /// An older Helm has updated it, and owns fields in a way of its own.
    pub(crate) updated: bool,
    /// How it is.
    pub health: Health,
    /// How it is as something that is run to its end.
    run: Option<Health>,
    version: u64,
}

impl CachedObject {
    /// Reads what matters from a whole object, or from its metadata alone.
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
            version: text(&metadata["resourceVersion"]).parse().unwrap_or(0),
        }
    }

    /// What the object is to the release that wants it, where it is known to hold what was applied or not.
    pub fn seen(&self, by: &Owner, claim: Ownership, holds: Option<Digest>) -> ObjectState {
        let state = match &self.owner {
            Some(owner) if owner != by => {
                Presence::Foreign(Some(format!("release {} in {}", owner.name, owner.namespace)))
            }
            None if claim == Ownership::ByLabel => Presence::Foreign(None),
            _ if self.terminating => Presence::Terminating,
            _ => holds.map_or(Presence::Changed, Presence::Applied),
        };
        // What runs and is known by its name alone is a hook, whose end is waited for.
        let health = self.run.as_ref().filter(|_| claim == Ownership::ByName).unwrap_or(&self.health);
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

/// What is known of one cluster's objects: of those, and only those, that somebody has an [`Subscription`] in.
#[derive(Debug, Default)]
pub struct ObjectCache {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    objects: BTreeMap<ObjectId, CachedObject>,
    /// What we applied, and the fields we owned right after: as long as those are the same, so is the content.
    applied: BTreeMap<ObjectId, (Digest, String, Option<Digest>)>,
    /// The last identity and version of each object that is gone: the answer to a write may come later than word of its
    /// end. One that is newer shows that it was only out of our sight, because somebody took its label.
    gone: BTreeMap<ObjectId, (String, u64)>,
    /// Who is told of changes to an object.
    awaited: BTreeMap<ObjectId, Vec<Arc<Notify>>>,
}

/// Somebody's interest in some objects. What is known of them is forgotten when nobody has any left.
#[derive(Debug)]
pub struct Subscription {
    object_cache: Arc<ObjectCache>,
    ids: BTreeSet<ObjectId>,
    word: Arc<Notify>,
}

impl Subscription {
    pub(crate) fn new(object_cache: &Arc<ObjectCache>) -> Self {
        Self { object_cache: Arc::clone(object_cache), ids: BTreeSet::new(), word: Arc::default() }
    }

    /// Adds objects, and says which of them are new to it.
    pub fn add<'a>(&mut self, ids: impl IntoIterator<Item = &'a ObjectId>) -> Vec<&'a ObjectId> {
        let mut known = self.object_cache.lock();
        let mut fresh = Vec::new();
        for id in ids {
            if self.ids.insert(id.clone()) {
                known.awaited.entry(id.clone()).or_default().push(Arc::clone(&self.word));
                fresh.push(id);
            }
        }
        fresh
    }

    /// Waits until something was noted about one of the objects since the last wait.
    pub async fn changed(&self) {
        self.word.notified().await;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut known = self.object_cache.lock();
        for id in &self.ids {
            let Some(listeners) = known.awaited.get_mut(id) else { continue };
            listeners.retain(|other| !Arc::ptr_eq(other, &self.word));
            if listeners.is_empty() {
                known.awaited.remove(id);
                known.objects.remove(id);
                known.applied.remove(id);
                known.gone.remove(id);
            }
        }
    }
}

impl Known {
    /// An older cached never replaces a newer one, and what is gone does not come back: watches lag behind our own
    /// writes, and the answers to our writes lag behind watches.
    fn see(&mut self, id: &ObjectId, cached: CachedObject) {
        let newer = |known: &CachedObject| known.uid == cached.uid && known.version > cached.version;
        let gone = self.gone.get(id).is_some_and(|(uid, at)| *uid == cached.uid && cached.version <= *at);
        if !gone && !self.objects.get(id).is_some_and(newer) {
            self.objects.insert(id.clone(), cached);
        }
    }
}

impl ObjectCache {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of something about an object that somebody has an interest in, and tells them.
    fn note(&self, id: &ObjectId, work: impl FnOnce(&mut Known)) {
        let mut known = self.lock();
        if known.awaited.contains_key(id) {
            work(&mut known);
            known.awaited[id].iter().for_each(|word| word.notify_one());
        }
    }

    /// Takes note of an object.
    pub fn see(&self, id: &ObjectId, cached: CachedObject) {
        self.note(id, |known| known.see(id, cached));
    }

    /// Takes note of an object that does not hold what was applied to it.
    pub(crate) fn suspect(&self, id: &ObjectId, cached: CachedObject) {
        self.note(id, |known| {
            known.applied.remove(id);
            known.see(id, cached);
        });
    }

    /// Takes note that an object is gone, as it was seen last. Another of the same name may have taken its place in the
    /// meantime.
    pub fn lose(&self, id: &ObjectId, last: &CachedObject) {
        self.note(id, |known| {
            known.gone.insert(id.clone(), (last.uid.clone(), last.version));
            if known.objects.get(id).is_some_and(|cached| cached.uid == last.uid) {
                known.objects.remove(id);
            }
        });
    }

    /// Takes note that an object is not there.
    pub(crate) fn miss(&self, id: &ObjectId) {
        if let Some(last) = self.get(id) {
            self.lose(id, &last);
        }
    }

    /// Takes note that of this kind there are these objects and no others of a release.
    pub(crate) fn see_all(&self, gvk: &Gvk, there: &BTreeSet<ObjectId>) {
        let gone: Vec<(ObjectId, CachedObject)> = {
            let known = self.lock();
            let of_kind = known.objects.iter().filter(|(id, cached)| id.gvk == *gvk && cached.owner.is_some());
            let gone = of_kind.filter(|(id, _)| !there.contains(id));
            gone.map(|(id, cached)| (id.clone(), cached.clone())).collect()
        };
        for (id, last) in gone {
            self.lose(&id, &last);
        }
    }

    /// Takes note of what we applied and what the cluster answered.
    pub(crate) fn applied(&self, id: &ObjectId, digest: Digest, cached: CachedObject) {
        self.note(id, |known| {
            known.applied.insert(id.clone(), (digest, cached.uid.clone(), cached.fields.clone()));
            known.see(id, cached);
        });
    }

    /// Takes note that an object is on its way out by our own hand.
    pub(crate) fn deleted(&self, id: &ObjectId) {
        self.note(id, |known| {
            if let Some(cached) = known.objects.get_mut(id) {
                cached.terminating = true;
            }
        });
    }

    /// The cached of an object.
    pub fn get(&self, id: &ObjectId) -> Option<CachedObject> {
        self.lock().objects.get(id).cloned()
    }

    /// What an object is to the release that wants it.
    pub fn seen(&self, id: &ObjectId, by: &Owner, claim: Ownership) -> Option<ObjectState> {
        let known = self.lock();
        let cached = known.objects.get(id)?;
        let unchanged = known
            .applied
            .get(id)
            .filter(|(_, uid, fields)| *uid == cached.uid && *fields == cached.fields)
            .map(|(digest, ..)| digest.clone());
        Some(cached.seen(by, claim, unchanged))
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

    fn watched() -> (Arc<ObjectCache>, Subscription) {
        let object_cache = Arc::<ObjectCache>::default();
        let mut interest = Subscription::new(&object_cache);
        interest.add([&id()]);
        (object_cache, interest)
    }

    fn state(object_cache: &ObjectCache) -> Option<Presence> {
        let by = Owner { name: "web".to_owned(), namespace: "shop".to_owned() };
        object_cache.seen(&id(), &by, Ownership::ByLabel).map(|seen| seen.state)
    }

    #[test]
    fn the_answer_to_a_write_that_comes_after_word_of_the_end_changes_nothing() {
        let (object_cache, _interest) = watched();
        object_cache.see(&id(), cached("a", 1, "f"));
        object_cache.lose(&id(), &cached("a", 2, "f"));
        object_cache.applied(&id(), Digest::of("x"), cached("a", 1, "f"));
        assert_eq!(state(&object_cache), None);
        object_cache.applied(&id(), Digest::of("x"), cached("b", 3, "f"));
        assert_eq!(state(&object_cache), Some(Presence::Applied(Digest::of("x"))));
    }

    #[test]
    fn an_object_that_was_only_out_of_sight_is_seen_again() {
        let (object_cache, _interest) = watched();
        object_cache.see(&id(), cached("a", 1, "f"));
        // To a watch that selects by a label, an object without it is one that is gone.
        object_cache.lose(&id(), &cached("a", 2, "f"));
        assert_eq!(state(&object_cache), None);
        object_cache.applied(&id(), Digest::of("x"), cached("a", 3, "f"));
        assert_eq!(state(&object_cache), Some(Presence::Applied(Digest::of("x"))));
    }

    #[test]
    fn an_edit_that_is_seen_before_the_answer_to_our_write_is_not_lost() {
        let (object_cache, _interest) = watched();
        object_cache.see(&id(), cached("a", 2, "edited"));
        object_cache.applied(&id(), Digest::of("x"), cached("a", 1, "f"));
        assert_eq!(state(&object_cache), Some(Presence::Changed));
    }

    #[test]
    fn a_hook_is_healthy_once_it_has_ended_and_a_job_of_the_release_once_it_has_started() {
        let by = Owner { name: "web".to_owned(), namespace: "shop".to_owned() };
        let progress = |status: Value, claim| {
            let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "status": status });
            CachedObject::of(&job).seen(&by, claim, None).progress
        };
        let (started, ended) =
            (json!({ "startTime": "t" }), json!({ "conditions": [{ "type": "Complete", "status": "True" }] }));
        assert_eq!(progress(started.clone(), Ownership::ByName), Progress::Underway);
        assert_eq!(progress(started, Ownership::ByLabel), Progress::Healthy);
        assert_eq!(progress(ended, Ownership::ByName), Progress::Healthy);
    }

    #[test]
    fn nothing_is_kept_of_what_nobody_has_an_interest_in() {
        let (object_cache, interest) = watched();
        object_cache.applied(&id(), Digest::of("x"), cached("a", 1, "f"));
        object_cache.lose(&id(), &cached("a", 2, "f"));
        drop(interest);
        object_cache.see(&id(), cached("b", 2, "f"));
        let known = object_cache.lock();
        assert!(known.objects.is_empty() && known.applied.is_empty() && known.gone.is_empty());
        assert!(known.awaited.is_empty());
    }
}
