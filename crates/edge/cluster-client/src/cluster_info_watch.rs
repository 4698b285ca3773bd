//! Watches that keep the cluster info up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::watch;

use crate::cluster_info::{ClusterInfo, Nodes, discover, is_ready};

type InfoSender = watch::Sender<Arc<ClusterInfo>>;

/// Changes the info and notifies receivers only if it differs afterwards.
fn update(info: &InfoSender, change: impl FnOnce(&mut ClusterInfo)) {
    info.send_if_modified(|current| {
        let mut changed = ClusterInfo::clone(current);
        change(&mut changed);
        let differs = **current != changed;
        if differs {
            *current = Arc::new(changed);
        }
        differs
    });
}

/// Counts nodes, and reads the version after each list: the watch lists again when the API server is back, perhaps
/// upgraded.
pub(crate) async fn nodes(client: Client, info: InfoSender) {
    let mut ready: BTreeMap<String, bool> = BTreeMap::new();
    let mut events = pin!(watcher(Api::<Node>::all(client.clone()), Config::default()).default_backoff());
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => {
                ready.clear();
                continue;
            }
            Ok(Event::InitApply(node)) => {
                ready.insert(node.name_any(), is_ready(&node));
                continue;
            }
            Ok(Event::InitDone) => {
                if let Ok(version) = client.apiserver_version().await {
                    update(&info, |info| info.version = version.git_version);
                }
            }
            Ok(Event::Apply(node)) => drop(ready.insert(node.name_any(), is_ready(&node))),
            Ok(Event::Delete(node)) => drop(ready.remove(&node.name_any())),
            Err(error) => tracing::debug!(%error, "watch of nodes failed"),
        }
        let nodes = Nodes { total: ready.len(), ready: ready.values().filter(|ready| **ready).count() };
        update(&info, |info| info.nodes = nodes);
    }
}

/// Runs discovery again when a CRD is created, changed or deleted.
pub(crate) async fn definitions(client: Client, info: InfoSender) {
    let api = Api::<PartialObjectMeta<CustomResourceDefinition>>::all(client.clone());
    let mut events = pin!(watcher(api, Config::default()).default_backoff());
    while let Some(event) = events.next().await {
        if matches!(event, Ok(Event::Apply(_) | Event::Delete(_))) {
            // CRDs are created in batches, and the API server takes a moment to serve a new kind.
            tokio::time::sleep(Duration::from_millis(500)).await;
            while let Some(Some(_)) = futures::FutureExt::now_or_never(events.next()) {}
            if let Err(error) = refresh_apis(&client, &info).await {
                tracing::debug!(%error, "discovery failed");
            }
        }
    }
}

/// Tracks whether the cluster has a storage class.
pub(crate) async fn storage_classes(client: Client, info: InfoSender) {
    let api = Api::<PartialObjectMeta<StorageClass>>::all(client);
    let mut classes = BTreeSet::new();
    let mut events = pin!(watcher(api, Config::default()).default_backoff());
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => {
                classes.clear();
                continue;
            }
            Ok(Event::InitApply(class)) => {
                classes.insert(class.name_any());
                continue;
            }
            Ok(Event::Apply(class)) => drop(classes.insert(class.name_any())),
            Ok(Event::Delete(class)) => drop(classes.remove(&class.name_any())),
            Ok(Event::InitDone) => {}
            Err(error) => {
                tracing::debug!(%error, "watch of storage classes failed");
                continue;
            }
        }
        update(&info, |info| info.storage_class = !classes.is_empty());
    }
}

/// Runs discovery and updates the served kinds.
pub(crate) async fn refresh_apis(client: &Client, info: &InfoSender) -> kube::Result<()> {
    let (apis, resources) = discover(client).await?;
    update(info, |info| (info.apis, info.resources) = (apis, resources));
    Ok(())
}
