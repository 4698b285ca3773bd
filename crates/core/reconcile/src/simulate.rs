//! Simulation of a change that succeeds: the answers of [`next`], one after another.

use std::collections::BTreeMap;

use fitout_helm_release::HookEvent;
use fitout_model::{Digest, ObjectId};
use fitout_plan::Artifact;

use crate::{
    Action, Effect, HookRun, Next, ObjectState, Observed, Outcome, Presence, Progress, RecordStatus, Recorded,
    Revision, Tested, Wanted, next,
};

/// The effects of a simulated change, and how it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The effects of each round; the effects of one round run concurrently.
    pub rounds: Vec<Vec<Effect>>,
    /// How the change ends.
    pub end: End,
}

/// How a simulated change ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The desired state is reached.
    Done,
    /// An object to apply is not owned by the release.
    Blocked {
        /// The object.
        object: ObjectId,
        /// The owner; `None` where no release owns it.
        owner: Option<String>,
    },
    /// The release exists already and does not belong to the instance. Its newest revision.
    ReleaseExists(u32),
    /// Another client changed the release. Its newest revision.
    ForeignRevision(Option<u32>),
    /// The simulation was cut off.
    Unfinished,
}

/// Simulates a change in which every effect succeeds and every awaited object becomes healthy or is deleted. The decisions are
/// those of [`next`], so a plan shows exactly what the worker does.
pub fn simulate(wanted: &Wanted, recorded: &Recorded, observed: &Observed) -> Simulation {
    let (mut recorded, mut observed) = (recorded.clone(), observed.clone());
    let mut rounds = Vec::new();
    // A change has a round for each phase and a few around them; an uninstall one for each record and revision, too.
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
                    apply_effect(effect, wanted.artifact.as_ref(), &mut observed.objects);
                }
                rounds.push(effects);
            }
            Next::Await(ids) => ids.iter().for_each(|id| complete(id, &mut observed.objects)),
            Next::Blocked { object, owner } => return Simulation { rounds, end: End::Blocked { object, owner } },
            Next::ReleaseExists(newest) => return Simulation { rounds, end: End::ReleaseExists(newest) },
            Next::ForeignRevision(newest) => return Simulation { rounds, end: End::ForeignRevision(newest) },
            // A failed hook runs again in the next attempt.
            Next::HookFailed { .. } => return simulate_retry(wanted, &recorded, &observed, rounds),
            // A plan shows the change that succeeds.
            Next::HealthTimeout(id) => complete(&id, &mut observed.objects),
            Next::Done => return Simulation { rounds, end: End::Done },
        }
    }
    Simulation { rounds, end: End::Unfinished }
}

fn simulate_retry(
    wanted: &Wanted,
    recorded: &Recorded,
    observed: &Observed,
    mut rounds: Vec<Vec<Effect>>,
) -> Simulation {
    if wanted.retry {
        return Simulation { rounds, end: End::Unfinished };
    }
    let simulation = simulate(&Wanted { retry: true, ..wanted.clone() }, recorded, observed);
    rounds.extend(simulation.rounds);
    Simulation { rounds, end: simulation.end }
}

/// Updates the recorded state after an effect. The caller adds version and inputs to a new revision.
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
            version: String::new(),
            definition: Digest::of(""),
            pack: None,
            inputs: None,
            artifact: artifact.digest.clone(),
            inventory: artifact.inventory(),
            hooks: artifact.hooks.iter().map(|hook| hook.id.clone()).collect(),
            outcome: None,
        })),
        // The content is known once the record was read; a simulation assumes the desired artifact, or nothing.
        Effect::Adopt { number, keep } => revisions.extend(artifact.map(|artifact| Revision {
            number: *number,
            action: Action::Adopt,
            version: String::new(),
            definition: Digest::of(""),
            pack: None,
            inputs: None,
            artifact: if *keep { artifact.digest.clone() } else { Digest::of("") },
            inventory: if *keep { artifact.inventory() } else { vec![] },
            hooks: vec![],
            outcome: Some(Outcome::Deployed),
        })),
        Effect::FinishRevision(number) => recorded.finish(*number),
        Effect::RemoveRevision(number) => revisions.retain(|revision| revision.number != *number),
        Effect::WriteRecord { number, status } => {
            // A new record has no hook runs.
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
        Effect::DeleteUnusedNamespace => recorded.namespace_handled = true,
        Effect::CreateHook(_) | Effect::Apply(_) | Effect::Delete(_) => {}
    }
}

fn apply_effect(effect: &Effect, artifact: Option<&Artifact>, objects: &mut BTreeMap<ObjectId, ObjectState>) {
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

/// Completes the wait for an object: one that is being deleted is gone, any other is healthy.
fn complete(id: &ObjectId, objects: &mut BTreeMap<ObjectId, ObjectState>) {
    match objects.get_mut(id) {
        Some(seen) if seen.state == Presence::Terminating => drop(objects.remove(id)),
        Some(seen) => seen.progress = Progress::Healthy,
        None => {}
    }
}
