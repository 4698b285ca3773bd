//! Hooks run as Helm runs them: what the hub writes to one cluster is in the order of what Helm writes to another.
//!
//! `FITOUT_FULL=1` has a hook of each event fail with each set of policies, and hooks that run with each of them.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use fitout_testkit::{
    AuditLog, Call, Cluster, INSTANCES, Image, Spec, StandIn, apply, condition, full, object, pods_cannot_run, skip,
    until,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use serde_json::{Value, json};

use crate::world::World;

/// A change runs a dozen pods one after the other, on a machine that may have other things to do.
const LIMIT: Duration = Duration::from_mins(3);

const IMAGE: &str = "localhost/hook:1";

/// The shortest that the first pause after a failure can be.
const FIRST_PAUSE: Duration = Duration::from_millis(375);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Install,
    Upgrade,
    Rollback,
    Uninstall,
}

use Step::{Install, Rollback, Uninstall, Upgrade};

/// One row of the table: a hook of a chart.
type Row<'a> = (&'a str, &'a str, &'a [&'a str], i32, &'a [&'a str]);

const EVERY: &[&str] = &[
    "pre-install",
    "post-install",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
    "pre-delete",
    "post-delete",
];
const BEFORE: &[&str] = &["pre-install", "pre-upgrade", "pre-rollback", "pre-delete"];

/// All the ways to say when the object of a hook goes.
const POLICIES: [&[&str]; 8] = [
    &[],
    &["before-hook-creation"],
    &["hook-succeeded"],
    &["hook-failed"],
    &["before-hook-creation", "hook-succeeded"],
    &["before-hook-creation", "hook-failed"],
    &["hook-succeeded", "hook-failed"],
    &["before-hook-creation", "hook-succeeded", "hook-failed"],
];

/// Hooks that all succeed: kind, name, events, weight, policies. In an order that is not the one they run in.
const ROWS: &[Row] = &[
    // The same weight and the same name: the kind decides.
    ("Job", "same", &["pre-install", "post-upgrade"], 5, &[]),
    ("ServiceAccount", "same", &["pre-install", "post-upgrade"], 5, &[]),
    ("ConfigMap", "same", &["pre-install", "post-upgrade"], 5, &[]),
    // Weights are numbers, and need not be positive.
    ("ConfigMap", "ten", &["pre-install", "post-install", "post-delete"], 10, &[]),
    ("ServiceAccount", "nine", &["pre-install", "post-install", "post-delete"], 9, &["hook-succeeded"]),
    ("ServiceAccount", "minus-ten", BEFORE, -10, &[]),
    ("ConfigMap", "minus-hundred", BEFORE, -100, &["hook-succeeded"]),
    // What runs. The one that stays is not run again for the other event.
    ("Job", "around", EVERY, 1, &["before-hook-creation", "hook-succeeded"]),
    ("Job", "once", &["pre-install", "post-install"], 2, &["hook-failed"]),
    ("Pod", "pod", &["post-install", "pre-upgrade"], 3, &[]),
    ("Pod", "leaving", &["post-rollback", "pre-delete"], -3, &["hook-succeeded"]),
];

fn hook(row: &Row) -> String {
    let (kind, name, events, weight, policies) = row;
    let mut annotations = format!(r#""helm.sh/hook": "{}", "helm.sh/hook-weight": "{weight}""#, events.join(","));
    if !policies.is_empty() {
        let _ = write!(annotations, r#", "helm.sh/hook-delete-policy": "{}""#, policies.join(","));
    }
    let container = format!(
        r#"{{ restartPolicy: Never, terminationGracePeriodSeconds: 0, containers: [{{ name: run, image: "{IMAGE}", command: [/standin, "$(MODE)"],
    env: [{{ name: MODE, valueFrom: {{ configMapKeyRef: {{ name: switch, key: {} }} }} }}] }}] }}"#,
        if *name == "breaks" { "breaks" } else { "works" }
    );
    let (version, body) = match *kind {
        "Job" => ("batch/v1", format!("spec: {{ backoffLimit: 0, template: {{ spec: {container} }} }}")),
        "Pod" => ("v1", format!("spec: {container}")),
        "ServiceAccount" => ("v1", String::new()),
        _ => ("v1", "data: { round: {{ .Values.round | quote }} }".to_owned()),
    };
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n  annotations: {{ {annotations} }}\n{body}\n"
    )
}

