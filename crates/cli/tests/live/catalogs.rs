//! Catalogs and extensions on the command line: added, searched, pushed and sideloaded.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use fitout_testkit::{INSTANCES, Registry, apply, condition, until};
use serde_json::{Value, json};

use crate::command::{Ended, fitout};
use crate::faults::{Faults, LIMIT};

const DEFINITION: &str = "apiVersion: fitout.dev/v1alpha1
kind: ExtensionDefinition
metadata: { name: page }
spec:
  extension: page
  version: 1.0.0
  summary: A page
  categories: [web]
  manifests: { path: m }
";

#[test]
fn catalogs_are_added_synced_and_removed() -> Result<()> {
    let faults = Faults::start(1)?;
    let _hub = faults.run_hub("hub")?;
    let kubeconfig = faults.hub.kubeconfig();
    let run = |words: &[&str]| fitout(&kubeconfig, Some("acme"), words);
    let well = |words: &[&str]| run(words).map(Ended::well);
    let until_listed = |name: &str| {
        until(&format!("{name} is listed"), LIMIT, || {
            let out = well(&["extension", "list"])?;
            ensure!(out.contains(name), "{out}");
            Ok(())
        })
    };

    // A catalog and a chart go through a real registry.
    let registry = Registry::start()?;
    let folder = faults.hub.sandbox().dir().join("own");
    fs::create_dir_all(folder.join("page/1.0.0/m"))?;
    fs::write(folder.join("page/1.0.0/definition.yaml"), DEFINITION)?;
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: page }\n";
    fs::write(folder.join("page/1.0.0/m/map.yaml"), map)?;
    let address = format!("oci+http://{}/catalog:1", registry.address());
    let path = folder.to_string_lossy().into_owned();
    let pushed = well(&["extension", "push", &path, &address])?;
    assert!(pushed.starts_with("catalog:1 pushed\ndigest sha256:"), "{pushed}");
    let again = well(&["extension", "push", &path, &address])?;
    assert_eq!(again, pushed.replace("pushed", "is there already"));

    let added = well(&["catalog", "add", "own", "--archive", &address, "--wait"])?;
    assert_eq!(added, "added catalog own: 1 extension, 1 version\n");
    until_listed("page")?;
    let found = well(&["extension", "search", "PAGE", "--category", "web"])?;
    assert!(found.contains("page") && found.contains("own") && !found.contains("thing"), "{found}");
    let shown = well(&["extension", "show", "page"])?;
    for part in ["Catalog    own (Organization)", "VERSION", "c0", "1.0.0 is the newest that fits Kubernetes v1.36"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let show = well(&["catalog", "show", "own"])?;
    assert!(show.contains("archive oci+http://") && show.contains("read at revision sha256:"), "{show}");

    // A new version in the source is read at once.
    fs::create_dir_all(folder.join("page/1.1.0"))?;
    fs::write(folder.join("page/1.1.0/definition.yaml"), DEFINITION.replace("1.0.0", "1.1.0"))?;
    well(&["extension", "push", &path, &address])?;
    assert_eq!(well(&["catalog", "sync", "own"])?, "synced catalog own: 1 extension, 2 versions\n");

    let install = ["install", "page", "--catalog", "own", "--cluster", "c0", "--version", "1.0.0", "--wait"];
    well(&install)?;
    withdrawn_versions_are_marked(&faults, &run)?;

    // What was installed stays when its catalog is removed.
    let removed = well(&["catalog", "remove", "own"])?;
    let expected = "removed catalog own; these instances stay installed, at their versions: c0-page\n";
    assert_eq!(removed, expected);
    let instance = faults.hub.client().get(&format!("{INSTANCES}/c0-page"))?;
    assert_eq!(condition(&instance, "Ready")["status"], "True", "{instance}");

    // Another organization sees neither catalogs nor sideloads of this one.
    well(&["extension", "sideload", &folder.join("page/1.0.0").to_string_lossy()])?;
    until_listed("sideloaded")?;
    sideloads_never_change(&faults, &run, &folder.join("page/1.0.0"))?;
    faults.organization("other")?;
    let others = fitout(&kubeconfig, Some("other"), &["extension", "list"])?.well();
    assert!(others.contains("thing") && !others.contains("sideloaded"), "{others}");
    well(&[
        "install",
        "page",
        "--catalog",
        "sideloaded",
        "--name",
        "side",
        "--cluster",
        "c0",
        "--namespace",
        "side",
        "--wait",
    ])?;

    // Wrong input names the remedy.
    let wrong = run(&["catalog", "show", "locl"])?;
    wrong.refused(1, "error: catalog locl not found in the hub\nhint: did you mean local?\n");
    let refused = run(&["catalog", "add", "disk", "--directory", "/etc", "--wait"])?;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("a path on the hub's disk is only for catalogs in fitout-system"), "{refused:?}");
    Ok(())
}

