//! The whole life of an instance, driven through `next` alone, with every effect failing in every way.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};

use fitout_helm_release::{HookDeletePolicy, HookEvent};
use fitout_model::{Digest, Gvk, ObjectId};
use fitout_plan::{Artifact, Planned, PlannedHook, phase};
use fitout_reconcile::{
    Action, Effect, HealthDeadline, Next, ObjectState, Observed, Outcome, Presence, Progress, RecordStatus, Recorded,
    Revision, Takeover, Tested, Wanted, next, simulate,
};

/// A hub and a target in one place, which do what effects say and nothing else.
#[derive(Clone, Default)]
struct World {
    recorded: Recorded,
    observed: Observed,
    /// What the objects on the target really hold.
    content: BTreeMap<ObjectId, Digest>,
    /// Everything that was done, in order.
    done: Vec<Effect>,
    /// Which hooks have run to their end, and for which event of which revision.
    succeeded: BTreeSet<(u32, usize, String)>,
    /// Hooks that fail, and how many times.
    failing: BTreeMap<String, u32>,
}

/// What goes wrong with an effect.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It is not carried out.
    Refused,
    /// It is carried out and then we die: what only we knew is lost.
    Crash,
    /// We die before it is carried out.
    CrashBefore,
}

fn id(api_version: &str, kind: &str, name: &str) -> ObjectId {
    let namespaced = !["Namespace", "CustomResourceDefinition", "ClusterRole"].contains(&kind);
    let namespace = if namespaced { "web" } else { "" };
    ObjectId { gvk: Gvk::new(api_version, kind), namespace: namespace.into(), name: name.into() }
}

fn artifact(version: &str, ids: &[ObjectId]) -> Artifact {
    let planned = |id: &ObjectId| Planned {
        id: id.clone(),
        phase: phase(&id.gvk),
        digest: Digest::of(format!("{version} {id}")),
        guarded: false,
    };
    let crds = [id("apiextensions.k8s.io/v1", "CustomResourceDefinition", "before.example.com")];
    Artifact {
        digest: Digest::of(version),
        rolls_back_to: None,
        objects: ids.iter().map(planned).collect(),
        crds: crds.iter().map(planned).collect(),
        hooks: hooks().into_iter().map(|hook| of_version(version, hook)).collect(),
    }
}

/// What a hook holds differs from version to version.
fn of_version(version: &str, hook: PlannedHook) -> PlannedHook {
    PlannedHook { digest: Digest::of(format!("{version} {}", hook.id)), ..hook }
}

fn hooks() -> Vec<PlannedHook> {
    use HookEvent::{
        PostDelete, PostInstall, PostRollback, PostUpgrade, PreDelete, PreInstall, PreRollback, PreUpgrade,
    };
    let hook = |name: &str, kind: &str, events: &[HookEvent], weight, policies: &[HookDeletePolicy]| PlannedHook {
        id: id(if kind == "Job" { "batch/v1" } else { "v1" }, kind, name),
        events: events.to_vec(),
        weight,
        policies: policies.to_vec(),
        digest: Digest::of(""),
    };
    vec![
        hook("migrate", "Job", &[PreInstall, PreUpgrade, PreRollback], 0, &[]),
        hook("account", "ServiceAccount", &[PreInstall, PreUpgrade], -5, &[HookDeletePolicy::BeforeCreation]),
        hook(
            "both",
            "Job",
            &[PreUpgrade, PostUpgrade],
            1,
            &[HookDeletePolicy::BeforeCreation, HookDeletePolicy::Succeeded],
        ),
        hook("tell", "Job", &[PostInstall, PostUpgrade, PostRollback], 2, &[HookDeletePolicy::Succeeded]),
        hook("drain", "Job", &[PreDelete], 0, &[HookDeletePolicy::Succeeded]),
        hook("sweep", "Job", &[PostDelete], 0, &[]),
        hook("try", "Pod", &[HookEvent::Test], 0, &[]),
        hook("stays", "ConfigMap", &[PreInstall, PreUpgrade], 3, &[HookDeletePolicy::Failed]),
    ]
}

