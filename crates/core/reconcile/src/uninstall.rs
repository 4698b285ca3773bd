//! Towards nothing: everything goes in the reverse order, and the instance is let go last.

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
    // Hooks need a record that says how they went: without one, everything has been done.
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
    // The newest record last: as long as there is one, Helm sees that something is going on. One that is newer than ours is
    // somebody else's; those before are of the release that was adopted.
    let ours = |number: &&u32| last.is_some_and(|last| **number <= last.number);
    if let Some(&number) = observed.records.keys().find(ours) {
        return Next::Do(vec![Effect::RemoveRecord(number)]);
    }
    if let Some(revision) = recorded.revisions.first() {
        return Next::Do(vec![Effect::RemoveRevision(revision.number)]);
    }
    if recorded.has_finalizer { Next::Do(vec![Effect::RemoveFinalizer]) } else { Next::Done }
}

/// Whether a record says that its release is on its way out: where a hook has failed meanwhile, it says that.
fn is_leaving(status: RecordStatus, observed: &Observed) -> bool {
    let leaving = |event: &HookEvent| matches!(event, HookEvent::PreDelete | HookEvent::PostDelete);
    status == RecordStatus::Uninstalling
        || status == RecordStatus::Failed && observed.runs.values().any(|run| leaving(&run.event))
}

/// Deletes those of a phase, and waits until they are gone; none once they are.
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

/// Definitions of custom resources stay: with them would go every resource of everybody. So does what is to be kept, and
/// what is not ours.
fn goes(id: &ObjectId, observed: &Observed) -> bool {
    let seen = observed.objects.get(id).filter(|seen| !seen.keep && !matches!(seen.state, Presence::Foreign(_)));
    id.gvk.kind != "CustomResourceDefinition" && seen.is_some()
}
