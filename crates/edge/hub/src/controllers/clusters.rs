//! The controller of clusters: a task for each cluster, which owns the connection and runs the workers of its
//! instances.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use fitout_api::conditions::{self, ConditionStatus, ConditionUpdate};
use fitout_api::{Cluster, ClusterStatus, ExtensionInstance, Nodes, reasons};
use fitout_cluster_client::{ClientOptions, ClusterClient, Connectivity, Disconnected, connect};
use fitout_model::{Digest, capabilities, platform};
use kube::{Api, Client, ResourceExt};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{Instrument, error_span};

use crate::Hub;
use crate::cache::indexes::Key;
use crate::controllers::finalizers;
use crate::reconcile::{status, worker};
use crate::storage::{api_writes, kubeconfigs};

/// The pause between connection attempts, unless something changes.
const RETRY: Duration = Duration::from_secs(5);

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let (mut members, mut others) = (hub.cache.members(), hub.cache.others());
    // A task ends when its cluster is gone. All tasks end with this one.
    let mut tasks: JoinSet<Key> = JoinSet::new();
    let mut running: BTreeSet<Key> = BTreeSet::new();
    loop {
        members.mark_unchanged();
        others.mark_unchanged();
        for cluster in hub.cache.clusters.state() {
            let key = (cluster.namespace().unwrap_or_default(), cluster.name_any());
            if running.insert(key.clone()) {
                let hub = Arc::clone(&hub);
                let span = error_span!("cluster", namespace = key.0, cluster = key.1);
                let task = async move {
                    run_cluster(&hub, &key).await;
                    key
                };
                tasks.spawn(task.instrument(span));
            }
        }
        for instance in without_cluster(&hub) {
            finalizers::without_cluster(&hub, &instance).await;
        }
        tokio::select! {
            changed = members.changed() => changed?,
            changed = others.changed() => changed?,
            Some(ended) = tasks.join_next() => { running.remove(&ended?); },
        }
    }
}

/// The instances whose cluster is not registered.
fn without_cluster(hub: &Hub) -> Vec<Arc<ExtensionInstance>> {
    let clusters = hub.cache.clusters.state();
    let known: HashSet<(Option<&str>, Option<&str>)> = clusters
        .iter()
        .map(|cluster| (cluster.metadata.namespace.as_deref(), cluster.metadata.name.as_deref()))
        .collect();
    let mut instances = hub.cache.instances.state();
    instances
        .retain(|instance| !known.contains(&(instance.metadata.namespace.as_deref(), Some(&*instance.spec.cluster))));
    instances
}

/// Connects to a cluster and serves it, again and again, for as long as it is registered.
async fn run_cluster(hub: &Arc<Hub>, key: &Key) {
    let mut others = hub.cache.others();
    loop {
        let before = *others.borrow_and_update();
        let Some(cluster) = hub.cache.cluster(&key.0, &key.1) else { return };
        if let Err(error) = finalizers::add_to_cluster(hub, &cluster).await {
            tracing::warn!(%error, "failed to add finalizer");
        }
        if finalizers::is_forgotten(&cluster) {
            if let Err(error) = finalizers::forget(hub, &cluster).await {
                tracing::warn!(%error, "failed to forget instances");
            }
        } else {
            match open(hub, &cluster).await {
                Ok((target, kubeconfig)) => {
                    let target = Arc::new(target);
                    write_status(hub, &cluster, Ok(&target)).await;
                    hub.change_queues.add(key, target.changes().clone());
                    serve(hub, key, &target, &kubeconfig).await;
                    hub.change_queues.remove(key);
                    continue;
                }
                Err(reason) => {
                    write_status(hub, &cluster, Err(&reason)).await;
                    for instance in instances(hub, key) {
                        status::lost(hub, &instance, &reason).await;
                    }
                }
            }
        }
        if finalizers::finalize_cluster(hub, key).await {
            return;
        }
        // One change is the status that was just written.
        let _ = timeout(RETRY, others.wait_for(|now| *now > before + 1)).await;
    }
}

/// Connects to a cluster. Returns the digest of the kubeconfig as well.
async fn open(hub: &Hub, cluster: &Cluster) -> Result<(ClusterClient, Digest), Disconnected> {
    let options = hub.metrics.client_options_for(cluster, hub.fence.clone());
    let (client, connectivity, kubeconfig) = reach(hub, cluster, options).await?;
    let server = format!("Cluster/{}/{}", cluster.namespace().unwrap_or_default(), cluster.name_any());
    let opened = ClusterClient::open(client, connectivity).await;
    let target = opened.map_err(|error| Disconnected::Other { server, message: error.to_string() })?;
    ensure_registered_once(hub, cluster, &target.info().uid)?;
    // A cluster that is being deleted has its copy, which is deleted with it.
    if cluster.metadata.deletion_timestamp.is_none() {
        kubeconfigs::keep(hub, cluster, &kubeconfig).await;
    }
    Ok((target, Digest::of(&kubeconfig)))
}

/// Connects to a cluster. Returns the kubeconfig as well.
pub(crate) async fn reach(
    hub: &Hub,
    cluster: &Cluster,
    options: ClientOptions,
) -> Result<(Client, Connectivity, String), Disconnected> {
    let kubeconfig = kubeconfigs::find(hub, cluster).await;
    let kubeconfig = kubeconfig.map_err(|error| Disconnected::Kubeconfig(error.to_string()))?;
    let (client, connectivity) = connect(&kubeconfig, options).await?;
    Ok((client, connectivity, kubeconfig))
}

