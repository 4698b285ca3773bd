//! Writing to a cluster.

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
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tracing::{Instrument, Span};

use crate::namespaces::{self, Namespaces};
use crate::release_watch::{self, ReleaseWatch};
use crate::{
    CachedObject, ClusterInfo, Connectivity, ObjectCache, Refusal, ReleaseSubscription, Subscription,
    cluster_info_watch, object_watch,
};

/// A cluster that extensions are installed on.
pub struct ClusterClient {
    client: Client,
    connectivity: Connectivity,
    info: watch::Sender<Arc<ClusterInfo>>,
    object_cache: Arc<ObjectCache>,
    watches: Mutex<Watches>,
    /// Changes that are under way: a few that end soon are better than many that all end late.
    changes: Arc<Semaphore>,
    releases: Arc<ReleaseWatch>,
    pub(crate) namespaces: Arc<Namespaces>,
}

/// How many changes a cluster goes through at once.
const CHANGES: usize = 8;

#[derive(Default)]
struct Watches {
    kinds: BTreeSet<Gvk>,
    /// They end when the target is dropped.
    tasks: JoinSet<()>,
    /// Where the target was opened: what watches log says of which cluster it is.
    span: Option<Span>,
}

impl Watches {
    fn spawn(&mut self, watch: impl Future<Output = ()> + Send + 'static) {
        let span = self.span.clone().unwrap_or_else(Span::none);
        self.tasks.spawn(watch.instrument(span));
    }

    /// Follows a part of what the cluster is.
    fn begin<W: Future<Output = ()> + Send + 'static>(
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
    /// Learns what the cluster is, and follows it from then on.
    pub async fn open(client: Client, connectivity: Connectivity) -> kube::Result<Self> {
        let target = Self::visit(client, connectivity).await?;
        {
            let Self { client, connectivity, info, .. } = &target;
            let mut watches = target.watches.lock().unwrap_or_else(PoisonError::into_inner);
            watches.span = Some(Span::current());
            watches.spawn(connectivity.clone().watch_over(client.clone()));
            watches.begin(connectivity, client, info, cluster_info_watch::nodes);
            watches.begin(connectivity, client, info, cluster_info_watch::definitions);
            watches.begin(connectivity, client, info, cluster_info_watch::storage_classes);
            let (other, namespaces) = (client.clone(), Arc::clone(&target.namespaces));
            let watch = move || namespaces::follow(other.clone(), Arc::clone(&namespaces));
            watches.spawn(connectivity.clone().while_connected(watch));
            let (client, releases) = (client.clone(), Arc::clone(&target.releases));
            let watch = move || release_watch::follow(client.clone(), Arc::clone(&releases));
            watches.spawn(connectivity.clone().while_connected(watch));
        }
        Ok(target)
    }

    /// Learns what the cluster is at this moment, for who looks and goes again.
    pub async fn visit(client: Client, connectivity: Connectivity) -> kube::Result<Self> {
        let (info, _) = watch::channel(Arc::new(ClusterInfo::load(&client).await?));
        Ok(Self {
            client,
            connectivity,
            info,
            object_cache: Arc::default(),
            watches: Mutex::default(),
            changes: Arc::new(Semaphore::new(CHANGES)),
            releases: Arc::default(),
            namespaces: Arc::default(),
        })
    }

    /// Whether it answers.
    pub fn connectivity(&self) -> &Connectivity {
        &self.connectivity
    }

    /// What is known of its objects.
    pub fn object_cache(&self) -> &ObjectCache {
        &self.object_cache
    }

    /// An subscribe in no object yet.
    pub fn subscribe(&self) -> Subscription {
        Subscription::new(&self.object_cache)
    }

    /// What the cluster is.
    pub fn info(&self) -> Arc<ClusterInfo> {
        Arc::clone(&self.info.borrow())
    }

    /// Tells when what the cluster is has changed: its version, its nodes, the kinds it serves.
    pub fn info_changes(&self) -> watch::Receiver<Arc<ClusterInfo>> {
        self.info.subscribe()
    }

