//! Install, upgrade, rollback and drift repair: the effects that lead to the desired artifact.

use std::collections::BTreeSet;

use fitout_helm_release::HookEvent;
use fitout_model::ObjectId;
use fitout_plan::{Artifact, Gate, Phase, Planned};

use crate::{
    Action, Effect, HealthDeadline, Next, Observed, Outcome, Presence, Progress, RecordStatus, Recorded, Revision,
    Wanted, hooks,
};

pub(crate) fn next(wanted: &Wanted, artifact: &Artifact, recorded: &Recorded, observed: &Observed) -> Next {
    if let Some(next) = foreign(wanted, recorded, observed) {
        return next;
    }
    // Checked before the first write: objects of other owners are never touched.
    let hooks = artifact.hooks.iter().map(|hook| &hook.id);
    for id in artifact.objects.iter().map(|planned| &planned.id).chain(hooks) {
        if let Some(Presence::Foreign(owner)) = observed.objects.get(id).map(|seen| &seen.state) {
            return Next::Blocked { object: id.clone(), owner: owner.clone() };
        }
    }
    match recorded.revisions.last() {
        Some(last) if is_for(last, artifact) => advance(wanted, artifact, last, recorded, observed),
        Some(last) if is_unbegun(last, recorded, observed) => Next::Do(vec![Effect::RemoveRevision(last.number)]),
        last => Next::Do(vec![Effect::WriteRevision {
            number: last.map_or(1, |last| last.number + 1),
            action: action(last, artifact),
        }]),
    }
}

/// Stops at an out-of-band change until the user has chosen. A record that the hub wrote is the hub's even where its
/// revisions are lost.
fn foreign(wanted: &Wanted, recorded: &Recorded, observed: &Observed) -> Option<Next> {
    let last = recorded.revisions.last();
    let chosen = |number: u32| {
        wanted.takeover.filter(|takeover| match takeover.revision {
            Some(revision) => revision == number,
            None => last.is_none(),
        })
    };
    match (last, observed.foreign) {
        (_, Some(newest)) if last.is_none_or(|last| last.number < newest) => Some(match (chosen(newest), last) {
            (Some(takeover), _) => Next::Do(vec![Effect::Adopt { number: newest, keep: takeover.keep }]),
            (None, None) => Next::ReleaseExists(newest),
            (None, Some(_)) => Next::ForeignRevision(Some(newest)),
        }),
        // Another client has changed the record of the newest revision to remove the release, or has deleted it. A reinstall
        // is a new revision, so that the user's choice applies to this removal alone.
        (Some(last), found) if found == Some(last.number) || found.is_none() && is_gone(last, observed) => {
            let again = chosen(last.number).is_some_and(|takeover| !takeover.keep);
            let revision = Effect::WriteRevision { number: last.number + 1, action: Action::Install };
            Some(if again { Next::Do(vec![revision]) } else { Next::ForeignRevision(None) })
        }
        _ => None,
    }
}

fn is_gone(last: &Revision, observed: &Observed) -> bool {
    last.outcome.is_some() && !observed.records.contains_key(&last.number)
}

/// Whether a revision installs this artifact: then no new revision is needed, not even for a rollback.
fn is_for(last: &Revision, artifact: &Artifact) -> bool {
    last.artifact == artifact.digest
}

/// Whether a revision has left no trace on the target cluster: then it is replaced, so that an install stays an install.
fn is_unbegun(last: &Revision, recorded: &Recorded, observed: &Observed) -> bool {
    if last.outcome.is_some() || observed.records.contains_key(&last.number) {
        return false;
    }
    let earlier = recorded.revisions.iter().filter(|revision| revision.number < last.number);
    let earlier: BTreeSet<&ObjectId> =
        earlier.flat_map(|revision| revision.inventory.iter().chain(&revision.hooks)).collect();
    let untouched = |id: &ObjectId| {
        earlier.contains(id) || observed.objects.get(id).is_none_or(|seen| matches!(seen.state, Presence::Foreign(_)))
    };
    last.inventory.iter().chain(&last.hooks).all(untouched)
}

fn action(last: Option<&Revision>, artifact: &Artifact) -> Action {
    match (last, artifact.rolls_back_to) {
        (None, _) => Action::Install,
        (Some(_), Some(_)) => Action::Rollback,
        (Some(_), None) => Action::Upgrade,
    }
}

