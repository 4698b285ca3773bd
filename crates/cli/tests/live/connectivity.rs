//! Clusters and hubs that go silent in the middle of a change.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use fitout_testkit::{Fault, INSTANCES, condition, full, sample, until};
use serde_json::{Value, json};

use crate::faults::{Faults, LIMIT, is_effect};

/// A hub that outlasts the loss of its own API server.
const PATIENT: [&str; 2] = ["--lease=15s", "--content-gc-grace=1s"];

/// How a server is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    Killed,
    Frozen,
}

/// How long it is away: the whole time only where there is time for it.
fn away() -> Duration {
    Duration::from_secs(if full() { 30 } else { 8 })
}

/// Waits until the first writes of the install were seen, and says so while the next one is under way. The namespace, the
/// record and the definition have come by then, and its kind is served: a definition that an API server has only half
/// taken in when it goes is left for minutes by the one that comes.
fn in_the_middle(faults: &Faults) -> Result<()> {
    faults.proxies[0].decide({
        let mut writes = 0;
        move |asked| {
            writes += u32::from(is_effect(asked));
            if writes == 4 && is_effect(asked) { Fault::DropResponse } else { Fault::Pass }
        }
    });
    faults.want("thing", 0, &json!({ "version": "1.x" }))?;
    faults.proxies[0].dropped(LIMIT).ok_or_else(|| anyhow!("the install never began"))?;
    faults.proxies[0].decide(|_| Fault::Pass);
    Ok(())
}

fn lose(how: Loss) -> Result<()> {
    let mut faults = Faults::start(2)?;
    let _hub = faults.run_hub_with("hub", &PATIENT)?;
    faults.want("other", 1, &json!({ "version": "1.x" }))?;
    faults.until_ready("other", 1, LIMIT)?;
    let before = faults.instance("other")?.unwrap();
    in_the_middle(&faults)?;
    match how {
        Loss::Killed => faults.targets[0].kill_api_server(0),
        Loss::Frozen => faults.targets[0].freeze_api_server(0)?,
    }
    let began = Instant::now();
    until("the status names the cluster that is lost", Duration::from_secs(10), || {
        let instance = faults.instance("thing")?.unwrap();
        let message = condition(&instance, "Ready")["message"].as_str().unwrap_or_default().to_owned();
        ensure!(message.starts_with("cluster c0: ") && message.contains("continues when"), "{message}");
        let cluster = faults.hub.client().get("/apis/fitout.dev/v1alpha1/namespaces/org-acme/clusters/c0")?;
        ensure!(condition(&cluster, "Connected")["status"] == "False", "{}", cluster["status"]);
        Ok(())
    })?;
    let named = began.elapsed();
    // Another cluster is not concerned: nothing is said of it, and work goes on there.
    assert_eq!(faults.instance("other")?.unwrap()["status"], before["status"]);
    faults.want("other", 1, &json!({ "version": "2.x" }))?;
    faults.until_ready("other", 2, LIMIT)?;
    std::thread::sleep(away().saturating_sub(began.elapsed()));
    match how {
        Loss::Killed => faults.targets[0].start_api_server(0)?,
        Loss::Frozen => faults.targets[0].thaw_api_server(0)?,
    }
    let took = faults.until_ready("thing", 1, Duration::from_secs(5))?;
    eprintln!(
        "  lost target, {how:?}: named after {:.1} s, done {:.1} s after its return",
        named.as_secs_f32(),
        took.as_secs_f32()
    );
    Ok(())
}

#[test]
fn a_cluster_that_is_lost_is_named_and_its_work_ends_when_it_is_back() -> Result<()> {
    sample(vec![Loss::Killed, Loss::Frozen], 1).into_iter().try_for_each(lose)
}

/// For a moment, one that has only just started knows nobody's rights. That is not what a person is told.
#[test]
fn a_cluster_that_is_back_is_let_come_to_itself() -> Result<()> {
    let faults = Faults::start(1)?;
    let _hub = faults.run_hub_with("hub", &PATIENT)?;
    in_the_middle(&faults)?;
    faults.proxies[0].decide(|_| Fault::Refuse);
    let message = || -> Result<String> {
        let instance = faults.instance("thing")?.unwrap();
        Ok(condition(&instance, "Ready")["message"].as_str().unwrap_or_default().to_owned())
    };
    until("the status names the cluster that is lost", Duration::from_secs(10), || {
        let message = message()?;
        ensure!(message.starts_with("cluster c0: "), "{message}");
        Ok(())
    })?;
    let (asked, asks) = std::sync::mpsc::channel();
    faults.proxies[0].decide(move |request| {
        let _ = asked.send(request.path.clone());
        Fault::Forbid
    });
    std::thread::sleep(Duration::from_secs(2));
    assert!(message()?.starts_with("cluster c0: "), "{}", message()?);
    faults.proxies[0].decide(|_| Fault::Pass);
    faults.until_ready("thing", 1, Duration::from_secs(5))?;
    let asked: Vec<String> = asks.iter().collect();
    assert!(!asked.is_empty() && asked.iter().all(|path| path == "/readyz"), "{asked:?}");
    Ok(())
}

