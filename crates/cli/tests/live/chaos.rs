//! Everything goes wrong at once, for as long as there is time for it; then nothing does, and all is as it is wanted.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use fitout_testkit::{Client, Fault, INSTANCES, Process, clock_mover, condition, full, until};
use serde_json::Value;

use crate::faults::{Faults, plain, write_plain};

const CLUSTERS: usize = 3;
const INSTANCES_IN_ALL: usize = 60;
const VERSIONS: [&str; 2] = ["1.0.0", "2.0.0"];

/// How long things go wrong, and how long it may take to put all of it right.
fn duration() -> Duration {
    if full() { Duration::from_mins(10) } else { Duration::from_secs(40) }
}
const LIMIT: Duration = Duration::from_mins(2);

/// A number that looks like chance and comes from the seed alone.
struct Chance(AtomicU64);

impl Chance {
    /// Below this.
    fn below(&self, limit: u64) -> u64 {
        let seed = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn index(&self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).unwrap()
    }

    fn seconds(&self, most: u64) -> Duration {
        Duration::from_millis(300 + self.below(most * 1000))
    }
}

/// Replicas of the hub, each started again when it has ended, as Kubernetes would.
struct Replicas {
    running: Vec<Option<Process>>,
    starts: usize,
    /// What their clocks are off by; none where clocks cannot be moved.
    clock: Option<PathBuf>,
}

impl Replicas {
    fn keep_up(&mut self, faults: &Faults) -> Result<()> {
        for replica in 0..self.running.len() {
            let ended = self.running[replica].as_mut().map_or(Ok(true), Process::has_ended)?;
            if ended {
                self.starts += 1;
                self.running[replica] = Some(self.start(faults, &format!("hub-{replica}-{}", self.starts))?);
            }
        }
        Ok(())
    }

    fn start(&self, faults: &Faults, name: &str) -> Result<Process> {
        let flags = ["--lease=4s", "--content-gc-grace=5s", "--history=3"];
        let Some(clock) = &self.clock else { return faults.run_hub_with(name, &flags) };
        let environment = [
            format!("LD_PRELOAD={}", clock_mover().context("what moves clocks")?.display()),
            format!("FAKETIME_TIMESTAMP_FILE={}", clock.display()),
            // Looked at again with every second, and only what the wall shows is moved.
            "FAKETIME_CACHE_DURATION=1".to_owned(),
            "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
        ];
        faults.run_hub_in(name, &environment, &flags)
    }

    /// Moves the clocks of all replicas.
    fn jump(&self, seconds: i64) -> Result<()> {
        self.clock.as_ref().map_or(Ok(()), |clock| Ok(fs::write(clock, format!("{seconds:+}\n"))?))
    }
}

fn name(number: usize) -> String {
    format!("i{number}")
}

fn wanted(number: usize, version: &str, size: u32) -> Value {
    let mut wanted = plain(&name(number), number % CLUSTERS, size);
    wanted["spec"]["version"] = version.into();
    wanted
}

/// Applies as a person would, whatever is there.
fn apply(client: &Client, object: &Value) -> Result<()> {
    let name = object["metadata"]["name"].as_str().unwrap();
    match client.find(&format!("{INSTANCES}/{name}"))? {
        None => client.create(INSTANCES, object).map(drop),
        Some(mut found) => {
            found["spec"]["values"] = object["spec"]["values"].clone();
            found["spec"]["version"] = object["spec"]["version"].clone();
            client.replace(&format!("{INSTANCES}/{name}"), &found).map(drop)
        }
    }
}

/// Somebody who changes their mind all the time. What fails is not tried again: the next thought is another one.
fn edit(client: &Client, chance: &Chance, stop: &AtomicBool) -> u32 {
    let mut edits = 0;
    while !stop.load(Ordering::Relaxed) {
        let number = chance.index(INSTANCES_IN_ALL);
        let done = if chance.below(10) == 0 {
            client.delete(&format!("{INSTANCES}/{}", name(number))).map(drop)
        } else {
            let size = u32::try_from(chance.below(9)).unwrap();
            apply(client, &wanted(number, VERSIONS[chance.index(2)], size))
        };
        edits += u32::from(done.is_ok());
        thread::sleep(Duration::from_millis(100));
    }
    edits
}

