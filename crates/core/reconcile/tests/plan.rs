//! Plans, from what is wanted, recorded and found.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use fitout_model::{Digest, Gvk, ObjectId};
use fitout_plan::{
    Change, HIDDEN, Ignored, Mask, Obstacle, Owner, Plan, RenderError, RenderedRelease, from_stored_content,
};
use fitout_reconcile::namespace::{NamespaceObject, NamespaceState};
use fitout_reconcile::{
    Action, HealthDeadline, LiveObject, ObjectState, Observed, Outcome, PlanInput, Presence, Progress, RecordStatus,
    Recorded, Revision, Wanted, detect_applied, plan,
};
use serde_json::{Value, json};

const RELEASE: Owner = Owner { name: "web", namespace: "shop" };

fn map(name: &str, size: u32) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "namespace": "shop" }, "data": { "size": size } })
}

fn definition() -> Value {
    json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "things.example.com" } })
}

fn prepared(version: &str, objects: &[Value]) -> RenderedRelease {
    let mut prepared = from_stored_content(&json!({ "objects": objects }).to_string(), None).unwrap();
    version.clone_into(&mut prepared.version);
    prepared.why = format!("{version} fits");
    prepared
}

/// An object as a server keeps it, with what we have applied to it.
fn live(object: &Value) -> Value {
    let mut live = object.clone();
    let fields = json!({ "f:data": { "f:size": {} } });
    live["metadata"]["managedFields"] =
        json!([{ "manager": "helm", "operation": "Apply", "fieldsV1": fields, "time": "then" }]);
    live["metadata"]["resourceVersion"] = json!("1");
    live
}

fn id(object: &Value) -> ObjectId {
    ObjectId::of(object).unwrap()
}

/// A hub, a target, and what is wanted of both.
struct Scene {
    wanted: Wanted,
    recorded: Recorded,
    observed: Observed,
    found: BTreeMap<ObjectId, LiveObject>,
    prepared: Result<RenderedRelease, RenderError>,
    namespace: NamespaceState,
    suspended: bool,
    mask: Mask,
}

impl Scene {
    /// Nothing is installed yet.
    fn empty(wanted: &RenderedRelease) -> Self {
        let artifact = Some(wanted.artifact.clone());
        Self {
            wanted: Wanted {
                present: true,
                suspended: false,
                artifact,
                retry: false,
                takeover: None,
                test: None,
                history: 2,
                health_deadline: HealthDeadline::None,
                keep_namespace: false,
            },
            recorded: Recorded::default(),
            observed: Observed::default(),
            found: BTreeMap::new(),
            prepared: Ok(wanted.clone()),
            namespace: NamespaceState::default(),
            suspended: false,
            mask: Mask::default(),
        }
    }

    /// These objects are installed, as revision 1, and something else is wanted.
    fn installed(objects: &[Value], wanted: &RenderedRelease) -> Self {
        let mut scene = Self::empty(wanted);
        let before = prepared("1.0.0", objects);
        scene.namespace.exists = true;
        scene.recorded = Recorded {
            has_finalizer: true,
            revisions: vec![Revision {
                number: 1,
                action: Action::Install,
                version: "1.0.0".to_owned(),
                definition: Digest::of(""),
                pack: None,
                inputs: None,
                artifact: before.artifact.digest,
                inventory: objects.iter().map(id).collect(),
                hooks: vec![],
                outcome: Some(Outcome::Deployed),
            }],
            ..Recorded::default()
        };
        scene.observed.records.insert(1, RecordStatus::Deployed);
        for object in objects {
            let state = Presence::Applied(Digest::of_value(object));
            scene
                .observed
                .objects
                .insert(id(object), ObjectState { progress: Progress::Healthy, ..ObjectState::fresh(state) });
            scene.found.insert(id(object), LiveObject { live: Some(live(object)), dry_run: None });
        }
        scene
    }

    fn plan(&self) -> Plan {
        plan(&PlanInput {
            wanted: &self.wanted,
            recorded: &self.recorded,
            observed: &self.observed,
            found: &self.found,
            release: RELEASE,
            namespace: &self.namespace,
            from: self.recorded.revisions.last().map(|_| "1.0.0"),
            prepared: self.prepared.as_ref(),
            suspended: self.suspended,
            no_node: false,
            mask: &self.mask,
        })
    }
}

fn said(plan: &Plan) -> Vec<String> {
    plan.writes.iter().map(|write| format!("{:?} {}", write.act, write.object())).collect()
}

