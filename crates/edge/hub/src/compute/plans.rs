//! Plans: the changes that the hub would make for an existing or a proposed instance.
//!
//! Every replica computes plans, whether or not it holds the lease: it connects to the cluster itself and writes
//! nothing. A plan is rendered by the functions of the instance's worker, and simulated by the function that decides
//! each write.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_api::{Cluster, ExtensionInstance, PlanStatus};
use fitout_cluster_client::{CachedObject, ClusterClient, ClusterError, ClusterInfo, Disconnected, Fence, Ownership};
use fitout_model::{ObjectId, capabilities, unmet_capability};
use fitout_plan::{Change, Mask, Planned, RenderedRelease};
use fitout_reconcile::namespace::NamespaceState;
use fitout_reconcile::{LiveObject, ObjectState, PlanInput, Presence, Wanted, detect_applied};
use futures::future::try_join_all;
use kube::ResourceExt;
use serde_json::Value;

use crate::Hub;
use crate::compute::{convert, layers};
use crate::controllers::clusters;
use crate::reconcile::convert::{catalog_key, owner, release};
use crate::reconcile::worker::Worker;

/// The error of a plan that cannot be computed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message describes each variant")]
pub enum PlanError {
    #[error("cluster {0} does not exist in this organization; register it with `fitout cluster add`")]
    NoCluster(String),
    #[error("cluster {cluster}: {reason}; try again when the cluster is reachable")]
    Unreachable { cluster: String, reason: Disconnected },
    #[error("cluster {cluster}: {error}")]
    Refused { cluster: String, error: ClusterError },
    #[error("{0:#}")]
    Hub(#[from] anyhow::Error),
}

impl Hub {
    /// Plans the changes for an instance as given; if it has a deletion timestamp, those of its deletion. Without
    /// `values`, every value is hidden; secret values always are.
    pub async fn plan(self: &Arc<Self>, instance: &ExtensionInstance, values: bool) -> Result<PlanStatus, PlanError> {
        let name = &instance.spec.cluster;
        let mut worker = self.open_worker(instance).await?;
        let prepared = worker.render(instance).await;
        let ready = prepared.as_deref().ok();
        let wanted = worker.desired(instance, ready);
        let last = match worker.recorded.revisions.last() {
            Some(last) => worker.restored(instance, last.number).await.ok(),
            None => None,
        };
        let refused = |error| PlanError::Refused { cluster: name.clone(), error };
        let namespace = namespace(&worker, instance).await.map_err(refused)?;
        let (found, objects) = observe(&worker, instance, &wanted, ready, last.as_ref()).await.map_err(refused)?;
        let mask = if values { self.mask(instance).await } else { Mask::everything() };
        let mut plan = fitout_reconcile::plan(&PlanInput {
            wanted: &wanted,
            recorded: &worker.recorded,
            observed: &worker.observed(objects),
            found: &found,
            release: owner(instance),
            namespace: &namespace,
            from: worker.installed(),
            prepared: prepared.as_deref(),
            suspended: instance.spec.suspend,
            no_node: worker.waits_for_node(ready),
            mask: &mask,
        });
        if let Some(rendered) = ready.filter(|_| matches!(plan.change, Change::Install | Change::Upgrade)) {
            plan.warnings.extend(capability_warnings(name, &worker.target.info(), rendered));
        }
        Ok(convert::plan_status(plan))
    }

    /// Opens a worker for the instance, which is never run.
    pub(crate) async fn open_worker(self: &Arc<Self>, instance: &ExtensionInstance) -> Result<Worker, PlanError> {
        let (namespace, name) = (instance.namespace().unwrap_or_default(), &instance.spec.cluster);
        let cluster = self.cache.cluster(&namespace, name).ok_or_else(|| PlanError::NoCluster(name.clone()))?;
        let unreachable = |reason| PlanError::Unreachable { cluster: name.clone(), reason };
        let target = Arc::new(self.visit(&cluster).await.map_err(unreachable)?);
        self.load_snapshot(&catalog_key(instance)).await;
        let revisions = self.revisions(instance).await.map_err(anyhow::Error::from)?;
        Ok(Worker::open(self, &target, instance, &revisions).await.map_err(anyhow::Error::from)?)
    }

    /// Opens a separate connection to a cluster. Its fence is open, because every write is a dry run.
    async fn visit(&self, cluster: &Cluster) -> Result<ClusterClient, Disconnected> {
        let guard = self.metrics.client_options_for(cluster, Fence::open());
        let (client, connectivity, _) = clusters::reach(self, cluster, guard).await?;
        let server = format!("Cluster/{}", cluster.name_any());
        let visited = ClusterClient::visit(client, connectivity).await;
        let target = visited.map_err(|error| Disconnected::Other { server, message: error.to_string() })?;
        clusters::ensure_registered_once(self, cluster, &target.info().uid)?;
        Ok(target)
    }

