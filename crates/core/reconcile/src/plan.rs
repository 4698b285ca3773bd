//! The plan of one instance: the simulated change as writes to the target cluster, each with its diff and its reason.

use std::collections::{BTreeMap, BTreeSet};

use fitout_helm_release::{HookEvent, secret_name};
use fitout_model::{Digest, Gvk, ObjectId, coalesce};
use fitout_plan::{
    Act, Change, Difference, Ignored, Mask, Obstacle, Owner, Plan, RenderError, RenderedRelease, Write, diff,
    immutable_fields, matches_live,
};
use serde_json::{Value, json};

use crate::namespace::{self, NamespaceDecision, NamespaceState};
use crate::summary::{changed, not_ours, taken};
use crate::{
    Action, Effect, End, HealthDeadline, Observed, Presence, RecordStatus, Recorded, Simulation, Wanted, simulate,
};

/// An object on the target cluster: as it is, and as it would be.
#[derive(Clone, Debug, Default)]
pub struct LiveObject {
    /// The object as it is, if it exists.
    pub live: Option<Value>,
    /// The answer of a server-side dry run. `None` where the server cannot answer, because the object's namespace or kind does not
    /// exist yet.
    pub dry_run: Option<Result<Value, String>>,
}

/// The inputs of [`plan`].
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// The desired state, whether it is suspended or not.
    pub wanted: &'a Wanted,
    /// The recorded state.
    pub recorded: &'a Recorded,
    /// The state of the target cluster.
    pub observed: &'a Observed,
    /// The objects on the target cluster, as they are and as they would be.
    pub found: &'a BTreeMap<ObjectId, LiveObject>,
    /// The release of the instance.
    pub release: Owner<'a>,
    /// The release's namespace.
    pub namespace: &'a NamespaceState,
    /// The installed version.
    pub from: Option<&'a str>,
    /// The rendered release, or why there is none.
    pub prepared: Result<&'a RenderedRelease, &'a RenderError>,
    /// Whether the instance is suspended.
    pub suspended: bool,
    /// Whether the cluster has no Ready node.
    pub no_node: bool,
    /// The values that the plan hides.
    pub mask: &'a Mask,
}

/// The digest of the applied object that a live object matches: the last revision's, or the desired one; `None` where it matches
/// neither. Ignored fields may differ.
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
    // A server may normalize values. Its dry run then tells that nothing changes.
    let same = last == wanted
        && matches!(&found.dry_run, Some(Ok(after)) if without_bookkeeping(after) == without_bookkeeping(live));
    wanted.filter(|_| same).map(Digest::of_value)
}

/// Strips `resourceVersion` and managed-field timestamps, which a no-op apply still changes.
fn without_bookkeeping(object: &Value) -> Value {
    let mut object = object.clone();
    let metadata = &mut object["metadata"];
    metadata["resourceVersion"] = Value::Null;
    for manager in metadata["managedFields"].as_array_mut().into_iter().flatten() {
        manager["time"] = Value::Null;
    }
    object
}

/// Plans the change of one instance.
pub fn plan(input: &PlanInput) -> Plan {
    let PlanInput { wanted, recorded, observed, prepared, .. } = input;
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
        (End::ReleaseExists(newest), _) => Some(Obstacle::Foreign(taken(input.release, *newest))),
        (End::ForeignRevision(newest), _) => Some(Obstacle::Foreign(changed(input.release, *newest))),
        (End::Done | End::Unfinished, _) => None,
    };
    let writes = if obstacle.is_some() { vec![] } else { writes(input, &simulation) };
    let applied = simulation.rounds.iter().flatten().filter(|effect| matches!(effect, Effect::Apply(_))).count();
    let new = |effect: &Effect| match effect {
        Effect::WriteRevision { number, .. } => Some(*number),
        _ => None,
    };
    let prepared = prepared.ok().filter(|_| !removing);
    Plan {
        change: if obstacle.is_some() { Change::Nothing } else { change(input, &simulation, &writes) },
        from: input.from.map(str::to_owned),
        to: prepared.map(|prepared| prepared.version.clone()),
        why: prepared.map(|prepared| prepared.why.clone()).unwrap_or_default(),
        revision: simulation.rounds.iter().flatten().find_map(new).filter(|_| obstacle.is_none()),
        artifact: prepared.map(|prepared| prepared.artifact.digest.clone()),
        waits: waits(input).filter(|_| !writes.is_empty()),
        unchanged: prepared.map_or(0, |prepared| prepared.artifact.objects.len().saturating_sub(applied)),
        warnings: [remaining_crds(input, &writes), remaining_namespace(input, &writes)].concat(),
        obstacle,
        writes,
    }
}