/// A chart of these hooks around some objects, one of which goes with the upgrade.
fn write_chart(catalog: &Path, name: &str, rows: &[Row]) -> Result<()> {
    let folder = catalog.join(name).join("1.0.0");
    let templates = folder.join("chart/templates");
    fs::create_dir_all(&templates)?;
    let definition = format!(
        "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: {name}-1 }}\nspec: {{ extension: {name}, \
         version: 1.0.0, singleton: false, bootstrap: true, helm: {{ chart: chart }} }}\n"
    );
    fs::write(folder.join("definition.yaml"), definition)?;
    fs::write(folder.join("chart/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n"))?;
    fs::write(folder.join("chart/values.yaml"), "round: 1\n")?;
    let map = |name: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata: {{ round: {{{{ .Values.round | quote }}}} }}\n"
        )
    };
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: object, labels: { round: {{ .Values.round | quote }} } }\n\
                rules: [{ apiGroups: [''], resources: [pods], verbs: [get] }]\n";
    let old = format!("{{{{ if eq (int .Values.round) 1 }}}}\n{}{{{{ end }}}}\n", map("object-old"));
    fs::write(templates.join("objects.yaml"), [map("object").as_str(), role, &old].join("---\n"))?;
    for (place, row) in rows.iter().enumerate() {
        fs::write(templates.join(format!("hook-{place:02}.yaml")), hook(row))?;
    }
    Ok(())
}

/// A release on one of the clusters, and what was written for it.
struct Side<'a> {
    cluster: &'a Cluster,
    release: &'a str,
    log: AuditLog,
    told: usize,
}

impl<'a> Side<'a> {
    /// With a namespace in which pods are admitted, and a switch that says whether what may break works.
    fn prepare(cluster: &'a Cluster, release: &'a str) -> Result<Self> {
        apply(cluster, &object("v1", "Namespace", "", release, &json!({})))?;
        let accounts = format!("/api/v1/namespaces/{release}/serviceaccounts/default");
        until("the default service account", LIMIT, || cluster.client().get(&accounts))?;
        let side = Self { cluster, release, log: cluster.audit().from_now()?, told: 0 };
        side.switch("fail")?;
        Ok(side)
    }

    /// Whether what may break works: the word is what the stand-in is told to do, and it knows only one of them.
    fn switch(&self, breaks: &str) -> Result<()> {
        let data = json!({ "data": { "works": "exit", "breaks": breaks } });
        apply(self.cluster, &object("v1", "ConfigMap", self.release, "switch", &data))
    }

    /// Every write for the release, its records among them.
    fn calls(&self) -> Result<Vec<Call>> {
        let calls = self.log.calls()?.by("kubernetes-admin").writes().only(|call| {
            let object = call.object_ref.as_ref();
            let own = object.is_some_and(|object| object.namespace == self.release && object.name != "switch");
            own && call.response_status.code < 300
        });
        Ok(calls.as_slice().to_vec())
    }

    /// What was written since this was asked last, a word for all objects that are no hooks. What is written again as it is,
    /// is not written.
    fn story(&mut self) -> Result<Vec<String>> {
        let mut sent: BTreeMap<String, Option<Value>> = BTreeMap::new();
        let mut lines = Vec::new();
        for call in self.calls()? {
            let object = call.object_ref.unwrap_or_default();
            let what = format!("{} {}", object.resource, object.name);
            if object.resource == "secrets" {
                continue;
            }
            if call.verb == "delete" {
                sent.remove(&what);
            } else if sent.insert(what.clone(), call.request_object.clone()) == Some(call.request_object) {
                continue;
            }
            lines.push(if object.name.starts_with("object") {
                "objects".to_owned()
            } else {
                format!("{} {what}", call.verb)
            });
        }
        let mut news = lines.split_off(self.told.min(lines.len()));
        self.told += news.len();
        news.dedup();
        Ok(news)
    }
}

fn by_helm(side: &Side, catalog: &Path, step: Step) -> Result<String> {
    let chart = catalog.join(side.release).join("1.0.0/chart");
    let (name, chart) = (side.release, chart.to_str().context("a path")?);
    let words: &[&str] = match step {
        Install => &["install", name, chart],
        Upgrade => &["upgrade", name, chart, "--set=round=2"],
        Rollback => &["rollback", name, "1"],
        Uninstall => &["uninstall", name],
    };
    side.cluster.helm().run(&[words, &["--namespace", name]].concat())
}

