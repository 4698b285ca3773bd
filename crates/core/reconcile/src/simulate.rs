//! What is going to be done, if all goes well: what [`next`] answers, one time after another.

use std::collections::BTreeMap;

use fitout_helm_release::HookEvent;
use fitout_model::{Digest, ObjectId};
use fitout_plan::Artifact;

use crate::{
    Action, Effect, HookRun, Next, ObjectState, Observed, Outcome, Presence, Progress, RecordStatus, Recorded,
    Revision, Tested, Wanted, next,
};

/// What is going to be done, and how it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The effects of each round, which are carried out side by side.
    pub rounds: Vec<Vec<Effect>>,
    /// How it ends.
    pub end: End,
}

/// How a change ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It is as it is wanted.
    Done,
    /// An object is not ours.
    Blocked {
        /// The object.
        object: ObjectId,
        /// Whose it is; none where it is no release's.
        owner: Option<String>,
    },
    /// There is a release of this name that is not ours.
    Taken(u32),
    /// Another hand has changed the release.
    Foreign(Option<u32>),
    /// There is more to come than was looked for.
    Open,
}

/// Foresees a change: every effect succeeds, and whatever is waited for happens. It is the function that decides which
/// also foretells, so what was foretold is what is done.
pub fn simulate(wanted: &Wanted, recorded: &Recorded, observed: &Observed) -> Simulation {
    let (mut recorded, mut observed) = (recorded.clone(), observed.clone());
    let mut rounds = Vec::new();
    // A change has a round for each phase and a few around them; an uninstall also one for each record and revision.
    let hooks = wanted.artifact.as_ref().map_or(0, |artifact| artifact.hooks.len());
    let most = 32 + 2 * (recorded.revisions.len() + observed.records.len()) + 8 * hooks;
    for _ in 0..2 * most {
        match next(wanted, &recorded, &observed) {
            Next::Do(effects) => {
                for effect in &effects {
                    if matches!(effect, Effect::Adopt { .. }) {
                        observed.foreign = None;
                    }
                    note(effect, wanted.artifact.as_ref(), &mut recorded, &mut observed.records, &mut observed.runs);
                    touch(effect, wanted.artifact.as_ref(), &mut observed.objects);
                }
                rounds.push(effects);
            }
            Next::Await(ids) => ids.iter().for_each(|id| happen(id, &mut observed.objects)),
            Next::Blocked { object, owner } => return Simulation { rounds, end: End::Blocked { object, owner } },
            Next::ReleaseExists(newest) => return Simulation { rounds, end: End::Taken(newest) },
            Next::ForeignRevision(newest) => return Simulation { rounds, end: End::Foreign(newest) },
            // What has failed may not fail again: that is another attempt.
            Next::HookFailed { .. } => return foresee_again(wanted, &recorded, &observed, rounds),
            // The plan is what comes if all goes well.
            Next::HealthTimeout(id) => happen(&id, &mut observed.objects),
            Next::Done => return Simulation { rounds, end: End::Done },
        }
    }
    Simulation { rounds, end: End::Open }
}

fn foresee_again(
    wanted: &Wanted,
    recorded: &Recorded,
    observed: &Observed,
    mut rounds: Vec<Vec<Effect>>,
) -> Simulation {
    if wanted.retry {
        return Simulation { rounds, end: End::Open };
    }
    let simulation = simulate(&Wanted { retry: true, ..wanted.clone() }, recorded, observed);
    rounds.extend(simulation.rounds);
    Simulation { rounds, end: simulation.end }
}

/// Takes note of what is on record once an effect has been carried out.
pub fn note(
    effect: &Effect,
    artifact: Option<&Artifact>,
    recorded: &mut Recorded,
    records: &mut BTreeMap<u32, RecordStatus>,
    runs: &mut BTreeMap<usize, HookRun>,
) {
    let revisions = &mut recorded.revisions;
    match effect {
        Effect::AddFinalizer => recorded.has_finalizer = true,
        Effect::RemoveFinalizer => recorded.has_finalizer = false,
        Effect::WriteRevision { number, action } => revisions.extend(artifact.map(|artifact| Revision {
            number: *number,
            action: *action,
            artifact: artifact.digest.clone(),
            inventory: artifact.inventory(),
            hooks: artifact.hooks.iter().map(|hook| hook.id.clone()).collect(),
            outcome: None,
        })),
        // What it holds is known once it was read; until then it is what is wanted, or nothing that is known.
        Effect::Adopt { number, keep } => revisions.extend(artifact.map(|artifact| Revision {
            number: *number,
            action: Action::Adopt,
            artifact: if *keep { artifact.digest.clone() } else { Digest::of("") },
            inventory: if *keep { artifact.inventory() } else { vec![] },
            hooks: vec![],
            outcome: Some(Outcome::Deployed),
        })),
        Effect::FinishRevision(number) => recorded.finish(*number),
        Effect::RemoveRevision(number) => revisions.retain(|revision| revision.number != *number),
        Effect::WriteRecord { number, status } => {
            // A new record tells of no run yet.
            if records.insert(*number, *status).is_none() {
                runs.clear();
            }
        }
        Effect::WriteHookRun { hook, run, .. } => drop(runs.insert(*hook, run.clone())),
        Effect::RemoveRecord(number) => drop(records.remove(number)),
        Effect::BeginTests { run, .. } => {
            recorded.tested = Some(Tested { run: *run, over: false });
            runs.retain(|_, run| run.event != HookEvent::Test);
        }
        Effect::EndTests { .. } => {
            recorded.tested = recorded.tested.map(|tested| Tested { over: true, ..tested });
        }
        Effect::CreateHook(_) | Effect::Apply(_) | Effect::Delete(_) => {}
    }
}

fn touch(effect: &Effect, artifact: Option<&Artifact>, objects: &mut BTreeMap<ObjectId, ObjectState>) {
    match effect {
        Effect::Apply(id) => {
            let planned = artifact.and_then(|artifact| artifact.planned(id));
            let seen = planned.map(|planned| ObjectState::fresh(Presence::Applied(planned.digest.clone())));
            objects.extend(seen.map(|seen| (id.clone(), seen)));
        }
        Effect::CreateHook(hook) => {
            let hook = artifact.and_then(|artifact| artifact.hooks.get(*hook));
            objects
                .extend(hook.map(|hook| (hook.id.clone(), ObjectState::fresh(Presence::Applied(hook.digest.clone())))));
        }
        Effect::Delete(id) => {
            if let Some(seen) = objects.get_mut(id) {
                seen.state = Presence::Terminating;
            }
        }
        _ => {}
    }
}

/// What was waited for: what goes is gone, what comes is healthy.
fn happen(id: &ObjectId, objects: &mut BTreeMap<ObjectId, ObjectState>) {
    match objects.get_mut(id) {
        Some(seen) if seen.state == Presence::Terminating => drop(objects.remove(id)),
        Some(seen) => seen.progress = Progress::Healthy,
        None => {}
    }
}
