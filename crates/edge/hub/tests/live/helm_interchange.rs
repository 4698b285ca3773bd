//! Helm and the hub take turns on a release, and neither is in the other's way.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use fitout_testkit::{INSTANCES, Tool, apply, condition, object, until, write_example_chart};
use serde_json::{Value, json};

use crate::world::World;

/// Many releases are on their way at once, and a Deployment is ready when a controller says so.
const LIMIT: Duration = Duration::from_secs(90);

/// Who does a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hand {
    Fitout,
    Helm,
}

/// A release in a namespace of its own.
struct Release<'a> {
    world: &'a World,
    helm: Tool,
    namespace: String,
    spec: Value,
    exists: bool,
}

impl<'a> Release<'a> {
    fn new(world: &'a World, helm: Tool, namespace: &str) -> Self {
        let spec = json!({
            "cluster": "foo", "namespace": namespace, "extension": { "name": "thing", "catalog": "local" },
            "version": "3.x",
        });
        Self { world, helm, namespace: namespace.to_owned(), spec, exists: false }
    }

    fn helm(&self, args: &[&str]) -> Result<String> {
        self.helm.run(&[args, &["--namespace", &self.namespace]].concat())
    }

    fn want(&mut self, spec: &Value) -> Result<()> {
        self.spec.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        self.exists = true;
        let instance = json!({ "spec": self.spec });
        apply(
            &self.world.hub,
            &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", &self.namespace, &instance),
        )
    }

    fn instance(&self) -> Result<Value> {
        self.world.hub.client().get(&format!("{INSTANCES}/{}", self.namespace))
    }

    /// The number and status of each revision, as Helm tells.
    fn history(&self) -> Result<Vec<(u32, String)>> {
        let all: Vec<Value> = serde_json::from_str(&self.helm(&["history", "thing", "--output=json"])?)?;
        let entry = |entry: &Value| {
            Some((u32::try_from(entry["revision"].as_u64()?).ok()?, entry["status"].as_str()?.to_owned()))
        };
        all.iter().map(|found| entry(found).with_context(|| found.to_string())).collect()
    }

    fn newest(&self) -> Result<u32> {
        Ok(self.history()?.last().context("a revision")?.0)
    }

    fn color(&self) -> Result<Value> {
        let path = format!("/api/v1/namespaces/{}/configmaps/thing", self.namespace);
        Ok(self.world.target.client().get(&path)?["data"]["color"].clone())
    }

    /// Waits until what was wanted last was seen, with this reason of a condition.
    fn until(&self, aspect: &str, reason: &str) -> Result<Value> {
        until(&format!("{}: {aspect} {reason}", self.namespace), LIMIT, || {
            let instance = self.instance()?;
            let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
            let found = condition(&instance, aspect);
            if seen && found["reason"] == reason { Ok(instance) } else { Err(anyhow!("{}", instance["status"])) }
        })
    }

    /// Hands the release over before a step.
    fn hand_to(&mut self, hand: Hand) -> Result<()> {
        match hand {
            Hand::Helm if self.exists => {
                self.want(&json!({ "suspend": true }))?;
                self.until("Ready", "Suspended").map(drop)
            }
            Hand::Helm => Ok(()),
            Hand::Fitout => {
                let revision = if self.exists { json!(self.newest()?) } else { Value::Null };
                let mut takeover = json!({ "choice": "Adopt" });
                if !revision.is_null() {
                    takeover["revision"] = revision;
                }
                self.want(&json!({ "suspend": false, "takeover": takeover }))?;
                self.until("Ready", "Installed").map(drop)
            }
        }
    }

    fn gone(&self) -> Result<()> {
        self.world.hub.client().delete(&format!("{INSTANCES}/{}", self.namespace))?;
        until(&format!("{} is gone", self.namespace), LIMIT, || {
            match self.world.hub.client().find(&format!("{INSTANCES}/{}", self.namespace))? {
                None => Ok(()),
                Some(instance) => Err(anyhow!("{}", instance["status"])),
            }
        })
    }
}