#[test]
fn the_loss_of_a_cluster_unsays_nothing_though_word_of_it_is_late() -> Result<()> {
    let mut faults = Faults::start(1)?;
    let _hub = faults.run_hub_with("hub", &PATIENT)?;
    faults.hub_proxy.decide(|asked| {
        let begins = asked.method == "POST" && asked.path.contains("/extensionrevisions");
        if begins { Fault::DelayWatch("/extensioninstances") } else { Fault::Pass }
    });
    faults.want("thing", 0, &json!({ "version": "1.x" }))?;
    faults.until_ready("thing", 1, LIMIT)?;
    faults.targets[0].kill_api_server(0);
    until("the status names the cluster that is lost", LIMIT, || {
        let instance = faults.instance("thing")?.unwrap();
        let message = condition(&instance, "Ready")["message"].as_str().unwrap_or_default().to_owned();
        ensure!(message.starts_with("cluster c0: "), "{message}");
        // What is installed is still said.
        let said = &instance["status"];
        assert_eq!((&said["revision"], &said["version"]), (&json!(1), &json!("1.0.0")), "{said}");
        Ok(())
    })
}

#[test]
fn the_hubs_own_api_server_may_go_in_the_middle_of_an_install() -> Result<()> {
    let mut faults = Faults::start(1)?;
    // Longer than the slowest machine takes to start an API server: a hub that has lost its lease ends.
    let _hub = faults.run_hub_with("hub", &["--lease=60s", "--content-gc-grace=1s"])?;
    let (begun, begins) = std::sync::mpsc::channel();
    faults.proxies[0].decide(move |asked| {
        if is_effect(asked) {
            let _ = begun.send(());
        }
        Fault::Pass
    });
    faults.want("thing", 0, &json!({ "version": "1.x" }))?;
    begins.recv_timeout(LIMIT)?;
    faults.hub.kill_api_server(0);
    faults.hub.start_api_server(0)?;
    faults.until_ready("thing", 1, LIMIT)?;
    let history = faults.targets[0].helm().run(&["history", "thing", "--namespace=thing", "--output=json"])?;
    assert_eq!(serde_json::from_str::<Vec<Value>>(&history)?.len(), 1);
    Ok(())
}

/// While the hub hears nothing, things come and go, and the store forgets how.
#[test]
fn the_hubs_store_may_forget_what_the_watches_have_not_seen() -> Result<()> {
    let mut faults = Faults::start(1)?;
    let hub = faults.run_hub_with("hub", &["--lease=2m", "--content-gc-grace=1s"])?;
    for name in ["stays", "goes"] {
        faults.want_plain(name, 0, 1)?;
        faults.until_ready(name, 1, LIMIT)?;
    }
    hub.freeze()?;
    // With its connections gone, nothing waits on the way to it.
    faults.hub.kill_api_server(0);
    faults.hub.start_api_server(0)?;
    faults.hub.client().delete(&format!("{INSTANCES}/goes"))?;
    faults.want_plain("stays", 0, 2)?;
    faults.want_plain("comes", 0, 1)?;
    // An API server that has just started knows nothing that its store does not, so the watches cannot go on where they were.
    faults.hub.kill_api_server(0);
    faults.hub.etcd().compact()?;
    faults.hub.start_api_server(0)?;
    let log = faults.hub.audit().from_now()?;
    hub.thaw()?;
    faults.until_ready("stays", 2, LIMIT)?;
    faults.until_ready("comes", 1, LIMIT)?;
    until("what was to go has gone", LIMIT, || {
        ensure!(faults.instance("goes")?.is_none(), "it is still there");
        Ok(())
    })?;
    let relisted = log.calls()?.of("extensioninstances").only(|call| call.verb == "list");
    assert!(!relisted.as_slice().is_empty(), "the watches were never told to begin anew: the test shows nothing");
    assert_eq!(faults.targets[0].client().find("/api/v1/namespaces/goes/configmaps/plain-0")?, None);
    let releases = faults.targets[0].helm().run(&["list", "--all-namespaces", "--output=json"])?;
    let releases: Vec<Value> = serde_json::from_str(&releases)?;
    let shown: Vec<_> = releases.iter().map(|release| (&release["name"], &release["revision"])).collect();
    assert_eq!(shown, [(&json!("comes"), &json!("1")), (&json!("stays"), &json!("2"))]);
    Ok(())
}

