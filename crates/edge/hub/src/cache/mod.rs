//! What the hub's API server says, in memory.

pub(crate) mod consistency;
pub(crate) mod indexes;
pub(crate) mod pending_writes;

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use fitout_api::{
    Catalog, Cluster, ExtensionInstance, ExtensionRevision, KUBECONFIG_SECRET, Organization, REPOSITORY_SECRET,
    VALUES_SECRET,
};
use fitout_model::Digest;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::{Notify, watch};

use crate::cache::indexes::{Key, SecondaryIndex, key};
use crate::cache::pending_writes::{Expected, PendingWrites, version};

/// One store for each kind, and word of changes: to each only of what it is about.
pub(crate) struct Cache {
    pub(crate) organizations: Store<Organization>,
    pub(crate) catalogs: Store<Catalog>,
    pub(crate) clusters: Store<Cluster>,
    pub(crate) instances: Store<ExtensionInstance>,
    pub(crate) revisions: Store<ExtensionRevision>,
    /// Only those of our own type: others are nobody's business.
    pub(crate) values: Store<Secret>,
    pub(crate) repositories: Store<Secret>,
    kubeconfigs: Store<Secret>,
    by_release: Arc<SecondaryIndex<ExtensionInstance, ReleaseKey>>,
    by_revision_key: Arc<SecondaryIndex<ExtensionRevision, RevisionKey>>,
    pending_instances: Arc<PendingWrites>,
    pending_revisions: Arc<PendingWrites>,
    notifier: Arc<Notifier>,
}

/// Where a release is: the organization's namespace, the cluster, the namespace there, its name.
type ReleaseKey = [String; 4];

/// What revisions have in common.
#[derive(Clone, PartialEq, Eq, Hash)]
enum RevisionKey {
    /// The instance, by the organization's namespace and its name.
    Instance(Key),
    /// Content that they name, by its digest.
    Content(String),
    /// What was installed, by its digest.
    Definition(String),
}

fn place(instance: &ExtensionInstance) -> ReleaseKey {
    let spec = &instance.spec;
    let own = instance.namespace().unwrap_or_default();
    [own, spec.cluster.clone(), spec.namespace.clone(), spec.release_name().to_owned()]
}

fn shared(revision: &ExtensionRevision) -> Vec<RevisionKey> {
    let spec = &revision.spec;
    let instance = RevisionKey::Instance((revision.namespace().unwrap_or_default(), spec.instance.clone()));
    let contents = [&spec.artifact_digest, &spec.chart_digest].into_iter().flatten().cloned().map(RevisionKey::Content);
    [instance, RevisionKey::Definition(spec.definition_digest.clone())].into_iter().chain(contents).collect()
}

/// Who is told of what.
#[derive(Default)]
struct Notifier {
    /// How often an instance has changed, whichever.
    instances: watch::Sender<u64>,
    /// How often one has come, was wanted otherwise or no more, or has gone.
    members: watch::Sender<u64>,
    /// How often all else has changed that anybody waits for. Revisions are not among it: only those who write them read
    /// them.
    others: watch::Sender<u64>,
    /// Those that there are, each with its generation: that is another one as soon as it is to go.
    there: Mutex<HashMap<Key, Option<i64>>>,
    /// Who waits for word of one instance: there are many, and each is one session's alone.
    subscribers: Mutex<HashMap<Key, Arc<Notify>>>,
}

/// Rings when an instance has changed. There is one at a time for each.
pub(crate) struct InstanceChanges {
    notifier: Arc<Notifier>,
    of: Key,
    word: Arc<Notify>,
}

impl InstanceChanges {
    /// Waits until the instance has changed since the last wait.
    pub(crate) async fn changed(&self) {
        self.word.notified().await;
    }
}

impl Drop for InstanceChanges {
    fn drop(&mut self) {
        let mut subscribers = self.notifier.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        // The next session of the same instance may have its own by now.
        if subscribers.get(&self.of).is_some_and(|word| Arc::ptr_eq(word, &self.word)) {
            subscribers.remove(&self.of);
        }
    }
}

