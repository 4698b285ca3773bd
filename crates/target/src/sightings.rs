//! What is known of a cluster's objects, from watches and from the answers to our own writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fitout_change::{Progress, Seen, State};
use fitout_health::{Health, health, run};
use fitout_model::{Digest, Gvk, ObjectId};
use fitout_plan::{KEEP, MANAGER, RELEASE_NAME, RELEASE_NAMESPACE, was_updated};
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
pub enum Claim {
    /// By what the object says.
    Marked,
    /// By name alone, unless the object says that it is another release's: hooks, and definitions that come before all else.
    Named,
}

/// An object as it was seen: no more of it than decisions are made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
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

impl Sighting {
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
            updated: was_updated(metadata),
            keep: annotation(KEEP).as_deref() == Some("keep"),
            health: health(object),
            run: run(object),
            version: text(&metadata["resourceVersion"]).parse().unwrap_or(0),
        }
    }

    /// What the object is to the release that wants it, where it is known to hold what was applied or not.
    pub fn seen(&self, by: &Owner, claim: Claim, holds: Option<Digest>) -> Seen {
        let state = match &self.owner {
            Some(owner) if owner != by => {
                State::Foreign(Some(format!("release {} in {}", owner.name, owner.namespace)))
            }
            None if claim == Claim::Marked => State::Foreign(None),
            _ if self.terminating => State::Terminating,
            _ => holds.map_or(State::Changed, State::Applied),
        };
        // What runs and is known by its name alone is a hook, whose end is waited for.
        let health = self.run.as_ref().filter(|_| claim == Claim::Named).unwrap_or(&self.health);
        Seen {
            state,
            progress: match health {
                Health::Current => Progress::Healthy,
                Health::Failed(_) => Progress::Failed,
                Health::InProgress(_) | Health::Terminating(_) => Progress::Underway,
            },
            keep: self.keep,
            anew: false,
        }
    }
}

/// What is known of one cluster's objects: of those, and only those, that somebody has an [`Interest`] in.
#[derive(Debug, Default)]
pub struct Sightings {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    objects: BTreeMap<ObjectId, Sighting>,
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
pub struct Interest {
    sightings: Arc<Sightings>,
    ids: BTreeSet<ObjectId>,
    word: Arc<Notify>,
}

impl Interest {
    pub(crate) fn new(sightings: &Arc<Sightings>) -> Self {
        Self { sightings: Arc::clone(sightings), ids: BTreeSet::new(), word: Arc::default() }
    }

    /// Adds objects, and says which of them are new to it.
    pub fn add<'a>(&mut self, ids: impl IntoIterator<Item = &'a ObjectId>) -> Vec<&'a ObjectId> {
        let mut known = self.sightings.lock();
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

impl Drop for Interest {
    fn drop(&mut self) {
        let mut known = self.sightings.lock();
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
    /// An older sighting never replaces a newer one, and what is gone does not come back: watches lag behind our own
    /// writes, and the answers to our writes lag behind watches.
    fn see(&mut self, id: &ObjectId, sighting: Sighting) {
        let newer = |known: &Sighting| known.uid == sighting.uid && known.version > sighting.version;
        let gone = self.gone.get(id).is_some_and(|(uid, at)| *uid == sighting.uid && sighting.version <= *at);
        if !gone && !self.objects.get(id).is_some_and(newer) {
            self.objects.insert(id.clone(), sighting);
        }
    }
}

impl Sightings {
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
    pub fn see(&self, id: &ObjectId, sighting: Sighting) {
        self.note(id, |known| known.see(id, sighting));
    }

    /// Takes note of an object that does not hold what was applied to it.
    pub(crate) fn doubt(&self, id: &ObjectId, sighting: Sighting) {
        self.note(id, |known| {
            known.applied.remove(id);
            known.see(id, sighting);
        });
    }

