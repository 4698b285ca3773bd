//! Watching one kind on one cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use fitout_health::shown_by_metadata;
use fitout_model::{Gvk, ObjectId};
use fitout_plan::MANAGED_BY;
use futures::{Stream, TryStreamExt};
use kube::api::DynamicObject;
use kube::core::PartialObjectMeta;
use kube::discovery::ApiResource;
use kube::runtime::watcher::{Config, Event};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client};
use serde::Serialize;
use serde_json::Value;

use crate::{CachedObject, ObjectCache};

/// Keeps `object_cache` of a kind up to date, for as long as it is not dropped. Only objects of releases are asked for, and
/// only what decisions are made from: their metadata alone, where that tells all.
pub(crate) async fn run(client: Client, gvk: Gvk, resource: ApiResource, object_cache: Arc<ObjectCache>) {
    let config = Config::default().labels(&format!("{MANAGED_BY}=Helm"));
    if shown_by_metadata(&gvk.group, &gvk.kind) {
        let api: Api<PartialObjectMeta<DynamicObject>> = Api::all_with(client, &resource);
        follow(watcher(api, config).default_backoff(), &gvk, &object_cache).await;
    } else {
        let api: Api<DynamicObject> = Api::all_with(client, &resource);
        follow(watcher(api, config).default_backoff(), &gvk, &object_cache).await;
    }
}

/// Follows one object by its name until it is dropped, whatever its labels.
pub(crate) async fn run_one(api: Api<DynamicObject>, id: ObjectId, object_cache: Arc<ObjectCache>) {
    let config = Config::default().fields(&format!("metadata.name={}", id.name));
    let mut events = std::pin::pin!(watcher(api, config).default_backoff());
    let mut there = false;
    loop {
        match events.try_next().await {
            Ok(Some(Event::Init)) => there = false,
            Ok(Some(Event::InitDone)) if !there => object_cache.miss(&id),
            Ok(Some(Event::InitDone)) => {}
            Ok(Some(Event::InitApply(object) | Event::Apply(object))) => {
                there = true;
                if let Some((_, cached)) = read(&id.gvk, &object) {
                    object_cache.see(&id, cached);
                }
            }
            Ok(Some(Event::Delete(object))) => {
                if let Some((_, cached)) = read(&id.gvk, &object) {
                    object_cache.lose(&id, &cached);
                }
            }
            Ok(None) => return,
            Err(error) => tracing::debug!(object = %id, %error, "watch"),
        }
    }
}

async fn follow<K: Serialize>(
    events: impl Stream<Item = Result<Event<K>, watcher::Error>>,
    gvk: &Gvk,
    object_cache: &ObjectCache,
) {
    let mut all = BTreeSet::new();
    let mut events = std::pin::pin!(events);
    loop {
        match events.try_next().await {
            Ok(Some(Event::Init)) => all.clear(),
            Ok(Some(Event::InitApply(object))) => {
                if let Some((id, cached)) = read(gvk, &object) {
                    object_cache.see(&id, cached);
                    all.insert(id);
                }
            }
            Ok(Some(Event::InitDone)) => object_cache.see_all(gvk, &std::mem::take(&mut all)),
            Ok(Some(Event::Apply(object))) => {
                if let Some((id, cached)) = read(gvk, &object) {
                    object_cache.see(&id, cached);
                }
            }
            Ok(Some(Event::Delete(object))) => {
                if let Some((id, cached)) = read(gvk, &object) {
                    object_cache.lose(&id, &cached);
                }
            }
            Ok(None) => return,
            // The watcher itself tries again, ever more slowly.
            Err(error) => tracing::debug!(kind = gvk.kind, %error, "watch"),
        }
    }
}

fn read(gvk: &Gvk, object: &impl Serialize) -> Option<(ObjectId, CachedObject)> {
    let mut object: Value = serde_json::to_value(object).ok()?;
    // Items of a list, and bare metadata, do not say what they are.
    object["apiVersion"] = gvk.api_version().into();
    object["kind"] = gvk.kind.clone().into();
    Some((ObjectId::of(&object)?, CachedObject::of(&object)))
}
