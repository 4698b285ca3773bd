//! The cache of the hub's objects: a store for each kind, kept up to date by watches.

pub(crate) mod consistency;
pub(crate) mod indexes;
pub(crate) mod notify;
pub(crate) mod pending_writes;

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use anyhow::{Context, Result};
use fitout_api::{
    Catalog, Cluster, ExtensionDefinition, ExtensionInstance, ExtensionRevision, FILES_SECRET, KUBECONFIG_SECRET,
    Organization, REPOSITORY_SECRET, VALUES_SECRET,
};
use fitout_model::{Digest, ResourceVersion};
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::cache::indexes::{Key, ReleaseKey, RevisionKey, SecondaryIndex};
use crate::cache::notify::{InstanceChanges, Notifier};
use crate::cache::pending_writes::{Expected, PendingWrites, version};

/// A store for each kind, with secondary indexes and change notification.
pub(crate) struct Cache {
    pub(crate) organizations: Store<Organization>,
    pub(crate) catalogs: Store<Catalog>,
    pub(crate) definitions: Store<ExtensionDefinition>,
    pub(crate) clusters: Store<Cluster>,
    pub(crate) instances: Store<ExtensionInstance>,
    pub(crate) revisions: Store<ExtensionRevision>,
    /// Secrets are watched by our own types only; the hub reads no others.
    pub(crate) values: Store<Secret>,
    pub(crate) repositories: Store<Secret>,
    /// The files beside sideloaded definitions.
    pub(crate) definition_files: Store<Secret>,
    kubeconfigs: Store<Secret>,
    by_release: Arc<SecondaryIndex<ExtensionInstance, ReleaseKey>>,
    by_revision_key: Arc<SecondaryIndex<ExtensionRevision, RevisionKey>>,
    pending_instances: Arc<PendingWrites>,
    pending_revisions: Arc<PendingWrites>,
    notifier: Arc<Notifier>,
}

impl Cache {
    /// Starts the watches, and waits until every store is filled.
    pub(crate) async fn start(client: &Client) -> Result<Self> {
        let notifier = Arc::<Notifier>::default();
        let by_release = Arc::new(SecondaryIndex::by(|instance| vec![ReleaseKey::of(instance)]));
        let by_revision_key = Arc::new(SecondaryIndex::by(RevisionKey::all_of));
        let (pending_instances, pending_revisions) = <(Arc<PendingWrites>, Arc<PendingWrites>)>::default();
        let other_changed = {
            let notifier = Arc::clone(&notifier);
            move || notifier.other_changed()
        };
        let instance_event = {
            let (pending, index, notifier) =
                (Arc::clone(&pending_instances), Arc::clone(&by_release), Arc::clone(&notifier));
            move |event: &Event<ExtensionInstance>| {
                pending.confirm(event);
                index.update(event);
                notifier.instance_event(event);
            }
        };
        let revision_event = {
            let (pending, index) = (Arc::clone(&pending_revisions), Arc::clone(&by_revision_key));
            move |event: &Event<ExtensionRevision>| {
                index.update(event);
                pending.confirm(event);
            }
        };
        let cache = Self {
            organizations: follow(client, all(), ignore_event(&other_changed)),
            catalogs: follow(client, all(), ignore_event(&other_changed)),
            definitions: follow(client, all(), ignore_event(&other_changed)),
            clusters: follow(client, all(), ignore_event(&other_changed)),
            instances: follow(client, all(), instance_event),
            revisions: follow(client, all(), revision_event),
            values: follow(client, secrets(VALUES_SECRET), ignore_event(&other_changed)),
            repositories: follow(client, secrets(REPOSITORY_SECRET), ignore_event(&other_changed)),
            definition_files: follow(client, secrets(FILES_SECRET), ignore_event(&other_changed)),
            kubeconfigs: follow(client, secrets(KUBECONFIG_SECRET), ignore_event(&other_changed)),
            by_release,
            by_revision_key,
            pending_instances,
            pending_revisions,
            notifier,
        };
        let ended = "a watch of the hub's API server ended before its store was filled";
        cache.organizations.wait_until_ready().await.context(ended)?;
        cache.catalogs.wait_until_ready().await.context(ended)?;
        cache.definitions.wait_until_ready().await.context(ended)?;
        cache.clusters.wait_until_ready().await.context(ended)?;
        cache.instances.wait_until_ready().await.context(ended)?;
        cache.revisions.wait_until_ready().await.context(ended)?;
        cache.values.wait_until_ready().await.context(ended)?;
        cache.repositories.wait_until_ready().await.context(ended)?;
        cache.definition_files.wait_until_ready().await.context(ended)?;
        cache.kubeconfigs.wait_until_ready().await.context(ended)?;
        Ok(cache)
    }

    /// Counts changes to kinds other than instances and revisions.
    pub(crate) fn others(&self) -> watch::Receiver<u64> {
        self.notifier.others()
    }

