//! Towards an artifact: install, upgrade, rollback, and repair of what somebody changed.

use std::collections::BTreeSet;

use fitout_model::ObjectId;
use fitout_plan::{Artifact, Gate, Phase, Planned};

use crate::{Action, Effect, Next, Observed, Outcome, RecordStatus, Recorded, Revision, State, Wanted};

pub(crate) fn next(wanted: &Wanted, artifact: &Artifact, recorded: &Recorded, observed: &Observed) -> Next {
    // What we wrote is ours even where the hub has lost its revisions.
    if let (true, Some(newest)) = (recorded.revisions.is_empty(), observed.foreign) {
        return Next::Taken(newest);
    }
    // Before anything is written: what is not ours is not ours to touch.
    for planned in &artifact.objects {
        if let Some(State::Foreign(owner)) = observed.objects.get(&planned.id).map(|seen| &seen.state) {
            return Next::Blocked { object: planned.id.clone(), owner: owner.clone() };
        }
    }
    match recorded.revisions.last() {
        Some(last) if is_for(last, artifact) => towards(wanted, artifact, last, recorded, observed),
        last => Next::Do(vec![Effect::WriteRevision {
            number: last.map_or(1, |last| last.number + 1),
            action: action(last, artifact),
        }]),
    }
}

/// A rollback to what is there anyway is not a new revision; anything else with another content is.
fn is_for(last: &Revision, artifact: &Artifact) -> bool {
    last.artifact == artifact.digest
}

fn action(last: Option<&Revision>, artifact: &Artifact) -> Action {
    match (last, artifact.rolls_back_to) {
        (None, _) => Action::Install,
        (Some(_), Some(_)) => Action::Rollback,
        (Some(_), None) => Action::Upgrade,
    }
}

fn towards(wanted: &Wanted, artifact: &Artifact, last: &Revision, recorded: &Recorded, observed: &Observed) -> Next {
    let number = last.number;
    if last.outcome.is_none() && !observed.records.contains_key(&number) {
        let status = match last.action {
            Action::Install => RecordStatus::PendingInstall,
            Action::Upgrade => RecordStatus::PendingUpgrade,
            Action::Rollback => RecordStatus::PendingRollback,
        };
        return Next::Do(vec![Effect::WriteRecord { number, status }]);
    }
    if let Some(next) = phases(artifact, last.outcome.is_some(), observed) {
        return next;
    }
    for step in
        [prune(artifact, recorded, observed), finish(last, recorded, observed), forget(wanted, recorded, observed)]
    {
        if !step.is_empty() {
            return Next::Do(step);
        }
    }
    Next::Done
}

/// Applies what is not yet as planned, phase by phase. Once a revision is deployed, an object that somebody changed is
/// mended by itself, whatever its phase: all that it needs is there.
fn phases(artifact: &Artifact, deployed: bool, observed: &Observed) -> Option<Next> {
    let hooks = artifact.objects.iter().any(|planned| planned.phase == Phase::Hooks);
    let due = |planned: &&Planned| match observed.objects.get(&planned.id).map(|seen| &seen.state) {
        Some(State::Applied(digest)) => *digest != planned.digest,
        _ => true,
    };
    // What is on its way out has to be gone before it can be made again.
    let going =
        |planned: &&Planned| observed.objects.get(&planned.id).is_some_and(|seen| seen.state == State::Terminating);
    let ids = |list: Vec<&Planned>| list.into_iter().map(|planned| planned.id.clone()).collect::<Vec<_>>();
    let groups: Vec<Vec<&Planned>> = if deployed {
        vec![artifact.objects.iter().collect()]
    } else {
        let of = |phase| artifact.objects.iter().filter(move |planned| planned.phase == phase).collect();
        Phase::ALL.into_iter().map(of).collect()
    };
    for group in groups {
        let due: Vec<&Planned> = group.iter().copied().filter(due).collect();
        let (going, due): (Vec<&Planned>, Vec<&Planned>) = due.into_iter().partition(going);
        if !due.is_empty() {
            return Some(Next::Do(ids(due).into_iter().map(Effect::Apply).collect()));
        }
        if !going.is_empty() {
            return Some(Next::Await(ids(going)));
        }
        let waits = |planned: &&&Planned| !deployed && planned.phase.gate(hooks) == Gate::Healthy;
        let ill = |planned: &&Planned| !observed.objects.get(&planned.id).is_some_and(|seen| seen.healthy);
        let ill: Vec<&Planned> = group.iter().filter(waits).copied().filter(ill).collect();
        if !ill.is_empty() {
            return Some(Next::Await(ids(ill)));
        }
    }
    None
}

/// Deletes what an earlier revision installed and this one does not: only what was on record, and is still ours.
fn prune(artifact: &Artifact, recorded: &Recorded, observed: &Observed) -> Vec<Effect> {
    let kept: BTreeSet<&ObjectId> = artifact.objects.iter().map(|planned| &planned.id).collect();
    let earlier = recorded.revisions.iter().flat_map(|revision| &revision.inventory);
    let gone: BTreeSet<&ObjectId> = earlier.filter(|id| !kept.contains(id) && ours(id, observed)).collect();
    // A definition of custom resources takes every resource with it: that is never a side effect.
    let gone = gone.into_iter().filter(|id| id.gvk.kind != "CustomResourceDefinition");
    gone.map(|id| Effect::Delete(id.clone())).collect()
}

fn ours(id: &ObjectId, observed: &Observed) -> bool {
    let state = observed.objects.get(id).map(|seen| &seen.state);
    matches!(state, Some(State::Applied(_) | State::Changed))
}

/// The record first, then the revision: a crash between the two leaves a revision under way, whose record is then
/// written again.
fn finish(last: &Revision, recorded: &Recorded, observed: &Observed) -> Vec<Effect> {
    let is_not = |number: u32, status| observed.records.get(&number).is_some_and(|&found| found != status);
    let number = last.number;
    if is_not(number, RecordStatus::Deployed) || (last.outcome.is_some() && !observed.records.contains_key(&number)) {
        return vec![Effect::WriteRecord { number, status: RecordStatus::Deployed }];
    }
    let earlier = &recorded.revisions[..recorded.revisions.len() - 1];
    let mut effects: Vec<Effect> = earlier
        .iter()
        .filter(|revision| is_not(revision.number, RecordStatus::Superseded))
        .map(|revision| Effect::WriteRecord { number: revision.number, status: RecordStatus::Superseded })
        .collect();
    if effects.is_empty() && last.outcome != Some(Outcome::Deployed) {
        effects.push(Effect::FinishRevision(number));
    }
    effects
}

/// Forgets the oldest revisions: the record before the revision, because a record without a revision would be
/// somebody else's.
fn forget(wanted: &Wanted, recorded: &Recorded, observed: &Observed) -> Vec<Effect> {
    let surplus = recorded.revisions.len().saturating_sub(wanted.history + 1);
    let oldest = &recorded.revisions[..surplus];
    let records: Vec<Effect> = oldest
        .iter()
        .filter(|revision| observed.records.contains_key(&revision.number))
        .map(|revision| Effect::RemoveRecord(revision.number))
        .collect();
    if records.is_empty() {
        return oldest.iter().map(|revision| Effect::RemoveRevision(revision.number)).collect();
    }
    records
}
