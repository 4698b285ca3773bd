//! Catalogs and extensions on the command line: added, searched, pushed and sideloaded.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;

use anyhow::{Result, ensure};
use fitout_testkit::{INSTANCES, Registry, condition, until};

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

    // What was installed stays when its catalog is removed.
    let install = ["install", "page", "--catalog", "own", "--cluster", "c0", "--version", "1.0.0", "--wait"];
    well(&install)?;
    let removed = well(&["catalog", "remove", "own"])?;
    let expected = "removed catalog own; these instances stay installed, at their versions: c0-page\n";
    assert_eq!(removed, expected);
    let instance = faults.hub.client().get(&format!("{INSTANCES}/c0-page"))?;
    assert_eq!(condition(&instance, "Ready")["status"], "True", "{instance}");

    // Another organization sees neither catalogs nor sideloads of this one.
    well(&["extension", "sideload", &folder.join("page/1.0.0").to_string_lossy()])?;
    until_listed("sideloaded")?;
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
