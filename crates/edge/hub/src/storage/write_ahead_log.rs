//! The write-ahead log: revisions that are recorded before they are objects.
//!
//! A revision is recorded before its objects are applied. While many changes wait for a slot on a cluster, the first
//! revisions of several instances are written together into one segment, a Secret in the hub's namespace. They become
//! objects when the hub is idle, or earlier when a worker needs one. A new leader makes objects of every segment before
//! it does anything else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fitout_api::{ExtensionInstance, ExtensionRevision, ExtensionRevisionSpec, FINALIZER};
use fitout_model::{Digest, ResourceVersion};
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

/// The Secret type of a segment. The value is stored data, as is the name prefix `journal-`: neither may change.
const SEGMENT_TYPE: &str = "fitout.dev/journal";

/// The number of entries in a segment.
const ENTRIES: usize = 32;

/// The size of an entry in bytes. A segment of the largest entries is half of what a Secret can hold.
const ENTRY: usize = 16 << 10;

/// A revision that is not an object yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    namespace: String,
    /// The UID of its instance: another instance may have the name by the time this is read.
    uid: String,
    spec: ExtensionRevisionSpec,
}

impl Entry {
    /// None if the revision is too large for a segment.
    pub(crate) fn new(instance: &ExtensionInstance, spec: &ExtensionRevisionSpec) -> Option<Self> {
        let entry = Self { namespace: instance.namespace()?, uid: instance.uid()?, spec: spec.clone() };
        (serde_json::to_vec(&entry).ok()?.len() <= ENTRY).then_some(entry)
    }

    /// Namespace and name of the instance.
    fn key(&self) -> Key {
        (self.namespace.clone(), self.spec.instance.clone())
    }

    fn is_of(&self, instance: &ExtensionInstance) -> bool {
        instance.uid().as_ref() == Some(&self.uid)
    }
}

/// The object of a revision. Its finalizer holds it until the objects in its inventory are deleted from the cluster.
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

/// The entries that are in segments, and those that wait for the next segment.
#[derive(Default)]
pub(crate) struct WriteAheadLog {
    /// Held while the log is written. The holder writes the entries of all that wait.
    writing: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<Key, Entry>,
    /// In a segment, and not objects yet.
    written: BTreeMap<Key, Entry>,
    /// The instances of each segment, also those whose revisions are objects by now.
    segments: BTreeMap<String, Vec<Key>>,
    /// The instances of all segments.
    mentioned: BTreeSet<Key>,
    /// The number of segments that this hub has written.
    count: u64,
}

impl WriteAheadLog {
    /// Whether no segment mentions an instance. With two entries of one instance, it would be unclear which one counts.
    pub(crate) fn is_new(&self, key: &Key) -> bool {
        let state = self.state();
        !state.waiting.contains_key(key) && !state.mentioned.contains(key)
    }

    /// Writes an entry into a segment, together with all entries that wait.
    pub(crate) async fn append(&self, client: &Client, entry: Entry) -> kube::Result<()> {
        let waits = Waits { write_ahead_log: self, key: entry.key() };
        self.state().waiting.insert(waits.key.clone(), entry);
        let _writing = self.writing.lock().await;
        if !self.state().waiting.contains_key(&waits.key) {
            return Ok(());
        }
        let (name, entries) = self.state().next(&waits.key);
        segments(client).create(&PostParams::default(), &segment(name, &entries)).await?;
        let mut state = self.state();
        for entry in entries {
            // An entry whose writer was cancelled meanwhile does not count.
            if state.waiting.remove(&entry.key()).is_some() {
                state.written.insert(entry.key(), entry);
            }
        }
        Ok(())
    }

    /// The revision of an instance that is in a segment and not an object yet.
    pub(crate) fn revision_of(&self, instance: &ExtensionInstance) -> Option<ExtensionRevision> {
        let key = (instance.namespace()?, instance.name_any());
        let entry = self.state().written.get(&key).filter(|entry| entry.is_of(instance)).cloned()?;
        Some(object(Some(entry.namespace), entry.spec))
    }