fn advance(wanted: &Wanted, artifact: &Artifact, last: &Revision, recorded: &Recorded, observed: &Observed) -> Next {
    let number = last.number;
    if !observed.records.contains_key(&number) {
        let status = match last.action {
            Action::Install => RecordStatus::PendingInstall,
            Action::Upgrade => RecordStatus::PendingUpgrade,
            Action::Rollback => RecordStatus::PendingRollback,
            Action::Adopt => RecordStatus::Deployed,
        };
        return Next::Do(vec![Effect::WriteRecord { number, status }]);
    }
    let deployed = last.outcome.is_some();
    let (before, after) = events(last.action).unzip();
    let hooks = |event: Option<HookEvent>| {
        hooks::next(&artifact.hooks, &event.filter(|_| !deployed)?, number, wanted.retry, observed)
    };
    let unfinished = crds(artifact, last, observed)
        .or_else(|| hooks(before))
        .or_else(|| phases(artifact, deployed, observed))
        .or_else(|| some(prune(artifact, recorded, observed)))
        .or_else(|| await_health(wanted, artifact, last, observed))
        .or_else(|| hooks(after))
        .or_else(|| some(finish(last, recorded, observed)))
        .or_else(|| some(forget(wanted, recorded, observed)))
        .or_else(|| tests(wanted, artifact, number, recorded, observed));
    match unfinished {
        Some(Next::Await(ids)) if is_new(last) => in_time(wanted.health_deadline, ids, number, observed),
        unfinished => unfinished.unwrap_or(Next::Done),
    }
}

/// Whether a revision in progress can fail by time: a rollback cannot, because nothing is left to restore.
fn is_new(last: &Revision) -> bool {
    last.outcome.is_none() && matches!(last.action, Action::Install | Action::Upgrade)
}

/// Waits for unhealthy objects, where the revision has a health deadline.
fn await_health(wanted: &Wanted, artifact: &Artifact, last: &Revision, observed: &Observed) -> Option<Next> {
    if wanted.health_deadline == HealthDeadline::None || !is_new(last) {
        return None;
    }
    let ill: Vec<&Planned> = artifact.objects.iter().filter(|planned| is_ill(planned, observed)).collect();
    (!ill.is_empty()).then(|| Next::Await(ids(&ill)))
}

/// Waits for objects until the deadline, or until one has failed; then marks the release record as failed.
fn in_time(health_deadline: HealthDeadline, ids: Vec<ObjectId>, number: u32, observed: &Observed) -> Next {
    let has_failed = |id: &&ObjectId| observed.objects.get(id).is_some_and(|seen| seen.progress == Progress::Failed);
    let lost = match health_deadline {
        HealthDeadline::None => None,
        HealthDeadline::Pending => ids.iter().find(has_failed),
        HealthDeadline::Exceeded => ids.iter().find(has_failed).or(ids.first()),
    };
    match lost {
        None => Next::Await(ids),
        Some(_) if observed.records.get(&number) != Some(&RecordStatus::Failed) => {
            Next::Do(vec![Effect::WriteRecord { number, status: RecordStatus::Failed }])
        }
        Some(lost) => Next::HealthTimeout(lost.clone()),
    }
}

/// Runs the tests of the installed release, once for each requested run.
fn tests(wanted: &Wanted, artifact: &Artifact, number: u32, recorded: &Recorded, observed: &Observed) -> Option<Next> {
    let run = wanted.test?;
    let ended = |failed| some(vec![Effect::EndTests { failed }]);
    match recorded.tested.filter(|tested| tested.run == run) {
        None => some(vec![Effect::BeginTests { number, run }]),
        Some(tested) if tested.over => None,
        Some(_) => match hooks::next(&artifact.hooks, &HookEvent::Test, number, false, observed) {
            None => ended(None),
            Some(Next::HookFailed { object, .. }) => ended(Some(object)),
            next => next,
        },
    }
}

fn some(effects: Vec<Effect>) -> Option<Next> {
    (!effects.is_empty()).then_some(Next::Do(effects))
}

/// The hook events before and after the objects of a revision are applied; none for a revision that another client wrote.
fn events(action: Action) -> Option<(HookEvent, HookEvent)> {
    match action {
        Action::Install => Some((HookEvent::PreInstall, HookEvent::PostInstall)),
        Action::Upgrade => Some((HookEvent::PreUpgrade, HookEvent::PostUpgrade)),
        Action::Rollback => Some((HookEvent::PreRollback, HookEvent::PostRollback)),
        Action::Adopt => None,
    }
}

/// Applies the CRDs of the chart's `crds/` before everything else. A rollback leaves them alone, and so does a release that
/// does not own them.
fn crds(artifact: &Artifact, last: &Revision, observed: &Observed) -> Option<Next> {
    if last.outcome.is_some() || matches!(last.action, Action::Rollback | Action::Adopt) {
        return None;
    }
    let foreign = |planned: &&Planned| {
        matches!(observed.objects.get(&planned.id).map(|seen| &seen.state), Some(Presence::Foreign(_)))
    };
    let own: Vec<&Planned> = artifact.crds.iter().filter(|planned| !foreign(planned)).collect();
    let due: Vec<&Planned> = own.iter().copied().filter(|planned| is_due(planned, observed)).collect();
    if !due.is_empty() {
        return some(due.into_iter().map(|planned| Effect::Apply(planned.id.clone())).collect());
    }
    let ill: Vec<&Planned> = own.into_iter().filter(|planned| is_ill(planned, observed)).collect();
    (!ill.is_empty()).then(|| Next::Await(ids(&ill)))
}

fn is_due(planned: &Planned, observed: &Observed) -> bool {
    match observed.objects.get(&planned.id).map(|seen| &seen.state) {
        Some(Presence::Applied(digest)) => *digest != planned.digest,
        _ => true,
    }
}