fn first() -> Artifact {
    artifact(
        "1",
        &[
            id("example.com/v1", "Widget", "w"),
            id("apps/v1", "Deployment", "web"),
            id("v1", "Service", "web"),
            id("v1", "ConfigMap", "old"),
            id("v1", "ServiceAccount", "web"),
            id("rbac.authorization.k8s.io/v1", "ClusterRole", "web"),
            id("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com"),
            id("v1", "Namespace", "web"),
            id("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "web"),
        ],
    )
}

fn second() -> Artifact {
    let mut ids: Vec<ObjectId> = first().objects.into_iter().map(|planned| planned.id).collect();
    ids.retain(|id| id.name != "old");
    ids.push(id("v1", "ConfigMap", "new"));
    artifact("2", &ids)
}

fn wanted(artifact: Option<Artifact>) -> Wanted {
    let present = artifact.is_some();
    // What goes has hooks that run then.
    Wanted {
        present,
        suspended: false,
        artifact: artifact.or(Some(first())),
        retry: true,
        takeover: None,
        test: None,
        history: 2,
        health_deadline: HealthDeadline::None,
        keep_namespace: false,
    }
}

impl World {
    fn carry_out(&mut self, effect: &Effect, wanted: &Wanted) {
        self.done.push(effect.clone());
        let revisions = &mut self.recorded.revisions;
        match effect {
            Effect::AddFinalizer => self.recorded.has_finalizer = true,
            Effect::RemoveFinalizer => {
                assert!(revisions.is_empty() && self.observed.records.is_empty(), "let go with something left");
                self.recorded.has_finalizer = false;
            }
            Effect::WriteRevision { number, action } => {
                let artifact = wanted.artifact.as_ref().unwrap();
                // As the hub does: writing the same one again changes nothing.
                if revisions.iter().all(|revision| revision.number != *number) {
                    revisions.push(Revision {
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
                    });
                }
            }
            Effect::Adopt { number, keep } => {
                let (artifact, inventory) = if *keep {
                    let artifact = wanted.artifact.as_ref().unwrap();
                    (artifact.digest.clone(), artifact.inventory())
                } else {
                    (Digest::of("theirs"), self.observed.objects.keys().cloned().collect())
                };
                let outcome = (self.observed.records[number] == RecordStatus::Deployed).then_some(Outcome::Deployed);
                let (number, action) = (*number, Action::Adopt);
                revisions.push(Revision {
                    number,
                    action,
                    version: String::new(),
                    definition: Digest::of(""),
                    pack: None,
                    inputs: None,
                    artifact,
                    inventory,
                    hooks: vec![],
                    outcome,
                });
                self.observed.foreign = None;
            }
            Effect::FinishRevision(number) => self.recorded.finish(*number),
            Effect::RemoveRevision(number) => revisions.retain(|revision| revision.number != *number),
            Effect::WriteRecord { number, status } => {
                if self.observed.records.insert(*number, *status).is_none() {
                    self.observed.runs.clear();
                }
            }
            Effect::WriteHookRun { hook, run, .. } => {
                self.observed.runs.insert(*hook, run.clone());
            }
            Effect::CreateHook(hook) => {
                let last = revisions.last().unwrap();
                let PlannedHook { id, digest, .. } = &wanted.artifact.as_ref().unwrap().hooks[*hook];
                assert!(last.hooks.contains(id), "{id} was run before it was on record");
                let run = &self.observed.runs[hook];
                let key = (last.number, *hook, run.event.to_string());
                let state = Presence::Applied(digest.clone());
                self.content.insert(id.clone(), digest.clone());
                // What is there already goes on.
                if let Some(seen) = self.observed.objects.get_mut(id) {
                    seen.state = state;
                } else {
                    assert!(!self.succeeded.contains(&key), "{id} ran twice for {}", run.event);
                    self.observed.objects.insert(id.clone(), ObjectState::fresh(state));
                }
            }
            Effect::RemoveRecord(number) => drop(self.observed.records.remove(number)),
            Effect::BeginTests { run, .. } => {
                self.recorded.tested = Some(Tested { run: *run, over: false });
                self.observed.runs.retain(|_, run| run.event != HookEvent::Test);
                self.succeeded.retain(|(.., event)| *event != HookEvent::Test.to_string());
            }
            Effect::EndTests { .. } => self.recorded.tested.as_mut().unwrap().over = true,
            Effect::Apply(id) => {
                let last = revisions.last().unwrap();
                assert!(last.inventory.contains(id), "{id} was applied before it was on record");
                assert!(self.observed.records.contains_key(&last.number), "{id} was applied before the release record");
                let planned = wanted.artifact.as_ref().unwrap().planned(id).unwrap();
                let seen = ObjectState::fresh(Presence::Applied(planned.digest.clone()));
                self.content.insert(id.clone(), planned.digest.clone());
                self.observed.objects.insert(id.clone(), seen);
            }
            Effect::DeleteUnusedNamespace => {
                assert!(self.observed.records.is_empty(), "the namespace was deleted before the release records");
                self.recorded.namespace_handled = true;
            }
            Effect::Delete(id) => {
                if let Some(seen) = self.observed.objects.get_mut(id) {
                    seen.state = Presence::Terminating;
                }
            }
        }
    }

    /// We start again and know only what is on record.
    fn crash(&mut self) {
        self.recorded.namespace_handled = false;
        for seen in self.observed.objects.values_mut() {
            if matches!(seen.state, Presence::Applied(_)) {
                seen.state = Presence::Changed;
            }
        }
    }

    /// Time passes on the target: what was waited for happens.
    fn settle(&mut self) {
        self.observed.objects.retain(|_, seen| seen.state != Presence::Terminating);
        let number = self.recorded.revisions.last().map_or(0, |last| last.number);
        let running: Vec<(usize, String)> =
            self.observed.runs.iter().map(|(hook, run)| (*hook, run.event.to_string())).collect();
        for (id, seen) in &mut self.observed.objects {
            if let Some(left) = self.failing.get_mut(&id.name).filter(|left| **left > 0) {
                seen.progress = Progress::Failed;
                *left -= 1;
            } else if seen.progress != Progress::Failed {
                seen.progress = Progress::Healthy;
                let run = running.iter().find(|(hook, _)| hooks()[*hook].id == *id);
                self.succeeded.extend(run.map(|(hook, event)| (number, *hook, event.clone())));
            }
        }
    }

    /// Asks and does until there is nothing to do. Returns how many effects that took.
    fn run(&mut self, wanted: &Wanted, fault: Option<(usize, Fault)>) -> usize {
        let mut count = 0;
        for _ in 0..500 {
            match next(wanted, &self.recorded, &self.observed) {
                Next::Do(effects) => {
                    assert!(!effects.is_empty(), "nothing to do is not something to do");
                    for effect in effects {
                        let wrong = fault.filter(|(at, _)| *at == count).map(|(_, fault)| fault);
                        count += 1;
                        match wrong {
                            None => self.carry_out(&effect, wanted),
                            // The others of this round are carried out all the same: they run side by side.
                            Some(Fault::Refused) => {}
                            Some(Fault::Crash) => {
                                self.carry_out(&effect, wanted);
                                self.crash();
                                break;
                            }
                            Some(Fault::CrashBefore) => {
                                self.crash();
                                break;
                            }
                        }
                    }
                }
                Next::Await(ids) => {
                    assert!(!ids.is_empty());
                    self.settle();
                }
                Next::Done => {
                    self.settle();
                    return count;
                }
                // After its time, but after all.
                Next::HealthTimeout(_) => self.settle(),
                Next::HookFailed { object, event } => panic!("{event} hook {object}"),
                Next::Blocked { object, owner } => panic!("{object} is {owner:?}'s"),
                Next::ReleaseExists(newest) => panic!("there is a release at revision {newest}"),
                Next::ForeignRevision(newest) => panic!("another hand made revision {newest:?}"),
            }
        }
        panic!("no end: {:?}", next(wanted, &self.recorded, &self.observed));
    }

    /// Does so many effects, and then dies: what only we knew is lost.
    fn stop(&mut self, wanted: &Wanted, after: usize) {
        let mut count = 0;
        while count < after {
            match next(wanted, &self.recorded, &self.observed) {
                Next::Do(effects) => {
                    let left = after - count;
                    count += left.min(effects.len());
                    effects.iter().take(left).for_each(|effect| self.carry_out(effect, wanted));
                }
                Next::Await(_) => self.settle(),
                other => panic!("{other:?}"),
            }
        }
        self.crash();
    }

    /// What can be told from outside once it is done.
    fn end(&self) -> End {
        let content = |id: &ObjectId| (id.clone(), self.content[id].clone());
        let revisions = self.recorded.revisions.iter().map(|revision| (revision.number, revision.outcome));
        End {
            objects: self.observed.objects.keys().map(content).collect(),
            records: self.observed.records.clone(),
            revisions: revisions.collect(),
            tested: self.recorded.tested,
            has_finalizer: self.recorded.has_finalizer,
        }
    }
}

#[derive(Debug, PartialEq)]
struct End {
    objects: BTreeMap<ObjectId, Digest>,
    records: BTreeMap<u32, RecordStatus>,
    revisions: Vec<(u32, Option<Outcome>)>,
    tested: Option<Tested>,
    has_finalizer: bool,
}

/// The steps of a life: what is wanted, one after the other.
fn life() -> Vec<Wanted> {
    let back = Artifact { rolls_back_to: Some(1), ..first() };
    vec![wanted(Some(first())), wanted(Some(second())), wanted(Some(back)), wanted(None)]
}

/// The first revision is to be tested, for the time that has this number.
fn tested(run: u32) -> Wanted {
    Wanted { test: Some(run), ..wanted(Some(first())) }
}

#[test]
fn a_whole_life_goes_through_all_its_stations() {
    let mut world = World::default();
    let ends: Vec<_> = life()
        .iter()
        .map(|wanted| {
            world.run(wanted, None);
            world.end()
        })
        .collect();
    assert_eq!(ends[0].records, [(1, RecordStatus::Deployed)].into());
    assert_eq!(ends[1].records, [(1, RecordStatus::Superseded), (2, RecordStatus::Deployed)].into());
    assert_eq!(
        ends[2].records,
        [(1, RecordStatus::Superseded), (2, RecordStatus::Superseded), (3, RecordStatus::Deployed)].into()
    );
    let names = |end: usize| ends[end].objects.keys().map(|id| id.name.as_str()).collect::<BTreeSet<_>>();
    assert!(names(0).contains("old") && !names(0).contains("new"));
    assert!(!names(1).contains("old") && names(1).contains("new"));
    assert_eq!(names(0), names(2));
    // Definitions of custom resources stay.
    assert_eq!(names(3), ["before.example.com", "widgets.example.com"].into());
    assert!(ends[3].records.is_empty() && ends[3].revisions.is_empty() && !ends[3].has_finalizer);
    let rollback = Effect::WriteRevision { number: 3, action: Action::Rollback };
    assert!(world.done.contains(&rollback));
}

#[test]
fn whichever_effect_fails_however_the_end_is_the_same() {
    let mut steps = life();
    steps.splice(1..1, [tested(1), tested(2)]);
    let mut before = World::default();
    let mut tried = 0;
    for wanted in &steps {
        let mut undisturbed = before.clone();
        let effects = undisturbed.run(wanted, None);
        for at in 0..effects {
            for fault in [Fault::Refused, Fault::Crash, Fault::CrashBefore] {
                let mut world = before.clone();
                world.run(wanted, Some((at, fault)));
                assert_eq!(world.end(), undisturbed.end(), "{fault:?} at effect {at}");
                tried += 1;
            }
        }
        before = undisturbed;
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn what_was_never_begun_gives_way_to_what_is_wanted_instead() {
    let mut undisturbed = World::default();
    undisturbed.run(&wanted(Some(second())), None);
    let mut world = World::default();
    // The instance is held, the revision is written.
    world.stop(&wanted(Some(first())), 2);
    assert_eq!(world.done.last(), Some(&Effect::WriteRevision { number: 1, action: Action::Install }));
    world.run(&wanted(Some(second())), None);
    assert_eq!(world.end(), undisturbed.end(), "as if the first had never been wanted");
    assert!(world.done.contains(&Effect::RemoveRevision(1)));

    // Once the target knows of it, what comes next is an upgrade, and takes away what it wrote.
    let mut world = World::default();
    world.stop(&wanted(Some(first())), 3);
    world.run(&wanted(Some(second())), None);
    assert!(world.done.contains(&Effect::WriteRevision { number: 2, action: Action::Upgrade }));
    // Even where its record was lost since.
    let mut world = World::default();
    world.stop(&wanted(Some(first())), 12);
    world.observed.records.clear();
    world.run(&wanted(Some(second())), None);
    assert!(world.done.contains(&Effect::WriteRevision { number: 2, action: Action::Upgrade }));
    assert!(!world.observed.objects.keys().any(|id| id.name == "old"));
}

/// The hooks and writes of objects, in order, in a word each.
fn story(done: &[Effect]) -> Vec<String> {
    let told = done.iter().filter_map(|effect| match effect {
        Effect::CreateHook(hook) => Some(hooks()[*hook].id.name.clone()),
        Effect::Apply(id) if id.name == "before.example.com" => Some("definitions".to_owned()),
        Effect::Apply(_) => Some("objects".to_owned()),
        Effect::Delete(id) => Some(format!("-{}", id.name)),
        _ => None,
    });
    let mut story: Vec<String> = told.collect();
    story.dedup();
    story
}

#[test]
fn hooks_run_around_the_objects_in_the_order_of_their_weights() {
    let mut world = World::default();
    let mut stories = life().into_iter().map(|wanted| {
        world.done.clear();
        world.run(&wanted, None);
        story(&world.done).join(" ")
    });
    assert_eq!(stories.next().unwrap(), "definitions account migrate stays objects tell -tell");
    assert_eq!(
        stories.next().unwrap(),
        "definitions -account account -migrate migrate both stays -both objects -old both tell -tell -both"
    );
    assert_eq!(stories.next().unwrap(), "-migrate migrate objects -new tell -tell");
    let last = stories.next().unwrap();
    assert!(last.starts_with("drain -drain -w ") && last.contains(" sweep "), "{last}");
    for hook in ["-account", "-migrate", "-sweep"] {
        assert!(last.find(" sweep ").unwrap() < last.find(hook).unwrap(), "{hook} of {last}");
    }
}

#[test]
fn a_hook_that_is_not_deleted_before_it_runs_again_is_applied_over() {
    let mut world = World::default();
    let stays = id("v1", "ConfigMap", "stays");
    for artifact in [first(), second()] {
        let expected = artifact.hooks.iter().find(|hook| hook.id == stays).unwrap().digest.clone();
        world.run(&wanted(Some(artifact)), None);
        assert_eq!(world.content[&stays], expected);
    }
    assert!(!world.done.contains(&Effect::Delete(stays)));
}

#[test]
fn a_hook_that_fails_is_told_and_only_that_one_runs_again() {
    let mut world = World::default();
    world.failing.insert("migrate".to_owned(), 1);
    let patient = Wanted { retry: false, ..wanted(Some(first())) };
    let failed = loop {
        match next(&patient, &world.recorded, &world.observed) {
            Next::Do(effects) => effects.iter().for_each(|effect| world.carry_out(effect, &patient)),
            Next::Await(_) => world.settle(),
            other => break other,
        }
    };
    assert_eq!(failed, Next::HookFailed { object: id("batch/v1", "Job", "migrate"), event: HookEvent::PreInstall });
    assert_eq!(world.observed.records, [(1, RecordStatus::Failed)].into());
    assert_eq!(story(&world.done), ["definitions", "account", "migrate"]);
    world.done.clear();
    world.run(&wanted(Some(first())), None);
    assert_eq!(story(&world.done), ["-migrate", "migrate", "stays", "objects", "tell", "-tell"]);
    assert_eq!(world.observed.records, [(1, RecordStatus::Deployed)].into());
}

#[test]
fn tests_run_each_time_that_they_are_wanted_and_what_fails_stays_installed() {
    let mut world = World::default();
    world.run(&wanted(Some(first())), None);
    let mut test = |run| {
        world.done.clear();
        world.run(&tested(run), None);
        assert_eq!(world.recorded.tested, Some(Tested { run, over: true }));
        assert_eq!(world.observed.records, [(1, RecordStatus::Deployed)].into());
        (story(&world.done).join(" "), world.done.pop().unwrap())
    };
    assert_eq!(test(1), ("try".to_owned(), Effect::EndTests { failed: None }));
    assert_eq!(test(2), ("-try try".to_owned(), Effect::EndTests { failed: None }));
    world.failing.insert("try".to_owned(), 1);
    world.done.clear();
    world.run(&tested(3), None);
    assert_eq!(world.done.last(), Some(&Effect::EndTests { failed: Some(id("v1", "Pod", "try")) }));
    assert_eq!(world.observed.records, [(1, RecordStatus::Deployed)].into());
    assert_eq!(world.run(&tested(3), None), 0);
}

#[test]
fn what_is_to_be_kept_stays() {
    let mut world = World::default();
    world.run(&wanted(Some(first())), None);
    for name in ["old", "web"] {
        world
            .observed
            .objects
            .get_mut(&id("v1", if name == "old" { "ConfigMap" } else { "Service" }, name))
            .unwrap()
            .keep = true;
    }
    world.run(&wanted(Some(second())), None);
    assert!(world.observed.objects.contains_key(&id("v1", "ConfigMap", "old")));
    world.observed.objects.get_mut(&id("v1", "Service", "web")).unwrap().keep = true;
    world.run(&wanted(None), None);
    assert!(world.observed.objects.contains_key(&id("v1", "Service", "web")));
}

#[test]
fn what_has_to_be_made_anew_goes_first() {
    let mut world = World::default();
    world.run(&wanted(Some(first())), None);
    let service = id("v1", "Service", "web");
    world.observed.objects.get_mut(&service).unwrap().recreate = true;
    world.done.clear();
    world.run(&wanted(Some(second())), None);
    let gone = world.done.iter().position(|effect| *effect == Effect::Delete(service.clone())).unwrap();
    let made = world.done.iter().position(|effect| *effect == Effect::Apply(service.clone())).unwrap();
    assert!(gone < made);
}

#[test]
fn a_custom_resource_that_no_webhook_is_asked_about_does_not_wait_for_workloads() {
    let widget = id("example.com/v1", "Widget", "w");
    let before = |guarded: bool| {
        let mut artifact = first();
        artifact
            .objects
            .iter_mut()
            .filter(|planned| planned.id == widget)
            .for_each(|planned| planned.guarded = guarded);
        let mut world = World::default();
        world.run(&wanted(Some(artifact)), None);
        let at = |id: &ObjectId| world.done.iter().position(|effect| *effect == Effect::Apply(id.clone())).unwrap();
        at(&widget) < at(&id("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "web"))
    };
    assert!(before(false) && !before(true));
}

#[test]
fn nothing_is_written_twice_without_a_fault() {
    let mut world = World::default();
    for wanted in life() {
        world.done.clear();
        world.run(&wanted, None);
        let mut seen = Vec::new();
        // A hook may run for two events of one change, and its object goes each time.
        let both = |effect: &&Effect| !matches!(effect, Effect::CreateHook(2) | Effect::Delete(ObjectId { .. }));
        for effect in world.done.iter().filter(both) {
            assert!(!seen.contains(effect), "{effect:?} twice");
            seen.push(effect.clone());
        }
    }
}

#[test]
fn what_is_foretold_is_what_is_done() {
    let mut world = World::default();
    let mut tried = 0;
    for wanted in life() {
        // From every point on the way, also from one where a crash has left us with less knowledge.
        let mut undisturbed = world.clone();
        for at in 0..undisturbed.run(&wanted, None) {
            let mut stopped = world.clone();
            stopped.stop(&wanted, at);
            let simulation = simulate(&wanted, &stopped.recorded, &stopped.observed);
            assert_eq!(simulation.end, fitout_reconcile::End::Done);
            stopped.done.clear();
            stopped.run(&wanted, None);
            assert_eq!(simulation.rounds.concat(), stopped.done, "from effect {at}");
            tried += 1;
        }
        let simulation = simulate(&wanted, &undisturbed.recorded, &undisturbed.observed);
        assert!(simulation.rounds.is_empty(), "what is done needs nothing: {simulation:?}");
        world = undisturbed;
    }
    assert!(tried > 50, "{tried}");
}

#[test]
fn what_is_not_ours_is_foretold_to_block() {
    let mut world = World::default();
    world.recorded.has_finalizer = true;
    let object = id("v1", "Service", "web");
    let seen = ObjectState::fresh(Presence::Foreign(None));
    world.observed.objects.insert(object.clone(), seen);
    let simulation = simulate(&wanted(Some(first())), &world.recorded, &world.observed);
    assert_eq!(simulation.end, fitout_reconcile::End::Blocked { object, owner: None });
    assert!(simulation.rounds.is_empty());
}

#[test]
fn what_needs_something_waits_for_it() {
    let mut world = World::default();
    world.run(&wanted(Some(first())), None);
    let at = |kind: &str| {
        world.done.iter().position(|effect| matches!(effect, Effect::Apply(id) if id.gvk.kind == kind)).unwrap()
    };
    let order =
        ["CustomResourceDefinition", "ServiceAccount", "Service", "Deployment", "ValidatingWebhookConfiguration"];
    for pair in order.windows(2) {
        assert!(at(pair[0]) < at(pair[1]), "{pair:?}");
    }
}

#[test]
fn only_what_was_changed_is_mended() {
    let mut world = World::default();
    let wanted = wanted(Some(first()));
    world.run(&wanted, None);
    world.done.clear();
    let (edited, deleted) = (id("v1", "Service", "web"), id("v1", "ConfigMap", "old"));
    world.observed.objects.get_mut(&edited).unwrap().state = Presence::Changed;
    world.observed.objects.remove(&deleted);
    world.run(&wanted, None);
    assert_eq!(world.done, [Effect::Apply(edited), Effect::Apply(deleted)]);
}

#[test]
fn what_is_on_its_way_out_is_waited_for_and_made_again() {
    let mut world = World::default();
    let wanted = wanted(Some(first()));
    world.run(&wanted, None);
    let going = id("v1", "ConfigMap", "old");
    world.observed.objects.get_mut(&going).unwrap().state = Presence::Terminating;
    assert_eq!(next(&wanted, &world.recorded, &world.observed), Next::Await(vec![going.clone()]));
    world.run(&wanted, None);
    assert_eq!(world.done.last(), Some(&Effect::Apply(going)));
}

#[test]
fn an_object_of_somebody_else_blocks_before_the_first_write() {
    let mut world = World::default();
    world.recorded.has_finalizer = true;
    let object = id("v1", "Service", "web");
    let seen = ObjectState::fresh(Presence::Foreign(Some("release web in shop".into())));
    world.observed.objects.insert(object.clone(), seen);
    let blocked = next(&wanted(Some(first())), &world.recorded, &world.observed);
    assert_eq!(blocked, Next::Blocked { object, owner: Some("release web in shop".into()) });
}

#[test]
fn a_release_of_somebody_else_is_left_alone() {
    let mut world = World::default();
    world.recorded.has_finalizer = true;
    world.observed.records.insert(3, RecordStatus::Deployed);
    world.observed.foreign = Some(3);
    assert_eq!(next(&wanted(Some(first())), &world.recorded, &world.observed), Next::ReleaseExists(3));
    assert_eq!(
        simulate(&wanted(Some(first())), &world.recorded, &world.observed).end,
        fitout_reconcile::End::ReleaseExists(3)
    );
    // Whoever is not wanted any more goes without it.
    assert_eq!(next(&wanted(None), &world.recorded, &world.observed), Next::Do(vec![Effect::RemoveFinalizer]));
}

#[test]
fn what_another_hand_made_waits_for_a_choice() {
    let mut world = World::default();
    let here = wanted(Some(first()));
    world.run(&here, None);
    // Another hand upgrades: our record is superseded, an object is added.
    world.observed.records.extend([(1, RecordStatus::Superseded), (2, RecordStatus::Deployed)]);
    world.observed.foreign = Some(2);
    let added = id("v1", "ConfigMap", "added");
    world.observed.objects.insert(added.clone(), ObjectState::fresh(Presence::Changed));
    assert_eq!(next(&here, &world.recorded, &world.observed), Next::ForeignRevision(Some(2)));
    // A choice about another revision is none.
    let choose =
        |revision, keep| Wanted { takeover: Some(Takeover { revision: Some(revision), keep }), ..here.clone() };
    assert_eq!(next(&choose(3, true), &world.recorded, &world.observed), Next::ForeignRevision(Some(2)));
    // It stays, and is ours.
    let mut kept = world.clone();
    kept.done.clear();
    kept.run(&choose(2, true), None);
    assert_eq!(kept.done, [Effect::Adopt { number: 2, keep: true }]);
    // Or what is wanted here comes back, and what was added goes.
    let mut back = world.clone();
    back.run(&choose(2, false), None);
    assert_eq!(back.recorded.revisions.last().map(|last| (last.number, last.action)), Some((3, Action::Upgrade)));
    assert_eq!(back.observed.records[&3], RecordStatus::Deployed);
    assert!(!back.observed.objects.contains_key(&added));
    // Removed by another hand: nothing is made again until that is wanted.
    world.observed.foreign = None;
    world.observed.records.clear();
    world.observed.objects.clear();
    assert_eq!(next(&here, &world.recorded, &world.observed), Next::ForeignRevision(None));
    assert_eq!(next(&choose(1, true), &world.recorded, &world.observed), Next::ForeignRevision(None));
    world.run(&choose(1, false), None);
    assert_eq!(world.observed.records, [(2, RecordStatus::Deployed)].into());
    // The choice was about that time alone.
    world.observed.records.clear();
    assert_eq!(next(&choose(1, false), &world.recorded, &world.observed), Next::ForeignRevision(None));
}

#[test]
fn a_suspended_instance_is_only_watched() {
    let mut world = World::default();
    let mut wanted = wanted(Some(first()));
    world.run(&wanted, None);
    world.observed.objects.remove(&id("v1", "ConfigMap", "old"));
    wanted.suspended = true;
    assert_eq!(next(&wanted, &world.recorded, &world.observed), Next::Done);
    wanted.artifact = Some(second());
    assert_eq!(next(&wanted, &world.recorded, &world.observed), Next::Done);
}

#[test]
fn uninstall_leaves_what_is_not_ours() {
    let mut world = World::default();
    world.run(&wanted(Some(first())), None);
    let taken = id("v1", "Service", "web");
    world.observed.objects.get_mut(&taken).unwrap().state = Presence::Foreign(Some("another".into()));
    world.run(&wanted(None), None);
    assert!(world.observed.objects.contains_key(&taken));
    assert!(!world.recorded.has_finalizer);
}

#[test]
fn uninstall_leaves_the_records_of_somebody_elses_release() {
    let mut world = World::default();
    world.recorded.has_finalizer = true;
    world.observed.records.insert(3, RecordStatus::Deployed);
    let next = next(&wanted(None), &world.recorded, &world.observed);
    assert_eq!(next, Next::Do(vec![Effect::RemoveFinalizer]));
}

#[test]
fn history_is_kept_to_its_limit_and_never_the_one_that_is_deployed() {
    let mut world = World::default();
    for number in 1..=6 {
        let one = artifact(&number.to_string(), &[id("v1", "ConfigMap", "one")]);
        world.run(&wanted(Some(one)), None);
    }
    let numbers: Vec<u32> = world.recorded.revisions.iter().map(|revision| revision.number).collect();
    assert_eq!(numbers, [4, 5, 6]);
    assert_eq!(world.observed.records.keys().copied().collect::<Vec<_>>(), [4, 5, 6]);
}

#[test]
fn an_instance_that_was_never_installed_goes_at_once() {
    let mut world = World::default();
    world.recorded.has_finalizer = true;
    assert_eq!(world.run(&wanted(None), None), 1);
}

/// A change up to its Deployment, which then is like this, and what comes of it once so much time has passed.
fn unhealthy(health_deadline: HealthDeadline, progress: Progress) -> (World, Next) {
    let mut world = World::default();
    world.run(&wanted(Some(first())), None);
    let mut wanted = Wanted { health_deadline: HealthDeadline::Pending, ..wanted(Some(second())) };
    for _ in 0..500 {
        match next(&wanted, &world.recorded, &world.observed) {
            Next::Do(effects) => effects.iter().for_each(|effect| world.carry_out(effect, &wanted)),
            Next::Await(ids)
                if wanted.health_deadline == HealthDeadline::Pending
                    && ids.iter().any(|id| id.gvk.kind == "Deployment") =>
            {
                wanted.health_deadline = health_deadline;
                for id in &ids {
                    world.observed.objects.get_mut(id).unwrap().progress = progress;
                }
                if progress == Progress::Underway && health_deadline == HealthDeadline::Pending {
                    return (world, Next::Await(ids));
                }
            }
            Next::Await(ids) if ids.iter().any(|id| id.gvk.kind == "Deployment") => return (world, Next::Await(ids)),
            Next::Await(_) => world.settle(),
            end => return (world, end),
        }
    }
    panic!("no end");
}

#[test]
fn what_does_not_become_healthy_in_time_has_failed() {
    let deployment = id("apps/v1", "Deployment", "web");
    let rows = [
        (
            HealthDeadline::Pending,
            Progress::Underway,
            Next::Await(vec![deployment.clone()]),
            RecordStatus::PendingUpgrade,
        ),
        (HealthDeadline::Pending, Progress::Failed, Next::HealthTimeout(deployment.clone()), RecordStatus::Failed),
        (HealthDeadline::Exceeded, Progress::Underway, Next::HealthTimeout(deployment.clone()), RecordStatus::Failed),
        (HealthDeadline::None, Progress::Failed, Next::Await(vec![deployment]), RecordStatus::PendingUpgrade),
    ];
    for (health_deadline, progress, expected, record) in rows {
        let (world, end) = unhealthy(health_deadline, progress);
        assert_eq!(end, expected, "{health_deadline:?} {progress:?}");
        assert_eq!(world.observed.records[&2], record, "{health_deadline:?} {progress:?}");
        assert_eq!(world.recorded.revisions[1].outcome, None);
    }
}

#[test]
fn what_becomes_healthy_after_its_time_is_installed_after_all() {
    let (mut world, end) = unhealthy(HealthDeadline::Exceeded, Progress::Underway);
    assert!(matches!(end, Next::HealthTimeout(_)));
    world.settle();
    world.run(&Wanted { health_deadline: HealthDeadline::Exceeded, ..wanted(Some(second())) }, None);
    assert_eq!(world.observed.records[&2], RecordStatus::Deployed);
}

#[test]
fn what_is_brought_back_is_not_given_up() {
    let (mut world, _) = unhealthy(HealthDeadline::Exceeded, Progress::Underway);
    let back = Artifact { rolls_back_to: Some(1), ..first() };
    let wanted = Wanted { health_deadline: HealthDeadline::Exceeded, ..wanted(Some(back)) };
    world.run(&wanted, None);
    assert_eq!(world.observed.records[&3], RecordStatus::Deployed);
    assert_eq!(world.recorded.revisions.last().unwrap().action, Action::Rollback);
}