/// Somebody who deletes and changes objects on a cluster by hand.
fn meddle(client: &Client, chance: &Chance, cluster: usize) {
    let number = cluster + CLUSTERS * chance.index(INSTANCES_IN_ALL / CLUSTERS);
    let path = format!("/api/v1/namespaces/{}/configmaps/plain-{}", name(number), chance.below(3));
    if chance.below(2) == 0 {
        let _ = client.delete(&path);
    } else if let Ok(Some(mut map)) = client.find(&path) {
        map["data"]["size"] = "by hand".into();
        let _ = client.replace(&path, &map);
    }
}

/// One thing that goes wrong. Says which.
fn go_wrong(faults: &mut Faults, replicas: &mut Replicas, chance: &Chance) -> Result<&'static str> {
    let (cluster, replica) = (chance.index(CLUSTERS), chance.index(2));
    Ok(match chance.below(9) {
        0 => {
            replicas.running[replica] = None;
            "a hub is killed"
        }
        1 => {
            let hub = replicas.running[replica].as_ref().context("a hub")?;
            hub.freeze()?;
            // Sometimes longer than its lease.
            thread::sleep(chance.seconds(7));
            hub.thaw()?;
            "a hub is frozen"
        }
        2 => {
            faults.targets[cluster].kill_api_server(0);
            thread::sleep(chance.seconds(3));
            faults.targets[cluster].start_api_server(0)?;
            "a cluster's API server is killed"
        }
        3 => {
            faults.targets[cluster].freeze_api_server(0)?;
            thread::sleep(chance.seconds(7));
            faults.targets[cluster].thaw_api_server(0)?;
            "a cluster's API server is frozen"
        }
        4 => {
            faults.hub.kill_api_server(0);
            faults.hub.start_api_server(0)?;
            "the hub's API server is killed"
        }
        5 => {
            faults.hub.etcd().compact()?;
            "the hub's store forgets"
        }
        6 => {
            replicas.jump(i64::try_from(chance.below(7200))? - 3600)?;
            "clocks jump"
        }
        _ => {
            for _ in 0..5 {
                meddle(faults.targets[cluster].client(), chance, cluster);
            }
            "objects are deleted and changed"
        }
    })
}

#[test]
fn whatever_goes_wrong_all_ends_as_it_is_wanted() -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let seed = std::env::var("FITOUT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(now);
    eprintln!("  seed {seed}");
    let chance = Chance(AtomicU64::new(seed));
    let mut faults = Faults::start(CLUSTERS)?;
    write_plain(&faults.hub.sandbox().dir().join("catalog"), VERSIONS[1], [0, 2])?;
    let clock = clock_mover().map(|_| faults.hub.sandbox().dir().join("clock"));
    let mut replicas = Replicas { running: vec![None, None], starts: 0, clock };
    if replicas.clock.is_none() {
        eprintln!("  clocks do not jump: this machine has no libfaketime");
    }
    replicas.jump(0)?;
    replicas.keep_up(&faults)?;
    for (index, proxy) in faults.proxies.iter().chain([&faults.hub_proxy]).enumerate() {
        let chance = Chance(AtomicU64::new(seed + 1 + index as u64));
        // One call in twenty fails: mostly it never arrives, sometimes the answer is lost, or is not true.
        proxy.decide(move |asked| match chance.below(200) {
            0..7 => Fault::Refuse,
            7..9 if asked.writes() => Fault::LieAboutFailure,
            9 => Fault::DropResponse,
            _ => Fault::Pass,
        });
    }
    let stop = AtomicBool::new(false);
    let editor = faults.hub.client().clone();
    let mut wrongs: BTreeMap<&str, u32> = BTreeMap::new();
    let edits = thread::scope(|scope| -> Result<u32> {
        let editing = scope.spawn(|| edit(&editor, &chance, &stop));
        let end = Instant::now() + duration();
        let went = (|| {
            while Instant::now() < end {
                *wrongs.entry(go_wrong(&mut faults, &mut replicas, &chance)?).or_default() += 1;
                thread::sleep(chance.seconds(2));
                replicas.keep_up(&faults)?;
            }
            Ok(())
        })();
        stop.store(true, Ordering::Relaxed);
        let edits = editing.join().unwrap();
        went.map(|()| edits)
    })?;
    eprintln!("  {edits} edits, {} starts of a hub, {wrongs:?}", replicas.starts);
    faults.let_pass();
    replicas.jump(0)?;
    ends_as_wanted(&faults, &mut replicas, &chance)
}