#[test]
fn a_frozen_leader_writes_nothing_when_it_thaws() -> Result<()> {
    let faults = Faults::start(1)?;
    let first = faults.run_hub_with("first", &PATIENT)?;
    faults.want("thing", 0, &json!({ "version": "1.x" }))?;
    faults.until_ready("thing", 1, LIMIT)?;
    let second = faults.run_hub_with("second", &PATIENT)?;
    let holder = || -> Result<String> {
        let path = "/apis/coordination.k8s.io/v1/namespaces/fitout-system/leases/fitout-hub";
        Ok(faults.hub.client().get(path)?["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned())
    };
    let leader = holder()?;
    first.freeze()?;
    // What is wanted while nobody leads is done by who comes next.
    faults.want("thing", 0, &json!({ "version": "2.x" }))?;
    let began = Instant::now();
    until("the other takes over", Duration::from_secs(20), || {
        let now = holder()?;
        ensure!(now != leader, "{now} still leads");
        Ok(())
    })?;
    let took = began.elapsed();
    faults.until_ready("thing", 2, LIMIT)?;
    let log = (faults.hub.audit().from_now()?, faults.targets[0].audit().from_now()?);
    first.thaw()?;
    until("the first hub has ended", LIMIT, || {
        ensure!(!std::path::Path::new(&format!("/proc/{}/fd/0", first.id())).exists(), "it runs");
        Ok(())
    })?;
    faults.want("thing", 0, &json!({ "version": "2.x", "values": { "size": 7 } }))?;
    faults.until_ready("thing", 3, LIMIT)?;
    let ours = |call: &fitout_testkit::Call| {
        call.user_agent.contains("kube")
            || call.user.username.contains("fitout-hub")
            || call.user.username.contains("testbed-admin")
    };
    // The one that thaws asks for the lease once more, and that is how it learns.
    let is_lease = |call: &fitout_testkit::Call| call.object_ref.as_ref().is_some_and(|of| of.resource == "leases");
    for log in [log.0, log.1] {
        log.calls()?.writes().failed().only(|call| ours(call) && !is_lease(call)).assert_none("a write failed");
    }
    let revisions = faults.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
    assert_eq!(revisions["items"].as_array().map(Vec::len), Some(3));
    drop(second);
    eprintln!("  lost hub: another took over after {:.1} s", took.as_secs_f32());
    Ok(())
}

/// All that an organization had on its clusters is gone, and so are its objects on the hub.
fn all_gone(faults: &Faults) -> Result<()> {
    for kind in ["extensioninstances", "extensionrevisions", "clusters"] {
        let left = faults.hub.client().get(&format!("/apis/fitout.dev/v1alpha1/namespaces/org-acme/{kind}"))?;
        ensure!(left["items"] == json!([]), "{kind}: {}", left["items"]);
    }
    for target in &faults.targets {
        ensure!(target.client().find("/api/v1/namespaces/thing/configmaps/kept")?.is_none(), "the target is not clean");
        let records = target.client().get("/api/v1/secrets?labelSelector=owner%3Dhelm")?;
        ensure!(records["items"] == json!([]), "{}", records["items"]);
    }
    Ok(())
}

/// The hub has stored nothing.
fn nothing_stored(faults: &Faults) -> Result<()> {
    let secrets = faults.hub.client().get("/api/v1/namespaces/fitout-system/secrets")?;
    ensure!(secrets["items"] == json!([]), "{}", secrets["items"]);
    Ok(())
}

#[test]
fn whatever_is_deleted_ends_and_leaves_the_cluster_clean() -> Result<()> {
    let ways = vec![
        ("the cluster", "/apis/fitout.dev/v1alpha1/namespaces/org-acme/clusters/c0"),
        ("the namespace", "/api/v1/namespaces/org-acme"),
        ("the organization", "/apis/fitout.dev/v1alpha1/organizations/acme"),
    ];
    for (what, path) in sample(ways, 1) {
        let faults = Faults::start(1)?;
        let _hub = faults.run_hub_with("hub", &PATIENT)?;
        faults.want("thing", 0, &json!({ "version": "1.x" }))?;
        faults.until_ready("thing", 1, LIMIT)?;
        faults.hub.client().delete(path)?;
        until(&format!("{what} is deleted and all of it gone"), Duration::from_mins(1), || all_gone(&faults))?;
        // The rest is the catalog's.
        faults.hub.client().delete("/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs/local")?;
        until("nothing is stored", LIMIT, || nothing_stored(&faults))?;
    }
    Ok(())
}

#[test]
fn a_cluster_that_never_comes_back_can_be_forgotten_by_name() -> Result<()> {
    let mut faults = Faults::start(1)?;
    let _hub = faults.run_hub_with("hub", &PATIENT)?;
    faults.want("thing", 0, &json!({ "version": "1.x" }))?;
    faults.until_ready("thing", 1, LIMIT)?;
    faults.targets[0].kill_api_server(0);
    let cluster = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/clusters/c0";
    faults.hub.client().delete(cluster)?;
    until("the instance is being deleted", LIMIT, || {
        let instance = faults.instance("thing")?.ok_or_else(|| anyhow!("it is gone without a word"))?;
        ensure!(!instance["metadata"]["deletionTimestamp"].is_null(), "{}", instance["metadata"]);
        Ok(())
    })?;
    let forget = ["cluster", "remove", "c0", "--forget", "c0", "--organization", "acme"];
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_fitout"))
        .args(forget)
        .env("KUBECONFIG", faults.hub.kubeconfig())
        .output()?;
    ensure!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    until("the cluster is forgotten", LIMIT, || {
        ensure!(faults.hub.client().find(cluster)?.is_none(), "it is still registered");
        ensure!(faults.hub.client().find(&format!("{INSTANCES}/thing"))?.is_none(), "the instance is still there");
        Ok(())
    })
}
