//! What a hub costs while nothing changes, and after much has.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use fitout_testkit::{Calls, Cluster, INSTANCES, Process, apply, condition, full, object, until};
use serde_json::{Value, json};

use crate::faults::{Faults, plain};

const LIMIT: Duration = Duration::from_mins(2);
/// Both measure: neither disturbs the other.
static ALONE: Mutex<()> = Mutex::new(());
/// Who the hub is on its own server.
const HUB: &str = "system:serviceaccount:fitout-system:fitout-hub";
const MEGABYTE: u64 = 1 << 20;

/// How long is looked: the whole minute only where there is time for it.
fn window() -> Duration {
    Duration::from_secs(if full() { 60 } else { 15 })
}

/// Wants so many instances on each cluster, and waits until all are Ready.
fn fill(faults: &Faults, each: usize) -> Result<()> {
    for target in 0..faults.targets.len() {
        let wanted: Vec<Value> = (0..each).map(|n| plain(&format!("p{target}-{n}"), target, 1)).collect();
        apply(&faults.hub, &json!({ "apiVersion": "v1", "kind": "List", "items": wanted }))?;
    }
    until_all_ready(faults, each * faults.targets.len())
}

fn until_all_ready(faults: &Faults, count: usize) -> Result<()> {
    until("all instances are Ready", LIMIT, || {
        let ready = ready(faults)?;
        ensure!(ready == count, "{ready} of {count}");
        Ok(())
    })
}

fn ready(faults: &Faults) -> Result<usize> {
    let listed = faults.hub.client().get(INSTANCES)?;
    let is_ready = |instance: &&Value| condition(instance, "Ready")["status"] == "True";
    Ok(listed["items"].as_array().unwrap().iter().filter(is_ready).count())
}

/// What the hub asked of a server, renewals of its lease and watches aside.
fn asked(calls: Calls) -> Calls {
    calls.only(|call| {
        let lease = call.object_ref.as_ref().is_some_and(|object| object.resource == "leases");
        !lease && call.verb != "watch"
    })
}

/// The servers' logs from now on; what was asked of each, and what the hub computed meanwhile.
struct Look<'a> {
    hub: &'a Process,
    logs: Vec<fitout_testkit::AuditLog>,
    computed: Duration,
    began: Instant,
}

impl<'a> Look<'a> {
    fn begin(faults: &'a Faults, hub: &'a Process) -> Result<Self> {
        let clusters = [&faults.hub].into_iter().chain(&faults.targets);
        let logs = clusters.map(|cluster| cluster.audit().from_now()).collect::<Result<_>>()?;
        Ok(Self { hub, logs, computed: hub.cpu()?, began: Instant::now() })
    }

    /// Says which share of a core the hub took.
    fn end(self, what: &str) -> Result<f64> {
        let took = self.began.elapsed();
        let share = self.hub.cpu()?.saturating_sub(self.computed).as_secs_f64() / took.as_secs_f64();
        for (index, log) in self.logs.iter().enumerate() {
            // The hub's own identity on its own server; on a cluster it is the only one with this token.
            let user = if index == 0 { HUB } else { "system:serviceaccount:kube-system:testbed-admin" };
            let calls = asked(log.calls()?.by(user));
            let writes = calls.clone().writes();
            writes.assert_none(&format!("{what}: writes to server {index}"));
            assert!(calls.as_slice().len() <= 1, "{what}: reads of server {index}: {:#?}", calls.summary());
        }
        eprintln!("  {what}: {:.2} % of a core over {:.0} s", share * 100.0, took.as_secs_f64());
        Ok(share)
    }
}