/// One life, each step by the one or the other.
fn live(world: &World, chart: &str, hands: [Hand; 4], namespace: &str) -> Result<()> {
    let mut release = Release::new(world, world.target.helm(), namespace);
    let [install, upgrade, rollback, uninstall] = hands;
    match install {
        Hand::Fitout => {
            release.want(&json!({}))?;
            release.until("Ready", "Installed")?;
        }
        Hand::Helm => {
            let options = ["--create-namespace", "--set=color=green"];
            release.helm(&[&["install", "thing", chart][..], &options].concat())?;
        }
    }
    ensure!(release.color()? == "green");
    if upgrade != install {
        release.hand_to(upgrade)?;
    }
    match upgrade {
        Hand::Fitout => {
            release.want(&json!({ "values": { "color": "blue" } }))?;
            release.until("Ready", "Installed")?;
        }
        Hand::Helm => drop(release.helm(&["upgrade", "thing", chart, "--set=color=blue"])?),
    }
    until("it is blue", LIMIT, || if release.color()? == "blue" { Ok(()) } else { Err(anyhow!("not yet")) })?;
    let expected = [(1, "superseded".to_owned()), (2, "deployed".to_owned())];
    until("two revisions", LIMIT, || same(&release.history()?, &expected))?;
    if rollback != upgrade {
        release.hand_to(rollback)?;
        ensure!(release.color()? == "blue", "what the other hand made stays");
    }
    match rollback {
        Hand::Fitout => {
            release.want(&json!({ "rollbackTo": 1 }))?;
            release.until("Ready", "Installed")?;
        }
        Hand::Helm => drop(release.helm(&["rollback", "thing", "1"])?),
    }
    until("it is green again", LIMIT, || if release.color()? == "green" { Ok(()) } else { Err(anyhow!("not yet")) })?;
    let expected = [(1, "superseded".to_owned()), (2, "superseded".to_owned()), (3, "deployed".to_owned())];
    until("three revisions", LIMIT, || same(&release.history()?, &expected))?;
    if uninstall != rollback {
        release.hand_to(uninstall)?;
        ensure!(release.color()? == "green", "what the other hand made stays");
    }
    if uninstall == Hand::Helm {
        release.helm(&["uninstall", "thing", "--wait"])?;
    }
    if release.exists {
        release.gone()?;
    }
    let client = world.target.client();
    for path in ["configmaps/thing", "secrets/password"] {
        let found = client.find(&format!("/api/v1/namespaces/{namespace}/{path}"))?;
        ensure!(found.is_none(), "{path} is left");
    }
    ensure!(release.helm(&["list", "--output=json"])?.trim() == "[]");
    Ok(())
}

fn same(found: &[(u32, String)], expected: &[(u32, String)]) -> Result<()> {
    ensure!(found == expected, "{found:?}");
    Ok(())
}

/// All on one pair of clusters, which cost more than the rest together.
#[test]
fn helm_and_the_hub_take_turns() -> Result<()> {
    let world = World::start_with(false)?;
    write_example_chart(&world.catalog)?;
    world.offer()?;
    let chart = world.catalog.join("thing/3.0.0/chart");
    let chart = chart.to_str().context("a path")?;
    what_another_hand_does_is_told_at_once_and_stays(&world, chart)?;
    releases_of_older_helms_are_adopted_without_touching_a_pod(&world, chart)?;
    each_step_is_done_by_either_hand(&world, chart)
}

fn each_step_is_done_by_either_hand(world: &World, chart: &str) -> Result<()> {
    let log = world.target.audit().from_now()?;
    for number in 0..16_u32 {
        let hand = |bit: u32| if number >> bit & 1 == 0 { Hand::Fitout } else { Hand::Helm };
        let hands = [hand(3), hand(2), hand(1), hand(0)];
        let began = Instant::now();
        live(world, chart, hands, &format!("turn-{number}")).with_context(|| format!("{hands:?}"))?;
        println!("{hands:?}: {:.1} s", began.elapsed().as_secs_f32());
    }
    let failed = log.calls()?.by("kubernetes-admin").writes().failed();
    failed.only(|call| call.verb != "delete").assert_none("no write failed");
    Ok(())
}

