//! Plans: what would be done for an instance, be it there or only proposed.
//!
//! Every replica can say: it goes to the cluster itself, whoever leads, and writes nothing. What is asked for is prepared
//! by the session's own functions and foreseen by the one that decides.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_api::{Cluster, ExtensionInstance};
use fitout_change::{Found, Question, Seen, State, Wanted, recognise};
use fitout_model::ObjectId;
use fitout_plan::{Mask, Plan, Planned, Prepared};
use fitout_target::{Claim, Disconnected, Fence, Refusal, Sighting, Target};
use futures::future::try_join_all;
use kube::ResourceExt;
use serde_json::Value;

use crate::session::{self, Session};
use crate::{Hub, catalogs, clusters, layers};

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence says it")]
pub enum Unplanned {
    #[error("there is no cluster {0} in this organization; register it with `fitout cluster add`")]
    NoCluster(String),
    #[error("cluster {cluster}: {reason}; ask again when it answers")]
    Unreachable { cluster: String, reason: Disconnected },
    #[error("cluster {cluster}: {refusal}")]
    Refused { cluster: String, refusal: Refusal },
    #[error("{0:#}")]
    Hub(#[from] anyhow::Error),
}

impl Hub {
    /// What would be done if this were an instance, or were one no longer where it is marked as deleted. Values are only
    /// for who may see them, and secrets for nobody.
    pub async fn plan(self: &Arc<Self>, instance: &ExtensionInstance, values: bool) -> Result<Plan, Unplanned> {
        let name = &instance.spec.cluster;
        let mut session = self.session(instance).await?;
        let prepared = session.prepared_for(instance).await;
        let ready = prepared.as_deref().ok();
        let wanted = session.wanted(instance, ready);
        let last = match session.recorded.revisions.last() {
            Some(last) => session.bring_back(instance, last.number).await.ok(),
            None => None,
        };
        let refused = |refusal| Unplanned::Refused { cluster: name.clone(), refusal };
        let (found, objects) = look(&session, instance, &wanted, ready, last.as_ref()).await.map_err(refused)?;
        let mask = if values { self.mask(instance).await } else { Mask::everything() };
        Ok(fitout_change::plan(&Question {
            wanted: &wanted,
            recorded: &session.recorded,
            observed: &session.observed(objects),
            found: &found,
            release: session::owner(instance),
            namespace: session.namespaces.get(&instance.spec.namespace).copied().unwrap_or_default(),
            from: session.installed().map(String::as_str),
            prepared: prepared.as_deref(),
            suspended: instance.spec.suspend,
            no_node: session.held_back(ready),
            mask: &mask,
        }))
    }

    /// A session that is never run, on the instance's cluster.
    pub(crate) async fn session(self: &Arc<Self>, instance: &ExtensionInstance) -> Result<Session, Unplanned> {
        let (namespace, name) = (instance.namespace().unwrap_or_default(), &instance.spec.cluster);
        let cluster = self.index.cluster(&namespace, name).ok_or_else(|| Unplanned::NoCluster(name.clone()))?;
        let unreachable = |reason| Unplanned::Unreachable { cluster: name.clone(), reason };
        let target = Arc::new(self.visit(&cluster).await.map_err(unreachable)?);
        catalogs::catch_up(self, instance);
        let revisions = self.revisions(instance).await.map_err(anyhow::Error::from)?;
        Ok(Session::open(self, &target, instance, &revisions).await?)
    }

    /// A look at a cluster by a way of its own. The fence is open: all that is written there is rehearsed.
    async fn visit(&self, cluster: &Cluster) -> Result<Target, Disconnected> {
        let guard = self.measures.guard_for(cluster, Fence::open());
        let (client, contact, _) = clusters::reach(self, cluster, guard).await?;
        let server = format!("Cluster/{}", cluster.name_any());
        let visited = Target::visit(client, contact).await;
        let target = visited.map_err(|error| Disconnected::Other { server, message: error.to_string() })?;
        clusters::alone(self, cluster, &target.facts().uid)?;
        Ok(target)
    }

    /// Hides what came from secrets: of what is asked for, and of what is there.
    async fn mask(&self, instance: &ExtensionInstance) -> Mask {
        let there = self.instance(&instance.namespace().unwrap_or_default(), &instance.name_any()).await;
        let both = [Some(instance), there.as_ref().ok().and_then(Option::as_ref)];
        let secrets = both.into_iter().flatten().filter_map(|one| layers::secrets(&self.index, one).ok());
        secrets.fold(Mask::default(), |mask, values| mask.secrets(&values))
    }
}

type Looked = (BTreeMap<ObjectId, Found>, BTreeMap<ObjectId, Seen>);

/// Looks at every object that matters, and rehearses what would be applied.
async fn look(
    session: &Session,
    instance: &ExtensionInstance,
    wanted: &Wanted,
    prepared: Option<&Prepared>,
    last: Option<&Prepared>,
) -> Result<Looked, Refusal> {
    let (target, by, named) = (&session.target, session::release(instance), session.named(wanted));
    let object = |of: Option<&'_ Prepared>, id: &ObjectId| of.and_then(|of| of.object(id).cloned());
    let seen = |id: &ObjectId, found: &Found| {
        let ignored = prepared.or(last).map(|of| of.ignored(id)).unwrap_or_default();
        let holds = recognise(found, object(last, id).as_ref(), object(prepared, id).as_ref(), &ignored);
        let claim = if named.contains(id) { Claim::Named } else { Claim::Marked };
        found.live.as_ref().map(|live| Sighting::of(live).seen(&by, claim, holds))
    };
    let ids = session.ids(wanted);
    let read = ids.iter().map(|id| async move { Ok((id.clone(), target.read(id).await?)) });
    let read = try_join_all(read).await?.into_iter();
    let mut found: BTreeMap<ObjectId, Found> = read.map(|(id, live)| (id, Found { live, rehearsed: None })).collect();
    let mut all: BTreeMap<ObjectId, Seen> =
        found.iter().filter_map(|(id, found)| Some((id.clone(), seen(id, found)?))).collect();
    let planned: Vec<&Planned> = match &wanted.artifact {
        Some(artifact) if wanted.present => artifact.objects.iter().chain(&artifact.crds).collect(),
        _ => vec![],
    };
    let state = |id: &ObjectId| all.get(id).map(|seen| &seen.state);
    let foreign = planned.iter().any(|planned| matches!(state(&planned.id), Some(State::Foreign(_))));
    let due = planned.into_iter().filter(|planned| match state(&planned.id) {
        Some(State::Applied(digest)) => *digest != planned.digest,
        Some(State::Terminating) => false,
        _ => !foreign,
    });
    let rehearsals = due.filter_map(|planned| {
        let live = found.get(&planned.id).and_then(|found| found.live.as_ref()).unwrap_or(&Value::Null);
        let object = prepared?.ignored(&planned.id).left_out(&object(prepared, &planned.id)?, live);
        Some(async move {
            match target.rehearse(&planned.id, &object).await {
                Err(refusal) if refusal.unsure => Err(refusal),
                answer => Ok((planned.id.clone(), answer.map_err(|refusal| refusal.to_string()).transpose())),
            }
        })
    });
    for (id, rehearsed) in try_join_all(rehearsals).await? {
        let found = found.entry(id.clone()).or_default();
        found.rehearsed = rehearsed;
        all.extend(seen(&id, found).map(|seen| (id, seen)));
    }
    Ok((found, all))
}
