//! Plans: what would be done for an instance, be it there or only proposed.
//!
//! Every replica can say: it goes to the cluster itself, whoever leads, and writes nothing. What is asked for is
//! prepared by the session's own functions and simulation by the one that decides.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_api::{Cluster, ExtensionInstance};
use fitout_cluster_client::{CachedObject, ClusterClient, ClusterInfo, Disconnected, Fence, Ownership, ClusterError};
use fitout_model::{ObjectId, capabilities, unmet_capability};
use fitout_plan::{Change, Mask, Plan, Planned, RenderedRelease};
use fitout_reconcile::{LiveObject, ObjectState, PlanInput, Presence, Wanted, detect_applied};
use futures::future::try_join_all;
use kube::ResourceExt;
use serde_json::Value;

use crate::Hub;
use crate::compute::layers;
use crate::controllers::{catalogs, clusters};
use crate::reconcile::state::{self, Worker};

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence says it")]
pub enum PlanError {
    #[error("there is no cluster {0} in this organization; register it with `fitout cluster add`")]
    NoCluster(String),
    #[error("cluster {cluster}: {reason}; ask again when it answers")]
    Unreachable { cluster: String, reason: Disconnected },
    #[error("cluster {cluster}: {refusal}")]
    Refused { cluster: String, refusal: ClusterError },
    #[error("{0:#}")]
    Hub(#[from] anyhow::Error),
}

impl Hub {
    /// What would be done if this were an instance, or were one no longer where it is marked as deleted. Values are
    /// only for who may see them, and secrets for nobody.
    pub async fn plan(self: &Arc<Self>, instance: &ExtensionInstance, values: bool) -> Result<Plan, PlanError> {
        let name = &instance.spec.cluster;
        let mut session = self.session(instance).await?;
        let prepared = session.rendered_for(instance).await;
        let ready = prepared.as_deref().ok();
        let wanted = session.wanted(instance, ready);
        let last = match session.recorded.revisions.last() {
            Some(last) => session.bring_back(instance, last.number).await.ok(),
            None => None,
        };
        let refused = |refusal| PlanError::Refused { cluster: name.clone(), refusal };
        let (found, objects) = look(&session, instance, &wanted, ready, last.as_ref()).await.map_err(refused)?;
        let mask = if values { self.mask(instance).await } else { Mask::everything() };
        let mut plan = fitout_reconcile::plan(&PlanInput {
            wanted: &wanted,
            recorded: &session.recorded,
            observed: &session.observed(objects),
            found: &found,
            release: state::owner(instance),
            namespace: session.namespaces.get(&instance.spec.namespace).copied().unwrap_or_default(),
            from: session.installed().map(String::as_str),
            prepared: prepared.as_deref(),
            suspended: instance.spec.suspend,
            no_node: session.waits_for_node(ready),
            mask: &mask,
        });
        if let Some(rendered) = ready.filter(|_| matches!(plan.change, Change::Install | Change::Upgrade)) {
            plan.warnings.extend(capability_warnings(name, &session.target.info(), rendered));
        }
        Ok(plan)
    }

    /// A session that is never run, on the instance's cluster.
    pub(crate) async fn session(self: &Arc<Self>, instance: &ExtensionInstance) -> Result<Worker, PlanError> {
        let (namespace, name) = (instance.namespace().unwrap_or_default(), &instance.spec.cluster);
        let cluster = self.cache.cluster(&namespace, name).ok_or_else(|| PlanError::NoCluster(name.clone()))?;
        let unreachable = |reason| PlanError::Unreachable { cluster: name.clone(), reason };
        let target = Arc::new(self.visit(&cluster).await.map_err(unreachable)?);
        catalogs::catch_up(self, instance);
        let revisions = self.revisions(instance).await.map_err(anyhow::Error::from)?;
        Ok(Worker::open(self, &target, instance, &revisions).await?)
    }

    /// A look at a cluster by a way of its own. The fence is open: all that is written there is `dry_run`.
    async fn visit(&self, cluster: &Cluster) -> Result<ClusterClient, Disconnected> {
        let guard = self.metrics.client_options_for(cluster, Fence::open());
        let (client, connectivity, _) = clusters::reach(self, cluster, guard).await?;
        let server = format!("Cluster/{}", cluster.name_any());
        let visited = ClusterClient::visit(client, connectivity).await;
        let target = visited.map_err(|error| Disconnected::Other { server, message: error.to_string() })?;
        clusters::alone(self, cluster, &target.info().uid)?;
        Ok(target)
    }

    /// Hides what came from secrets: of what is asked for, and of what is there.
    async fn mask(&self, instance: &ExtensionInstance) -> Mask {
        let there = self.instance(&instance.namespace().unwrap_or_default(), &instance.name_any()).await;
        let both = [Some(instance), there.as_ref().ok().and_then(Option::as_ref)];
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

type Looked = (BTreeMap<ObjectId, LiveObject>, BTreeMap<ObjectId, ObjectState>);

/// Looks at every object that matters, and rehearses what would be applied.
async fn look(
    session: &Worker,
    instance: &ExtensionInstance,
    wanted: &Wanted,
    prepared: Option<&RenderedRelease>,
    last: Option<&RenderedRelease>,
) -> Result<Looked, ClusterError> {
    let (target, by, named) = (&session.target, state::release(instance), session.named(wanted));
    let object = |of: Option<&'_ RenderedRelease>, id: &ObjectId| of.and_then(|of| of.object(id).cloned());
    let seen = |id: &ObjectId, found: &LiveObject| {
        let ignored = prepared.or(last).map(|of| of.ignored(id)).unwrap_or_default();
        let holds = detect_applied(found, object(last, id).as_ref(), object(prepared, id).as_ref(), &ignored);
        let claim = if named.contains(id) { Ownership::ByName } else { Ownership::ByLabel };
        found.live.as_ref().map(|live| CachedObject::of(live).seen(&by, claim, holds))
    };
    let ids = session.ids(wanted);
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
                Err(refusal) if refusal.unsure => Err(refusal),
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