#[test]
fn an_install_makes_the_namespace_the_record_and_the_objects() {
    let plan = Scene::empty(&prepared("1.0.0", &[map("a", 1), definition()])).plan();
    assert_eq!((plan.change, plan.revision, plan.to.as_deref()), (Change::Install, Some(1), Some("1.0.0")));
    assert_eq!(plan.why, "1.0.0 fits");
    assert_eq!(
        said(&plan),
        [
            "Create Namespace/shop",
            "Create Secret/shop/sh.helm.release.v1.web.v1",
            "Create CustomResourceDefinition/things.example.com",
            "Create ConfigMap/shop/a",
            "Update Secret/shop/sh.helm.release.v1.web.v1",
        ]
    );
    assert_eq!(plan.writes[3].changes.iter().find(|one| one.path == "data.size").unwrap().to, Some(json!(1)));
    assert_eq!(plan.writes[1].note.as_deref(), Some("Helm's record of revision 1: pending-install"));
    assert!(plan.writes.windows(2).all(|pair| pair[0].stage <= pair[1].stage));
}

#[test]
fn an_upgrade_changes_makes_and_removes_and_leaves_the_rest() {
    let wanted = prepared("2.0.0", &[map("same", 1), map("kept", 2), map("new", 1)]);
    let mut scene = Scene::installed(&[map("same", 1), map("kept", 1), map("old", 1), definition()], &wanted);
    let kept = id(&map("kept", 1));
    scene.found.get_mut(&kept).unwrap().dry_run = Some(Ok(live(&map("kept", 2))));
    let plan = scene.plan();
    assert_eq!((plan.change, plan.from.as_deref(), plan.unchanged), (Change::Upgrade, Some("1.0.0"), 1));
    assert_eq!(
        said(&plan),
        [
            "Create Secret/shop/sh.helm.release.v1.web.v2",
            "Update ConfigMap/shop/kept",
            "Create ConfigMap/shop/new",
            "Delete ConfigMap/shop/old",
            "Update Secret/shop/sh.helm.release.v1.web.v2",
            "Update Secret/shop/sh.helm.release.v1.web.v1",
        ]
    );
    let changes: Vec<&str> = plan.writes[1].changes.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(changes, ["data.size"]);
    let stays = "CustomResourceDefinition/things.example.com stays, with all its custom resources";
    assert_eq!(plan.warnings, [stays]);
}

#[test]
fn where_the_cluster_cannot_tell_our_own_diff_does() {
    let wanted = prepared("2.0.0", &[map("kept", 2)]);
    let mut scene = Scene::installed(&[map("kept", 1)], &wanted);
    scene.found.get_mut(&id(&map("kept", 1))).unwrap().live.as_mut().unwrap()["data"]["theirs"] = json!("x");
    let changes = scene.plan().writes[1].changes.clone();
    assert_eq!(changes.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["data.size"]);
}

#[test]
fn a_refusal_is_told_and_a_secret_in_it_is_not() {
    let wanted = prepared("2.0.0", &[map("kept", 2)]);
    let mut scene = Scene::installed(&[map("kept", 1)], &wanted);
    let kept = id(&map("kept", 1));
    scene.found.get_mut(&kept).unwrap().dry_run = Some(Err("data.size: \"hunter2\" is no number".to_owned()));
    assert_eq!(scene.plan().refusal(), Some("data.size: \"hunter2\" is no number"));
    scene.mask = Mask::default().secrets(&json!("hunter2"));
    assert_eq!(scene.plan().refusal(), Some("the reason is hidden, because it may contain a secret"));
}

#[test]
fn what_somebody_changed_is_repaired() {
    let wanted = prepared("1.0.0", &[map("kept", 1), map("gone", 1)]);
    let mut scene = Scene::installed(&[map("kept", 1), map("gone", 1)], &wanted);
    assert_eq!((scene.plan().change, scene.plan().writes.len(), scene.plan().unchanged), (Change::Nothing, 0, 2));
    scene.observed.objects.get_mut(&id(&map("kept", 1))).unwrap().state = Presence::Changed;
    scene.observed.objects.remove(&id(&map("gone", 1)));
    scene.found.remove(&id(&map("gone", 1)));
    let plan = scene.plan();
    assert_eq!((plan.change, plan.unchanged, plan.revision), (Change::Repair, 0, None));
    assert_eq!(said(&plan), ["Create ConfigMap/shop/gone", "Update ConfigMap/shop/kept"]);
}

#[test]
fn an_uninstall_removes_everything_but_definitions() {
    let wanted = prepared("1.0.0", &[]);
    let mut scene = Scene::installed(&[map("kept", 1), definition()], &wanted);
    scene.wanted.present = false;
    scene.wanted.artifact = None;
    let plan = scene.plan();
    assert_eq!((plan.change, plan.to.as_deref(), plan.warnings.len()), (Change::Uninstall, None, 1));
    assert_eq!(
        said(&plan),
        [
            "Update Secret/shop/sh.helm.release.v1.web.v1",
            "Delete ConfigMap/shop/kept",
            "Delete Secret/shop/sh.helm.release.v1.web.v1",
        ]
    );
}

