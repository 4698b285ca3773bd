//! Uninstall: removes everything in reverse order, and the finalizer last.

use std::collections::BTreeSet;

use fitout_helm_release::HookEvent;
use fitout_model::ObjectId;
use fitout_plan::{Phase, phase};

use crate::{Effect, Next, Observed, Presence, RecordStatus, Recorded, Wanted, hooks};

pub(crate) fn next(wanted: &Wanted, recorded: &Recorded, observed: &Observed) -> Next {
    let last = recorded.revisions.last();
    if let Some(last) = last
        && observed.records.get(&last.number).is_some_and(|&status| !is_leaving(status, observed))
    {
        return Next::Do(vec![Effect::WriteRecord { number: last.number, status: RecordStatus::Uninstalling }]);
    }
    // Hook runs are recorded in the release record: without one, all hooks have run.
    let hooks = |event| {
        let artifact = wanted.artifact.as_ref()?;
        let number = last.filter(|last| observed.records.contains_key(&last.number))?.number;
        hooks::next(&artifact.hooks, &event, number, wanted.retry, observed)
    };
    let inventory: BTreeSet<&ObjectId> = recorded.revisions.iter().flat_map(|revision| &revision.inventory).collect();
    let run: BTreeSet<&ObjectId> = recorded.revisions.iter().flat_map(|revision| &revision.hooks).collect();
    let left = hooks(HookEvent::PreDelete)
        .or_else(|| Phase::ALL.into_iter().rev().find_map(|of| removed(&inventory, of, observed)))
        .or_else(|| hooks(HookEvent::PostDelete))
        .or_else(|| Phase::ALL.into_iter().rev().find_map(|of| removed(&run, of, observed)));
    if let Some(next) = left {
        return next;
    }
    // The newest record is removed last: as long as it exists, Helm shows the uninstall. Newer records belong to another
    // client; older ones belong to the adopted release.
    let ours = |number: &&u32| last.is_some_and(|last| **number <= last.number);
    if let Some(&number) = observed.records.keys().find(ours) {
        return Next::Do(vec![Effect::RemoveRecord(number)]);
    }
    // The namespace held the release records: it can be empty from here on. The revisions still exist, so that a restart
    // comes here again.
    if last.is_some() && !wanted.keep_namespace && !recorded.namespace_handled {
        return Next::Do(vec![Effect::DeleteUnusedNamespace]);
    }
    if let Some(revision) = recorded.revisions.first() {
        return Next::Do(vec![Effect::RemoveRevision(revision.number)]);
    }
    if recorded.has_finalizer { Next::Do(vec![Effect::RemoveFinalizer]) } else { Next::Done }
}

/// Whether a record says that its release is being uninstalled, or that a delete hook failed.
fn is_leaving(status: RecordStatus, observed: &Observed) -> bool {
    let leaving = |event: &HookEvent| matches!(event, HookEvent::PreDelete | HookEvent::PostDelete);
    status == RecordStatus::Uninstalling
        || status == RecordStatus::Failed && observed.runs.values().any(|run| leaving(&run.event))
}

/// Deletes the objects of a phase and waits until they are gone; `None` once they are.
fn removed(inventory: &BTreeSet<&ObjectId>, of: Phase, observed: &Observed) -> Option<Next> {
    let left = inventory.iter().copied().filter(|id| phase(&id.gvk) == of && goes(id, observed));
    let terminating =
        |id: &&ObjectId| observed.objects.get(*id).is_some_and(|seen| seen.state == Presence::Terminating);
    let (going, staying): (Vec<&ObjectId>, Vec<&ObjectId>) = left.partition(terminating);
    if !staying.is_empty() {
        return Some(Next::Do(staying.into_iter().cloned().map(Effect::Delete).collect()));
    }
    (!going.is_empty()).then(|| Next::Await(going.into_iter().cloned().collect()))
}

/// Whether an uninstall deletes an object: not a CRD, because every custom resource of its kind would be deleted with it, not
/// an object with `resource-policy: keep`, and not an object of another owner.
fn goes(id: &ObjectId, observed: &Observed) -> bool {
    let seen = observed.objects.get(id).filter(|seen| !seen.keep && !matches!(seen.state, Presence::Foreign(_)));
    id.gvk.kind != "CustomResourceDefinition" && seen.is_some()
}
