//! Every chart of the testbed, installed through the hub and by Helm on two clusters alike: the same objects, field by field,
//! after the install, an upgrade and a rollback; and nothing left after the uninstall but what is kept.
//!
//! `FITOUT_CHART=NAME` takes one chart, `FITOUT_FULL=1` all of them.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use fitout_testkit::{
    AuditLog, Cluster, INSTANCES, Spec, apply, condition, object, pods_cannot_run, sample, skip, until,
};
use serde_json::{Value, json};

use crate::every::another_value::another_value;
use crate::every::kinds::stand_in;
use crate::every::objects::{Place, Places, Written, compare, read, written};
use crate::every::plain_pods::make_pods_plain;
use crate::every::theirs::Theirs;
use crate::every::webhooks::{OUT_OF_THE_WAY, believe, disarm, left_alone};
use crate::world::World;

/// For a change of one chart: images are there, but nodes take their time.
const CHANGE: Duration = Duration::from_mins(3);

/// For controllers to have written what they write.
const SETTLED: Duration = Duration::from_secs(20);

/// Charts that take seconds, of which the suite takes some.
const QUICK: [&str; 10] = [
    "approver-policy",
    "descheduler",
    "flagger",
    "istio-cni",
    "istio-default",
    "istio-egress",
    "istio-gateway",
    "istio-ingress",
    "istio-ztunnel",
    "podinfo",
];

/// Charts that are of no use without the kinds of another.
const NEEDS: [(&str, &str); 3] =
    [("cert-manager-samplewebhook", "cert-manager"), ("flagger-podinfo", "flagger"), ("trust-manager", "cert-manager")];

/// Two clusters, the hub of one of them, and Helm for the other.
struct Pair {
    world: World,
    theirs: Cluster,
}

/// What Helm does not install either.
#[derive(Debug, thiserror::Error)]
#[error("{ours}; Helm: {theirs}")]
struct Refused {
    ours: String,
    theirs: String,
}

/// A chart, and how far it has come.
struct Trial<'a> {
    pair: &'a Pair,
    name: &'a str,
    chart: &'a Path,
    namespace: &'a str,
    theirs: Theirs<'a>,
    times: Vec<String>,
}

#[test]
fn every_chart_installs_as_helm_installs_it() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let world = World::start_with(true)?;
    let charts = chosen(&world)?;
    for (name, chart) in &charts {
        offer(&world.catalog, name, chart)?;
    }
    world.offer()?;
    let pair = Pair { world, theirs: Cluster::start(Spec { node: true, ..Spec::default() })? };
    make_pods_plain(&pair.world.target)?;
    make_pods_plain(&pair.theirs)?;
    let mut wrong = String::new();
    for (name, chart) in &charts {
        let namespace = home(&pair.theirs, name, chart)?;
        let theirs = Theirs::new(&pair.theirs, name, chart, &namespace);
        let mut trial = Trial { pair: &pair, name, chart, namespace: &namespace, theirs, times: vec![] };
        let result = trial.run();
        let times = trial.times.join(", ");
        match result {
            Ok(()) => println!("ok {name}: {times}"),
            Err(error) if error.is::<Refused>() => {
                println!("refused by both {name}: {times}; {error:#}");
                trial.give_up()?;
            }
            Err(error) => {
                println!("WRONG {name}: {times}; {error:#}");
                writeln!(wrong, "{name}: {error:#}")?;
                trial.give_up()?;
            }
        }
    }
    ensure!(wrong.is_empty(), "{wrong}");
    Ok(())
}

/// The charts that Helm renders, or some of them.
fn chosen(world: &World) -> Result<Vec<(String, PathBuf)>> {
    let all = world.target.sandbox().programs().charts()?;
    if let Some(name) = std::env::var_os("FITOUT_CHART") {
        let names: Vec<String> = name.to_string_lossy().split(',').map(str::to_owned).collect();
        let one = |name: String| Ok((name.clone(), all.get(&name).context("no such chart")?.clone()));
        return names.into_iter().map(one).collect();
    }
    let helm = world.target.helm();
    let renders = |(name, chart): &(String, PathBuf)| {
        let chart = chart.to_string_lossy();
        helm.run(&["template", name, &chart, "--namespace", name, "--kube-version=1.36.3"]).is_ok()
    };
    let taken: Vec<(String, PathBuf)> = if fitout_testkit::full() {
        all.into_iter().filter(renders).collect()
    } else {
        sample(all.into_iter().filter(|(name, _)| QUICK.contains(&name.as_str())).collect(), 2)
    };
    ensure!(!taken.is_empty(), "Helm renders none of them");
    Ok(taken)
}