    /// Hides the values from Secrets, both of the given instance and of the stored one.
    async fn mask(&self, instance: &ExtensionInstance) -> Mask {
        let stored = self.instance(&instance.namespace().unwrap_or_default(), &instance.name_any()).await;
        let both = [Some(instance), stored.as_ref().ok().and_then(Option::as_ref)];
        let secrets = both.into_iter().flatten().filter_map(|one| layers::secrets(&self.cache, one).ok());
        secrets.fold(Mask::default(), |mask, values| mask.secrets(&values))
    }
}

/// A warning for each capability that the definition requires and that was not detected on the cluster.
fn capability_warnings(cluster: &str, info: &ClusterInfo, rendered: &RenderedRelease) -> Vec<String> {
    let Some(definition) = rendered.chosen.as_ref().map(|chosen| &chosen.package.definition) else { return vec![] };
    let detected = capabilities(&info.apis, info.storage_class);
    let required = definition.requirements.iter().flat_map(|requirements| &requirements.capabilities);
    let unmet = required.filter_map(|capability| unmet_capability(cluster, capability, &detected));
    unmet.map(|reason| format!("{reason}, which {} {} requires", definition.extension, definition.version)).collect()
}

/// The release's namespace. Only an uninstall needs to know what is in it.
async fn namespace(worker: &Worker, instance: &ExtensionInstance) -> Result<NamespaceState, ClusterError> {
    let name = &instance.spec.namespace;
    if instance.metadata.deletion_timestamp.is_some() && !instance.spec.keep_namespace {
        return worker.target.namespace_state(name).await;
    }
    Ok(NamespaceState { exists: worker.target.has_namespace(name).await?, ..NamespaceState::default() })
}

type LiveState = (BTreeMap<ObjectId, LiveObject>, BTreeMap<ObjectId, ObjectState>);

/// Reads every object that the plan concerns, and applies changed ones in a dry run.
async fn observe(
    worker: &Worker,
    instance: &ExtensionInstance,
    wanted: &Wanted,
    prepared: Option<&RenderedRelease>,
    last: Option<&RenderedRelease>,
) -> Result<LiveState, ClusterError> {
    let (target, by, named) = (&worker.target, release(instance), worker.owned_by_name(wanted));
    let object = |of: Option<&'_ RenderedRelease>, id: &ObjectId| of.and_then(|of| of.object(id).cloned());
    let seen = |id: &ObjectId, found: &LiveObject| {
        let ignored = prepared.or(last).map(|of| of.ignored(id)).unwrap_or_default();
        let holds = detect_applied(found, object(last, id).as_ref(), object(prepared, id).as_ref(), &ignored);
        let claim = if named.contains(id) { Ownership::ByName } else { Ownership::ByAnnotations };
        found.live.as_ref().map(|live| CachedObject::of(live).state_for(&by, claim, holds))
    };
    let ids = worker.ids(wanted);
    let read = ids.iter().map(|id| async move { Ok((id.clone(), target.read(id).await?)) });
    let read = try_join_all(read).await?.into_iter();
    let mut found: BTreeMap<ObjectId, LiveObject> =
        read.map(|(id, live)| (id, LiveObject { live, dry_run: None })).collect();
    let mut all: BTreeMap<ObjectId, ObjectState> =
        found.iter().filter_map(|(id, found)| Some((id.clone(), seen(id, found)?))).collect();
    let planned: Vec<&Planned> = match &wanted.artifact {
        Some(artifact) if wanted.present => artifact.objects.iter().chain(&artifact.crds).collect(),
        _ => vec![],
    };
    let state = |id: &ObjectId| all.get(id).map(|seen| &seen.state);
    let foreign = planned.iter().any(|planned| matches!(state(&planned.id), Some(Presence::Foreign(_))));
    let due = planned.into_iter().filter(|planned| match state(&planned.id) {
        Some(Presence::Applied(digest)) => *digest != planned.digest,
        Some(Presence::Terminating) => false,
        _ => !foreign,
    });
    let dry_runs = due.filter_map(|planned| {
        let live = found.get(&planned.id).and_then(|found| found.live.as_ref()).unwrap_or(&Value::Null);
        let object = prepared?.ignored(&planned.id).left_out(&object(prepared, &planned.id)?, live);
        Some(async move {
            match target.dry_run(&planned.id, &object).await {
                Err(error) if !error.cause.is_outcome_known() => Err(error),
                answer => Ok((planned.id.clone(), answer.map_err(|refusal| refusal.to_string()).transpose())),
            }
        })
    });
    for (id, dry_run) in try_join_all(dry_runs).await? {
        let found = found.entry(id.clone()).or_default();
        found.dry_run = dry_run;
        all.extend(seen(&id, found).map(|seen| (id, seen)));
    }
    Ok((found, all))
}
