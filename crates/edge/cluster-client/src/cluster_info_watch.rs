//! Following what a cluster is, for as long as it is connected.

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

type Told = watch::Sender<Arc<ClusterInfo>>;

/// Changes the info, and tells of it only where that makes a difference.
fn tell(info: &Told, change: impl FnOnce(&mut ClusterInfo)) {
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

/// Counts nodes. A watch begins anew when the API server comes back: that is when it may have become another version.
pub(crate) async fn nodes(client: Client, info: Told) {
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
                    tell(&info, |info| info.version = version.git_version);
                }
            }
            Ok(Event::Apply(node)) => drop(ready.insert(node.name_any(), is_ready(&node))),
            Ok(Event::Delete(node)) => drop(ready.remove(&node.name_any())),
            Err(error) => tracing::debug!(%error, "watch nodes"),
        }
        let nodes = Nodes { total: ready.len(), ready: ready.values().filter(|ready| **ready).count() };
        tell(&info, |info| info.nodes = nodes);
    }
}

/// Asks for the kinds again when a definition of custom resources comes, changes or goes.
pub(crate) async fn definitions(client: Client, info: Told) {
    let api = Api::<PartialObjectMeta<CustomResourceDefinition>>::all(client.clone());
    let mut events = pin!(watcher(api, Config::default()).default_backoff());
    while let Some(event) = events.next().await {
        if matches!(event, Ok(Event::Apply(_) | Event::Delete(_))) {
            // Definitions come in groups, and the server takes a moment to serve a new kind.
            tokio::time::sleep(Duration::from_millis(500)).await;
            while let Some(Some(_)) = futures::FutureExt::now_or_never(events.next()) {}
            if let Err(error) = refresh_apis(&client, &info).await {
                tracing::debug!(%error, "discover kinds");
            }
        }
    }
}

/// Knows whether there is a class of storage.
pub(crate) async fn storage_classes(client: Client, info: Told) {
    let api = Api::<PartialObjectMeta<StorageClass>>::all(client);
    let mut there = BTreeSet::new();
    let mut events = pin!(watcher(api, Config::default()).default_backoff());
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => {
                there.clear();
                continue;
            }
            Ok(Event::InitApply(class)) => {
                there.insert(class.name_any());
                continue;
            }
            Ok(Event::Apply(class)) => drop(there.insert(class.name_any())),
            Ok(Event::Delete(class)) => drop(there.remove(&class.name_any())),
            Ok(Event::InitDone) => {}
            Err(error) => {
                tracing::debug!(%error, "watch classes of storage");
                continue;
            }
        }
        tell(&info, |info| info.storage_class = !there.is_empty());
    }
}

/// Asks which kinds the cluster serves.
pub(crate) async fn refresh_apis(client: &Client, info: &Told) -> kube::Result<()> {
    let (apis, resources) = discover(client).await?;
    tell(info, |info| (info.apis, info.resources) = (apis, resources));
    Ok(())
}
