//! Addons of plain manifests: each becomes a chart by one command, and goes through a registry onto a cluster with pods.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use fitout_testkit::{Cluster, Image, Registry, Spec, StandIn, paths, pods_cannot_run, skip, start_hub};
use serde_json::Value;

use crate::command::{Ended, fitout};

/// The images of the addons.
const IMAGES: [&str; 2] = ["registry.k8s.io/dns/k8s-dns-node-cache:1.26.4", "registry.example/cloud-controller:v1.4.0"];

const DAEMON_SET: &str = "/apis/apps/v1/namespaces/kube-system/daemonsets/node-dns";
const CONFIG_MAP: &str = "/api/v1/namespaces/kube-system/configmaps/node-dns";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/kube-system/deployments/blue-cloud-controller";

#[test]
fn addons_are_installed_upgraded_and_uninstalled() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let mut cluster = Cluster::start(Spec { node: true, ..Spec::default() })?;
    let node = cluster.node().context("a node")?;
    for image in IMAGES {
        node.import(&Image::stand_in(cluster.sandbox().programs(), image, StandIn::Serves))?;
    }
    start_hub(&mut cluster, Path::new(env!("CARGO_BIN_EXE_fitout")))?;
    let registry = Registry::start()?;
    let address = format!("oci+http://{}/addons", registry.address());
    let run = |words: &[&str]| fitout(&cluster.kubeconfig(), Some("local"), words);
    let well = |words: &[&str]| run(words).map(Ended::well);

    // One command makes a chart of a folder.
    let charts = cluster.sandbox().dir().join("charts");
    let output = charts.to_string_lossy().into_owned();
    let addons = paths::checkout().join("crates/core/authoring/tests/addons");
    let folder = |name: &str| addons.join(name).to_string_lossy().into_owned();
    let dns = ["chart", "from-manifests", &folder("node-dns"), "--config-map", "node-dns", "--output-dir", &output];
    well(&dns)?;
    well(&["chart", "from-manifests", &folder("cloud-controller"), "--output-dir", &output])?;
    let pushed = well(&["chart", "push", &output, &address, "--all"])?;
    ensure!(pushed.contains("node-dns:0.1.0 pushed") && pushed.contains("cloud-controller:1.4.0 pushed"), "{pushed}");

    let add = [
        "catalog",
        "add",
        "addons",
        "--helm",
        &address,
        "--chart",
        "node-dns",
        "--chart",
        "cloud-controller",
        "--wait",
    ];
    ensure!(well(&add)?.contains("2 extensions, 2 versions"), "the charts are not offered");
    for name in ["node-dns", "cloud-controller"] {
        let install = ["install", name, "--catalog", "addons", "--cluster", "local", "--namespace", "kube-system"];
        well(&[&install[..], &["--wait"]].concat())?;
    }
    let get = |path: &str| cluster.client().get(path);
    let file = |map: &Value| map["data"]["Corefile.conf"].as_str().unwrap_or_default().to_owned();
    assert_eq!(file(&get(CONFIG_MAP)?), fs::read_to_string(addons.join("node-dns/Corefile.conf"))?);
    assert_eq!(get(DAEMON_SET)?["status"]["numberReady"], 1);
    assert_eq!(get(DEPLOYMENT)?["status"]["readyReplicas"], 2);

    // A parameter is a value, and a changed file is a new version.
    well(&["upgrade", "local-cloud-controller", "--set", "Replicas=1", "--wait"])?;
    assert_eq!(get(DEPLOYMENT)?["status"]["readyReplicas"], 1);
    let changed = cluster.sandbox().dir().join("node-dns");
    fs::create_dir_all(&changed)?;
    for entry in fs::read_dir(addons.join("node-dns"))? {
        let entry = entry?;
        let text = fs::read_to_string(entry.path())?.replace("cache 30", "cache 60");
        fs::write(changed.join(entry.file_name()), text)?;
    }
    let changed = changed.to_string_lossy().into_owned();
    let version = ["--config-map", "node-dns", "--version", "0.2.0", "--output-dir", &output, "--force"];
    well(&[&["chart", "from-manifests", &changed][..], &version].concat())?;
    well(&["chart", "push", &charts.join("node-dns").to_string_lossy(), &address])?;
    ensure!(well(&["catalog", "sync", "addons"])?.contains("2 extensions, 3 versions"), "0.2.0 is not offered");
    well(&["upgrade", "local-node-dns", "--version", "0.2.0", "--wait"])?;
    ensure!(file(&get(CONFIG_MAP)?).contains("cache 60"), "the file is the old one");

    for name in ["local-node-dns", "local-cloud-controller"] {
        well(&["uninstall", name, "--wait"])?;
    }
    for path in [CONFIG_MAP, DAEMON_SET, DEPLOYMENT] {
        ensure!(cluster.client().find(path)?.is_none(), "{path} is left");
    }
    Ok(())
}
