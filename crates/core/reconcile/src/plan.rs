//! The plan of one instance: what was simulation, as writes to the target, with what each of them changes and why.

use std::collections::BTreeMap;

use fitout_helm_release::{HookEvent, secret_name};
use fitout_model::{Digest, Gvk, ObjectId, coalesce};
use fitout_plan::{
    Act, Change, Difference, Ignored, Mask, Obstacle, Owner, Plan, RenderError, RenderedRelease, Write, diff,
    immutable_fields, matches_live,
};
use serde_json::{Value, json};

use crate::summary::{changed, not_ours, taken};
use crate::{
    Action, Effect, End, HealthDeadline, Observed, Presence, RecordStatus, Recorded, Simulation, Wanted, simulate,
};

/// An object of the target: as it is, and as it would be.
#[derive(Clone, Debug, Default)]
pub struct LiveObject {
    /// As it is; none where it is not there.
    pub live: Option<Value>,
    /// What the cluster answered when it was asked to apply it and to keep nothing of that; none where it cannot tell,
    /// because the object's namespace or its kind is not there yet.
    pub dry_run: Option<Result<Value, String>>,
}

/// All that a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// What is wanted, be it suspended or not.
    pub wanted: &'a Wanted,
    /// What the hub has on record.
    pub recorded: &'a Recorded,
    /// What is on the target.
    pub observed: &'a Observed,
    /// The objects on the target, and what would become of them.
    pub found: &'a BTreeMap<ObjectId, LiveObject>,
    /// The release that the instance is.
    pub release: Owner<'a>,
    /// Whether the release's namespace is there.
    pub namespace: bool,
    /// The version that is installed.
    pub from: Option<&'a str>,
    /// What is to be installed, or why nothing is.
    pub prepared: Result<&'a RenderedRelease, &'a RenderError>,
    /// A person wants nothing to be written.
    pub suspended: bool,
    /// There is no node that could run it.
    pub no_node: bool,
    /// What is not shown to whoever asks.
    pub mask: &'a Mask,
}

/// What an object holds: what the last revision applied to it, or what is going to be; none where it holds neither.
/// Fields that are ignored may be others'.
pub fn detect_applied(
    found: &LiveObject,
    last: Option<&Value>,
    wanted: Option<&Value>,
    ignored: &Ignored,
) -> Option<Digest> {
    let live = found.live.as_ref()?;
    if let Some(held) = [last, wanted].into_iter().flatten().find(|applied| matches_live(live, applied, ignored)) {
        return Some(Digest::of_value(held));
    }
    // A server may write a value in another way than it was written to it: then it knows best that nothing changes.
    let same = last == wanted && matches!(&found.dry_run, Some(Ok(after)) if lasting(after) == lasting(live));
    wanted.filter(|_| same).map(Digest::of_value)
}

/// An object without what a write that changes nothing changes all the same.
fn lasting(object: &Value) -> Value {
    let mut object = object.clone();
    let metadata = &mut object["metadata"];
    metadata["resourceVersion"] = Value::Null;
    for manager in metadata["managedFields"].as_array_mut().into_iter().flatten() {
        manager["time"] = Value::Null;
    }
    object
}

