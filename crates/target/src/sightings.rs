//! What is known of a cluster's objects, from watches and from the answers to our own writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use fitout_change::{Seen, State};
use fitout_health::{Health, health};
use fitout_model::{Digest, Gvk, ObjectId};
use fitout_plan::{RELEASE_NAME, RELEASE_NAMESPACE};
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
    /// How it is.
    pub health: Health,
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
        let ours = |entry: &&Value| entry["manager"] == "helm" && entry["operation"] == "Apply";
        Self {
            uid: text(&metadata["uid"]),
            owner: owner.map(|(name, namespace)| Owner { name, namespace }),
            terminating: !metadata["deletionTimestamp"].is_null(),
            fields: managers.filter(ours).map(|entry| Digest::of_value(&entry["fieldsV1"])).next(),
            health: health(object),
            version: text(&metadata["resourceVersion"]).parse().unwrap_or(0),
        }
    }
}

/// All that is known of one cluster's objects. Whoever waits on it is told of every change.
#[derive(Debug, Default)]
pub struct Sightings {
    known: Mutex<Known>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Known {
    objects: BTreeMap<ObjectId, Sighting>,
    /// What we applied, and the fields we owned right after: as long as those are the same, so is the content.
    applied: BTreeMap<ObjectId, (Digest, String, Option<Digest>)>,
    /// When something about an object was last noted, and what time it is now, in ticks.
    touched: BTreeMap<ObjectId, u64>,
    now: u64,
}

impl Sightings {
    fn touch(&self, id: &ObjectId, work: impl FnOnce(&mut Known)) {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.now += 1;
            let now = known.now;
            known.touched.insert(id.clone(), now);
            work(&mut known);
        }
        self.changed.notify_waiters();
    }

    /// When something about any of these objects was last noted: a number that only grows.
    pub fn touched<'a>(&self, ids: impl IntoIterator<Item = &'a ObjectId>) -> u64 {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        ids.into_iter().filter_map(|id| known.touched.get(id)).copied().max().unwrap_or(0)
    }

    /// Waits for the next change.
    pub fn changed(&self) -> impl Future<Output = ()> + '_ {
        self.changed.notified()
    }

    /// Takes note of an object. An older sighting never replaces a newer one: watches lag behind our own writes.
    pub fn see(&self, id: ObjectId, sighting: Sighting) {
        self.touch(&id.clone(), |known| match known.objects.get(&id) {
            Some(newer) if newer.version > sighting.version && newer.uid == sighting.uid => {}
            _ => drop(known.objects.insert(id, sighting)),
        });
    }

    /// Takes note that an object is gone. Another of the same name may have taken its place in the meantime.
    pub fn lose(&self, id: &ObjectId, uid: &str) {
        self.touch(id, |known| {
            if known.objects.get(id).is_some_and(|sighting| sighting.uid == uid) {
                known.objects.remove(id);
            }
        });
    }

    /// Takes note that of this kind there are these objects and no others of a release.
    pub(crate) fn see_all(&self, gvk: &Gvk, there: &BTreeSet<ObjectId>) {
        let gone: Vec<(ObjectId, String)> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let of_kind = known.objects.iter().filter(|(id, sighting)| id.gvk == *gvk && sighting.owner.is_some());
            let gone = of_kind.filter(|(id, _)| !there.contains(id));
            gone.map(|(id, sighting)| (id.clone(), sighting.uid.clone())).collect()
        };
        for (id, uid) in gone {
            self.lose(&id, &uid);
        }
    }

    /// Takes note of what we applied and what the cluster answered.
    pub(crate) fn applied(&self, id: ObjectId, digest: Digest, sighting: Sighting) {
        self.touch(&id.clone(), |known| {
            known.applied.insert(id.clone(), (digest, sighting.uid.clone(), sighting.fields.clone()));
            known.objects.insert(id, sighting);
        });
    }

    /// Takes note that an object is on its way out by our own hand.
    pub(crate) fn deleted(&self, id: &ObjectId) {
        self.touch(id, |known| {
            if let Some(sighting) = known.objects.get_mut(id) {
                sighting.terminating = true;
            }
        });
    }

    /// The sighting of an object.
    pub fn get(&self, id: &ObjectId) -> Option<Sighting> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).objects.get(id).cloned()
    }

    /// What an object is to the release that wants it.
    pub fn seen(&self, id: &ObjectId, by: &Owner) -> Option<Seen> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let sighting = known.objects.get(id)?;
        let unchanged = known
            .applied
            .get(id)
            .filter(|(_, uid, fields)| *uid == sighting.uid && *fields == sighting.fields)
            .map(|(digest, ..)| digest.clone());
        let state = match &sighting.owner {
            Some(owner) if owner != by => State::Foreign(format!("release {} in {}", owner.name, owner.namespace)),
            None => State::Foreign("nobody's release".to_owned()),
            Some(_) if sighting.terminating => State::Terminating,
            Some(_) => unchanged.map_or(State::Changed, State::Applied),
        };
        Some(Seen { state, healthy: sighting.health == Health::Current })
    }
}