impl Notifier {
    /// Tells whoever it is about of what has become of an instance.
    fn tell(&self, event: &Event<ExtensionInstance>) {
        let mut there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        let subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        let members = match event {
            Event::Init => return there.clear(),
            // They are in the store once all have come.
            Event::InitApply(instance) => {
                there.insert(key(instance), instance.metadata.generation);
                return;
            }
            Event::InitDone => {
                subscribers.values().for_each(|word| word.notify_one());
                true
            }
            Event::Apply(instance) => {
                subscribers.get(&key(instance)).inspect(|word| word.notify_one());
                let generation = instance.metadata.generation;
                there.insert(key(instance), generation) != Some(generation)
            }
            Event::Delete(instance) => {
                subscribers.get(&key(instance)).inspect(|word| word.notify_one());
                there.remove(&key(instance));
                true
            }
        };
        self.instances.send_modify(|count| *count += 1);
        if members {
            self.members.send_modify(|count| *count += 1);
        }
    }
}

impl Cache {
    /// Starts watching, and waits until everything has been seen once.
    pub(crate) async fn start(client: &Client) -> Result<Self> {
        let notifier = Arc::<Notifier>::default();
        let (instances, news_of) = (Arc::clone(&notifier), Arc::clone(&notifier));
        let by_release = Arc::new(SecondaryIndex::by(|instance| vec![place(instance)]));
        let shared = Arc::new(SecondaryIndex::by(shared));
        let (wanting, sharing) = (Arc::clone(&by_release), Arc::clone(&shared));
        let (pending_instances, pending_revisions) = <(Arc<PendingWrites>, Arc<PendingWrites>)>::default();
        let (of_instances, of_revisions) = (Arc::clone(&pending_instances), Arc::clone(&pending_revisions));
        let others = move || news_of.others.send_modify(|count| *count += 1);
        let index = Self {
            organizations: follow(client, all(), any(&others)),
            catalogs: follow(client, all(), any(&others)),
            clusters: follow(client, all(), any(&others)),
            instances: follow(client, all(), move |event| {
                of_instances.tell(event);
                wanting.tell(event);
                instances.tell(event);
            }),
            revisions: follow(client, all(), move |event| {
                sharing.tell(event);
                of_revisions.tell(event);
            }),
            values: follow(client, all().fields(&format!("type={VALUES_SECRET}")), any(&others)),
            repositories: follow(client, all().fields(&format!("type={REPOSITORY_SECRET}")), any(&others)),
            kubeconfigs: follow(client, all().fields(&format!("type={KUBECONFIG_SECRET}")), any(&others)),
            by_release,
            by_revision_key: shared,
            pending_instances,
            pending_revisions,
            notifier,
        };
        let gone = "the index ended before it began";
        index.organizations.wait_until_ready().await.context(gone)?;
        index.catalogs.wait_until_ready().await.context(gone)?;
        index.clusters.wait_until_ready().await.context(gone)?;
        index.instances.wait_until_ready().await.context(gone)?;
        index.revisions.wait_until_ready().await.context(gone)?;
        index.values.wait_until_ready().await.context(gone)?;
        index.repositories.wait_until_ready().await.context(gone)?;
        index.kubeconfigs.wait_until_ready().await.context(gone)?;
        Ok(index)
    }

    /// Counts changes to anything but instances and revisions.
    pub(crate) fn others(&self) -> watch::Receiver<u64> {
        self.notifier.others.subscribe()
    }

    /// Counts changes to instances, whichever.
    pub(crate) fn any_instance(&self) -> watch::Receiver<u64> {
        self.notifier.instances.subscribe()
    }

    /// Counts the times that an instance has come, was wanted otherwise or no more, or has gone.
    pub(crate) fn members(&self) -> watch::Receiver<u64> {
        self.notifier.members.subscribe()
    }

    /// Rings for this instance from now on.
    pub(crate) fn instance_changes(&self, namespace: &str, name: &str) -> InstanceChanges {
        let (of, word) = ((namespace.to_owned(), name.to_owned()), Arc::<Notify>::default());
        let mut subscribers = self.notifier.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        subscribers.insert(of.clone(), Arc::clone(&word));
        InstanceChanges { notifier: Arc::clone(&self.notifier), of, word }
    }

    /// An instance by namespace and name.
    pub(crate) fn instance(&self, namespace: &str, name: &str) -> Option<Arc<ExtensionInstance>> {
        self.instances.get(&ObjectRef::new(name).within(namespace))
    }

