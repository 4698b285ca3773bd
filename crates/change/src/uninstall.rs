//! Towards nothing: everything goes in the reverse order, and the instance is let go last.

use std::collections::BTreeSet;

use fitout_model::ObjectId;
use fitout_plan::{Phase, phase};

use crate::{Effect, Next, Observed, RecordStatus, Recorded, State};

pub(crate) fn next(recorded: &Recorded, observed: &Observed) -> Next {
    if let Some(last) = recorded.revisions.last()
        && observed.records.get(&last.number).is_some_and(|&status| status != RecordStatus::Uninstalling)
    {
        return Next::Do(vec![Effect::WriteRecord { number: last.number, status: RecordStatus::Uninstalling }]);
    }
    let inventory: BTreeSet<&ObjectId> = recorded.revisions.iter().flat_map(|revision| &revision.inventory).collect();
    for of in Phase::ALL.into_iter().rev() {
        let left: Vec<&ObjectId> =
            inventory.iter().copied().filter(|id| phase(&id.gvk) == of && goes(id, observed)).collect();
        let terminating =
            |id: &&ObjectId| observed.objects.get(*id).is_some_and(|seen| seen.state == State::Terminating);
        let (going, staying): (Vec<&ObjectId>, Vec<&ObjectId>) = left.into_iter().partition(terminating);
        if !staying.is_empty() {
            return Next::Do(staying.into_iter().cloned().map(Effect::Delete).collect());
        }
        if !going.is_empty() {
            return Next::Await(going.into_iter().cloned().collect());
        }
    }
    // The newest record last: as long as there is one, Helm sees that something is going on. One without a revision is
    // somebody else's.
    let ours = |number: &&u32| recorded.revisions.iter().any(|revision| revision.number == **number);
    if let Some(&number) = observed.records.keys().find(ours) {
        return Next::Do(vec![Effect::RemoveRecord(number)]);
    }
    if let Some(revision) = recorded.revisions.first() {
        return Next::Do(vec![Effect::RemoveRevision(revision.number)]);
    }
    if recorded.held { Next::Do(vec![Effect::Release]) } else { Next::Done }
}

/// Definitions of custom resources stay: with them would go every resource of everybody. What is not ours stays too.
fn goes(id: &ObjectId, observed: &Observed) -> bool {
    let state = observed.objects.get(id).map(|seen| &seen.state);
    id.gvk.kind != "CustomResourceDefinition" && state.is_some_and(|state| !matches!(state, State::Foreign(_)))
}
