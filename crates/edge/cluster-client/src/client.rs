//! The client of one cluster: server-side apply, delete, dry run, reads and watches.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use fitout_model::{Digest, Gvk, ObjectId};
use fitout_plan::{Ignored, Lookup, MANAGER, matches_live, migrate_update_managers};
use futures::future::try_join_all;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PropagationPolicy, ValidationDirective};
use kube::core::Request;
use kube::discovery::ApiResource;
use kube::{Api, Client};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{Instrument, Span};

use crate::namespaces::{self, Namespaces};
use crate::release_watch::{self, ReleaseWatch};
use crate::{
    CachedObject, ChangeQueue, ClusterError, ClusterInfo, Connectivity, ErrorCause, ObjectCache, ReleaseSubscription,
    Subscription, cluster_info_watch, object_watch,
};

/// A client of one cluster, with its object cache and its watches.
pub struct ClusterClient {
    client: Client,
    connectivity: Connectivity,
    info: watch::Sender<Arc<ClusterInfo>>,
    object_cache: Arc<ObjectCache>,
    watches: Mutex<Watches>,
    changes: ChangeQueue,
    releases: Arc<ReleaseWatch>,
    pub(crate) namespaces: Arc<Namespaces>,
}

#[derive(Default)]
struct Watches {
    kinds: BTreeSet<Gvk>,
    /// Aborted when the client is dropped.
    tasks: JoinSet<()>,
    /// The span in which the client was opened, so that log lines of watches name the cluster.
    span: Option<Span>,
}

impl Watches {
    fn spawn(&mut self, watch: impl Future<Output = ()> + Send + 'static) {
        let span = self.span.clone().unwrap_or_else(Span::none);
        self.tasks.spawn(watch.instrument(span));
    }

    /// Starts a watch that updates the cluster info.
    fn spawn_info_watch<W: Future<Output = ()> + Send + 'static>(
        &mut self,
        connectivity: &Connectivity,
        client: &Client,
        info: &watch::Sender<Arc<ClusterInfo>>,
        follow: fn(Client, watch::Sender<Arc<ClusterInfo>>) -> W,
    ) {
        let (client, info) = (client.clone(), info.clone());
        self.spawn(connectivity.clone().while_connected(move || follow(client.clone(), info.clone())));
    }
}

impl ClusterClient {
    /// Loads the cluster info and keeps it, the namespaces and the release records up to date by watches.
    pub async fn open(client: Client, connectivity: Connectivity) -> kube::Result<Self> {
        let opened = Self::visit(client, connectivity).await?;
        {
            let Self { client, connectivity, info, .. } = &opened;
            let mut watches = opened.watches.lock().unwrap_or_else(PoisonError::into_inner);
            watches.span = Some(Span::current());
            watches.spawn(connectivity.clone().watch_over(client.clone()));
            watches.spawn_info_watch(connectivity, client, info, cluster_info_watch::nodes);
            watches.spawn_info_watch(connectivity, client, info, cluster_info_watch::definitions);
            watches.spawn_info_watch(connectivity, client, info, cluster_info_watch::storage_classes);
            let (namespace_client, namespaces) = (client.clone(), Arc::clone(&opened.namespaces));
            let watch = move || namespaces::follow(namespace_client.clone(), Arc::clone(&namespaces));
            watches.spawn(connectivity.clone().while_connected(watch));
            let (client, releases) = (client.clone(), Arc::clone(&opened.releases));
            let watch = move || release_watch::follow(client.clone(), Arc::clone(&releases));
            watches.spawn(connectivity.clone().while_connected(watch));
        }
        Ok(opened)
    }

    /// Loads the cluster info once and starts no watches, for short reads such as plans.
    pub async fn visit(client: Client, connectivity: Connectivity) -> kube::Result<Self> {
        let (info, _) = watch::channel(Arc::new(ClusterInfo::load(&client).await?));
        Ok(Self {
            client,
            connectivity,
            info,
            object_cache: Arc::default(),
            watches: Mutex::default(),
            changes: ChangeQueue::default(),
            releases: Arc::default(),
            namespaces: Arc::default(),
        })
    }

    /// The connectivity to the API server.
    pub fn connectivity(&self) -> &Connectivity {
        &self.connectivity
    }

    /// The cache of the cluster's objects.
    pub fn object_cache(&self) -> &ObjectCache {
        &self.object_cache
    }

    /// A subscription to no objects yet.
    pub fn subscribe(&self) -> Subscription {
        Subscription::new(&self.object_cache)
    }

    /// The current cluster info.
    pub fn info(&self) -> Arc<ClusterInfo> {
        Arc::clone(&self.info.borrow())
    }

    /// A receiver of changes to the cluster info: version, nodes, served kinds.
    pub fn info_changes(&self) -> watch::Receiver<Arc<ClusterInfo>> {
        self.info.subscribe()
    }

