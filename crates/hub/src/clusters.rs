//! Clusters: a worker each, which owns the connection and runs the sessions of its instances.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use fitout_api::conditions::{self, Finding, Truth};
use fitout_api::{Cluster, ClusterStatus, Nodes, reasons};
use fitout_model::{capabilities, platform};
use fitout_target::{Disconnected, Target, connect};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, ResourceExt};
use tokio::task::JoinHandle;

use crate::{Hub, report, session};

/// How long a cluster that cannot be reached is left alone, unless something changes.
const RETRY: Duration = Duration::from_secs(5);

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let mut changes = hub.index.changes();
    let mut workers: BTreeMap<(String, String), JoinHandle<()>> = BTreeMap::new();
    loop {
        changes.mark_unchanged();
        for cluster in hub.index.clusters.state() {
            let key = (cluster.namespace().unwrap_or_default(), cluster.name_any());
            workers.entry(key.clone()).or_insert_with(|| tokio::spawn(work(Arc::clone(&hub), key.0, key.1)));
        }
        workers.retain(|(namespace, name), worker| {
            let there = hub.index.cluster(namespace, name).is_some();
            if !there {
                worker.abort();
            }
            there
        });
        changes.changed().await?;
    }
}

/// Connects, and connects again, for as long as the cluster is registered.
async fn work(hub: Arc<Hub>, namespace: String, name: String) {
    let mut changes = hub.index.changes();
    loop {
        changes.mark_unchanged();
        let Some(cluster) = hub.index.cluster(&namespace, &name) else { return };
        match open(&hub, &cluster).await {
            Ok(target) => {
                let target = Arc::new(target);
                say(&hub, &cluster, Ok(&target)).await;
                serve(&hub, &namespace, &name, &target).await;
            }
            Err(reason) => {
                say(&hub, &cluster, Err(&reason)).await;
                let _ = tokio::time::timeout(RETRY, changes.changed()).await;
                // Our own status is a change too: wait the whole time for the other side.
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

async fn open(hub: &Hub, cluster: &Cluster) -> Result<Target, Disconnected> {
    let namespace = cluster.namespace().unwrap_or_default();
    let name = &cluster.spec.kubeconfig_secret;
    let broken = |message: String| Disconnected::Kubeconfig(message);
    let secrets: Api<Secret> = Api::namespaced(hub.client.clone(), &namespace);
    let secret = secrets.get_opt(name).await.map_err(|error| broken(error.to_string()))?;
    let data = secret.and_then(|secret| secret.data).and_then(|mut data| data.remove("kubeconfig"));
    let kubeconfig = data.ok_or_else(|| broken(format!("Secret/{namespace}/{name} has no key `kubeconfig`")))?;
    let kubeconfig = String::from_utf8(kubeconfig.0).map_err(|error| broken(error.to_string()))?;
    let client = connect(&kubeconfig).await?;
    let server = client_name(cluster);
    Target::open(client).await.map_err(|error| Disconnected::Other { server, message: error.to_string() })
}

fn client_name(cluster: &Cluster) -> String {
    format!("Cluster/{}/{}", cluster.namespace().unwrap_or_default(), cluster.name_any())
}

/// Runs a session for each instance of the cluster, until the cluster is gone.
async fn serve(hub: &Arc<Hub>, namespace: &str, name: &str, target: &Arc<Target>) {
    let mut changes = hub.index.changes();
    let mut facts = target.facts_changes();
    let mut told = target.facts();
    let mut sessions: BTreeMap<String, JoinHandle<()>> = BTreeMap::new();
    loop {
        changes.mark_unchanged();
        for instance in hub.index.instances.state() {
            if instance.namespace().as_deref() != Some(namespace) || instance.spec.cluster != name {
                continue;
            }
            let instance = instance.name_any();
            let running = sessions.get(&instance).is_some_and(|session| !session.is_finished());
            if !running {
                let session = session::run(Arc::clone(hub), Arc::clone(target), namespace.to_owned(), instance.clone());
                sessions.insert(instance, tokio::spawn(session));
            }
        }
        tokio::select! {
            ended = changes.changed() => if ended.is_err() { break },
            ended = facts.changed() => if ended.is_err() { break },
        }
        let Some(cluster) = hub.index.cluster(namespace, name) else { break };
        if told != target.facts() {
            told = target.facts();
            say(hub, &cluster, Ok(target)).await;
        }
    }
    sessions.values().for_each(JoinHandle::abort);
}

async fn say(hub: &Hub, cluster: &Cluster, result: Result<&Target, &Disconnected>) {
    let mut status: ClusterStatus = cluster.status.clone().unwrap_or_default();
    let before = status.clone();
    let (truth, reason, message) = match result {
        Ok(target) => {
            let facts = target.facts();
            let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            status.nodes = Some(Nodes { ready: count(facts.nodes.ready), total: count(facts.nodes.total) });
            let message =
                format!("Kubernetes {}, {} of {} nodes ready", facts.version, facts.nodes.ready, facts.nodes.total);
            status.version = Some(facts.version.clone());
            status.uid = Some(facts.uid.clone());
            status.platform = platform(&facts.version).map(str::to_owned);
            status.capabilities = capabilities(&facts.apis, facts.storage_class).into_iter().collect();
            (Truth::True, reasons::connected::CONNECTED, message)
        }
        Err(disconnected) => (Truth::False, disconnected.reason(), disconnected.to_string()),
    };
    let generation = cluster.metadata.generation;
    for aspect in [conditions::CONNECTED, conditions::READY] {
        let finding = Finding { aspect, truth, reason, message: message.clone(), generation };
        conditions::set(&mut status.conditions, finding, &report::now());
    }
    status.observed_generation = generation;
    if status != before {
        let api = Api::<Cluster>::namespaced(hub.client.clone(), &cluster.namespace().unwrap_or_default());
        if let Err(error) = report::write(&api, &cluster.name_any(), &status).await {
            tracing::warn!(cluster = cluster.name_any(), %error, "status");
        }
    }
}
