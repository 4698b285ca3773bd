//! Observation: the objects of an instance and its release records, as input of the next decision.

use std::collections::{BTreeMap, BTreeSet};

use fitout_api::ExtensionInstance;
use fitout_cluster_client::{AbortOnDrop, ClusterClient, ClusterError, Ownership, Subscription};
use fitout_model::{Gvk, ObjectId};
use fitout_plan::{Ignore, RenderedRelease};
use fitout_reconcile::{Effect, Next, ObjectState, Observed, Wanted};

use crate::reconcile::convert::release;
use crate::reconcile::retry::ReconcileError;
use crate::reconcile::worker::Worker;

/// The objects of an instance that a worker follows.
pub(crate) struct Objects {
    /// Notifies of changes to them.
    pub(crate) subscription: Subscription,
    /// The objects to read before the next decision; later changes come from watches.
    pub(crate) unprimed: BTreeSet<ObjectId>,
    /// The ignored fields of the last read.
    ignore: Vec<Ignore>,
    /// Which namespaces exist, as far as the worker has asked since its last pause.
    pub(crate) namespaces: BTreeMap<String, bool>,
    /// Objects to delete and create again: the cluster has refused to change them.
    pub(crate) recreate: BTreeSet<ObjectId>,
    /// Watches on awaited objects that no other watch covers.
    single_watches: BTreeMap<ObjectId, AbortOnDrop>,
}

impl Objects {
    pub(crate) fn new(target: &ClusterClient) -> Self {
        Self {
            subscription: target.subscribe(),
            unprimed: BTreeSet::new(),
            ignore: vec![],
            namespaces: BTreeMap::new(),
            recreate: BTreeSet::new(),
            single_watches: BTreeMap::new(),
        }
    }

    /// Watches the awaited objects that carry no ownership label, and no others.
    pub(crate) fn follow(&mut self, target: &ClusterClient, next: &Next) {
        let awaited: &[ObjectId] = if let Next::Await(ids) = next { ids } else { &[] };
        self.single_watches.retain(|id, _| awaited.contains(id));
        for id in awaited {
            let unmarked = target.object_cache().get(id).is_some_and(|cached| cached.owner.is_none());
            if unmarked && !self.single_watches.contains_key(id) {
                self.single_watches.extend(target.follow(id).map(|watch| (id.clone(), watch)));
            }
        }
    }
}

impl Worker {
    /// The state of the target cluster, as far as the instance is concerned.
    pub(crate) async fn observe(
        &mut self,
        instance: &ExtensionInstance,
        desired: &Wanted,
        rendered: Option<&RenderedRelease>,
    ) -> Result<Observed, ReconcileError> {
        let ids = self.ids(desired);
        self.prime(&ids, rendered).await?;
        let by = release(instance);
        let named = self.owned_by_name(desired);
        let ownership = |id: &ObjectId| if named.contains(id) { Ownership::ByName } else { Ownership::ByAnnotations };
        let state = |id: ObjectId| {
            let state = self.target.object_cache().state_for(&id, &by, ownership(&id))?;
            let recreate = self.objects.recreate.contains(&id);
            Some((id, ObjectState { recreate, ..state }))
        };
        let objects = ids.into_iter().filter_map(state).collect();
        Ok(self.observed(objects))
    }

    /// The observed state with these objects.
    pub(crate) fn observed(&self, objects: BTreeMap<ObjectId, ObjectState>) -> Observed {
        let Self { records, .. } = self;
        Observed { records: records.statuses.clone(), foreign: records.foreign, runs: records.runs.clone(), objects }
    }

    /// The objects that the release owns by their names, because they carry no ownership label: hooks and CRDs of `crds/`.
    pub(crate) fn owned_by_name(&self, desired: &Wanted) -> BTreeSet<ObjectId> {
        let artifact = desired.artifact.iter();
        let crds = artifact.clone().flat_map(|artifact| artifact.crds.iter().map(|planned| &planned.id));
        let hooks = artifact.clone().flat_map(|artifact| artifact.hooks.iter().map(|hook| &hook.id));
        let recorded = self.recorded.revisions.iter().flat_map(|revision| &revision.hooks);
        let labelled: BTreeSet<&ObjectId> =
            artifact.flat_map(|artifact| artifact.objects.iter()).map(|of| &of.id).collect();
        crds.chain(hooks).chain(recorded).filter(|id| !labelled.contains(id)).cloned().collect()
    }

    /// Every object that a recorded revision or the desired artifact names.
    pub(crate) fn ids(&self, desired: &Wanted) -> BTreeSet<ObjectId> {
        let revisions = self.recorded.revisions.iter();
        let recorded = revisions.flat_map(|revision| revision.inventory.iter().chain(&revision.hooks).cloned());
        let planned = desired.artifact.iter().flat_map(|artifact| {
            artifact.inventory().into_iter().chain(artifact.hooks.iter().map(|hook| hook.id.clone()))
        });
        recorded.chain(planned).collect()
    }

    /// Reads each object once and watches it from then on. A change of the ignored fields reads all of them again.
    async fn prime(
        &mut self,
        ids: &BTreeSet<ObjectId>,
        rendered: Option<&RenderedRelease>,
    ) -> Result<(), ClusterError> {
        let objects = &mut self.objects;
        if let Some(rendered) = rendered.filter(|rendered| rendered.ignore != objects.ignore) {
            objects.unprimed.extend(ids.iter().cloned());
            objects.ignore.clone_from(&rendered.ignore);
        }
        let kinds: BTreeSet<&Gvk> = ids.iter().map(|id| &id.gvk).collect();
        self.target.watch(kinds);
        objects.unprimed.extend(objects.subscription.add(ids).into_iter().cloned());
        for id in &objects.unprimed {
            if !id.namespace.is_empty() && !objects.namespaces.contains_key(&id.namespace) {
                objects.namespaces.insert(id.namespace.clone(), self.target.has_namespace(&id.namespace).await?);
            }
        }
        // An object in a namespace that does not exist does not exist either.
        let may_exist = |id: &&ObjectId| objects.namespaces.get(&id.namespace) != Some(&false);
        let applied = |id| {
            let rendered = rendered?;
            let object = rendered.object(id).or_else(|| rendered.hook(id))?;
            Some((object, rendered.ignored(id)))
        };
        let unprimed: Vec<_> = objects.unprimed.iter().filter(may_exist).map(|id| (id, applied(id))).collect();
        self.target.prime(&unprimed).await?;
        objects.unprimed.clear();
        Ok(())
    }

    /// Checks for an out-of-band change of the release before drift is repaired: a client that changes the release writes its
    /// records first, but the watch on records may be behind the watch on objects.
    pub(crate) async fn ensure_no_out_of_band_change(
        &self,
        next: &Next,
        instance: &ExtensionInstance,
    ) -> Result<(), ReconcileError> {
        let deployed = self.recorded.revisions.last().is_some_and(|last| last.outcome.is_some());
        let Next::Do(effects) = next else { return Ok(()) };
        let repairs = effects.iter().any(|effect| matches!(effect, Effect::Apply(_) | Effect::Delete(_)));
        if !deployed || !repairs || instance.metadata.deletion_timestamp.is_some() {
            return Ok(());
        }
        let versions = self.target.record_versions(instance.spec.release_name(), &instance.spec.namespace).await?;
        if self.records.matches(&versions) { Ok(()) } else { Err(ReconcileError::OutOfBandChange) }
    }
}