/// What a chart comes to in a namespace.
fn rendered(cluster: &Cluster, name: &str, chart: &Path, namespace: &str) -> Result<Vec<Value>> {
    let (chart, namespace) = (chart.to_string_lossy(), format!("--namespace={namespace}"));
    let words =
        ["template", name, &chart, &namespace, "--kube-version=1.36.3", "--include-crds", "--set=crds.enabled=true"];
    // Some refuse values that they do not know.
    let text = cluster.helm().run(&words).or_else(|_| cluster.helm().run(&words[..6]))?;
    read(&text)
}

/// The namespaces that objects name and do not bring, beside the release's own.
fn elsewhere(objects: &[Value], own: &str) -> BTreeSet<String> {
    let brought =
        |name: &&str| objects.iter().any(|one| one["kind"] == "Namespace" && one["metadata"]["name"] == **name);
    let named = objects.iter().filter_map(|object| object["metadata"]["namespace"].as_str());
    named.filter(|name| *name != own && !brought(name)).map(str::to_owned).collect()
}

/// Where a chart is installed: a namespace of its own name, or the one that it insists on, as istio's does on `istio-system`.
fn home(cluster: &Cluster, name: &str, chart: &Path) -> Result<String> {
    let mut others = elsewhere(&rendered(cluster, name, chart, name)?, name);
    // These are always there, and nobody's home.
    others.retain(|name| !["default", "kube-system"].contains(&name.as_str()));
    Ok(if others.len() == 1 { others.pop_first().unwrap_or_default() } else { name.to_owned() })
}