    /// Takes note that an instance is in this version, most likely by our own hand.
    pub(crate) fn expect_instance(&self, of: &Key, at: u64) {
        let known = ObjectRef::new(&of.1).within(&of.0);
        self.pending_instances.expect(of, Expected::Present(at), || self.instances.get(&known).as_deref().map(version));
    }

    /// Takes note that a revision is there, or is there no more.
    pub(crate) fn expect_revision(&self, of: &Key, word: Expected) {
        let known = ObjectRef::new(&of.1).within(&of.0);
        self.pending_revisions.expect(of, word, || self.revisions.get(&known).as_deref().map(version));
    }

    /// Whether there is more to know of an instance and its revisions than is known here.
    pub(crate) fn is_behind(&self, namespace: &str, name: &str) -> bool {
        let instance = (namespace.to_owned(), name.to_owned());
        self.pending_instances.has(&instance)
            || self.pending_revisions.has_any(namespace, &ExtensionRevision::names_of(name))
    }

    /// Whether there is more to know of any revision.
    pub(crate) fn has_pending_revisions(&self) -> bool {
        !self.pending_revisions.is_empty()
    }

    /// The instances that want the same release on the same cluster as this one, and it itself.
    pub(crate) fn instances_of_release(&self, instance: &ExtensionInstance) -> Vec<Arc<ExtensionInstance>> {
        self.by_release
            .of(&place(instance))
            .iter()
            .filter_map(|(namespace, name)| self.instance(namespace, name))
            .collect()
    }

    /// The revisions of an instance, in no order.
    pub(crate) fn revisions_of(&self, namespace: &str, instance: &str) -> Vec<Arc<ExtensionRevision>> {
        self.revisions_in(&RevisionKey::Instance((namespace.to_owned(), instance.to_owned())))
    }

    /// The revisions of all instances that a definition was installed for.
    pub(crate) fn revisions_with(&self, definition: &Digest) -> Vec<Arc<ExtensionRevision>> {
        self.revisions_in(&RevisionKey::Definition(definition.to_string()))
    }

    fn revisions_in(&self, group: &RevisionKey) -> Vec<Arc<ExtensionRevision>> {
        let found = |(namespace, name): &Key| self.revisions.get(&ObjectRef::new(name).within(namespace));
        self.by_revision_key.of(group).iter().filter_map(found).collect()
    }

    /// Whether any revision names this content: then it is there.
    pub(crate) fn names_content(&self, content: &Digest) -> bool {
        self.by_revision_key.has(&RevisionKey::Content(content.to_string()))
    }

    /// A secret with values by namespace and name.
    pub(crate) fn values(&self, namespace: &str, name: &str) -> Option<Arc<Secret>> {
        self.values.get(&ObjectRef::new(name).within(namespace))
    }

    /// A secret with a kubeconfig by namespace and name.
    pub(crate) fn kubeconfig(&self, namespace: &str, name: &str) -> Option<Arc<Secret>> {
        self.kubeconfigs.get(&ObjectRef::new(name).within(namespace))
    }

    /// A cluster by namespace and name.
    pub(crate) fn cluster(&self, namespace: &str, name: &str) -> Option<Arc<Cluster>> {
        self.clusters.get(&ObjectRef::new(name).within(namespace))
    }
}

fn all() -> watcher::Config {
    watcher::Config::default()
}

/// Tells of every event in the same way.
fn any<K, T: Fn() + Clone + Send + 'static>(tell: &T) -> impl Fn(&Event<K>) + Send + 'static + use<K, T> {
    let tell = tell.clone();
    move |_| tell()
}

/// Keeps a store of a kind for as long as the hub runs, and tells of each event once it is in the store.
fn follow<K>(client: &Client, which: watcher::Config, tell: impl Fn(&Event<K>) + Send + 'static) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    K::DynamicType: Hash + Eq + Clone,
{
    let (store, writer) = reflector::store();
    let api: Api<K> = Api::all(client.clone());
    // Who wrote which field is half of an object, and nobody here asks for it.
    let events = watcher(api, which).default_backoff().modify(|object| object.managed_fields_mut().clear());
    tokio::spawn(async move {
        let mut events = std::pin::pin!(events.reflect(writer));
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => tell(&event),
                // The watcher itself tries again, ever more slowly.
                Err(error) => tracing::warn!(kind = %K::kind(&()), %error, "watch"),
            }
        }
    });
    store
}
