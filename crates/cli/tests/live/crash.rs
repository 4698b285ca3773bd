//! The hub is killed after every write of a change, and comes to the same end.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use fitout_testkit::{INSTANCES, sample, until};
use serde_json::{Value, json};

use crate::faults::{Faults, LIMIT};

#[test]
fn a_hub_that_is_killed_after_every_write_comes_to_the_same_end() -> Result<()> {
    let faults = Faults::start(1)?;
    let target = faults.targets[0].client();
    let log = faults.targets[0].audit().from_now()?;
    let mut written = Vec::new();
    // Which of the four changes it is killed in; the others are done in peace.
    let killed = sample(vec!["install", "upgrade", "rollback", "uninstall"], 1);
    let mut change = |name: &str, done: &dyn Fn() -> Result<bool>| {
        if killed.contains(&name) { faults.drive(&mut written, done) } else { faults.run_until(done) }
    };
    for (revision, name, spec) in [
        (1, "install", json!({ "version": "1.x" })),
        (2, "upgrade", json!({ "version": "2.x" })),
        (3, "rollback", json!({ "rollbackTo": 1 })),
    ] {
        faults.want("thing", 0, &spec)?;
        change(name, &|| faults.is_ready("thing", revision))?;
        let revisions = faults.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
        assert_eq!(revisions["items"].as_array().map(Vec::len), Some(revision as usize));
        let history = faults.targets[0].helm().run(&["history", "thing", "--namespace=thing", "--output=json"])?;
        let history: Vec<Value> = serde_json::from_str(&history)?;
        let statuses: Vec<&str> = history.iter().filter_map(|entry| entry["status"].as_str()).collect();
        assert_eq!(statuses.len(), revision as usize);
        assert_eq!(statuses.last(), Some(&"deployed"));
        assert!(statuses[..statuses.len() - 1].iter().all(|status| *status == "superseded"), "{statuses:?}");
    }
    let maps = target.get("/api/v1/namespaces/thing/configmaps")?;
    let names: Vec<&str> =
        maps["items"].as_array().unwrap().iter().filter_map(|map| map["metadata"]["name"].as_str()).collect();
    assert_eq!(names.into_iter().filter(|name| *name != "kube-root-ca.crt").collect::<Vec<_>>(), ["kept", "old"]);

    faults.hub.client().delete(&format!("{INSTANCES}/thing"))?;
    change("uninstall", &|| Ok(faults.instance("thing")?.is_none()))?;
    assert_eq!(target.get("/api/v1/namespaces/thing/secrets")?["items"], json!([]));
    assert!(target.find("/api/v1/namespaces/thing/configmaps/kept")?.is_none());
    assert!(target.find("/apis/example.com/v1/namespaces/thing/widgets/w")?.is_none());
    let revisions = faults.hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
    assert_eq!(revisions["items"], json!([]));
    let _hub = faults.run_hub("hub")?;
    // The rest is the catalog's.
    faults.hub.kubectl().run(&["delete", "catalogs", "--all", "--all-namespaces"])?;
    until("content is swept up", LIMIT, || {
        let secrets = faults.hub.client().get("/api/v1/namespaces/fitout-system/secrets")?;
        let left =
            secrets["items"].as_array().unwrap().iter().filter(|one| one["type"] == "fitout.dev/content").count();
        ensure!(left == 0, "{left} are left");
        Ok(())
    })?;

    // Nothing was made twice: an object that is made again has another identity, and that takes another creation.
    let created = log.calls()?.writes().only(|call| call.response_status.code == 201);
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for line in created.summary() {
        *times.entry(line).or_default() += 1;
    }
    // The rollback brings one object back that the upgrade had removed.
    let twice: Vec<&String> = times.iter().filter(|(_, count)| **count > 1).map(|(line, _)| line).collect();
    assert!(twice.iter().all(|line| *line == "patch configmaps thing/old"), "{twice:#?}");
    eprintln!("  crash: {} hubs were killed, each after a write of {}", written.len(), killed.join(", "));
    assert!(written.len() >= 4 * killed.len(), "{written:#?}");
    Ok(())
}
