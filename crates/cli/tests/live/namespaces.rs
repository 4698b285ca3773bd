//! The namespace of a release at uninstall.

#![allow(clippy::unwrap_used, reason = "a test")]

use anyhow::{Context, Result, ensure};
use fitout_testkit::{Process, apply, object};
use serde_json::{Value, json};

use crate::command::fitout;
use crate::faults::{Faults, LIMIT};

struct World {
    faults: Faults,
    _hub: Process,
}

impl World {
    fn start() -> Result<Self> {
        let faults = Faults::start(1)?;
        let hub = faults.run_hub("hub")?;
        Ok(Self { faults, _hub: hub })
    }

    /// Installs an instance into a namespace of the same name.
    fn install(&self, name: &str) -> Result<()> {
        self.faults.want_plain(name, 0, 1)?;
        self.faults.until_ready(name, 1, LIMIT)?;
        Ok(())
    }

    /// Uninstalls an instance. Returns what is printed for the user.
    fn uninstall(&self, name: &str, flags: &[&str]) -> Result<String> {
        let words = [&["uninstall", name, "--wait"], flags].concat();
        let ended = fitout(&self.faults.hub.kubeconfig(), Some("acme"), &words)?;
        ensure!(ended.code == 0, "{ended:?}");
        ensure!(self.faults.instance(name)?.is_none(), "{name} is not gone");
        Ok(ended.err)
    }

    fn namespace(&self, name: &str) -> Result<Value> {
        let found = self.faults.targets[0].client().find(&format!("/api/v1/namespaces/{name}"))?;
        found.with_context(|| format!("namespace {name} does not exist"))
    }

    /// Whether a namespace is deleted, or is being deleted.
    fn is_deleted(&self, name: &str) -> bool {
        !self.namespace(name).is_ok_and(|namespace| namespace["metadata"]["deletionTimestamp"].is_null())
    }
}

#[test]
fn uninstall_deletes_the_namespace_that_the_hub_created() -> Result<()> {
    let world = World::start()?;
    world.install("created")?;
    let annotations = world.namespace("created")?["metadata"]["annotations"].take();
    assert_eq!(annotations["fitout.dev/created-for"], "org-acme/created");
    let printed = world.uninstall("created", &[])?;
    ensure!(!printed.contains("note:"), "{printed}");
    ensure!(world.is_deleted("created"), "an empty namespace of the hub is left");

    // A namespace of another creator stays.
    let target = &world.faults.targets[0];
    apply(target, &object("v1", "Namespace", "", "theirs", &json!({})))?;
    world.install("theirs")?;
    world.uninstall("theirs", &[])?;
    ensure!(!world.is_deleted("theirs"), "a namespace of another creator is deleted");

    // The user may keep it.
    world.install("kept")?;
    world.uninstall("kept", &["--keep-namespace"])?;
    ensure!(!world.is_deleted("kept"), "--keep-namespace has no effect");

    // A volume claim keeps it, and is named.
    world.install("used")?;
    let spec =
        json!({ "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } } });
    apply(target, &object("v1", "PersistentVolumeClaim", "used", "data-web-0", &spec))?;
    let printed = world.uninstall("used", &[])?;
    ensure!(!world.is_deleted("used"), "a namespace with a volume claim is deleted");
    let notice =
        "note: namespace used stays, because it still contains PersistentVolumeClaim/used/data-web-0; delete them";
    ensure!(printed.contains(notice), "{printed}");

    // Another instance in the same namespace keeps it; the last one takes it along.
    world.install("shared")?;
    world.faults.want("second", 0, &json!({ "namespace": "shared" }))?;
    world.faults.until_ready("second", 1, LIMIT)?;
    let printed = world.uninstall("shared", &[])?;
    ensure!(printed.contains("note: namespace shared stays"), "{printed}");
    ensure!(!world.is_deleted("shared"), "a namespace with another release is deleted");
    world.uninstall("second", &[])?;
    ensure!(world.is_deleted("shared"), "the last instance leaves the namespace");
    Ok(())
}