/// Changes objects that are nobody's business, 200 times a second, until told to stop. Says how often it did.
fn churn(cluster: &Cluster, stop: &AtomicBool) -> Result<u32> {
    const THREADS: u32 = 8;
    const EACH: Duration = Duration::from_millis(1000 * THREADS as u64 / 200);
    apply(cluster, &object("v1", "Namespace", "", "foreign", &json!({})))?;
    let done = AtomicU32::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let done = &done;
            scope.spawn(move || {
                let path = "/api/v1/namespaces/foreign/configmaps";
                let client = cluster.client();
                let mut map = object("v1", "ConfigMap", "foreign", &format!("m{thread}"), &json!({ "data": {} }));
                client.create(path, &map).unwrap();
                let mut next = Instant::now();
                while !stop.load(Ordering::Relaxed) {
                    map["data"]["n"] = done.fetch_add(1, Ordering::Relaxed).to_string().into();
                    client.replace(&format!("{path}/m{thread}"), &map).unwrap();
                    next += EACH;
                    thread::sleep(next.saturating_duration_since(Instant::now()));
                }
            });
        }
    });
    Ok(done.into_inner())
}

#[test]
fn a_hub_with_nothing_to_do_does_nothing() -> Result<()> {
    let _alone = ALONE.lock();
    let faults = Faults::start(1)?;
    let hub = faults.run_hub_with("hub", &["--lease=15s", "--content-gc-grace=1s"])?;
    fill(&faults, 50)?;
    // What is written for those who look later, and swept up, is written by then.
    until("all is written", LIMIT, || {
        let log = faults.hub.audit().from_now()?;
        thread::sleep(Duration::from_secs(3));
        let late = asked(log.calls()?.by(HUB));
        ensure!(late.as_slice().is_empty(), "{:?}", late.summary());
        Ok(())
    })?;
    let look = Look::begin(&faults, &hub)?;
    thread::sleep(window());
    look.end("idle")?;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| -> Result<()> {
        let changing = scope.spawn(|| churn(&faults.targets[0], &stop));
        thread::sleep(Duration::from_secs(1));
        let look = Look::begin(&faults, &hub)?;
        let began = Instant::now();
        thread::sleep(window());
        let share = look.end("beside others");
        stop.store(true, Ordering::Relaxed);
        let changes = changing.join().unwrap()?;
        let rate = f64::from(changes) / (began.elapsed().as_secs_f64() + 1.0);
        eprintln!("  {rate:.0} changes a second to foreign objects");
        // A machine that is busy with other things does not get to 200: what it did is counted as so much less.
        ensure!(rate > if full() { 180.0 } else { 80.0 }, "the foreign objects changed only {rate:.0} times a second");
        let share = share? * 200.0 / rate.min(200.0);
        ensure!(share < 0.02, "{:.2} % of a core", share * 100.0);
        Ok(())
    })
}

#[test]
fn a_hub_stays_small() -> Result<()> {
    let _alone = ALONE.lock();
    let faults = Faults::start(3)?;
    let hub = faults.run_hub_with("hub", &["--lease=15s", "--content-gc-grace=1s"])?;
    fill(&faults, 50)?;
    let start = hub.memory()?;
    eprintln!("  3 clusters, 150 instances: {:.1} MB", megabytes(start));
    assert!(start < 80 * MEGABYTE, "{start} bytes");
    let (rounds, each) = if full() { (20, 100) } else { (2, 50) };
    for round in 0..rounds {
        let names: Vec<String> = (0..each).map(|n| format!("r{round}-{n}")).collect();
        let wanted: Vec<Value> =
            names.iter().enumerate().map(|(n, name)| plain(name, n % faults.targets.len(), 1)).collect();
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": wanted });
        apply(&faults.hub, &list)?;
        until_all_ready(&faults, 150 + each)?;
        faults.hub.kubectl().run_with_input(&["delete", "--wait=false", "--filename=-"], &list.to_string())?;
        until("they are gone", LIMIT, || {
            let left = faults.hub.client().get(INSTANCES)?["items"].as_array().unwrap().len();
            ensure!(left == 150, "{left}");
            Ok(())
        })?;
        eprintln!("  after {} installs and uninstalls: {:.1} MB", (round + 1) * each, megabytes(hub.memory()?));
    }
    let end = hub.memory()?;
    assert!(end <= start + 10 * MEGABYTE, "{end} bytes, {start} at the start");
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / MEGABYTE as f64
}