fn change(input: &PlanInput, simulation: &Simulation, writes: &[Write]) -> Change {
    let new = simulation.rounds.iter().flatten().find_map(|effect| match effect {
        Effect::WriteRevision { action, .. } => Some(*action),
        _ => None,
    });
    // A revision in progress is finished.
    let begun = input.recorded.revisions.last().filter(|last| last.outcome.is_none()).map(|last| last.action);
    match new.or(begun) {
        _ if !input.wanted.present => Change::Uninstall,
        Some(Action::Install) => Change::Install,
        Some(Action::Upgrade) => Change::Upgrade,
        Some(Action::Rollback) => Change::Rollback,
        Some(Action::Adopt) | None if writes.is_empty() => Change::Nothing,
        Some(Action::Adopt) | None => Change::Repair,
    }
}

fn waits(input: &PlanInput) -> Option<String> {
    let sentence = match () {
        () if !input.wanted.present => return None,
        () if input.suspended => "the instance is suspended; nothing is written until it is resumed",
        () if input.no_node => "the cluster has no Ready node; the install starts when it has one",
        () => return None,
    };
    Some(sentence.to_owned())
}

/// Warns of the CRDs that stay, with their custom resources.
fn remaining_crds(input: &PlanInput, writes: &[Write]) -> Vec<String> {
    let kept = |id: &&ObjectId| {
        let wanted = input.wanted.artifact.as_ref().filter(|_| input.wanted.present);
        id.gvk.kind == "CustomResourceDefinition"
            && input.observed.objects.contains_key(id)
            && wanted.and_then(|artifact| artifact.planned(id)).is_none()
    };
    let recorded = input.recorded.revisions.iter().flat_map(|revision| &revision.inventory).filter(kept);
    let ids: BTreeSet<&ObjectId> = recorded.filter(|_| !writes.is_empty()).collect();
    ids.into_iter().map(|id| format!("{id} stays, with all its custom resources")).collect()
}