fn what_another_hand_does_is_told_at_once_and_stays(world: &World, chart: &str) -> Result<()> {
    let mut release = Release::new(world, world.target.helm(), "shared");
    release.want(&json!({}))?;
    release.until("Ready", "Installed")?;

    // Nobody was asked, and nothing is put back.
    release.helm(&["upgrade", "thing", chart, "--set=color=blue"])?;
    let began = Instant::now();
    let instance = release.until("Applied", "ForeignRevision")?;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(instance["status"]["foreignRevision"], 2);
    assert_eq!(
        condition(&instance, "Ready")["message"],
        "release thing in namespace shared was changed out of band, to revision 2; `fitout adopt` keeps that revision, \
         `fitout reassert` restores the desired one"
    );
    let path = "/api/v1/namespaces/shared/configmaps/thing";
    let theirs = world.target.client().get(path)?;
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(world.target.client().get(path)?["metadata"]["resourceVersion"], theirs["metadata"]["resourceVersion"]);
    assert_eq!(theirs["data"]["color"], "blue");

    // What is wanted here comes back.
    release.want(&json!({ "takeover": { "choice": "Reassert", "revision": 2 } }))?;
    let instance = release.until("Ready", "Installed")?;
    assert_eq!((&instance["status"]["revision"], release.color()?), (&json!(3), json!("green")));

    // Another one is another question; this time it stays.
    release.helm(&["upgrade", "thing", chart, "--set=color=gold"])?;
    release.until("Applied", "ForeignRevision")?;
    let log = world.target.audit().from_now()?;
    release.want(&json!({ "takeover": { "choice": "Adopt", "revision": 4 } }))?;
    let instance = release.until("Ready", "Installed")?;
    assert_eq!((&instance["status"]["revision"], release.color()?), (&json!(4), json!("gold")));
    log.calls()?.by("kubernetes-admin").writes().assert_none("nothing is written to keep it");

    // Somebody removes it: it is not made again before that is wanted.
    release.helm(&["uninstall", "thing", "--wait"])?;
    release.until("Applied", "ForeignRevision")?;
    assert!(world.target.client().find(path)?.is_none());
    release.want(&json!({ "takeover": { "choice": "Reassert", "revision": 4 } }))?;
    release.until("Ready", "Installed")?;
    assert_eq!(release.color()?, "gold");
    release.gone()
}

fn releases_of_older_helms_are_adopted_without_touching_a_pod(world: &World, chart: &str) -> Result<()> {
    let mut release = Release::new(world, world.target.helm3()?, "older");
    release.helm(&["install", "thing", chart, "--create-namespace", "--set=color=green"])?;
    release.helm(&["upgrade", "thing", chart, "--set=color=green,gone=null"])?;
    let path = "/apis/apps/v1/namespaces/older/deployments/thing";
    let before = world.target.client().get(path)?;
    let mark = &before["metadata"]["generation"];

    // It is told before it is taken over.
    release.want(&json!({}))?;
    let taken = until("it is told", LIMIT, || {
        let instance = release.instance()?;
        let ready = condition(&instance, "Ready");
        let told = ready["message"].as_str().is_some_and(|message| message.contains("at revision 2"));
        if told { Ok(instance) } else { Err(anyhow!("{}", instance["status"])) }
    })?;
    assert_eq!(taken["status"]["foreignRevision"], 2);
    release.want(&json!({ "takeover": { "choice": "Adopt" } }))?;
    let instance = release.until("Ready", "Installed")?;
    assert_eq!(instance["status"]["revision"], 2);
    assert_eq!(&world.target.client().get(path)?["metadata"]["generation"], mark, "no pod was touched");

    // From then on it is like any other: what is no longer wanted goes, though Helm 3 wrote it.
    release.want(&json!({ "values": { "gone": null, "extra": false, "color": "blue" } }))?;
    release.until("Ready", "Installed")?;
    let map = world.target.client().get("/api/v1/namespaces/older/configmaps/thing")?;
    assert_eq!((&map["data"]["color"], map["data"].get("extra")), (&json!("blue"), None));
    release.want(&json!({ "rollbackTo": 1 }))?;
    release.until("Ready", "Installed")?;
    let map = world.target.client().get("/api/v1/namespaces/older/configmaps/thing")?;
    assert_eq!((&map["data"]["color"], &map["data"]["gone"]), (&json!("green"), &json!("soon")));
    release.gone()
}