fn wanted(world: &World, name: &str, step: Step) -> Result<()> {
    let mut spec = json!({
        "cluster": "foo", "namespace": name, "releaseName": name, "version": "1.x",
        "extension": { "name": name, "catalog": "local" },
        "values": { "round": if step == Install { 1 } else { 2 } },
    });
    match step {
        Uninstall => return world.hub.client().delete(&format!("{INSTANCES}/{name}")).map(drop),
        Rollback => spec["rollbackTo"] = 1.into(),
        Install | Upgrade => {}
    }
    apply(&world.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", name, &json!({ "spec": spec })))
}

/// Waits until a step is done.
fn done(world: &World, name: &str, step: Step) -> Result<()> {
    let revision = match step {
        Install => 1,
        Upgrade => 2,
        Rollback | Uninstall => 3,
    };
    until(&format!("{name}: {step:?} is done"), LIMIT, || {
        let instance = match (world.hub.client().find(&format!("{INSTANCES}/{name}"))?, step) {
            (None, Uninstall) => return Ok(()),
            (Some(instance), Install | Upgrade | Rollback) => instance,
            (other, _) => return Err(anyhow!("{other:?}")),
        };
        let status = &instance["status"];
        let seen = status["observedGeneration"] == instance["metadata"]["generation"];
        let ready = condition(&instance, "Ready")["status"] == "True" && status["revision"] == revision;
        if seen && ready { Ok(()) } else { Err(anyhow!("{status}")) }
    })
}

/// Two clusters on which pods run: ours, which is its own hub, and theirs.
fn start() -> Result<(World, Cluster)> {
    let cluster = || Cluster::start(Spec { node: true, ..Spec::default() });
    let (ours, theirs) = thread::scope(|scope| {
        let theirs = scope.spawn(cluster);
        (cluster(), theirs.join().unwrap())
    });
    let (ours, theirs) = (Arc::new(ours?), theirs?);
    for cluster in [&*ours, &theirs] {
        let image = Image::stand_in(cluster.sandbox().programs(), IMAGE, StandIn::Exits);
        cluster.node().context("a node")?.import(&image)?;
    }
    Ok((World::start_on(Arc::clone(&ours), ours)?, theirs))
}

#[test]
fn hooks_run_in_the_order_of_helm() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let (world, theirs) = start()?;
    let named: Vec<(String, Row)> = every_policy();
    let rows = named.iter().map(|(name, row)| (row.0, name.as_str(), row.2, row.3, row.4));
    write_chart(&world.catalog, "life", &rows.rev().chain(ROWS.iter().copied()).collect::<Vec<_>>())?;
    let failing = Failing::cases();
    for case in &failing {
        write_chart(&world.catalog, &case.name, &case.rows())?;
    }
    world.offer()?;
    a_life_is_the_same(&world, &theirs).context("life")?;
    // As many at once as there are events: each has a pod to wait for.
    for some in failing.chunks(EVERY.len()) {
        thread::scope(|scope| {
            let try_one = |case| what_fails_is_all_that_runs_again(&world, &theirs, case);
            let cases: Vec<_> = some.iter().map(|case| (case, scope.spawn(move || try_one(case)))).collect();
            cases.into_iter().try_for_each(|(case, tried)| tried.join().unwrap().context(case.name.clone()))
        })?;
    }
    Ok(())
}

/// Hooks of every event by every set of policies and several weights; with `FITOUT_FULL=1` also such as run.
fn every_policy() -> Vec<(String, Row<'static>)> {
    let kinds: &[(&str, &str)] = if full() { &[("ConfigMap", "map"), ("Job", "job")] } else { &[("ConfigMap", "map")] };
    let mut rows = Vec::new();
    for (kind, word) in kinds {
        for weight in [-1, 0, 7] {
            // One that runs takes seconds, for each event.
            for policies in POLICIES.into_iter().filter(|_| *kind == "ConfigMap" || weight == 0) {
                let name = format!("{word}-{}-{}", weight + 1, policies.join("-"));
                rows.push((name.trim_end_matches('-').to_owned(), (*kind, "", EVERY, weight, policies)));
            }
        }
    }
    rows
}

/// A release one of whose hooks fails.
struct Failing {
    name: String,
    event: &'static str,
    policies: &'static [&'static str],
}

impl Failing {
    /// Each event with one set of policies; with `FITOUT_FULL=1` with each of them.
    fn cases() -> Vec<Self> {
        let mut cases = Vec::new();
        for shift in 0..if full() { POLICIES.len() } else { 1 } {
            for (place, event) in EVERY.iter().enumerate() {
                let policies = POLICIES[(place + shift) % POLICIES.len()];
                cases.push(Self { name: format!("fails-{event}-{shift}"), event, policies });
            }
        }
        cases
    }

    fn rows(&self) -> [Row<'_>; 4] {
        let moment = std::slice::from_ref(&self.event);
        let kind = if self.event.starts_with("pre-") { "Job" } else { "Pod" };
        [
            ("ConfigMap", "after", moment, 1, &[]),
            (kind, "breaks", moment, 0, self.policies),
            ("ServiceAccount", "kept", moment, -1, &[]),
            ("ConfigMap", "before", moment, -2, &["hook-succeeded"]),
        ]
    }

    /// The steps that lead to the event.
    fn steps(&self) -> &'static [Step] {
        match self.event.split_once('-').unwrap_or_default().1 {
            "install" => &[Install],
            "upgrade" => &[Install, Upgrade],
            "rollback" => &[Install, Upgrade, Rollback],
            _ => &[Install, Uninstall],
        }
    }
}

