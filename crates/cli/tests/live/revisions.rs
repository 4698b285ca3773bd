//! Revisions whose instance is gone: which are removed, and which are kept.

use anyhow::{Result, anyhow, ensure};
use fitout_testkit::{Fault, INSTANCES, until};
use serde_json::{Value, json};

use crate::faults::{Faults, LIMIT};

const FLAGS: [&str; 2] = ["--lease=15s", "--content-gc-grace=1s"];

fn revisions(faults: &Faults) -> Result<Vec<String>> {
    let found = faults.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
    let name = |revision: &Value| revision["metadata"]["name"].as_str().unwrap().to_owned();
    Ok(found["items"].as_array().unwrap().iter().map(name).collect())
}

fn until_revisions(faults: &Faults, expected: &[&str]) -> Result<()> {
    until(&format!("the revisions are {expected:?}"), LIMIT, || {
        let found = revisions(faults)?;
        ensure!(found == expected, "{found:?}");
        Ok(())
    })
}

/// Deletes an instance as a DELETE request does that has read it before the hub added the finalizer.
fn vanish(faults: &Faults, name: &str) -> Result<()> {
    let patch = json!({ "metadata": { "finalizers": null } }).to_string();
    let patch = ["patch", "extensioninstance", name, "--namespace=org-acme", "--type=merge", "--patch", &patch];
    faults.hub.kubectl().run(&patch)?;
    faults.hub.client().delete(&format!("{INSTANCES}/{name}"))?;
    ensure!(faults.instance(name)?.is_none(), "a finalizer holds {name}");
    Ok(())
}

#[test]
fn an_unapplied_revision_is_removed_after_its_instance_vanished() -> Result<()> {
    let faults = Faults::start(1)?;
    let _hub = faults.run_hub_with("hub", &FLAGS)?;
    // The release record is refused, so nothing is applied.
    faults.proxies[0].decide(|asked| {
        if asked.method == "POST" && asked.path.contains("/secrets") { Fault::Forbid } else { Fault::Pass }
    });
    faults.want_plain("vanishes", 0, 1)?;
    until_revisions(&faults, &["vanishes.1"])?;
    vanish(&faults, "vanishes")?;
    until_revisions(&faults, &[])
}

#[test]
fn an_applied_revision_is_kept_for_the_next_instance_of_its_name() -> Result<()> {
    let faults = Faults::start(1)?;
    let hub = faults.run_hub_with("hub", &FLAGS)?;
    faults.want_plain("kept", 0, 1)?;
    faults.until_ready("kept", 1, LIMIT)?;
    vanish(&faults, "kept")?;
    until("the hub reports it", LIMIT, || {
        ensure!(hub.tail(30).contains("kept revisions of an instance"), "{}", hub.tail(30));
        Ok(())
    })?;
    assert_eq!(revisions(&faults)?, ["kept.1"]);
    // The log line promises that this removes what the revision installed.
    faults.want_plain("kept", 0, 1)?;
    until("the hub holds the new instance", LIMIT, || {
        let instance = faults.instance("kept")?.ok_or_else(|| anyhow!("it does not exist"))?;
        ensure!(instance["metadata"]["finalizers"].is_array(), "{}", instance["metadata"]);
        Ok(())
    })?;
    faults.hub.client().delete(&format!("{INSTANCES}/kept"))?;
    until_revisions(&faults, &[])?;
    assert_eq!(faults.targets[0].client().find("/api/v1/namespaces/kept/configmaps/plain-0")?, None);
    Ok(())
}

#[test]
fn forgetting_a_cluster_removes_revisions_that_the_cache_lacks() -> Result<()> {
    let mut faults = Faults::start(1)?;
    let _hub = faults.run_hub_with("hub", &FLAGS)?;
    faults.hub_proxy.delay_watches(Some("/extensionrevisions"));
    faults.want_plain("thing", 0, 1)?;
    faults.until_ready("thing", 1, LIMIT)?;
    assert_eq!(revisions(&faults)?, ["thing.1"]);
    faults.targets[0].kill_api_server(0);
    let forget = ["cluster", "remove", "c0", "--forget", "c0", "--organization", "acme"];
    let forgotten = std::process::Command::new(env!("CARGO_BIN_EXE_fitout"))
        .args(forget)
        .env("KUBECONFIG", faults.hub.kubeconfig())
        .output()?;
    ensure!(forgotten.status.success(), "{}", String::from_utf8_lossy(&forgotten.stderr));
    until("the instance is gone", LIMIT, || {
        ensure!(faults.instance("thing")?.is_none(), "it still exists");
        Ok(())
    })?;
    until_revisions(&faults, &[])
}