    /// Makes an object of the revision of an instance, if it is not one yet, and returns whether it did. In a namespace
    /// that is being deleted no object can be created: there the revision stays in its segment.
    pub(crate) async fn create_revision(&self, hub: &Hub, key: &Key) -> kube::Result<bool> {
        if !self.state().written.contains_key(key) {
            return Ok(false);
        }
        let _writing = self.writing.lock().await;
        let entry = self.state().written.get(key).cloned();
        let Some(entry) = entry else { return Ok(false) };
        let created = create_object(hub, entry).await?;
        if created {
            self.state().written.remove(key);
        }
        Ok(created)
    }

    /// Forgets the revision of an instance: it was deleted, or none of its objects are left on the cluster.
    pub(crate) async fn forget(&self, key: &Key) {
        let _writing = self.writing.lock().await;
        self.state().written.remove(key);
    }

    /// Makes objects of all revisions, and deletes the segments that are used up. Returns whether it has to be called
    /// again.
    pub(crate) async fn create_revisions(&self, hub: &Hub) -> bool {
        let all: Vec<Entry> = self.state().written.values().cloned().collect();
        let exists = |entry: &Entry| {
            let instance = hub.cache.instance(&entry.namespace, &entry.spec.instance);
            instance.is_some_and(|instance| entry.is_of(&instance))
        };
        let mut again = false;
        for entry in &all {
            if !exists(entry) {
                self.forget(&entry.key()).await;
                continue;
            }
            again |= self.create_revision(hub, &entry.key()).await.unwrap_or_else(|error| {
                tracing::warn!(instance = entry.spec.instance, %error, "failed to create revision");
                true
            });
        }
        let _writing = self.writing.lock().await;
        let used_up = self.state().used_up();
        for name in used_up {
            match found(segments(&hub.client).delete(&name, &DeleteParams::default()).await.map(drop)) {
                Ok(()) => self.state().remove(&name),
                Err(error) => tracing::warn!(segment = name, %error, "failed to delete segment"),
            }
        }
        again
    }

    /// The content that is named by revisions that are not objects yet.
    pub(crate) fn named(&self) -> Vec<Digest> {
        let state = self.state();
        let specs = state.waiting.values().chain(state.written.values()).map(|entry| &entry.spec);
        specs.flat_map(ExtensionRevisionSpec::contents).cloned().map(Digest::from).collect()
    }

