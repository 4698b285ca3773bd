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
        let said = |phase| {
            let run = HookRun { event: event.clone(), phase };
            Some(Next::Do(vec![Effect::WriteHookRun { number, hook: *index, run }]))
        };
        match phase {
            Some(HookPhase::Succeeded) => {}
            Some(HookPhase::Running) => match seen(&hook.id, observed) {
                None => return Some(Next::Do(vec![Effect::CreateHook(*index)])),
                Some(found) if found.state == Presence::Terminating => return Some(waited(&hook.id)),
                Some(found) if is_older(hook, found) => return Some(Next::Do(vec![Effect::CreateHook(*index)])),
                Some(found) if !hook.runs() || found.progress == Progress::Healthy => {
                    return said(HookPhase::Succeeded);
                }
                Some(found) if found.progress == Progress::Failed => return said(HookPhase::Failed),
                Some(_) => return Some(waited(&hook.id)),
            },
            Some(HookPhase::Failed) if !retry => return Some(failed(&due[..place], hook, event, number, observed)),
            // The failed object blocks another attempt, whatever its delete policies say.
            Some(HookPhase::Failed) | None => {
                let goes = phase.is_some() || hook.goes(&HookDeletePolicy::BeforeCreation);
                return gone(&hook.id, goes, observed).or_else(|| said(HookPhase::Running));
            }
        }
    }
    swept(due.iter().rev().map(|(_, hook)| *hook), observed)
}

/// Whether an existing object may belong to an earlier run. Without a `before-hook-creation` policy it is applied over, as in
/// Helm; doing so again after a crash changes nothing.
fn is_older(hook: &PlannedHook, found: &ObjectState) -> bool {
    let stayed = !hook.goes(&HookDeletePolicy::BeforeCreation);
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
    gone(&hook.id, hook.goes(&HookDeletePolicy::Failed), observed)
        .or_else(|| swept(before.iter().map(|(_, hook)| *hook), observed))
        .unwrap_or_else(|| Next::HookFailed { object: hook.id.clone(), event: event.clone() })
}

/// Deletes the objects that are not kept after success.
fn swept<'a>(hooks: impl Iterator<Item = &'a PlannedHook>, observed: &Observed) -> Option<Next> {
    hooks.into_iter().find_map(|hook| gone(&hook.id, hook.goes(&HookDeletePolicy::Succeeded), observed))
}

/// Deletes an object and waits until it is gone.
fn gone(id: &ObjectId, goes: bool, observed: &Observed) -> Option<Next> {
    match seen(id, observed).filter(|_| goes)?.state {
        Presence::Terminating => Some(waited(id)),
        _ => Some(Next::Do(vec![Effect::Delete(id.clone())])),
    }
}

/// The object of a hook, unless another release owns it.
fn seen<'a>(id: &ObjectId, observed: &'a Observed) -> Option<&'a ObjectState> {
    observed.objects.get(id).filter(|seen| !matches!(seen.state, Presence::Foreign(_)))
}

fn waited(id: &ObjectId) -> Next {
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
