//! Revisions that are on record before they are objects.
//!
//! What is about to be done is written down first. Where many wait for their turn, that is done for several of them at
//! once, on a page: a Secret of the hub's own. The objects come when it is calm, or when somebody has to see one sooner. A
//! hub that comes to lead takes over what it finds on segments, and makes objects of it, before it does anything else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fitout_api::{ExtensionInstance, ExtensionRevision, ExtensionRevisionSpec, FINALIZER};
use fitout_model::Digest;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::core::Status;
use kube::{Api, Client, ResourceExt};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::cache::indexes::{Key, key};
use crate::cache::pending_writes::{Expected, version};
use crate::storage::api_writes::found;
use crate::{Hub, SYSTEM};

/// What tells a page from other secrets.
const SEGMENT_TYPE: &str = "fitout.dev/journal";

/// As many revisions are on a page at most, and so much of each: together, what a Secret can hold.
const ENTRIES: usize = 32;
const ENTRY: usize = 16 << 10;

/// A revision that is not an object yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    namespace: String,
    /// The identity of its instance: another one may have the name by the time this is read.
    uid: String,
    spec: ExtensionRevisionSpec,
}

impl Entry {
    /// None where it is too much for a page.
    pub(crate) fn new(instance: &ExtensionInstance, spec: &ExtensionRevisionSpec) -> Option<Self> {
        let entry = Self { namespace: instance.namespace()?, uid: instance.uid()?, spec: spec.clone() };
        (serde_json::to_vec(&entry).ok()?.len() <= ENTRY).then_some(entry)
    }

    /// Whose it is: namespace and name of the instance.
    fn key(&self) -> Key {
        (self.namespace.clone(), self.spec.instance.clone())
    }

    fn is_of(&self, instance: &ExtensionInstance) -> bool {
        instance.uid().as_ref() == Some(&self.uid)
    }
}

/// The object of a revision. It is all that is known of what is on the cluster: it stays until that is gone.
pub(crate) fn object(namespace: Option<String>, spec: ExtensionRevisionSpec) -> ExtensionRevision {
    ExtensionRevision {
        metadata: ObjectMeta {
            name: Some(ExtensionRevision::name_of(&spec.instance, spec.number)),
            namespace,
            finalizers: Some(vec![FINALIZER.to_owned()]),
            ..ObjectMeta::default()
        },
        spec,
        status: None,
    }
}

/// What is on segments, and what is to come onto the next one.
#[derive(Default)]
pub(crate) struct WriteAheadLog {
    /// Whoever has the turn writes for all that wait, and nobody else writes meanwhile.
    turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<Key, Entry>,
    /// On a page, and no objects yet.
    written: BTreeMap<Key, Entry>,
    /// Whose revisions are on each page, be they objects by now or not.
    segments: BTreeMap<String, Vec<Key>>,
    /// All of those.
    mentioned: BTreeSet<Key>,
    /// How many segments there were.
    count: u64,
}

impl WriteAheadLog {
    /// Whether nothing of an instance is on any page: of two entries, nobody could tell which counts.
    pub(crate) fn is_new(&self, key: &Key) -> bool {
        let state = self.state();
        !state.waiting.contains_key(key) && !state.mentioned.contains(key)
    }

    /// Writes a revision down, together with all that wait for the same.
    pub(crate) async fn append(&self, client: &Client, entry: Entry) -> kube::Result<()> {
        let waits = Waits { write_ahead_log: self, key: entry.key() };
        self.state().waiting.insert(waits.key.clone(), entry);
        let _turn = self.turn.lock().await;
        if !self.state().waiting.contains_key(&waits.key) {
            return Ok(());
        }
        let (name, entries) = self.state().next(&waits.key);
        segments(client).create(&PostParams::default(), &page(name, &entries)).await?;
        let mut state = self.state();
        for entry in entries {
            // Who has gone meanwhile does not count on it.
            if state.waiting.remove(&entry.key()).is_some() {
                state.written.insert(entry.key(), entry);
            }
        }
        Ok(())
    }

