//! Watches that fill the object cache: one for a kind, one for a single object.

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

/// Keeps the cache of a kind up to date until it is dropped. Watches objects with the managed-by label only, and only
/// their metadata where that shows their health.
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

/// Watches one object by its name, whatever its labels, until it is dropped.
pub(crate) async fn run_one(api: Api<DynamicObject>, id: ObjectId, object_cache: Arc<ObjectCache>) {
    let config = Config::default().fields(&format!("metadata.name={}", id.name));
    let mut events = std::pin::pin!(watcher(api, config).default_backoff());
    let mut listed = false;
    loop {
        match events.try_next().await {
            Ok(Some(Event::Init)) => listed = false,
            Ok(Some(Event::InitDone)) if !listed => object_cache.mark_absent(&id),
            Ok(Some(Event::InitDone)) => {}
            Ok(Some(Event::InitApply(object) | Event::Apply(object))) => {
                listed = true;
                if let Some((_, cached)) = read(&id.gvk, &object) {
                    object_cache.store(&id, cached);
                }
            }
            Ok(Some(Event::Delete(object))) => {
                if let Some((_, cached)) = read(&id.gvk, &object) {
                    object_cache.remove(&id, &cached);
                }
            }
            Ok(None) => return,
            Err(error) => tracing::debug!(object = %id, %error, "watch of object failed"),
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
                    object_cache.store(&id, cached);
                    all.insert(id);
                }
            }
            Ok(Some(Event::InitDone)) => object_cache.retain_listed(gvk, &std::mem::take(&mut all)),
            Ok(Some(Event::Apply(object))) => {
                if let Some((id, cached)) = read(gvk, &object) {
                    object_cache.store(&id, cached);
                }
            }
            Ok(Some(Event::Delete(object))) => {
                if let Some((id, cached)) = read(gvk, &object) {
                    object_cache.remove(&id, &cached);
                }
            }
            Ok(None) => return,
            // The watcher itself retries with backoff.
            Err(error) => tracing::debug!(kind = gvk.kind, %error, "watch of kind failed"),
        }
    }
}

fn read(gvk: &Gvk, object: &impl Serialize) -> Option<(ObjectId, CachedObject)> {
    let mut object: Value = serde_json::to_value(object).ok()?;
    // List items and bare metadata lack `apiVersion` and `kind`.
    object["apiVersion"] = gvk.api_version().into();
    object["kind"] = gvk.kind.clone().into();
    Some((ObjectId::of(&object)?, CachedObject::of(&object)))
}