    /// Counts changes to any instance.
    pub(crate) fn any_instance(&self) -> watch::Receiver<u64> {
        self.notifier.instances.subscribe()
    }

    /// Counts instances that were added or deleted, or whose generation changed.
    pub(crate) fn members(&self) -> watch::Receiver<u64> {
        self.notifier.members.subscribe()
    }

    /// Subscribes to the changes of one instance.
    pub(crate) fn instance_changes(&self, namespace: &str, name: &str) -> InstanceChanges {
        self.notifier.subscribe((namespace.to_owned(), name.to_owned()))
    }

    /// An instance by namespace and name.
    pub(crate) fn instance(&self, namespace: &str, name: &str) -> Option<Arc<ExtensionInstance>> {
        self.instances.get(&ObjectRef::new(name).within(namespace))
    }

    /// Records that an instance has reached this version, as a write of ours returned it.
    pub(crate) fn expect_instance(&self, instance: &Key, written: ResourceVersion) {
        let known = ObjectRef::new(&instance.1).within(&instance.0);
        let cached = || self.instances.get(&known).as_deref().map(version);
        self.pending_instances.expect(instance, Expected::Present(written), cached);
    }

    /// Records that a revision was written or deleted.
    pub(crate) fn expect_revision(&self, revision: &Key, expected: Expected) {
        let known = ObjectRef::new(&revision.1).within(&revision.0);
        self.pending_revisions.expect(revision, expected, || self.revisions.get(&known).as_deref().map(version));
    }

    /// Whether the cache lacks a known write of an instance or of one of its revisions.
    pub(crate) fn is_behind(&self, namespace: &str, name: &str) -> bool {
        let instance = (namespace.to_owned(), name.to_owned());
        self.pending_instances.has(&instance)
            || self.pending_revisions.has_any(namespace, &ExtensionRevision::names_of(name))
    }

    /// Whether the cache lacks a known write of any revision.
    pub(crate) fn has_pending_revisions(&self) -> bool {
        !self.pending_revisions.is_empty()
    }

    /// The instances that have the same release on the same cluster, this one included.
    pub(crate) fn instances_of_release(&self, instance: &ExtensionInstance) -> Vec<Arc<ExtensionInstance>> {
        self.by_release
            .of(&ReleaseKey::of(instance))
            .iter()
            .filter_map(|(namespace, name)| self.instance(namespace, name))
            .collect()
    }

    /// The revisions of an instance, in no order.
    pub(crate) fn revisions_of(&self, namespace: &str, instance: &str) -> Vec<Arc<ExtensionRevision>> {
        self.revisions_in(&RevisionKey::Instance((namespace.to_owned(), instance.to_owned())))
    }

    /// The revisions of all instances that installed a definition.
    pub(crate) fn revisions_with(&self, definition: &Digest) -> Vec<Arc<ExtensionRevision>> {
        self.revisions_in(&RevisionKey::Definition(definition.to_string()))
    }

    fn revisions_in(&self, group: &RevisionKey) -> Vec<Arc<ExtensionRevision>> {
        let find = |(namespace, name): &Key| self.revisions.get(&ObjectRef::new(name).within(namespace));
        self.by_revision_key.of(group).iter().filter_map(find).collect()
    }

    /// Whether any revision names this content. If one does, the content is stored.
    pub(crate) fn names_content(&self, content: &Digest) -> bool {
        self.by_revision_key.has(&RevisionKey::Content(content.to_string()))
    }

    /// A values Secret by namespace and name.
    pub(crate) fn values(&self, namespace: &str, name: &str) -> Option<Arc<Secret>> {
        self.values.get(&ObjectRef::new(name).within(namespace))
    }

    /// A kubeconfig Secret by namespace and name.
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

fn secrets(type_: &str) -> watcher::Config {
    all().fields(&format!("type={type_}"))
}

/// Calls a function for every event, whichever it is.
fn ignore_event<K, F: Fn() + Clone + Send + 'static>(changed: &F) -> impl Fn(&Event<K>) + Send + 'static + use<K, F> {
    let changed = changed.clone();
    move |_| changed()
}

/// Keeps the store of a kind up to date for as long as the hub runs. Each event is passed on once the store has it.
fn follow<K>(client: &Client, config: watcher::Config, on_event: impl Fn(&Event<K>) + Send + 'static) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    K::DynamicType: Hash + Eq + Clone,
{
    let (store, writer) = reflector::store();
    let api: Api<K> = Api::all(client.clone());
    // Managed fields are half of an object, and nothing here reads them.
    let events = watcher(api, config).default_backoff().modify(|object| object.managed_fields_mut().clear());
    tokio::spawn(async move {
        let mut events = std::pin::pin!(events.reflect(writer));
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => on_event(&event),
                // The watcher retries by itself, with backoff.
                Err(error) => tracing::warn!(kind = %K::kind(&()), %error, "watch failed"),
            }
        }
    });
    store
}
