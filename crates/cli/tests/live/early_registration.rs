//! Commands that come right after what they need was made, and before the hub has seen it.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use fitout_testkit::{apply, object, until};
use serde_json::json;

use crate::command::fitout;
use crate::faults::Faults;

/// Machines may be busy: this only says when something is lost.
const LATEST: Duration = Duration::from_mins(2);

#[test]
fn a_cluster_is_added_to_an_organization_that_the_hub_has_not_seen_yet() -> Result<()> {
    let faults = Faults::start(0)?;
    let kubeconfig = faults.hub.kubeconfig();
    let log = faults.hub.audit().from_now()?;
    apply(&faults.hub, &object("fitout.dev/v1alpha1", "Organization", "", "fresh", &json!({ "spec": {} })))?;
    let path = format!("--kubeconfig={}", kubeconfig.display());
    let words = ["cluster", "add", "foo", &path, "--dry-run"];
    let added = thread::scope(|scope| {
        let added = scope.spawn(|| fitout(&kubeconfig, Some("fresh"), &words));
        // Nobody makes its namespace before the command has missed it.
        until("the command has missed the namespace", LATEST, || {
            let missed = log.calls()?.failed().only(|call| call.uri.contains("/namespaces/org-fresh/clusters"));
            ensure!(!missed.as_slice().is_empty(), "not yet");
            Ok(())
        })?;
        let _hub = faults.run_hub("hub")?;
        added.join().unwrap()
    })?;
    assert_eq!(added.err, "waiting for the hub to set up organization fresh\ndry run: nothing was written\n");
    ensure!(added.well().contains("name: foo\n"));
    Ok(())
}