#[test]
fn uninstall_shows_the_deletion_of_the_namespace_or_what_keeps_it() {
    let object = |kind: &str, name: &str| NamespaceObject {
        id: ObjectId { gvk: Gvk::new("v1", kind), namespace: "shop".to_owned(), name: name.to_owned() },
        has_owner: false,
        is_terminating: false,
    };
    let mut scene = Scene::installed(&[map("kept", 1)], &prepared("1.0.0", &[]));
    scene.wanted.present = false;
    scene.wanted.artifact = None;
    scene.namespace.created_by_hub = true;
    let release = || vec![object("ConfigMap", "kept"), object("Secret", "sh.helm.release.v1.web.v1")];
    scene.namespace.objects = Ok(release());
    let deletion = "Delete Namespace/shop".to_owned();
    assert_eq!(said(&scene.plan()).last(), Some(&deletion));

    let claim = object("PersistentVolumeClaim", "data");
    scene.namespace.objects = Ok([release(), vec![claim]].concat());
    let plan = scene.plan();
    assert!(!said(&plan).contains(&deletion));
    assert!(plan.warnings[0].contains("still contains PersistentVolumeClaim/shop/data"), "{:?}", plan.warnings);

    // A newer record belongs to another client.
    scene.namespace.objects = Ok([release(), vec![object("Secret", "sh.helm.release.v1.web.v2")]].concat());
    scene.observed.records.insert(2, RecordStatus::Deployed);
    assert!(!said(&scene.plan()).contains(&deletion));
    scene.observed.records.remove(&2);

    scene.namespace.objects = Ok(release());
    scene.wanted.keep_namespace = true;
    let plan = scene.plan();
    assert!(!said(&plan).contains(&deletion) && plan.warnings.is_empty());
}

#[test]
fn what_waits_is_shown_with_what_it_waits_for() {
    let mut scene = Scene::empty(&prepared("1.0.0", &[map("a", 1)]));
    scene.suspended = true;
    scene.wanted.suspended = true;
    let plan = scene.plan();
    assert_eq!(plan.waits.as_deref(), Some("the instance is suspended; nothing is written until it is resumed"));
    assert_eq!(plan.writes.len(), 4);
}

#[test]
fn what_stands_in_the_way_leaves_nothing_to_do() {
    let wanted = prepared("1.0.0", &[map("a", 1)]);
    let mut scene = Scene::empty(&wanted);
    let seen = ObjectState::fresh(Presence::Foreign(None));
    scene.observed.objects.insert(id(&map("a", 1)), seen);
    let plan = scene.plan();
    let sentence =
        "ConfigMap/shop/a already exists and belongs to no Helm release; delete it, or install into another namespace";
    assert_eq!(plan.obstacle, Some(Obstacle::Foreign(sentence.to_owned())));
    assert_eq!((plan.change, plan.writes.len(), plan.revision), (Change::Nothing, 0, None));
    scene.prepared = Err(RenderError::Unresolved("none fits".to_owned()));
    scene.wanted.artifact = None;
    assert_eq!(scene.plan().obstacle, Some(Obstacle::Unresolved("none fits".to_owned())));
}

#[test]
fn who_may_see_no_values_sees_which_fields_change() {
    let wanted = prepared("2.0.0", &[map("kept", 2)]);
    let mut scene = Scene::installed(&[map("kept", 1)], &wanted);
    scene.mask = Mask::everything();
    let change = scene.plan().writes[1].changes[0].clone();
    assert_eq!((change.path.as_str(), change.from, change.to), ("data.size", Some(json!(HIDDEN)), Some(json!(HIDDEN))));
}

#[test]
fn what_an_object_holds_is_recognised() {
    let (old, new) = (map("a", 1), map("a", 2));
    let found = |live: Value, dry_run: Option<Value>| LiveObject { live: Some(live), dry_run: dry_run.map(Ok) };
    let digest = |object: &Value| Some(Digest::of_value(object));
    let rows = [
        (found(live(&old), None), Some(&old), Some(&new), digest(&old)),
        (found(live(&new), None), Some(&old), Some(&new), digest(&new)),
        (found(live(&map("a", 3)), None), Some(&old), Some(&new), None),
        // It is written in another way, and the server says that nothing would change.
        (found(live(&map("a", 3)), Some(live(&map("a", 3)))), Some(&old), Some(&old), digest(&old)),
        // Nothing would change, but it was not applied yet.
        (found(live(&map("a", 3)), Some(live(&map("a", 3)))), Some(&old), Some(&new), None),
        (LiveObject::default(), Some(&old), Some(&new), None),
    ];
    for (found, last, wanted, expected) in rows {
        assert_eq!(detect_applied(&found, last, wanted, &Ignored::default()), expected, "{found:?}");
    }
    let mut later = live(&map("a", 3));
    later["metadata"]["managedFields"][0]["time"] = json!("now");
    let found = LiveObject { live: Some(live(&map("a", 3))), dry_run: Some(Ok(later)) };
    assert_eq!(detect_applied(&found, Some(&old), Some(&old), &Ignored::default()), digest(&old));
}
