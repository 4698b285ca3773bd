//! What a session sees: the objects of its instance, the records of its release, and from both what comes next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use anyhow::Result;
use fitout_api::ExtensionInstance;
use fitout_cluster_client::Ownership;
use fitout_model::{Gvk, ObjectId};
use fitout_plan::{RenderError, RenderedRelease};
use fitout_reconcile::{Effect, Next, ObjectState, Observed, Wanted, next};

use crate::reconcile::retry::ReconcileError;
use crate::reconcile::state::{Worker, release};

impl Worker {
    /// Whether anybody wrote to the release's records since we read or wrote them.
    pub(crate) fn is_outdated(&self) -> bool {
        self.release_subscription.has_changes(&self.record_versions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Before anything is put back that somebody changed: whoever is at work on the release has said so in its records, and
    /// word of that may come later than word of what was done.
    pub(crate) async fn out_of_band_change(&self, next: &Next, instance: &ExtensionInstance) -> Option<ReconcileError> {
        let deployed = self.recorded.revisions.last().is_some_and(|last| last.outcome.is_some());
        let Next::Do(effects) = next else { return None };
        let mends = effects.iter().any(|effect| matches!(effect, Effect::Apply(_) | Effect::Delete(_)));
        if !deployed || !mends || instance.metadata.deletion_timestamp.is_some() {
            return None;
        }
        let now = self.target.record_versions(instance.spec.release_name(), &instance.spec.namespace).await;
        let known = self.record_versions.lock().unwrap_or_else(PoisonError::into_inner);
        match now {
            Ok(now) if now.iter().eq(known.iter().filter(|(_, version)| **version != u64::MAX)) => None,
            Ok(_) => Some(ReconcileError {
                sentence: "another hand is at work on the release".to_owned(),
                unsure: true,
                terminal: false,
            }),
            Err(refusal) => {
                Some(ReconcileError { sentence: refusal.to_string(), unsure: refusal.unsure, terminal: false })
            }
        }
    }

    pub(crate) async fn decide(
        &mut self,
        instance: &ExtensionInstance,
        prepared: &Result<Arc<RenderedRelease>, RenderError>,
    ) -> Result<Next> {
        let wanted = self.wanted(instance, prepared.as_deref().ok());
        let ids = self.ids(&wanted);
        self.prime(&ids, prepared.as_deref().ok()).await?;
        let by = release(instance);
        let named = self.named(&wanted);
        let claim = |id: &ObjectId| if named.contains(id) { Ownership::ByName } else { Ownership::ByLabel };
        let recreate = |id: &ObjectId| self.fixed.contains(id);
        let seen = |id: ObjectId| {
            let seen = self.target.object_cache().seen(&id, &by, claim(&id))?;
            Some((id.clone(), ObjectState { recreate: recreate(&id), ..seen }))
        };
        let objects = ids.into_iter().filter_map(seen).collect();
        Ok(next(&wanted, &self.recorded, &self.observed(objects)))
    }

    /// What is on the target, of which these are the objects.
    pub(crate) fn observed(&self, objects: BTreeMap<ObjectId, ObjectState>) -> Observed {
        Observed { records: self.records.clone(), foreign: self.foreign, runs: self.runs.clone(), objects }
    }

    /// The objects that are known by their names alone.
    pub(crate) fn named(&self, wanted: &Wanted) -> BTreeSet<ObjectId> {
        let artifact = wanted.artifact.iter();
        let crds = artifact.clone().flat_map(|artifact| artifact.crds.iter().map(|planned| &planned.id));
        let hooks = artifact.clone().flat_map(|artifact| artifact.hooks.iter().map(|hook| &hook.id));
        let recorded = self.recorded.revisions.iter().flat_map(|revision| &revision.hooks);
        let marked: BTreeSet<&ObjectId> =
            artifact.flat_map(|artifact| artifact.objects.iter()).map(|of| &of.id).collect();
        crds.chain(hooks).chain(recorded).filter(|id| !marked.contains(id)).cloned().collect()
    }

    /// Follows what is waited for and carries no mark.
    pub(crate) fn follow(&mut self, next: &Next) {
        let awaited: &[ObjectId] = if let Next::Await(ids) = next { ids } else { &[] };
        self.single_watches.retain(|id, _| awaited.contains(id));
        for id in awaited {
            let unmarked = self.target.object_cache().get(id).is_some_and(|cached| cached.owner.is_none());
            if unmarked && !self.single_watches.contains_key(id) {
                self.single_watches.extend(self.target.follow(id).map(|watch| (id.clone(), watch)));
            }
        }
    }

    /// Every object that this instance has or wants.
    pub(crate) fn ids(&self, wanted: &Wanted) -> BTreeSet<ObjectId> {
        let revisions = self.recorded.revisions.iter();
        let recorded = revisions.flat_map(|revision| revision.inventory.iter().chain(&revision.hooks).cloned());
        let planned = wanted.artifact.iter().flat_map(|artifact| {
            artifact.inventory().into_iter().chain(artifact.hooks.iter().map(|hook| hook.id.clone()))
        });
        recorded.chain(planned).collect()
    }

    /// Looks at each object once; from then on watches tell. What is no longer left to others has to be seen again.
    async fn prime(&mut self, ids: &BTreeSet<ObjectId>, prepared: Option<&RenderedRelease>) -> Result<()> {
        if let Some(prepared) = prepared.filter(|prepared| prepared.ignore != self.ignore) {
            self.unprimed.extend(ids.iter().cloned());
            self.ignore.clone_from(&prepared.ignore);
        }
        let kinds: BTreeSet<&Gvk> = ids.iter().map(|id| &id.gvk).collect();
        self.target.watch(kinds);
        self.unprimed.extend(self.subscription.add(ids).into_iter().cloned());
        for id in &self.unprimed {
            if !id.namespace.is_empty() && !self.namespaces.contains_key(&id.namespace) {
                self.namespaces.insert(id.namespace.clone(), self.target.has_namespace(&id.namespace).await?);
            }
        }
        // What is in a namespace that is not there need not be looked for.
        let there = |id: &&ObjectId| self.namespaces.get(&id.namespace) != Some(&false);
        let applied = |id| {
            let prepared = prepared?;
            let object = prepared.object(id).or_else(|| prepared.hook(id))?;
            Some((object, prepared.ignored(id)))
        };
        let objects: Vec<_> = self.unprimed.iter().filter(there).map(|id| (id, applied(id))).collect();
        self.target.prime(&objects).await?;
        self.unprimed.clear();
        Ok(())
    }
}