/// Makes an extension of a chart.
fn offer(catalog: &Path, name: &str, chart: &Path) -> Result<()> {
    let folder = catalog.join(name).join("1.0.0");
    copy(chart, &folder.join("chart"))?;
    let definition = json!({
        "apiVersion": "fitout.dev/v1alpha1", "kind": "ExtensionDefinition", "metadata": { "name": name },
        "spec": { "extension": name, "version": "1.0.0", "helm": { "chart": "chart" } },
    });
    Ok(fs::write(folder.join("definition.yaml"), definition.to_string())?)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if fs::metadata(entry.path())?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::write(target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

impl Trial<'_> {
    fn run(&mut self) -> Result<()> {
        let log = self.pair.world.target.audit().from_now()?;
        let their_log = self.pair.theirs.audit().from_now()?;
        let values = another_value(self.chart, self.name).context("look for another value")?;
        let mut seen = BTreeMap::new();
        self.make_ground()?;

        self.timed("install", |trial| trial.both(&["install", "--create-namespace"], 1, &json!({})))?;
        self.timed("same objects", |trial| trial.same(&mut seen, &[]))?;
        self.disarm()?;
        if let Some(values) = &values {
            self.timed("upgrade", |trial| {
                trial.both(&["upgrade", "--force-conflicts"], 2, &json!({ "values": values }))
            })?;
            self.timed("same objects", |trial| trial.same(&mut seen, &OUT_OF_THE_WAY))?;
            self.disarm()?;
            let back = json!({ "values": values, "rollbackTo": 1 });
            self.timed("rollback", |trial| trial.both(&["rollback", "--force-conflicts"], 3, &back))?;
            self.timed("same objects", |trial| trial.same(&mut seen, &OUT_OF_THE_WAY))?;
            self.disarm()?;
            self.times.push(format!("with {values}"));
        } else {
            self.times.push("no value makes a difference".to_owned());
        }
        self.timed("uninstall", Self::uninstall)?;
        self.nothing_is_left(&seen.into_values().collect::<Vec<_>>())?;
        Self::no_write_failed(&log, &their_log)
    }

    /// What a chart expects to be there: namespaces that it writes to, and kinds that another chart brings.
    fn make_ground(&self) -> Result<()> {
        let objects = rendered(&self.pair.theirs, self.name, self.chart, self.namespace)?;
        let named = elsewhere(&objects, self.namespace);
        for cluster in [&*self.pair.world.target, &self.pair.theirs] {
            for name in &named {
                if cluster.client().find(&format!("/api/v1/namespaces/{name}"))?.is_none() {
                    cluster.client().create("/api/v1/namespaces", &json!({ "metadata": { "name": name } }))?;
                }
            }
            for (_, other) in NEEDS.iter().filter(|(chart, _)| *chart == self.name) {
                let charts = cluster.sandbox().programs().charts()?;
                let objects = rendered(cluster, other, charts.get(*other).context("no such chart")?, other)?;
                let kinds: Vec<Value> =
                    objects.into_iter().filter(|object| object["kind"] == "CustomResourceDefinition").collect();
                ensure!(!kinds.is_empty(), "{other} brings no kinds");
                let list = json!({ "apiVersion": "v1", "kind": "List", "items": kinds });
                cluster.kubectl().run_with_input(&["apply", "--server-side", "--filename=-"], &list.to_string())?;
            }
            stand_in(cluster, &objects)?;
        }
        Ok(())
    }

    fn timed<T>(&mut self, what: &str, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let done = work(self).with_context(|| what.to_owned());
        self.times.push(format!("{what} {:.1} s", began.elapsed().as_secs_f32()));
        done
    }

    /// The same change by Helm and through the hub, side by side.
    fn both(&self, words: &[&str], revision: u32, spec: &Value) -> Result<()> {
        std::thread::scope(|scope| {
            let theirs = scope.spawn(|| self.theirs.change(words, spec.get("values").unwrap_or(&json!({}))));
            let ours = self.want(spec).and_then(|()| self.ready(revision));
            let theirs = theirs.join().map_err(|_| anyhow!("Helm's thread ended"))?;
            match (ours, theirs) {
                (Ok(()), Ok(())) => Ok(()),
                (Ok(()), Err(theirs)) => bail!("Helm alone fails: {theirs:#}"),
                (Err(ours), Ok(())) => bail!("the hub alone fails: {ours:#}"),
                (Err(ours), Err(theirs)) if revision == 1 => {
                    bail!(Refused { ours: format!("{ours:#}"), theirs: format!("{theirs:#}") })
                }
                (Err(ours), Err(theirs)) => bail!("both fail: {ours:#}; Helm: {theirs:#}"),
            }
        })
    }

    fn want(&self, spec: &Value) -> Result<()> {
        let mut whole = json!({
            "cluster": "foo", "namespace": self.namespace, "extension": { "name": self.name, "catalog": "local" },
            "drift": left_alone(),
        });
        whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        let spec = json!({ "spec": whole });
        apply(&self.pair.world.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", self.name, &spec))
    }

    fn instance(&self) -> Result<Option<Value>> {
        self.pair.world.hub.client().find(&format!("{INSTANCES}/{}", self.name))
    }

    fn ready(&self, revision: u32) -> Result<()> {
        until(&format!("revision {revision} is ready"), CHANGE, || {
            let instance = self.instance()?.context("no instance")?;
            let ready = condition(&instance, "Ready");
            let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
            if seen && ready["status"] == "True" && instance["status"]["revision"] == revision {
                return Ok(Ok(()));
            }
            let status = &instance["status"];
            if status["step"]["object"].as_str().is_some_and(|object| object.starts_with("APIService/")) {
                believe(&self.pair.world.target)?;
                believe(&self.pair.theirs)?;
            }
            let said = anyhow!("{} {} {}", ready["message"], status["step"], status["firstUnhealthy"]);
            // What is refused for what it is will not be taken later.
            let refused =
                ready["message"].as_str().is_some_and(|said| said.ends_with("change the definition or the values"));
            if refused { Ok(Err(said)) } else { Err(said) }
        })?
    }

    /// Every object that the release has, or had before, is the same on both.
    fn same(&self, seen: &mut BTreeMap<Place, Written>, unlike: &[(&str, &str)]) -> Result<()> {
        let mut has = BTreeSet::new();
        for written in self.release()? {
            has.insert(written.name.clone());
            let by_chance = seen.get(&written.name).map(|before| before.by_chance.clone()).unwrap_or_default();
            let entry = seen.entry(written.name.clone()).or_insert(written);
            entry.by_chance.extend(by_chance);
        }
        // A definition of custom resources is not taken away with a release that no longer has it; Helm does that.
        let stays =
            |written: &&Written| written.name.kind == "CustomResourceDefinition" && !has.contains(&written.name);
        let release: Vec<Written> = seen.values().filter(|written| !stays(written)).cloned().collect();
        if release.is_empty() {
            // Some charts have nothing without values; then neither has the hub.
            let instance = self.instance()?.context("no instance")?;
            ensure!(instance["status"]["objects"].is_null(), "Helm has nothing, the hub {}", instance["status"]);
        }
        until("both are the same", SETTLED, || {
            let found = compare(&self.pair.world.target, &self.pair.theirs, &release, unlike)?;
            if found.is_empty() {
                Ok(())
            } else {
                Err(anyhow!("{} differences: {}", found.len(), found[..found.len().min(12)].join("\n  ")))
            }
        })
    }

    /// What Helm says that the release has, with what two renderings of it do not have in common.
    fn release(&self) -> Result<Vec<Written>> {
        // Twice, because what is installed may have been looked up.
        let (once, twice) = (read(&self.theirs.again()?)?, read(&self.theirs.again()?)?);
        let by_chance: BTreeMap<_, _> =
            written(&once, &twice, self.namespace).into_iter().map(|written| (written.name.clone(), written)).collect();
        let release = read(&self.theirs.release()?)?;
        Ok(written(&release, &release, self.namespace)
            .into_iter()
            .map(|written| by_chance.get(&written.name).cloned().unwrap_or(written))
            .collect())
    }

    /// Takes webhooks that nobody serves out of the way, which from then on are not compared.
    fn disarm(&self) -> Result<()> {
        disarm(&self.pair.world.target)?;
        disarm(&self.pair.theirs)
    }

    fn uninstall(&self) -> Result<()> {
        std::thread::scope(|scope| {
            let theirs = scope.spawn(|| self.theirs.uninstall());
            self.pair.world.hub.client().delete(&format!("{INSTANCES}/{}", self.name))?;
            until("the instance is gone", CHANGE, || match self.instance()? {
                None => Ok(()),
                Some(instance) => {
                    Err(anyhow!("{} {}", condition(&instance, "Ready")["message"], instance["status"]["step"]))
                }
            })?;
            theirs.join().map_err(|_| anyhow!("Helm's thread ended"))?.context("Helm")
        })
    }

    /// Nothing but definitions of custom resources and what says that it is to stay. Both are then taken away, for the next
    /// chart to find clusters as they were.
    fn nothing_is_left(&mut self, release: &[Written]) -> Result<()> {
        let mut places = Places::of(&self.pair.world.target);
        let mut kept = Vec::new();
        let mut left = Vec::new();
        for written in release {
            if places.find(&written.name)?.is_none() {
                continue;
            }
            let may = written.keep || written.name.kind == "CustomResourceDefinition";
            if may { &mut kept } else { &mut left }.push(written.name.to_string());
        }
        if !kept.is_empty() {
            let definitions = kept.iter().filter(|name| name.starts_with("CustomResourceDefinition/")).count();
            let others: Vec<&String> =
                kept.iter().filter(|name| !name.starts_with("CustomResourceDefinition/")).collect();
            self.times.push(format!("kept: {definitions} definitions {others:?}"));
        }
        self.clear(release)?;
        ensure!(left.is_empty(), "left behind: {left:?}");
        Ok(())
    }

    fn clear(&self, release: &[Written]) -> Result<()> {
        for cluster in [&*self.pair.world.target, &self.pair.theirs] {
            let mut places = Places::of(cluster);
            for written in release {
                if let Some(path) = places.path(&written.name)? {
                    // Whatever comes of it: most are gone.
                    let _ = cluster.client().delete(&path);
                }
            }
            let home = format!("/api/v1/namespaces/{}", self.namespace);
            let _ = cluster.client().delete(&home);
            if self.namespace != self.name {
                // The next chart may insist on it too.
                until(&format!("{home} is gone"), CHANGE, || match cluster.client().find(&home)? {
                    None => Ok(()),
                    Some(found) => Err(anyhow!("{}", found["status"]["conditions"])),
                })?;
            }
            for written in release.iter().filter(|written| written.name.kind == "CustomResourceDefinition") {
                let gone =
                    until(&format!("{} is gone", written.name), SETTLED, || match places.find(&written.name)? {
                        None => Ok(()),
                        Some(found) => Err(anyhow!("{}", found["status"]["conditions"])),
                    });
                // An API server that has only just begun to serve a kind may fail to end it for minutes: the release left it
                // as it should, and no other chart has it.
                if let Err(error) = gone {
                    println!("  {}: {error:#}", self.name);
                }
            }
        }
        Ok(())
    }

    /// Where Helm's writes all go through, so do the hub's.
    fn no_write_failed(ours: &AuditLog, theirs: &AuditLog) -> Result<()> {
        // What this test itself asks does not count.
        let own = |agent: &str| ["kubectl", "kubebox", "ureq"].iter().any(|program| agent.contains(program));
        let failed = |log: &AuditLog| {
            let calls = log.calls()?.by("kubernetes-admin").writes().failed();
            anyhow::Ok(calls.only(|call| !own(&call.user_agent)))
        };
        let (ours, theirs) = (failed(ours)?, failed(theirs)?);
        ensure!(ours.as_slice().is_empty() || !theirs.as_slice().is_empty(), "writes failed:\n{ours}");
        Ok(())
    }

    /// After a failure: both clusters as they were, as well as can be.
    fn give_up(&self) -> Result<()> {
        let release = self.release().unwrap_or_default();
        self.disarm()?;
        if let Err(error) = self.uninstall() {
            println!("  {}: {error:#}", self.name);
        }
        if let Err(error) = self.clear(&release) {
            println!("  {}: {error:#}", self.name);
        }
        Ok(())
    }
}
