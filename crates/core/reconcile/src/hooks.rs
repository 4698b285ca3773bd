//! Hooks: they run one after another in Helm's order, and each succeeds at most once.
//!
//! A run deletes the object of an earlier run, writes to the release record that the hook runs, creates the object, waits for
//! it, and writes the result. After a crash the record therefore tells whether an existing object belongs to this run.

use fitout_helm_release::{HookDeletePolicy, HookEvent};
use fitout_model::ObjectId;
use fitout_plan::PlannedHook;

use crate::{Effect, HookPhase, HookRun, Next, ObjectState, Observed, Presence, Progress, RecordStatus};

/// The next step of the hooks of an event; `None` once all of them have run.
pub(crate) fn next(
    hooks: &[PlannedHook],
    event: &HookEvent,
    number: u32,
    retry: bool,
    observed: &Observed,
) -> Option<Next> {
    // Once hooks of a later event have run, this event is over.
    if observed.runs.values().any(|run| is_later(&run.event, event)) {
        return None;
    }
    let mut due: Vec<(usize, &PlannedHook)> =
        hooks.iter().enumerate().filter(|(_, hook)| hook.events.contains(event)).collect();
    due.sort_by(|(_, one), (_, other)| (one.weight, &one.id.name).cmp(&(other.weight, &other.id.name)));
    for (place, (index, hook)) in due.iter().enumerate() {
        let phase = observed.runs.get(index).filter(|run| run.event == *event).map(|run| run.phase);
        let record_run = |phase| {
            let run = HookRun { event: event.clone(), phase };
            Some(Next::Do(vec![Effect::WriteHookRun { number, hook: *index, run }]))
        };
        match phase {
            Some(HookPhase::Succeeded) => {}
            Some(HookPhase::Running) => match find(&hook.id, observed) {
                None => return Some(Next::Do(vec![Effect::CreateHook(*index)])),
                Some(found) if found.state == Presence::Terminating => return Some(wait_for(&hook.id)),
                Some(found) if is_older(hook, found) => return Some(Next::Do(vec![Effect::CreateHook(*index)])),
                Some(found) if !hook.runs() || found.progress == Progress::Healthy => {
                    return record_run(HookPhase::Succeeded);
                }
                Some(found) if found.progress == Progress::Failed => return record_run(HookPhase::Failed),
                Some(_) => return Some(wait_for(&hook.id)),
            },
            Some(HookPhase::Failed) if !retry => return Some(failed(&due[..place], hook, event, number, observed)),
            // The failed object blocks another attempt, whatever its delete policies say.
            Some(HookPhase::Failed) | None => {
                let should_delete = phase.is_some() || hook.has_policy(&HookDeletePolicy::BeforeCreation);
                return delete_and_wait(&hook.id, should_delete, observed).or_else(|| record_run(HookPhase::Running));
            }
        }
    }
    delete_succeeded(due.iter().rev().map(|(_, hook)| *hook), observed)
}

/// Whether an existing object may belong to an earlier run. Without a `before-hook-creation` policy it is applied over, as in
/// Helm; doing so again after a crash changes nothing.
fn is_older(hook: &PlannedHook, found: &ObjectState) -> bool {
    let stayed = !hook.has_policy(&HookDeletePolicy::BeforeCreation);
    stayed && !matches!(&found.state, Presence::Applied(digest) if *digest == hook.digest)
}

/// Deletes the object of a failed hook, and those of the hooks before it, as their delete policies say.
fn failed(
    before: &[(usize, &PlannedHook)],
    hook: &PlannedHook,
    event: &HookEvent,
    number: u32,
    observed: &Observed,
) -> Next {
    // A failed test does not change the installed release.
    let counts = *event != HookEvent::Test;
    if counts && observed.records.get(&number).is_some_and(|status| *status != RecordStatus::Failed) {
        return Next::Do(vec![Effect::WriteRecord { number, status: RecordStatus::Failed }]);
    }
    delete_and_wait(&hook.id, hook.has_policy(&HookDeletePolicy::Failed), observed)
        .or_else(|| delete_succeeded(before.iter().map(|(_, hook)| *hook), observed))
        .unwrap_or_else(|| Next::HookFailed { object: hook.id.clone(), event: event.clone() })
}

/// Deletes the objects that are not kept after success.
fn delete_succeeded<'a>(hooks: impl Iterator<Item = &'a PlannedHook>, observed: &Observed) -> Option<Next> {
    hooks
        .into_iter()
        .find_map(|hook| delete_and_wait(&hook.id, hook.has_policy(&HookDeletePolicy::Succeeded), observed))
}

/// Deletes an object and waits until it is gone.
fn delete_and_wait(id: &ObjectId, should_delete: bool, observed: &Observed) -> Option<Next> {
    match find(id, observed).filter(|_| should_delete)?.state {
        Presence::Terminating => Some(wait_for(id)),
        _ => Some(Next::Do(vec![Effect::Delete(id.clone())])),
    }
}

/// The object of a hook, unless another release owns it.
fn find<'a>(id: &ObjectId, observed: &'a Observed) -> Option<&'a ObjectState> {
    observed.objects.get(id).filter(|seen| !matches!(seen.state, Presence::Foreign(_)))
}

fn wait_for(id: &ObjectId) -> Next {
    Next::Await(vec![id.clone()])
}

/// Whether one event comes after another in the same change.
fn is_later(one: &HookEvent, other: &HookEvent) -> bool {
    matches!(
        (one, other),
        (HookEvent::PostInstall, HookEvent::PreInstall)
            | (HookEvent::PostUpgrade, HookEvent::PreUpgrade)
            | (HookEvent::PostRollback, HookEvent::PreRollback)
            | (HookEvent::PostDelete, HookEvent::PreDelete)
    )
}
