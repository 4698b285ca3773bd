//! What the hub's API server says, in memory.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use anyhow::{Context, Result};
use fitout_api::{
    Catalog, Cluster, ExtensionInstance, ExtensionRevision, KUBECONFIG_SECRET, Organization, REPOSITORY_SECRET,
    VALUES_SECRET,
};
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

/// One store for each kind, and word of every change to any of them.
pub(crate) struct Index {
    pub(crate) organizations: Store<Organization>,
    pub(crate) catalogs: Store<Catalog>,
    pub(crate) clusters: Store<Cluster>,
    pub(crate) instances: Store<ExtensionInstance>,
    pub(crate) revisions: Store<ExtensionRevision>,
    /// Only those of our own type: others are nobody's business.
    pub(crate) values: Store<Secret>,
    pub(crate) repositories: Store<Secret>,
    kubeconfigs: Store<Secret>,
    changes: watch::Receiver<Changes>,
}

/// How often something has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Instances, of which there are many: each session looks at its own.
    pub(crate) instances: u64,
    /// All else that anybody waits for. Revisions are not among it: only those who write them read them.
    pub(crate) others: u64,
}

/// Whom a change of a kind is of interest to.
#[derive(Clone, Copy)]
enum Interest {
    Nobody,
    Sessions,
    All,
}

impl Index {
    /// Starts watching, and waits until everything has been seen once.
    pub(crate) async fn start(client: &Client) -> Result<Self> {
        let (teller, changes) = watch::channel(Changes::default());
        let teller = Arc::new(teller);
        let index = Self {
            organizations: follow(client, all(), &teller, Interest::All),
            catalogs: follow(client, all(), &teller, Interest::All),
            clusters: follow(client, all(), &teller, Interest::All),
            instances: follow(client, all(), &teller, Interest::Sessions),
            revisions: follow(client, all(), &teller, Interest::Nobody),
            values: follow(client, all().fields(&format!("type={VALUES_SECRET}")), &teller, Interest::All),
            repositories: follow(client, all().fields(&format!("type={REPOSITORY_SECRET}")), &teller, Interest::All),
            kubeconfigs: follow(client, all().fields(&format!("type={KUBECONFIG_SECRET}")), &teller, Interest::All),
            changes,
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

    /// Tells of changes from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<Changes> {
        self.changes.clone()
    }

    /// An instance by namespace and name.
    pub(crate) fn instance(&self, namespace: &str, name: &str) -> Option<Arc<ExtensionInstance>> {
        self.instances.get(&ObjectRef::new(name).within(namespace))
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

/// Keeps a store of a kind for as long as the hub runs.
fn follow<K>(
    client: &Client,
    which: watcher::Config,
    changed: &Arc<watch::Sender<Changes>>,
    interest: Interest,
) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    K::DynamicType: Hash + Eq + Clone,
{
    let (store, writer) = reflector::store();
    let api: Api<K> = Api::all(client.clone());
    // Who wrote which field is half of an object, and nobody here asks for it.
    let events = watcher(api, which).default_backoff().modify(|object| object.managed_fields_mut().clear());
    let changed = Arc::clone(changed);
    tokio::spawn(async move {
        let mut events = std::pin::pin!(events.reflect(writer));
        while let Some(event) = events.next().await {
            match event {
                Ok(_) => match interest {
                    Interest::Nobody => {}
                    Interest::Sessions => changed.send_modify(|changes| changes.instances += 1),
                    Interest::All => changed.send_modify(|changes| changes.others += 1),
                },
                // The watcher itself tries again, ever more slowly.
                Err(error) => tracing::warn!(kind = %K::kind(&()), %error, "watch"),
            }
        }
    });
    store
}