/// Foresees the change of one instance, and says what it does to the target.
pub fn plan(question: &PlanInput) -> Plan {
    let PlanInput { wanted, recorded, observed, prepared, .. } = question;
    let removing = !wanted.present;
    let simulation = simulate(
        &Wanted { suspended: false, test: None, health_deadline: HealthDeadline::None, ..(*wanted).clone() },
        recorded,
        observed,
    );
    let obstacle = match (&simulation.end, prepared) {
        _ if removing => None,
        (_, Err(RenderError::Unresolved(sentence))) => Some(Obstacle::Unresolved(sentence.clone())),
        (_, Err(RenderError::Invalid(sentence) | RenderError::Unavailable(sentence))) => {
            Some(Obstacle::InvalidSpec(sentence.clone()))
        }
        (End::Blocked { object, owner }, _) => Some(Obstacle::Foreign(not_ours(object, owner.as_deref()))),
        (End::Taken(newest), _) => Some(Obstacle::Foreign(taken(question.release, *newest))),
        (End::Foreign(newest), _) => Some(Obstacle::Foreign(changed(question.release, *newest))),
        (End::Done | End::Open, _) => None,
    };
    let writes = if obstacle.is_some() { vec![] } else { writes(question, &simulation) };
    let applied = simulation.rounds.iter().flatten().filter(|effect| matches!(effect, Effect::Apply(_))).count();
    let new = |effect: &Effect| match effect {
        Effect::WriteRevision { number, .. } => Some(*number),
        _ => None,
    };
    let prepared = prepared.ok().filter(|_| !removing);
    Plan {
        change: if obstacle.is_some() { Change::Nothing } else { change(question, &simulation, &writes) },
        from: question.from.map(str::to_owned),
        to: prepared.map(|prepared| prepared.version.clone()),
        why: prepared.map(|prepared| prepared.why.clone()).unwrap_or_default(),
        revision: simulation.rounds.iter().flatten().find_map(new).filter(|_| obstacle.is_none()),
        artifact: prepared.map(|prepared| prepared.artifact.digest.clone()),
        waits: waits(question).filter(|_| !writes.is_empty()),
        unchanged: prepared.map_or(0, |prepared| prepared.artifact.objects.len().saturating_sub(applied)),
        warnings: stay(question, &writes),
        obstacle,
        writes,
    }
}

fn change(question: &PlanInput, simulation: &Simulation, writes: &[Write]) -> Change {
    let new = simulation.rounds.iter().flatten().find_map(|effect| match effect {
        Effect::WriteRevision { action, .. } => Some(*action),
        _ => None,
    });
    // One that was begun is brought to its end.
    let begun = question.recorded.revisions.last().filter(|last| last.outcome.is_none()).map(|last| last.action);
    match new.or(begun) {
        _ if !question.wanted.present => Change::Uninstall,
        Some(Action::Install) => Change::Install,
        Some(Action::Upgrade) => Change::Upgrade,
        Some(Action::Rollback) => Change::Rollback,
        Some(Action::Adopt) | None if writes.is_empty() => Change::Nothing,
        Some(Action::Adopt) | None => Change::Repair,
    }
}

fn waits(question: &PlanInput) -> Option<String> {
    let sentence = match () {
        () if !question.wanted.present => return None,
        () if question.suspended => "it is suspended; nothing is written until it no longer is",
        () if question.no_node => "the cluster has no Ready node; it begins when there is one",
        () => return None,
    };
    Some(sentence.to_owned())
}

/// Definitions of custom resources stay, and with them all that was made of them: a person should know.
fn stay(question: &PlanInput, writes: &[Write]) -> Vec<String> {
    let kept = |id: &&ObjectId| {
        let wanted = question.wanted.artifact.as_ref().filter(|_| question.wanted.present);
        id.gvk.kind == "CustomResourceDefinition"
            && question.observed.objects.contains_key(id)
            && wanted.and_then(|artifact| artifact.planned(id)).is_none()
    };
    let recorded = question.recorded.revisions.iter().flat_map(|revision| &revision.inventory).filter(kept);
    let ids: std::collections::BTreeSet<&ObjectId> = recorded.filter(|_| !writes.is_empty()).collect();
    ids.into_iter().map(|id| format!("{id} stays, with every resource that was made of it")).collect()
}

/// The writes to the target that effects come to.
fn writes(question: &PlanInput, simulation: &Simulation) -> Vec<Write> {
    let PlanInput { release, observed, .. } = question;
    let mut records: Vec<u32> = observed.records.keys().copied().collect();
    let mut namespace = question.namespace;
    let mut all = Vec::new();
    for (stage, round) in simulation.rounds.iter().enumerate() {
        for effect in round {
            match effect {
                Effect::WriteRecord { number, status } => {
                    let there = records.contains(number);
                    // Records are in the release's namespace: that comes first.
                    if !there && !std::mem::replace(&mut namespace, true) {
                        all.push(Write::new(Act::Create, &namespace_id(release.namespace), stage));
                    }
                    let act = if there { Act::Update } else { Act::Create };
                    records.push(*number);
                    let note = Some(format!("Helm's record of revision {number}: {}", word(*status)));
                    all.push(Write { note, ..Write::new(act, &record_id(*release, *number), stage) });
                }
                Effect::RemoveRecord(number) => {
                    let note = Some(format!("Helm's record of revision {number}"));
                    all.push(Write { note, ..Write::new(Act::Delete, &record_id(*release, *number), stage) });
                }
                Effect::CreateHook(hook) => all.extend(run(question, *hook, stage)),
                Effect::Apply(id) => all.push(apply(question, id, stage)),
                Effect::Delete(id) => all.push(Write::new(Act::Delete, id, stage)),
                // What is on record on the hub is not the target's.
                // That a hook has run is told with the hook.
                Effect::WriteHookRun { .. }
                | Effect::Adopt { .. }
                | Effect::AddFinalizer
                | Effect::RemoveFinalizer
                | Effect::WriteRevision { .. }
                | Effect::FinishRevision(_)
                | Effect::RemoveRevision(_)
                | Effect::BeginTests { .. }
                | Effect::EndTests { .. } => {}
            }
        }
    }
    all
}