    /// The revision of an instance that is on a page and is no object yet.
    pub(crate) fn revision_of(&self, instance: &ExtensionInstance) -> Option<ExtensionRevision> {
        let key = (instance.namespace()?, instance.name_any());
        let entry = self.state().written.get(&key).filter(|entry| entry.is_of(instance)).cloned()?;
        Some(object(Some(entry.namespace), entry.spec))
    }

    /// Makes an object of the revision of an instance, where it is not one yet, and says whether it did. In a namespace that
    /// goes nothing can be made: there it stays on its page.
    pub(crate) async fn settle(&self, hub: &Hub, key: &Key) -> kube::Result<bool> {
        if !self.state().written.contains_key(key) {
            return Ok(false);
        }
        let _turn = self.turn.lock().await;
        let entry = self.state().written.get(key).cloned();
        let Some(entry) = entry else { return Ok(false) };
        let made = make(hub, entry).await?;
        if made {
            self.state().written.remove(key);
        }
        Ok(made)
    }

    /// Forgets the revision of an instance: it is gone, or nothing is left of what it has installed.
    pub(crate) async fn forget(&self, key: &Key) {
        let _turn = self.turn.lock().await;
        self.state().written.remove(key);
    }

    /// Makes objects of all revisions, and removes the segments that are of no more use. Says whether there is to be more of it
    /// soon.
    pub(crate) async fn settle_all(&self, hub: &Hub) -> bool {
        let all: Vec<Entry> = self.state().written.values().cloned().collect();
        let there = |entry: &Entry| {
            let instance = hub.cache.instance(&entry.namespace, &entry.spec.instance);
            instance.is_some_and(|instance| entry.is_of(&instance))
        };
        let mut again = false;
        for entry in &all {
            if !there(entry) {
                self.forget(&entry.key()).await;
                continue;
            }
            again |= self.settle(hub, &entry.key()).await.unwrap_or_else(|error| {
                tracing::warn!(instance = entry.spec.instance, %error, "revision");
                true
            });
        }
        let _turn = self.turn.lock().await;
        let used_up = self.state().used_up();
        for name in used_up {
            match found(segments(&hub.client).delete(&name, &DeleteParams::default()).await.map(drop)) {
                Ok(()) => self.state().remove(&name),
                Err(error) => tracing::warn!(page = name, %error, "journal"),
            }
        }
        again
    }

    /// The content that revisions name which are not objects yet.
    pub(crate) fn named(&self) -> Vec<Digest> {
        let state = self.state();
        let specs = state.waiting.values().chain(state.written.values()).map(|entry| &entry.spec);
        let digests = specs.flat_map(|spec| [&spec.artifact_digest, &spec.chart_digest]);
        digests.flatten().cloned().map(Digest::from).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next page: with this one on it, and as many others as there is room for. It is known from now on, whatever comes
    /// of it, so that it is removed with the others.
    fn next(&mut self, key: &Key) -> (String, Vec<Entry>) {
        let others = self.waiting.iter().filter(|(other, _)| *other != key).map(|(_, entry)| entry);
        let entries: Vec<Entry> = self.waiting.get(key).into_iter().chain(others).take(ENTRIES).cloned().collect();
        let keys: Vec<Key> = entries.iter().map(Entry::key).collect();
        self.count += 1;
        // No other hub has written down the same one.
        let first = entries.first().map(|entry| entry.uid.as_str()).unwrap_or_default();
        let name = format!("journal-{first}-{}", self.count);
        self.mentioned.extend(keys.iter().cloned());
        self.segments.insert(name.clone(), keys);
        (name, entries)
    }

    fn remove(&mut self, page: &str) {
        self.segments.remove(page);
        self.mentioned = self.segments.values().flatten().cloned().collect();
    }

    /// What another hub has written. A page that cannot be read as a whole is left alone: one that can may come.
    fn take_over(&mut self, segments: &[Secret]) {
        for page in segments {
            let entries = entries(page);
            if entries.len() == page.data.as_ref().map_or(0, BTreeMap::len) {
                self.segments.insert(page.name_any(), entries.iter().map(Entry::key).collect());
            } else {
                let page = page.name_any();
                tracing::warn!(
                    page,
                    "this page of the journal cannot be read and is kept; run the version that wrote it once"
                );
            }
            self.mentioned.extend(entries.iter().map(Entry::key));
            self.written.extend(entries.into_iter().map(|entry| (entry.key(), entry)));
        }
    }

    /// The segments of which nothing is still to become an object.
    fn used_up(&self) -> Vec<String> {
        let open = |key: &Key| self.waiting.contains_key(key) || self.written.contains_key(key);
        let used_up = self.segments.iter().filter(|(_, keys)| !keys.iter().any(open));
        used_up.map(|(name, _)| name.clone()).collect()
    }
}

/// Somebody who waits: when nobody does any more, there is nothing to write.
struct Waits<'a> {
    write_ahead_log: &'a WriteAheadLog,
    key: Key,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.write_ahead_log.state().waiting.remove(&self.key);
    }
}