fn is_ill(planned: &Planned, observed: &Observed) -> bool {
    !observed.objects.get(&planned.id).is_some_and(|seen| seen.progress == Progress::Healthy)
}

fn ids(planned: &[&Planned]) -> Vec<ObjectId> {
    planned.iter().map(|planned| planned.id.clone()).collect()
}

/// Applies the objects that differ from the artifact, phase by phase. Once a revision is deployed, drift is repaired without
/// phases: everything that an object needs exists.
fn phases(artifact: &Artifact, deployed: bool, observed: &Observed) -> Option<Next> {
    if deployed {
        let all: Vec<&Planned> = artifact.objects.iter().collect();
        return apply_due(&all, observed);
    }
    let called = artifact.objects.iter().any(|planned| planned.phase == Phase::Webhooks);
    let of = |phase| artifact.objects.iter().filter(move |planned| planned.phase == phase).collect::<Vec<_>>();
    for phase in Phase::ALL {
        let group = of(phase);
        if let Some(next) = apply_due(&group, observed) {
            return Some(next);
        }
        let ill: Vec<&Planned> = group.into_iter().filter(|planned| is_ill(planned, observed)).collect();
        if phase.gate(called) == Gate::Healthy && !ill.is_empty() {
            // A workload may wait for a custom resource that no webhook guards, such as a certificate.
            let free: Vec<&Planned> =
                of(Phase::CustomResources).into_iter().filter(|planned| !planned.guarded).collect();
            let meanwhile = if phase == Phase::Workloads { apply_due(&free, observed) } else { None };
            return meanwhile.or_else(|| Some(Next::Await(ids(&ill))));
        }
    }
    None
}

/// Applies the objects of a group that differ from the artifact; `None` once all are applied.
fn apply_due(group: &[&Planned], observed: &Observed) -> Option<Next> {
    // An object that is being deleted must be gone before it can be created again.
    let is_going =
        |planned: &&Planned| observed.objects.get(&planned.id).is_some_and(|seen| seen.state == Presence::Terminating);
    let due = group.iter().copied().filter(|planned| is_due(planned, observed));
    let (going, due): (Vec<&Planned>, Vec<&Planned>) = due.partition(is_going);
    let recreate = |id: &ObjectId| observed.objects.get(id).is_some_and(|seen| seen.recreate);
    let written = |id: ObjectId| if recreate(&id) { Effect::Delete(id) } else { Effect::Apply(id) };
    some(ids(&due).into_iter().map(written).collect()).or_else(|| (!going.is_empty()).then(|| Next::Await(ids(&going))))
}

/// Deletes objects that an earlier revision installed and this one does not: only recorded ones that the release still owns.
fn prune(artifact: &Artifact, recorded: &Recorded, observed: &Observed) -> Vec<Effect> {
    let kept: BTreeSet<&ObjectId> = artifact.objects.iter().map(|planned| &planned.id).collect();
    let hook = |id: &ObjectId| artifact.hooks.iter().any(|hook| hook.id == *id);
    let earlier = recorded.revisions.iter().flat_map(|revision| &revision.inventory);
    let gone: BTreeSet<&ObjectId> =
        earlier.filter(|id| !kept.contains(id) && !hook(id) && ours(id, observed)).collect();
    // Deleting a CRD deletes every custom resource of its kind: that is never a side effect.
    let gone = gone.into_iter().filter(|id| id.gvk.kind != "CustomResourceDefinition");
    gone.map(|id| Effect::Delete(id.clone())).collect()
}

fn ours(id: &ObjectId, observed: &Observed) -> bool {
    let seen = observed.objects.get(id).filter(|seen| !seen.keep);
    matches!(seen.map(|seen| &seen.state), Some(Presence::Applied(_) | Presence::Changed))
}

/// Marks the release record as deployed, then the revision: after a crash between the two, the record is written again.
fn finish(last: &Revision, recorded: &Recorded, observed: &Observed) -> Vec<Effect> {
    let is_not = |number: u32, status| observed.records.get(&number).is_some_and(|&found| found != status);
    let number = last.number;
    if is_not(number, RecordStatus::Deployed) {
        return vec![Effect::WriteRecord { number, status: RecordStatus::Deployed }];
    }
    // Including records that other clients wrote.
    let mut effects: Vec<Effect> = observed
        .records
        .range(..number)
        .filter(|(earlier, status)| match status {
            RecordStatus::Deployed => true,
            // As in Helm, a failed record stays failed.
            RecordStatus::Superseded | RecordStatus::Failed => false,
            _ => recorded.revisions.iter().any(|revision| revision.number == **earlier),
        })
        .map(|(earlier, _)| Effect::WriteRecord { number: *earlier, status: RecordStatus::Superseded })
        .collect();
    if effects.is_empty() && last.outcome != Some(Outcome::Deployed) {
        effects.push(Effect::FinishRevision(number));
    }
    effects
}

/// Removes the oldest revisions: the record before the revision, because a record without a revision would count as another
/// client's.
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