/// Returns an error if the cluster is registered already, under another name.
pub(crate) fn ensure_registered_once(hub: &Hub, cluster: &Cluster, uid: &str) -> Result<(), Disconnected> {
    let Some(other) = hub.cache.clusters.state().into_iter().find(|other| is_registered_first(other, cluster, uid))
    else {
        return Ok(());
    };
    Err(Disconnected::Known { name: format!("{}/{}", other.namespace().unwrap_or_default(), other.name_any()) })
}

/// Whether another object is the same cluster, registered earlier.
fn is_registered_first(other: &Cluster, cluster: &Cluster, uid: &str) -> bool {
    let age = |cluster: &Cluster| (cluster.metadata.creation_timestamp.clone(), cluster.metadata.uid.clone());
    let known = |cluster: &Cluster| cluster.status.as_ref().and_then(|status| status.uid.as_deref()) == Some(uid);
    other.metadata.uid != cluster.metadata.uid && known(other) && (!known(cluster) || age(other) < age(cluster))
}

/// Runs a worker for each instance of the cluster, until the cluster is deleted or its kubeconfig changes.
async fn serve(hub: &Arc<Hub>, key: &Key, target: &Arc<ClusterClient>, kubeconfig: &Digest) {
    let (mut members, mut others) = (hub.cache.members(), hub.cache.others());
    let mut info = target.info_changes();
    let mut reported = (target.info(), None);
    let mut workers: JoinSet<String> = JoinSet::new();
    let mut running: BTreeSet<String> = BTreeSet::new();
    loop {
        members.mark_unchanged();
        others.mark_unchanged();
        info.mark_unchanged();
        for instance in instances(hub, key) {
            // Compared without a copy of the name: there are many instances, and this runs whenever one of them
            // changes.
            if instance.metadata.name.as_ref().is_some_and(|name| !running.contains(name)) {
                let (hub, target, namespace) = (Arc::clone(hub), Arc::clone(target), key.0.clone());
                let name = instance.name_any();
                running.insert(name.clone());
                workers.spawn(async move {
                    worker::run(hub, target, namespace, name.clone()).await;
                    name
                });
            }
        }
        let Some(cluster) = hub.cache.cluster(&key.0, &key.1) else { return };
        let known = kubeconfigs::known(hub, &cluster).map(|known| Digest::of(&known));
        if finalizers::is_forgotten(&cluster) || known.is_some_and(|known| known != *kubeconfig) {
            return;
        }
        if finalizers::finalize_cluster(hub, key).await {
            return;
        }
        let now = (target.info(), target.connectivity().lost());
        if reported != now {
            write_status(hub, &cluster, now.1.as_ref().map_or(Ok(target), Err)).await;
            reported = now;
        }
        let connectivity = async {
            match reported.1 {
                None => drop(target.connectivity().until_lost().await),
                Some(_) => target.connectivity().until_connected().await,
            }
        };
        tokio::select! {
            ended = members.changed() => if ended.is_err() { return },
            ended = others.changed() => if ended.is_err() { return },
            ended = info.changed() => if ended.is_err() { return },
            Some(Ok(ended)) = workers.join_next() => { running.remove(&ended); },
            () = connectivity => {}
        }
    }
}

/// The instances of a cluster.
pub(crate) fn instances(hub: &Hub, key: &Key) -> Vec<Arc<ExtensionInstance>> {
    let of_cluster = |instance: &Arc<ExtensionInstance>| {
        instance.spec.cluster == key.1 && instance.metadata.namespace.as_deref() == Some(&key.0)
    };
    hub.cache.instances.state().into_iter().filter(of_cluster).collect()
}

async fn write_status(hub: &Hub, cluster: &Cluster, result: Result<&Arc<ClusterClient>, &Disconnected>) {
    let mut status: ClusterStatus = cluster.status.clone().unwrap_or_default();
    let before = status.clone();
    let (connected, reason, message) = match result {
        Ok(target) => {
            let info = target.info();
            let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            status.nodes = Some(Nodes { ready: count(info.nodes.ready), total: count(info.nodes.total) });
            let message =
                format!("Kubernetes {}, {} of {} nodes ready", info.version, info.nodes.ready, info.nodes.total);
            status.version = Some(info.version.clone());
            status.uid = Some(info.uid.clone());
            status.platform = platform(&info.version).map(str::to_owned);
            status.capabilities = capabilities(&info.apis, info.storage_class).into_iter().collect();
            (ConditionStatus::True, reasons::connected::CONNECTED, message)
        }
        Err(disconnected) => (ConditionStatus::False, disconnected.reason(), disconnected.to_string()),
    };
    let generation = cluster.metadata.generation;
    for type_ in [conditions::CONNECTED, conditions::READY] {
        let update = ConditionUpdate { type_, status: connected, reason, message: message.clone(), generation };
        conditions::set(&mut status.conditions, update, &api_writes::now());
    }
    status.observed_generation = generation;
    if status != before {
        let api = Api::<Cluster>::namespaced(hub.client.clone(), &cluster.namespace().unwrap_or_default());
        tracing::info!(reason, "{message}");
        if let Err(error) = api_writes::patch_status(&api, &cluster.name_any(), &status).await {
            tracing::warn!(%error, "failed to write status");
        }
    }
}