    /// Waits for leave to change the cluster; it is given back when what is returned is dropped.
    pub async fn acquire_slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.changes).acquire_owned().await.ok()
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Watches these kinds from now on. Kinds that the cluster does not serve yet are watched once it does.
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

    /// Looks at objects that no watch can show, because they may be nobody's: before they become ours. What already holds
    /// what is going to be applied is known to from then on, but for what others may take of it.
    pub async fn prime(&self, objects: &[(&ObjectId, Option<(&Value, Ignored)>)]) -> Result<(), Refusal> {
        try_join_all(objects.iter().map(|(id, applied)| self.prime_one(id, applied.as_ref()))).await.map(drop)
    }

    /// An object as it is; none where there is none.
    pub async fn read(&self, id: &ObjectId) -> Result<Option<Value>, Refusal> {
        let Some(api) = self.api(id) else { return Ok(None) };
        let found = api.get_opt(&id.name).await.map_err(|error| Refusal::new(id, &error))?;
        Ok(found.and_then(|found| serde_json::to_value(found).ok()))
    }

    async fn prime_one(&self, id: &ObjectId, applied: Option<&(&Value, Ignored)>) -> Result<(), Refusal> {
        if let Some(found) = self.read(id).await? {
            match applied {
                Some((applied, ignored)) if matches_live(&found, applied, ignored) => {
                    self.object_cache.applied(id, Digest::of_value(applied), CachedObject::of(&found));
                }
                Some(_) => self.object_cache.suspect(id, CachedObject::of(&found)),
                None => self.object_cache.see(id, CachedObject::of(&found)),
            }
        }
        Ok(())
    }

    /// Applies an object. Whatever its content was, it is this now, and nobody else's fields are touched, nor those that
    /// others may take and have taken.
    pub async fn apply(&self, id: &ObjectId, object: &Value, ignored: &Ignored) -> Result<(), Refusal> {
        if self.resource(&id.gvk).is_none() {
            self.refresh_apis().await.map_err(|error| Refusal::new(id, &error))?;
        }
        let api = self.api(id).ok_or_else(|| Refusal {
            object: id.to_string(),
            message: format!("the cluster does not serve {} {}", id.gvk.api_version(), id.gvk.kind),
            remedy: "it is tried again",
            passing: true,
            invalid: false,
            unsure: false,
        })?;
        if self.object_cache.get(id).is_some_and(|cached| cached.updated) {
            self.take_over(id, &api).await?;
        }
        let live = match self.object_cache.get(id).filter(|_| !ignored.is_empty()) {
            Some(_) => self.read(id).await?.unwrap_or_default(),
            None => Value::Null,
        };
        let applied = ignored.left_out(object, &live);
        let answer = self.send(&api, id, &applying(), &applied).await.map_err(|error| Refusal::new(id, &error))?;
        self.object_cache.applied(id, Digest::of_value(object), CachedObject::of(&answer));
        Ok(())
    }

    /// Sends an object to be applied, and says what it became.
    async fn send(
        &self,
        api: &Api<DynamicObject>,
        id: &ObjectId,
        params: &PatchParams,
        object: &Value,
    ) -> kube::Result<Value> {
        let request = Request::new(api.resource_url()).patch(&id.name, params, &Patch::Apply(()));
        let mut request = request.map_err(kube::Error::BuildRequest)?;
        *request.body_mut() = in_lines(object).map_err(kube::Error::SerdeError)?;
        self.client.request(request).await
    }

    /// Takes over the fields that an older Helm has updated.
    async fn take_over(&self, id: &ObjectId, api: &Api<DynamicObject>) -> Result<(), Refusal> {
        let Some(found) = self.read(id).await? else { return Ok(()) };
        let Some(fields) = migrate_update_managers(&found["metadata"]) else { return Ok(()) };
        let version = &found["metadata"]["resourceVersion"];
        let taken = json!({ "metadata": { "managedFields": fields, "resourceVersion": version } });
        let answer = api.patch(&id.name, &PatchParams::default(), &Patch::Merge(&taken)).await;
        answer.map(drop).map_err(|error| Refusal::new(id, &error))
    }

    /// What an object would be if it were applied now; nothing is written. None where the cluster cannot tell, because
    /// the object's kind or namespace is not there.
    pub async fn dry_run(&self, id: &ObjectId, object: &Value) -> Result<Option<Value>, Refusal> {
        let Some(api) = self.api(id) else { return Ok(None) };
        let params = PatchParams { dry_run: true, ..applying() };
        match self.send(&api, id, &params, object).await {
            Ok(answer) => Ok(Some(answer)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(Refusal::new(id, &error)),
        }
    }

    /// Deletes an object, if it is still the one that was seen.
    pub async fn delete(&self, id: &ObjectId) -> Result<(), Refusal> {
        let Some(cached) = self.object_cache.get(id) else { return Ok(()) };
        let Some(api) = self.api(id) else {
            // Of a kind that is not served there is nothing.
            self.object_cache.lose(id, &cached);
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
            Err(kube::Error::Api(status)) if status.code == 404 => self.object_cache.lose(id, &cached),
            Err(error) => return Err(Refusal::new(id, &error)),
        }
        Ok(())
    }

    /// Listens to what anybody writes to the records of a release.
    pub fn subscribe_release(&self, name: &str, namespace: &str) -> ReleaseSubscription {
        self.releases.listen(namespace, name)
    }

    /// Follows one object by its name for as long as the answer is kept: no other watch sees what carries no mark.
    pub fn follow(&self, id: &ObjectId) -> Option<AbortOnDrop> {
        let api = self.api(id)?;
        let (id, object_cache) = (id.clone(), Arc::clone(&self.object_cache));
        let watch = move || object_watch::run_one(api.clone(), id.clone(), Arc::clone(&object_cache));
        let watch = self.connectivity.clone().while_connected(watch).instrument(Span::current());
        Some(AbortOnDrop(tokio::spawn(watch).abort_handle()))
    }

    /// What a template asks for: an object, or all of a kind as a list; null where there is none.
    pub async fn lookup(&self, lookup: &Lookup) -> Result<Value, Refusal> {
        let Lookup { api_version, kind, namespace, name } = lookup;
        let id = ObjectId { gvk: Gvk::new(api_version, kind), namespace: namespace.clone(), name: name.clone() };
        let Some(api) = self.api(&id) else { return Ok(Value::Null) };
        if !name.is_empty() {
            return Ok(self.read(&id).await?.unwrap_or_default());
        }
        let listed = api.list(&ListParams::default()).await.map_err(|error| Refusal::new(&id, &error))?;
        let items: Vec<Value> = listed.items.iter().filter_map(|item| serde_json::to_value(item).ok()).collect();
        Ok(json!({ "apiVersion": api_version, "kind": format!("{kind}List"), "items": items }))
    }

    async fn refresh_apis(&self) -> kube::Result<()> {
        cluster_info_watch::refresh_apis(&self.client, &self.info).await
    }

    fn resource(&self, gvk: &Gvk) -> Option<ApiResource> {
        let info = self.info.borrow();
        // What was written in a version that the cluster no longer serves is the same object in another.
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

/// By force: what a person changed by hand is put back, and says so in the drift it was found by.
///
/// A field that the cluster does not know is refused, as Helm has it: nobody would see that it has no effect. That is so
/// whenever something is applied; to ask for it has the text read a second time, for fields that stand there twice, of which
/// ours has none.
fn applying() -> PatchParams {
    PatchParams { field_validation: Some(ValidationDirective::Ignore), ..PatchParams::apply(MANAGER).force() }
}

/// JSON with a line for each part. The API server reads what is applied as YAML, where all that stands on the line of a key
/// may belong to the key: on one line, it keeps twice as much in mind.
fn in_lines(object: &Value) -> serde_json::Result<Vec<u8>> {
    let mut lines = Vec::new();
    object.serialize(&mut Serializer::with_formatter(&mut lines, PrettyFormatter::with_indent(b"")))?;
    Ok(lines)
}

/// Work that ends when nobody keeps this any more.
#[derive(Debug)]
pub struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