    /// Takes note that an object is gone, as it was seen last. Another of the same name may have taken its place in the
    /// meantime.
    pub fn lose(&self, id: &ObjectId, last: &Sighting) {
        self.note(id, |known| {
            known.gone.insert(id.clone(), (last.uid.clone(), last.version));
            if known.objects.get(id).is_some_and(|sighting| sighting.uid == last.uid) {
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
        let gone: Vec<(ObjectId, Sighting)> = {
            let known = self.lock();
            let of_kind = known.objects.iter().filter(|(id, sighting)| id.gvk == *gvk && sighting.owner.is_some());
            let gone = of_kind.filter(|(id, _)| !there.contains(id));
            gone.map(|(id, sighting)| (id.clone(), sighting.clone())).collect()
        };
        for (id, last) in gone {
            self.lose(&id, &last);
        }
    }

    /// Takes note of what we applied and what the cluster answered.
    pub(crate) fn applied(&self, id: &ObjectId, digest: Digest, sighting: Sighting) {
        self.note(id, |known| {
            known.applied.insert(id.clone(), (digest, sighting.uid.clone(), sighting.fields.clone()));
            known.see(id, sighting);
        });
    }

    /// Takes note that an object is on its way out by our own hand.
    pub(crate) fn deleted(&self, id: &ObjectId) {
        self.note(id, |known| {
            if let Some(sighting) = known.objects.get_mut(id) {
                sighting.terminating = true;
            }
        });
    }

    /// The sighting of an object.
    pub fn get(&self, id: &ObjectId) -> Option<Sighting> {
        self.lock().objects.get(id).cloned()
    }

    /// What an object is to the release that wants it.
    pub fn seen(&self, id: &ObjectId, by: &Owner, claim: Claim) -> Option<Seen> {
        let known = self.lock();
        let sighting = known.objects.get(id)?;
        let unchanged = known
            .applied
            .get(id)
            .filter(|(_, uid, fields)| *uid == sighting.uid && *fields == sighting.fields)
            .map(|(digest, ..)| digest.clone());
        Some(sighting.seen(by, claim, unchanged))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id() -> ObjectId {
        ObjectId { gvk: Gvk::new("v1", "ConfigMap"), namespace: "shop".to_owned(), name: "web".to_owned() }
    }

    fn sighting(uid: &str, version: u32, fields: &str) -> Sighting {
        Sighting::of(&json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "uid": uid, "resourceVersion": version.to_string(),
            "annotations": { RELEASE_NAME: "web", RELEASE_NAMESPACE: "shop" },
            "managedFields": [{ "manager": "helm", "operation": "Apply", "fieldsV1": { fields: {} } }],
        } }))
    }

    fn watched() -> (Arc<Sightings>, Interest) {
        let sightings = Arc::<Sightings>::default();
        let mut interest = Interest::new(&sightings);
        interest.add([&id()]);
        (sightings, interest)
    }

    fn state(sightings: &Sightings) -> Option<State> {
        let by = Owner { name: "web".to_owned(), namespace: "shop".to_owned() };
        sightings.seen(&id(), &by, Claim::Marked).map(|seen| seen.state)
    }

    #[test]
    fn the_answer_to_a_write_that_comes_after_word_of_the_end_changes_nothing() {
        let (sightings, _interest) = watched();
        sightings.see(&id(), sighting("a", 1, "f"));
        sightings.lose(&id(), &sighting("a", 2, "f"));
        sightings.applied(&id(), Digest::of("x"), sighting("a", 1, "f"));
        assert_eq!(state(&sightings), None);
        sightings.applied(&id(), Digest::of("x"), sighting("b", 3, "f"));
        assert_eq!(state(&sightings), Some(State::Applied(Digest::of("x"))));
    }

    #[test]
    fn an_object_that_was_only_out_of_sight_is_seen_again() {
        let (sightings, _interest) = watched();
        sightings.see(&id(), sighting("a", 1, "f"));
        // To a watch that selects by a label, an object without it is one that is gone.
        sightings.lose(&id(), &sighting("a", 2, "f"));
        assert_eq!(state(&sightings), None);
        sightings.applied(&id(), Digest::of("x"), sighting("a", 3, "f"));
        assert_eq!(state(&sightings), Some(State::Applied(Digest::of("x"))));
    }

    #[test]
    fn an_edit_that_is_seen_before_the_answer_to_our_write_is_not_lost() {
        let (sightings, _interest) = watched();
        sightings.see(&id(), sighting("a", 2, "edited"));
        sightings.applied(&id(), Digest::of("x"), sighting("a", 1, "f"));
        assert_eq!(state(&sightings), Some(State::Changed));
    }

    #[test]
    fn a_hook_is_healthy_once_it_has_ended_and_a_job_of_the_release_once_it_has_started() {
        let by = Owner { name: "web".to_owned(), namespace: "shop".to_owned() };
        let progress = |status: Value, claim| {
            let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "status": status });
            Sighting::of(&job).seen(&by, claim, None).progress
        };
        let (started, ended) =
            (json!({ "startTime": "t" }), json!({ "conditions": [{ "type": "Complete", "status": "True" }] }));
        assert_eq!(progress(started.clone(), Claim::Named), Progress::Underway);
        assert_eq!(progress(started, Claim::Marked), Progress::Healthy);
        assert_eq!(progress(ended, Claim::Named), Progress::Healthy);
    }

    #[test]
    fn nothing_is_kept_of_what_nobody_has_an_interest_in() {
        let (sightings, interest) = watched();
        sightings.applied(&id(), Digest::of("x"), sighting("a", 1, "f"));
        sightings.lose(&id(), &sighting("a", 2, "f"));
        drop(interest);
        sightings.see(&id(), sighting("b", 2, "f"));
        let known = sightings.lock();
        assert!(known.objects.is_empty() && known.applied.is_empty() && known.gone.is_empty());
        assert!(known.awaited.is_empty());
    }
}