/// Another content of the sideloaded version `page 1.0.0` is refused, and nothing of it is written.
fn sideloads_never_change(faults: &Faults, run: &dyn Fn(&[&str]) -> Result<Ended>, folder: &Path) -> Result<()> {
    let sideload = || run(&["extension", "sideload", &folder.to_string_lossy()]);
    let secret = || faults.hub.client().get("/api/v1/namespaces/org-acme/secrets/page-1.0.0");
    let before = secret()?;
    assert_eq!(before["immutable"], true, "{before}");
    assert_eq!(sideload()?.well(), "page 1.0.0 is sideloaded already\n");
    for (file, text, what) in
        [("m/map.yaml", "summary: other\n", "other files"), ("definition.yaml", "# A comment\n", "another definition")]
    {
        let path = folder.join(file);
        let right = fs::read_to_string(&path)?;
        let wrong = right.replace("A page", "Another page") + text;
        fs::write(&path, wrong)?;
        let expected = format!("error: page 1.0.0 is already sideloaded with {what}\nhint: raise the version\n");
        sideload()?.refused(1, &expected);
        fs::write(&path, right)?;
    }
    // Without the definition, which the API server refuses, there are no files either.
    let policy = |kind: &str, spec: Value| {
        let version = "admissionregistration.k8s.io/v1";
        apply(
            &faults.hub,
            &json!({ "apiVersion": version, "kind": kind, "metadata": { "name": "no-page" }, "spec": spec }),
        )
    };
    let rule = json!({
        "apiGroups": ["fitout.dev"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["extensiondefinitions"],
    });
    let validation = json!({ "expression": "object.metadata.name != 'page-3.0.0'", "message": "no page 3" });
    policy(
        "ValidatingAdmissionPolicy",
        json!({ "matchConstraints": { "resourceRules": [rule] }, "validations": [validation] }),
    )?;
    let binding = json!({ "policyName": "no-page", "validationActions": ["Deny"] });
    policy("ValidatingAdmissionPolicyBinding", binding)?;
    let definition = fs::read_to_string(folder.join("definition.yaml"))?;
    fs::write(folder.join("definition.yaml"), definition.replace("1.0.0", "3.0.0"))?;
    until("the policy holds", LIMIT, || {
        let tried = run(&["extension", "sideload", "--dry-run", &folder.to_string_lossy()])?;
        ensure!(tried.code == 1 && tried.err.contains("no page 3"), "{tried:?}");
        Ok(())
    })?;
    assert_eq!(sideload()?.code, 1);
    fs::write(folder.join("definition.yaml"), definition)?;
    assert!(faults.hub.client().find("/api/v1/namespaces/org-acme/secrets/page-3.0.0")?.is_none());
    assert_eq!(secret()?["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    Ok(())
}

/// The instance `c0-page` requests a version that is withdrawn, so the commands name the version to move to.
fn withdrawn_versions_are_marked(faults: &Faults, run: &dyn Fn(&[&str]) -> Result<Ended>) -> Result<()> {
    let rule = json!({ "extension": "page", "version": "1.0.0", "state": "Withdrawn", "note": "CVE-2026-1" });
    let patch = json!({ "spec": { "states": [rule] } }).to_string();
    let words = ["patch", "catalog", "own", "--namespace=org-acme", "--type=merge", "--patch", &patch];
    faults.hub.kubectl().run(&words)?;
    until("the withdrawal is shown", LIMIT, || {
        let list = run(&["list"])?.well();
        for part in [
            "1.0.0 (withdrawn)",
            "c0-page: 1.0.0 is withdrawn: CVE-2026-1\n  the hub does not move it, because no other version in 1.0.0 fits; \
             `fitout upgrade c0-page --version 1.1.0` moves it\n",
        ] {
            ensure!(list.contains(part), "{part}: {list}");
        }
        Ok(())
    })?;
    let status = run(&["status", "c0-page"])?.well();
    assert!(status.contains("  Withdrawn  1.0.0: CVE-2026-1\n  Move       the hub does not move it"), "{status}");
    let show = run(&["extension", "show", "page"])?.well();
    for part in
        ["  1.0.0 is withdrawn: CVE-2026-1\n", "1.1.0     c0         ✓\n1.0.0     c0         withdrawn: CVE-2026-1\n"]
    {
        assert!(show.contains(part), "{part}: {show}");
    }
    Ok(())
}