/// How long until what another hub has written down is asked for again.
const AGAIN: Duration = Duration::from_secs(1);

/// Takes over what another hub has written down, and makes objects of it.
pub(crate) async fn recover(hub: &Hub) {
    let found = loop {
        match read_segments(&hub.client).await {
            Ok(found) => break found,
            Err(error) => tracing::warn!(%error, "journal"),
        }
        sleep(AGAIN).await;
    };
    hub.write_ahead_log.state().take_over(&found);
    hub.write_ahead_log.settle_all(hub).await;
}

/// What is written down of an instance, for who does not lead.
pub(crate) async fn read(client: &Client, instance: &ExtensionInstance) -> kube::Result<Vec<ExtensionRevision>> {
    let all = read_segments(client).await?;
    let own = all.iter().flat_map(entries).filter(|entry| entry.is_of(instance));
    Ok(own.map(|entry| object(Some(entry.namespace), entry.spec)).collect())
}

/// Says whether it is an object now. One that is there already is the same: its number is given once.
async fn make(hub: &Hub, Entry { namespace, spec, .. }: Entry) -> kube::Result<bool> {
    let revisions: Api<ExtensionRevision> = Api::namespaced(hub.client.clone(), &namespace);
    let revision = object(Some(namespace), spec);
    let at = match revisions.create(&PostParams::default(), &revision).await {
        Ok(made) => version(&made),
        // Whichever it is in.
        Err(kube::Error::Api(status)) if status.code == 409 => 0,
        Err(kube::Error::Api(status)) if is_going(&status) => return Ok(false),
        Err(error) => return Err(error),
    };
    hub.cache.expect_revision(&key(&revision), Expected::Present(at));
    Ok(true)
}

/// Whether the namespace that something was to be made in goes, or is gone.
fn is_going(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    status.code == 404 || causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating")
}

fn segments(client: &Client) -> Api<Secret> {
    Api::namespaced(client.clone(), SYSTEM)
}

async fn read_segments(client: &Client) -> kube::Result<Vec<Secret>> {
    Ok(segments(client).list(&ListParams::default().fields(&format!("type={SEGMENT_TYPE}"))).await?.items)
}

fn page(name: String, entries: &[Entry]) -> Secret {
    let line = |entry: &Entry| Some((entry.uid.clone(), ByteString(serde_json::to_vec(entry).ok()?)));
    Secret {
        metadata: ObjectMeta { name: Some(name), ..ObjectMeta::default() },
        type_: Some(SEGMENT_TYPE.to_owned()),
        data: Some(entries.iter().filter_map(line).collect()),
        ..Secret::default()
    }
}

fn entries(page: &Secret) -> Vec<Entry> {
    let lines = page.data.iter().flat_map(BTreeMap::values);
    lines.filter_map(|line| serde_json::from_slice(&line.0).ok()).collect()
}
