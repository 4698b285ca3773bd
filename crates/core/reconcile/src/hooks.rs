//! Hooks: what runs at certain moments, one after the other, each at most once with success.
//!
//! The order is Helm's: what is left of an earlier run goes, the record says that the hook runs, its object is made and
//! waited for, the record says how it went. So whoever comes after a crash knows from the record whether an object is of
//! this run.

use fitout_helm_release::{HookDeletePolicy, HookEvent};
use fitout_model::ObjectId;
use fitout_plan::PlannedHook;

use crate::{Effect, HookPhase, HookRun, Next, ObjectState, Observed, Presence, Progress, RecordStatus};

/// What is to be done at a moment of a revision; none once all its hooks have run.
pub(crate) fn next(
    hooks: &[PlannedHook],
    event: &HookEvent,
    number: u32,
    retry: bool,
    observed: &Observed,
) -> Option<Next> {
    // Once a later moment has begun, this one is over.
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
            // What has failed is in the way of another attempt, whatever its policies say.
            Some(HookPhase::Failed) | None => {
                let goes = phase.is_some() || hook.goes(&HookDeletePolicy::BeforeCreation);
                return gone(&hook.id, goes, observed).or_else(|| said(HookPhase::Running));
            }
        }
    }
    swept(due.iter().rev().map(|(_, hook)| *hook), observed)
}

/// Whether what is there may be of an earlier run: what is not deleted before is applied over, as Helm has it. To do so
/// again after a crash changes nothing.
fn is_older(hook: &PlannedHook, found: &ObjectState) -> bool {
    let stayed = !hook.goes(&HookDeletePolicy::BeforeCreation);
    stayed && !matches!(&found.state, Presence::Applied(digest) if *digest == hook.digest)
}

/// What a hook that failed leaves behind goes as its policies say, and so do those before it.
fn failed(
    before: &[(usize, &PlannedHook)],
    hook: &PlannedHook,
    event: &HookEvent,
    number: u32,
    observed: &Observed,
) -> Next {
    // What is installed stays so, whatever its tests say.
    let counts = *event != HookEvent::Test;
    if counts && observed.records.get(&number).is_some_and(|status| *status != RecordStatus::Failed) {
        return Next::Do(vec![Effect::WriteRecord { number, status: RecordStatus::Failed }]);
    }
    gone(&hook.id, hook.goes(&HookDeletePolicy::Failed), observed)
        .or_else(|| swept(before.iter().map(|(_, hook)| *hook), observed))
        .unwrap_or_else(|| Next::HookFailed { object: hook.id.clone(), event: event.clone() })
}

/// Deletes what is not kept after success.
fn swept<'a>(hooks: impl Iterator<Item = &'a PlannedHook>, observed: &Observed) -> Option<Next> {
    hooks.into_iter().find_map(|hook| gone(&hook.id, hook.goes(&HookDeletePolicy::Succeeded), observed))
}

/// Deletes an object that is to go, and waits until it is gone.
fn gone(id: &ObjectId, goes: bool, observed: &Observed) -> Option<Next> {
    match seen(id, observed).filter(|_| goes)?.state {
        Presence::Terminating => Some(waited(id)),
        _ => Some(Next::Do(vec![Effect::Delete(id.clone())])),
    }
}

/// What is there of a hook. What is another release's is not.
fn seen<'a>(id: &ObjectId, observed: &'a Observed) -> Option<&'a ObjectState> {
    observed.objects.get(id).filter(|seen| !matches!(seen.state, Presence::Foreign(_)))
}

fn waited(id: &ObjectId) -> Next {
    Next::Await(vec![id.clone()])
}

/// Whether one moment comes after another in the same change.
fn is_later(one: &HookEvent, other: &HookEvent) -> bool {
    matches!(
        (one, other),
        (HookEvent::PostInstall, HookEvent::PreInstall)
            | (HookEvent::PostUpgrade, HookEvent::PreUpgrade)
            | (HookEvent::PostRollback, HookEvent::PreRollback)
            | (HookEvent::PostDelete, HookEvent::PreDelete)
    )
}