fn a_life_is_the_same(world: &World, theirs: &Cluster) -> Result<()> {
    let (mut ours, mut theirs) = (Side::prepare(&world.target, "life")?, Side::prepare(theirs, "life")?);
    let mut left = 0;
    for step in [Install, Upgrade, Rollback, Uninstall] {
        thread::scope(|scope| {
            let helm = scope.spawn(|| by_helm(&theirs, &world.catalog, step));
            wanted(world, "life", step)?;
            done(world, "life", step)?;
            helm.join().unwrap()
        })?;
        let (mut ours, theirs) = (ours.story()?, theirs.story()?);
        eprintln!("  hooks: {step:?} is {} writes with Helm", theirs.len());
        ensure!(theirs.len() > 20 && theirs.contains(&"objects".to_owned()), "{theirs:#?}");
        if step == Uninstall {
            // Helm leaves hooks behind.
            let more = ours.split_off(theirs.len().min(ours.len()));
            ensure!(more.iter().all(|line| line.starts_with("delete ")), "{more:#?}");
            left = more.len();
        }
        assert_eq!(ours, theirs, "{step:?}");
    }
    let there = |resource: &str, api: &str| -> Result<usize> {
        let all = theirs.cluster.client().get(&format!("{api}/namespaces/life/{resource}"))?;
        Ok(all["items"].as_array().map_or(0, Vec::len))
    };
    // Beside those that Kubernetes and the test have made: an account, the certificate's and the switch's config map.
    let kept = there("configmaps", "/api/v1")? + there("serviceaccounts", "/api/v1")? - 3;
    let ran = there("jobs", "/apis/batch/v1")? + there("pods", "/api/v1")?;
    ensure!(left >= kept && left <= kept + ran && left > 5, "{left} {kept} {ran}");
    Ok(())
}

/// Up to the failure it is the same; then Helm gives up, and we try again what has failed, and no other hook.
fn what_fails_is_all_that_runs_again(world: &World, theirs: &Cluster, case: &Failing) -> Result<()> {
    let (name, steps) = (case.name.as_str(), case.steps());
    let (mut ours, mut theirs) = (Side::prepare(&world.target, name)?, Side::prepare(theirs, name)?);
    let (last, before) = steps.split_last().context("a step")?;
    for step in before {
        by_helm(&theirs, &world.catalog, *step)?;
        wanted(world, name, *step)?;
        done(world, name, *step)?;
        assert_eq!(ours.story()?, theirs.story()?, "{step:?}");
    }
    wanted(world, name, *last)?;
    let refused = by_helm(&theirs, &world.catalog, *last);
    ensure!(refused.is_err(), "Helm did not mind: {refused:?}");
    let pause = until("a second attempt", LIMIT, || {
        let calls = ours.calls()?;
        let written =
            |call: &Call| call.object_ref.as_ref().map(|of| format!("{} {} {}", call.verb, of.resource, of.name));
        pause(&calls).ok_or_else(|| anyhow!("{:#?}", calls.iter().filter_map(written).collect::<Vec<_>>()))
    })?;
    ensure!(pause >= FIRST_PAUSE, "the pause after a failure was {pause:?}");
    ours.switch("exit")?;
    done(world, name, *last)?;
    let (ours, theirs) = (ours.story()?, theirs.story()?);
    ensure!(ours.starts_with(&theirs), "Helm: {theirs:#?}\nours: {ours:#?}");
    let again = &ours[theirs.len()..];
    let at = |line: &str| again.iter().position(|one| one == line);
    let after = at("patch configmaps after").context("what comes after is run in the end")?;
    let failed = |line: &String| line.ends_with(" breaks");
    ensure!(
        again[..after].iter().all(failed) && again.iter().filter(|one| *one == &again[after]).count() == 1,
        "{again:#?}"
    );
    ensure!(!again[after..].iter().any(|line| line.starts_with("patch") && failed(line)), "{again:#?}");
    ensure!(
        !again.iter().any(|line| ["patch configmaps before", "patch serviceaccounts kept"].contains(&line.as_str())),
        "{again:#?}"
    );
    Ok(())
}

/// How long nothing was written between what followed the first failure and the second attempt.
fn pause(calls: &[Call]) -> Option<Duration> {
    let at = |call: &Call| serde_json::from_value::<MicroTime>(json!(call.stage_timestamp)).unwrap().0;
    let is_attempt =
        |call: &Call| call.verb == "patch" && call.object_ref.as_ref().is_some_and(|object| object.name == "breaks");
    let mut attempts = (0..calls.len()).filter(|place| is_attempt(&calls[*place]));
    let (first, second) = attempts.next().zip(attempts.next())?;
    // The first gap is the time that the hook ran.
    let told = &calls[first + 1..=second];
    told.windows(2).map(|two| Duration::try_from(at(&two[1]) - at(&two[0])).unwrap_or_default()).max()
}