    /// Whether a written revision that is not an object yet names this content.
    pub(crate) fn names(&self, content: &Digest) -> bool {
        let state = self.state();
        state.written.values().any(|entry| entry.spec.contents().any(|digest| digest == content.as_str()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next segment: this entry, and as many others as fit. It is recorded before it is written, so that it is
    /// deleted later even if the answer to the write is lost.
    fn next(&mut self, key: &Key) -> (String, Vec<Entry>) {
        let others = self.waiting.iter().filter(|(other, _)| *other != key).map(|(_, entry)| entry);
        let entries: Vec<Entry> = self.waiting.get(key).into_iter().chain(others).take(ENTRIES).cloned().collect();
        let keys: Vec<Key> = entries.iter().map(Entry::key).collect();
        self.count += 1;
        // The UID keeps the name apart from the segments of other hubs: only one of them has this entry.
        let first = entries.first().map(|entry| entry.uid.as_str()).unwrap_or_default();
        let name = format!("journal-{first}-{}", self.count);
        self.mentioned.extend(keys.iter().cloned());
        self.segments.insert(name.clone(), keys);
        (name, entries)
    }

    fn remove(&mut self, segment: &str) {
        self.segments.remove(segment);
        self.mentioned = self.segments.values().flatten().cloned().collect();
    }

    /// Adds the segments of other hubs. A segment with an entry that cannot be parsed is never deleted: a newer version
    /// of the hub may have written it.
    fn take_over(&mut self, segments: &[Secret]) {
        for segment in segments {
            let entries = entries(segment);
            if entries.len() == segment.data.as_ref().map_or(0, BTreeMap::len) {
                self.segments.insert(segment.name_any(), entries.iter().map(Entry::key).collect());
            } else {
                let segment = segment.name_any();
                tracing::warn!(segment, "kept segment that cannot be parsed; run the version that wrote it once");
            }
            self.mentioned.extend(entries.iter().map(Entry::key));
            self.written.extend(entries.into_iter().map(|entry| (entry.key(), entry)));
        }
    }

    /// The segments without an entry that has yet to become an object.
    fn used_up(&self) -> Vec<String> {
        let open = |key: &Key| self.waiting.contains_key(key) || self.written.contains_key(key);
        let used_up = self.segments.iter().filter(|(_, keys)| !keys.iter().any(open));
        used_up.map(|(name, _)| name.clone()).collect()
    }
}

/// Removes an entry that waits when its writer is cancelled.
struct Waits<'a> {
    write_ahead_log: &'a WriteAheadLog,
    key: Key,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.write_ahead_log.state().waiting.remove(&self.key);
    }
}

/// The pause before the segments are read again.
const RETRY: Duration = Duration::from_secs(1);

/// Reads the segments of other hubs, and makes objects of their entries.
pub(crate) async fn recover(hub: &Hub) {
    let found = loop {
        match read_segments(&hub.client).await {
            Ok(found) => break found,
            Err(error) => tracing::warn!(%error, "failed to read segments"),
        }
        sleep(RETRY).await;
    };
    hub.write_ahead_log.state().take_over(&found);
    hub.write_ahead_log.create_revisions(hub).await;
}

/// Reads the revisions of an instance that are in segments. Works on a replica that does not lead.
pub(crate) async fn read(client: &Client, instance: &ExtensionInstance) -> kube::Result<Vec<ExtensionRevision>> {
    let all = read_segments(client).await?;
    let own = all.iter().flat_map(entries).filter(|entry| entry.is_of(instance));
    Ok(own.map(|entry| object(Some(entry.namespace), entry.spec)).collect())
}

/// Creates the object of a revision, and returns whether it exists now. An existing one is the same: numbers are
/// unique.
async fn create_object(hub: &Hub, Entry { namespace, spec, .. }: Entry) -> kube::Result<bool> {
    let revisions: Api<ExtensionRevision> = Api::namespaced(hub.client.clone(), &namespace);
    let revision = object(Some(namespace), spec);
    let written = match revisions.create(&PostParams::default(), &revision).await {
        Ok(created) => version(&created),
        // Any version confirms that it exists.
        Err(kube::Error::Api(status)) if status.code == 409 => ResourceVersion::default(),
        Err(kube::Error::Api(status)) if is_terminating(&status) => return Ok(false),
        Err(error) => return Err(error),
    };
    hub.cache.expect_revision(&key(&revision), Expected::Present(written));
    Ok(true)
}

/// Whether the namespace of a refused object is being deleted, or was deleted.
fn is_terminating(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    status.code == 404 || causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating")
}

fn segments(client: &Client) -> Api<Secret> {
    Api::namespaced(client.clone(), SYSTEM)
}

async fn read_segments(client: &Client) -> kube::Result<Vec<Secret>> {
    Ok(segments(client).list(&ListParams::default().fields(&format!("type={SEGMENT_TYPE}"))).await?.items)
}

fn segment(name: String, entries: &[Entry]) -> Secret {
    let line = |entry: &Entry| Some((entry.uid.clone(), ByteString(serde_json::to_vec(entry).ok()?)));
    Secret {
        metadata: ObjectMeta { name: Some(name), ..ObjectMeta::default() },
        type_: Some(SEGMENT_TYPE.to_owned()),
        data: Some(entries.iter().filter_map(line).collect()),
        ..Secret::default()
    }
}

fn entries(segment: &Secret) -> Vec<Entry> {
    let lines = segment.data.iter().flat_map(BTreeMap::values);
    lines.filter_map(|line| serde_json::from_slice(&line.0).ok()).collect()
}