    /// The queue of changes to the cluster.
    pub fn changes(&self) -> &ChangeQueue {
        &self.changes
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Starts a watch for each of these kinds that has none and that the cluster serves.
    pub fn watch<'a>(&self, kinds: impl IntoIterator<Item = &'a Gvk>) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        for gvk in kinds {
            if watches.kinds.contains(gvk) {
                continue;
            }
            if let Some(resource) = self.resource(gvk) {
                watches.kinds.insert(gvk.clone());
                let (client, gvk, object_cache) = (self.client.clone(), gvk.clone(), Arc::clone(&self.object_cache));
                let watch =
                    move || object_watch::run(client.clone(), gvk.clone(), resource.clone(), Arc::clone(&object_cache));
                watches.spawn(self.connectivity.clone().while_connected(watch));
            }
        }
    }

    /// Reads objects into the cache that no watch shows yet, because they may carry no managed-by label. An object that
    /// already matches what is to be applied, except for ignored fields, is recorded as applied.
    pub async fn prime(&self, objects: &[(&ObjectId, Option<(&Value, Ignored)>)]) -> Result<(), ClusterError> {
        try_join_all(objects.iter().map(|(id, applied)| self.prime_one(id, applied.as_ref()))).await.map(drop)
    }

    /// Reads an object from the API server; none where it does not exist or its kind is not served.
    pub async fn read(&self, id: &ObjectId) -> Result<Option<Value>, ClusterError> {
        let Some(api) = self.api(id) else { return Ok(None) };
        let found = api.get_opt(&id.name).await.map_err(|error| ClusterError::new(id, &error))?;
        Ok(found.and_then(|found| serde_json::to_value(found).ok()))
    }

    async fn prime_one(&self, id: &ObjectId, applied: Option<&(&Value, Ignored)>) -> Result<(), ClusterError> {
        if let Some(found) = self.read(id).await? {
            match applied {
                Some((applied, ignored)) if matches_live(&found, applied, ignored) => {
                    self.object_cache.applied(id, Digest::of_value(applied), CachedObject::of(&found));
                }
                Some(_) => self.object_cache.store_mismatch(id, CachedObject::of(&found)),
                None => self.object_cache.store(id, CachedObject::of(&found)),
            }
        }
        Ok(())
    }

    /// Applies an object with forced server-side apply. Fields of other managers stay, and so do ignored fields that
    /// another manager owns.
    pub async fn apply(&self, id: &ObjectId, object: &Value, ignored: &Ignored) -> Result<(), ClusterError> {
        if self.resource(&id.gvk).is_none() {
            self.refresh_apis().await.map_err(|error| ClusterError::new(id, &error))?;
        }
        let api = self.api(id).ok_or_else(|| ClusterError {
            object: id.to_string(),
            message: format!("no resource of {} {}", id.gvk.api_version(), id.gvk.kind),
            cause: ErrorCause::KindNotServed,
        })?;
        if self.object_cache.get(id).is_some_and(|cached| cached.updated) {
            self.migrate_managed_fields(id, &api).await?;
        }
        let live = match self.object_cache.get(id).filter(|_| !ignored.is_empty()) {
            Some(_) => self.read(id).await?.unwrap_or_default(),
            None => Value::Null,
        };
        let applied = ignored.left_out(object, &live);
        let answer =
            self.send(&api, id, &apply_params(), &applied).await.map_err(|error| ClusterError::new(id, &error))?;
        self.object_cache.applied(id, Digest::of_value(object), CachedObject::of(&answer));
        Ok(())
    }

    /// Sends an apply request and returns the resulting object.
    async fn send(
        &self,
        api: &Api<DynamicObject>,
        id: &ObjectId,
        params: &PatchParams,
        object: &Value,
    ) -> kube::Result<Value> {
        let request = Request::new(api.resource_url()).patch(&id.name, params, &Patch::Apply(()));
        let mut request = request.map_err(kube::Error::BuildRequest)?;
        *request.body_mut() = json_in_lines(object).map_err(kube::Error::SerdeError)?;
        self.client.request(request).await
    }

    /// Moves the fields that an older Helm owns by `Update` to our `Apply` manager.
    async fn migrate_managed_fields(&self, id: &ObjectId, api: &Api<DynamicObject>) -> Result<(), ClusterError> {
        let Some(found) = self.read(id).await? else { return Ok(()) };
        let Some(fields) = migrate_update_managers(&found["metadata"]) else { return Ok(()) };
        let version = &found["metadata"]["resourceVersion"];
        let patch = json!({ "metadata": { "managedFields": fields, "resourceVersion": version } });
        let answer = api.patch(&id.name, &PatchParams::default(), &Patch::Merge(&patch)).await;
        answer.map(drop).map_err(|error| ClusterError::new(id, &error))
    }

    /// Returns the object that an apply would result in, by a server-side dry run. None where the object's kind or
    /// namespace does not exist yet.
    pub async fn dry_run(&self, id: &ObjectId, object: &Value) -> Result<Option<Value>, ClusterError> {
        let Some(api) = self.api(id) else { return Ok(None) };
        let params = PatchParams { dry_run: true, ..apply_params() };
        match self.send(&api, id, &params, object).await {
            Ok(answer) => Ok(Some(answer)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(ClusterError::new(id, &error)),
        }
    }

    /// Deletes an object in the background, if its UID is still the cached one.
    pub async fn delete(&self, id: &ObjectId) -> Result<(), ClusterError> {
        let Some(cached) = self.object_cache.get(id) else { return Ok(()) };
        let Some(api) = self.api(id) else {
            // No objects exist of a kind that is not served.
            self.object_cache.remove(id, &cached);
            return Ok(());
        };
        let preconditions = kube::api::Preconditions { uid: Some(cached.uid.clone()), resource_version: None };
        let params = DeleteParams {
            propagation_policy: Some(PropagationPolicy::Background),
            preconditions: Some(preconditions),
            ..DeleteParams::default()
        };
        match api.delete(&id.name, &params).await {
            Ok(_) => self.object_cache.deleted(id),
            Err(kube::Error::Api(status)) if status.code == 404 => self.object_cache.remove(id, &cached),
            Err(error) => return Err(ClusterError::new(id, &error)),
        }
        Ok(())
    }

    /// Subscribes to changes of a release's records, whichever client writes them.
    pub fn subscribe_release(&self, name: &str, namespace: &str) -> ReleaseSubscription {
        self.releases.subscribe(namespace, name)
    }

    /// Watches one object by its name until the returned guard is dropped, for objects without the managed-by label.
    pub fn follow(&self, id: &ObjectId) -> Option<AbortOnDrop> {
        let api = self.api(id)?;
        let (id, object_cache) = (id.clone(), Arc::clone(&self.object_cache));
        let watch = move || object_watch::run_one(api.clone(), id.clone(), Arc::clone(&object_cache));
        let watch = self.connectivity.clone().while_connected(watch).instrument(Span::current());
        Some(AbortOnDrop(tokio::spawn(watch).abort_handle()))
    }

    /// Answers a template's `lookup`: an object, or all objects of a kind as a list; null where none exists.
    pub async fn lookup(&self, lookup: &Lookup) -> Result<Value, ClusterError> {
        let Lookup { api_version, kind, namespace, name } = lookup;
        let id = ObjectId { gvk: Gvk::new(api_version, kind), namespace: namespace.clone(), name: name.clone() };
        let Some(api) = self.api(&id) else { return Ok(Value::Null) };
        if !name.is_empty() {
            return Ok(self.read(&id).await?.unwrap_or_default());
        }
        let listed = api.list(&ListParams::default()).await.map_err(|error| ClusterError::new(&id, &error))?;
        let items: Vec<Value> = listed.items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect();
        Ok(json!({ "apiVersion": api_version, "kind": format!("{kind}List"), "items": items }))
    }

    async fn refresh_apis(&self) -> kube::Result<()> {
        cluster_info_watch::refresh_apis(&self.client, &self.info).await
    }

    fn resource(&self, gvk: &Gvk) -> Option<ApiResource> {
        let info = self.info.borrow();
        // An object in a version that the cluster no longer serves is the same object in another version.
        let other = || info.resources.iter().find(|(other, _)| other.group == gvk.group && other.kind == gvk.kind);
        info.resources.get(gvk).or_else(|| Some(other()?.1)).cloned()
    }

    fn api(&self, id: &ObjectId) -> Option<Api<DynamicObject>> {
        let resource = self.resource(&id.gvk)?;
        let client = self.client.clone();
        Some(if id.namespace.is_empty() {
            Api::all_with(client, &resource)
        } else {
            Api::namespaced_with(client, &id.namespace, &resource)
        })
    }
}

/// Parameters of server-side apply, which reverts out-of-band changes by force.
///
/// Server-side apply rejects unknown fields whatever the field validation is. `Strict` would only have the API server
/// parse the body a second time, for duplicate fields, which ours never has.
fn apply_params() -> PatchParams {
    PatchParams { field_validation: Some(ValidationDirective::Ignore), ..PatchParams::apply(MANAGER).force() }
}

/// Serializes JSON with each element on its own line. The API server parses an apply body as YAML, where a key extends
/// to the end of its line: a body on one line takes twice the memory there.
fn json_in_lines(object: &Value) -> serde_json::Result<Vec<u8>> {
    let mut lines = Vec::new();
    object.serialize(&mut Serializer::with_formatter(&mut lines, PrettyFormatter::with_indent(b"")))?;
    Ok(lines)
}

/// A handle that aborts its task when it is dropped.
#[derive(Debug)]
pub struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
