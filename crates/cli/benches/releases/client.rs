//! The client that asks for releases and sees when they are ready: the same for all.

use std::collections::BTreeSet;
use std::fs;
use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fitout_testkit::Cluster;
use futures::{StreamExt, TryStreamExt};
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Request;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, watcher};
use kube::{Client, ResourceExt};
use serde_json::Value;

use crate::AT_ONCE;

/// A client of a cluster, as its administrator.
pub async fn connect(cluster: &Cluster) -> Result<Client> {
    let kubeconfig = Kubeconfig::from_yaml(&fs::read_to_string(cluster.kubeconfig())?)?;
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// Creates an object in the collection at this path. What it became is not read.
pub async fn create(client: &Client, path: &str, object: &Value) -> Result<()> {
    let request = Request::new(path).create(&PostParams::default(), serde_json::to_vec(object)?)?;
    client.request_text(request).await.with_context(|| format!("create in {path}"))?;
    Ok(())
}

/// Does something for each release, some at once.
pub async fn for_each<F: Future<Output = Result<()>>>(count: usize, work: impl FnMut(usize) -> F) -> Result<()> {
    futures::stream::iter((0..count).map(work)).buffer_unordered(AT_ONCE).try_collect().await
}

/// What tells that an object is as it should be.
const READY: &str = "Ready";

/// Asks for releases, and says how long it took until each had an object of this kind that is Ready.
pub async fn until_ready<F: Future<Output = Result<()>>>(
    client: &Client,
    kind: &ApiResource,
    count: usize,
    ask: impl FnMut(usize) -> F,
) -> Result<Duration> {
    until(client, kind, READY, count, ask).await
}

/// The same, where another condition tells.
pub async fn until<F: Future<Output = Result<()>>>(
    client: &Client,
    kind: &ApiResource,
    condition: &str,
    count: usize,
    ask: impl FnMut(usize) -> F,
) -> Result<Duration> {
    let began = Instant::now();
    let all = async { futures::try_join!(for_each(count, ask), seen(client, kind, condition, count)) };
    // Ten times what the slowest needs on two cores.
    let limit = Duration::from_secs(30) + Duration::from_secs(3) * u32::try_from(count)?;
    match tokio::time::timeout(limit, all).await {
        Ok(done) => done.map(|_| began.elapsed()),
        Err(_) => bail!("{count} objects of the kind {} are not {condition} after {limit:?}", kind.kind),
    }
}

/// Returns when so many objects of a kind are Ready, which has to be within a minute.
pub async fn soon_ready(client: &Client, kind: &ApiResource, count: usize) -> Result<()> {
    let limit = Duration::from_mins(1);
    let waited = tokio::time::timeout(limit, seen(client, kind, READY, count)).await;
    waited.with_context(|| format!("{count} objects of the kind {} are not Ready after {limit:?}", kind.kind))?
}

/// Returns when a condition is true of so many objects of a kind, wherever they are.
async fn seen(client: &Client, kind: &ApiResource, condition: &str, count: usize) -> Result<()> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), kind);
    let mut events = pin!(watcher(api, Config::default()).default_backoff().applied_objects());
    let mut found = BTreeSet::new();
    while found.len() < count {
        let object = events.next().await.context("the watch ended")??;
        let conditions = object.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if conditions.iter().any(|one| one["type"] == condition && one["status"] == "True") {
            found.insert((object.namespace(), object.name_any()));
        }
    }
    Ok(())
}