fn apply(question: &PlanInput, id: &ObjectId, stage: usize) -> Write {
    let wanted = question.prepared.ok().and_then(|prepared| prepared.object(id)).unwrap_or(&Value::Null);
    let found = question.found.get(id);
    let going = question.observed.objects.get(id).is_some_and(|seen| seen.state == Presence::Terminating);
    let live = found.and_then(|found| found.live.as_ref()).filter(|_| !going);
    let dry_run = found.and_then(|found| found.dry_run.as_ref());
    let changes: Vec<Difference> = match (live, dry_run) {
        // What is new is told as it is wanted: what the server adds to it is not news.
        (None, _) => diff(&Value::Null, wanted, question.mask),
        (Some(live), Some(Ok(after))) => diff(live, after, question.mask),
        (Some(live), _) => {
            let mut after = live.clone();
            coalesce(&mut after, wanted);
            diff(live, &after, question.mask)
        }
    };
    let act = if live.is_some() { Act::Update } else { Act::Create };
    let refused = dry_run.and_then(|answer| answer.as_ref().err().cloned());
    let fixed = live.map(|live| immutable_fields(live, wanted)).filter(|fixed| !fixed.is_empty());
    let recreate = question.observed.objects.get(id).is_some_and(|seen| seen.recreate);
    let note = fixed.as_ref().filter(|_| recreate).map(|_| "it is deleted and made recreate".to_owned());
    let refused = match fixed {
        Some(_) if recreate => None,
        Some(fixed) => {
            Some(format!("{} cannot be changed; allow {id} to be recreated with `--recreate`", fixed.join(", ")))
        }
        None => refused,
    };
    // A refusal may quote what it refuses.
    let secret = id.gvk.kind == "Secret" || question.mask.hides(&json!(refused));
    let refused =
        refused.map(|said| if secret { "it does not say why here: that may be a secret".to_owned() } else { said });
    Write { changes, refused, note, ..Write::new(act, id, stage) }
}

/// What a hook makes, with the moment it is made at.
fn run(question: &PlanInput, hook: usize, stage: usize) -> Option<Write> {
    let planned = question.wanted.artifact.as_ref()?.hooks.get(hook)?;
    let object = question.prepared.ok().and_then(|prepared| prepared.content.hooks.get(hook)).map(|kept| &kept.object);
    let changes = diff(&Value::Null, object.unwrap_or(&Value::Null), question.mask);
    let events: Vec<&str> = planned.events.iter().map(HookEvent::as_str).collect();
    let note = Some(format!("it runs at {}", events.join(", ")));
    Some(Write { changes, note, ..Write::new(Act::Create, &planned.id, stage) })
}

fn word(status: RecordStatus) -> &'static str {
    match status {
        RecordStatus::PendingInstall => "pending-install",
        RecordStatus::PendingUpgrade => "pending-upgrade",
        RecordStatus::PendingRollback => "pending-rollback",
        RecordStatus::Deployed => "deployed",
        RecordStatus::Superseded => "superseded",
        RecordStatus::Uninstalling => "uninstalling",
        RecordStatus::Failed => "failed",
    }
}

fn record_id(release: Owner, number: u32) -> ObjectId {
    let name = secret_name(release.name, number.into());
    ObjectId { gvk: Gvk::new("v1", "Secret"), namespace: release.namespace.to_owned(), name }
}

fn namespace_id(name: &str) -> ObjectId {
    ObjectId { gvk: Gvk::new("v1", "Namespace"), namespace: String::new(), name: name.to_owned() }
}