/// What is wanted in the end: of each instance its version and size, or that it is gone.
fn ends_as_wanted(faults: &Faults, replicas: &mut Replicas, chance: &Chance) -> Result<()> {
    let mut last: BTreeMap<usize, (usize, u32)> = BTreeMap::new();
    let client = faults.hub.client();
    for number in 0..INSTANCES_IN_ALL {
        let (version, size) = (chance.index(2), u32::try_from(chance.below(9))?);
        let gone = chance.below(4) == 0;
        until("the last word", LIMIT, || {
            if gone {
                return client
                    .find(&format!("{INSTANCES}/{}", name(number)))?
                    .map_or(Ok(()), |_| client.delete(&format!("{INSTANCES}/{}", name(number))).map(drop));
            }
            // One that is going cannot be had back: it has to be gone first.
            let found = client.find(&format!("{INSTANCES}/{}", name(number)))?;
            ensure!(found.is_none_or(|found| found["metadata"]["deletionTimestamp"].is_null()), "it is still going");
            apply(client, &wanted(number, VERSIONS[version], size))
        })?;
        if !gone {
            last.insert(number, (version, size));
        }
    }
    let began = Instant::now();
    until("everything is as it is wanted", LIMIT, || {
        replicas.keep_up(faults)?;
        on_the_hub(faults, &last)?;
        (0..CLUSTERS).try_for_each(|cluster| on_a_cluster(faults, cluster, &last))
    })?;
    eprintln!("  all is as it is wanted {:.1} s after the last word", began.elapsed().as_secs_f32());
    Ok(())
}

fn on_the_hub(faults: &Faults, last: &BTreeMap<usize, (usize, u32)>) -> Result<()> {
    let listed = faults.hub.client().get(INSTANCES)?;
    let listed = listed["items"].as_array().unwrap();
    ensure!(listed.len() == last.len(), "{} instances instead of {}", listed.len(), last.len());
    for instance in listed {
        let ready = condition(instance, "Ready");
        let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
        ensure!(seen && ready["status"] == "True", "{}: {}", instance["metadata"]["name"], ready["message"]);
    }
    let revisions = faults.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    for revision in revisions["items"].as_array().unwrap() {
        *kept.entry(revision["spec"]["instance"].as_str().unwrap()).or_default() += 1;
    }
    let names: BTreeSet<String> = last.keys().map(|number| name(*number)).collect();
    ensure!(kept.keys().all(|kept| names.contains(*kept)), "revisions of nobody's: {kept:?}");
    ensure!(kept.values().all(|count| (1..=4).contains(count)), "revisions: {kept:?}");
    Ok(())
}

fn on_a_cluster(faults: &Faults, cluster: usize, last: &BTreeMap<usize, (usize, u32)>) -> Result<()> {
    let client = faults.targets[cluster].client();
    let ours = "labelSelector=app.kubernetes.io/managed-by%3DHelm";
    let found = client.get(&format!("/api/v1/configmaps?{ours}"))?;
    let found: BTreeMap<String, String> = found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|map| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (
                format!("{}/{}", text(&map["metadata"]["namespace"]), text(&map["metadata"]["name"])),
                text(&map["data"]["size"]),
            )
        })
        .collect();
    let here = last.iter().filter(|(number, _)| *number % CLUSTERS == cluster);
    let wanted: BTreeMap<String, String> = here
        .clone()
        .flat_map(|(number, (version, size))| {
            [0, version + 1].map(|map| (format!("{}/plain-{map}", name(*number)), format!("x{size}")))
        })
        .collect();
    ensure!(found == wanted, "cluster {cluster}: {found:?} instead of {wanted:?}");
    let accounts = client.get(&format!("/api/v1/serviceaccounts?{ours}"))?["items"].as_array().unwrap().len();
    ensure!(accounts == here.clone().count(), "cluster {cluster}: {accounts} accounts");
    // Of each release one record says that it is deployed, and none that anything is under way.
    let records = client.get("/api/v1/secrets?labelSelector=owner%3Dhelm")?;
    let mut deployed = BTreeSet::new();
    for record in records["items"].as_array().unwrap() {
        let labels = &record["metadata"]["labels"];
        let release = labels["name"].as_str().unwrap_or_default().to_owned();
        match labels["status"].as_str() {
            Some("superseded") => {}
            Some("deployed") => ensure!(deployed.insert(release), "cluster {cluster}: {labels} again"),
            _ => bail!("cluster {cluster}: {labels}"),
        }
    }
    let expected: BTreeSet<String> = here.map(|(number, _)| name(*number)).collect();
    ensure!(deployed == expected, "cluster {cluster}: releases {deployed:?} instead of {expected:?}");
    let listed = faults.targets[cluster].helm().run(&["list", "--all-namespaces", "--short"])?;
    ensure!(listed.lines().count() == expected.len(), "cluster {cluster}: helm lists {listed}");
    Ok(())
}