/// The writes of a simulated change to the target cluster.
fn writes(input: &PlanInput, simulation: &Simulation) -> Vec<Write> {
    let PlanInput { release, observed, .. } = input;
    let mut records: Vec<u32> = observed.records.keys().copied().collect();
    let mut namespace = input.namespace.exists;
    let mut all = Vec::new();
    for (stage, round) in simulation.rounds.iter().enumerate() {
        for effect in round {
            match effect {
                Effect::WriteRecord { number, status } => {
                    let there = records.contains(number);
                    // The record is in the release's namespace, which is created first.
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
                Effect::CreateHook(hook) => all.extend(run(input, *hook, stage)),
                Effect::Apply(id) => all.push(apply(input, id, stage)),
                Effect::Delete(id) => all.push(Write::new(Act::Delete, id, stage)),
                Effect::DeleteUnusedNamespace => all.extend(namespace_deletion(input, stage)),
                // Writes to the hub are not part of a plan, and hook runs are shown with the hook.
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

/// The deletion of the release's namespace, where an uninstall deletes it.
fn namespace_deletion(input: &PlanInput, stage: usize) -> Option<Write> {
    let decision = namespace::decide(input.namespace, &removed(input));
    let id = namespace_id(input.release.namespace);
    (decision == NamespaceDecision::Delete).then(|| Write::new(Act::Delete, &id, stage))
}

/// Warns of a namespace that stays after an uninstall because of its other objects.
fn remaining_namespace(input: &PlanInput, writes: &[Write]) -> Vec<String> {
    let uninstall = !input.wanted.present && !input.wanted.keep_namespace && !writes.is_empty();
    match namespace::decide(input.namespace, &removed(input)) {
        NamespaceDecision::Keep(remaining) if uninstall => {
            vec![namespace::remaining_message(input.release.namespace, &remaining)]
        }
        NamespaceDecision::Unknown(reason) if uninstall => {
            vec![namespace::unknown_message(input.release.namespace, &reason)]
        }
        _ => vec![],
    }
}

/// Every object that an uninstall removes, release records included.
fn removed(input: &PlanInput) -> BTreeSet<ObjectId> {
    let revisions = input.recorded.revisions.iter();
    let objects = revisions.flat_map(|revision| revision.inventory.iter().chain(&revision.hooks).cloned());
    let kept = |id: &ObjectId| {
        let object = input.observed.objects.get(id);
        object.is_some_and(|object| object.keep || matches!(object.state, Presence::Foreign(_)))
    };
    // Newer records belong to another client.
    let newest = input.recorded.revisions.last().map_or(0, |last| last.number);
    let records = input.observed.records.keys().filter(|number| **number <= newest);
    let records = records.map(|number| record_id(input.release, *number));
    objects.filter(|id| !kept(id)).chain(records).collect()
}

fn apply(input: &PlanInput, id: &ObjectId, stage: usize) -> Write {
    let wanted = input.prepared.ok().and_then(|prepared| prepared.object(id)).unwrap_or(&Value::Null);
    let found = input.found.get(id);
    let going = input.observed.objects.get(id).is_some_and(|seen| seen.state == Presence::Terminating);
    let live = found.and_then(|found| found.live.as_ref()).filter(|_| !going);
    let dry_run = found.and_then(|found| found.dry_run.as_ref());
    let changes: Vec<Difference> = match (live, dry_run) {
        // A new object is shown as rendered, without the fields that the server adds.
        (None, _) => diff(&Value::Null, wanted, input.mask),
        (Some(live), Some(Ok(after))) => diff(live, after, input.mask),
        (Some(live), _) => {
            let mut after = live.clone();
            coalesce(&mut after, wanted);
            diff(live, &after, input.mask)
        }
    };
    let act = if live.is_some() { Act::Update } else { Act::Create };
    let refused = dry_run.and_then(|answer| answer.as_ref().err().cloned());
    let fixed = live.map(|live| immutable_fields(live, wanted)).filter(|fixed| !fixed.is_empty());
    let recreate = input.observed.objects.get(id).is_some_and(|seen| seen.recreate);
    let note = fixed.as_ref().filter(|_| recreate).map(|_| "it is deleted and created again".to_owned());
    let refused = match fixed {
        Some(_) if recreate => None,
        Some(fixed) => {
            Some(format!("{} cannot be changed; allow {id} to be recreated with `--recreate`", fixed.join(", ")))
        }
        None => refused,
    };
    // A refusal may quote the value that it refuses.
    let secret = id.gvk.kind == "Secret" || input.mask.hides(&json!(refused));
    let refused = refused
        .map(|said| if secret { "the reason is hidden, because it may contain a secret".to_owned() } else { said });
    Write { changes, refused, note, ..Write::new(act, id, stage) }
}

/// The object that a hook creates, with its events.
fn run(input: &PlanInput, hook: usize, stage: usize) -> Option<Write> {
    let planned = input.wanted.artifact.as_ref()?.hooks.get(hook)?;
    let object = input.prepared.ok().and_then(|prepared| prepared.content.hooks.get(hook)).map(|kept| &kept.object);
    let changes = diff(&Value::Null, object.unwrap_or(&Value::Null), input.mask);
    let events: Vec<&str> = planned.events.iter().map(HookEvent::as_str).collect();
    let note = Some(format!("hook: {}", events.join(", ")));
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
