//! The hub, as its own process and service account, on the cluster that it installs on.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use fitout_api::{Catalog, ExtensionInstance};
use fitout_testkit::{Cluster, Process, copy_tree, start_hub};
use kube::api::{Api, ApiResource, PostParams};
use serde_json::{Value, json};

use crate::measured::{Controllers, Measured};
use crate::sample::values;
use crate::{PODINFO, Stage, client, crowd, fresh, namespace};

const CATALOG: &str = "bench";
pub const ORGANIZATION: &str = "org-local";

pub fn run(stage: &Stage, count: usize, crds: usize) -> Result<Measured> {
    let cluster = start(stage, fresh()?, crds)?;
    let hub = hub(&cluster)?;
    let counted = Controllers::begin(&cluster, vec![hub])?;
    let took = stage.runtime.block_on(install(stage, &cluster, count))?;
    counted.end(took)
}

/// A cluster with so many kinds more, the hub on it, and what it offers.
pub fn start(stage: &Stage, mut cluster: Cluster, crds: usize) -> Result<Cluster> {
    crowd::add(&cluster, crds)?;
    start_hub(&mut cluster, Path::new(env!("CARGO_BIN_EXE_fitout")))?;
    stage.runtime.block_on(offer(stage, &cluster))?;
    Ok(cluster)
}

pub fn hub(cluster: &Cluster) -> Result<&Process> {
    cluster.other("hub").context("the hub is not running")
}

/// Installs releases, and says how long that took.
pub async fn install(stage: &Stage, cluster: &Cluster, count: usize) -> Result<Duration> {
    let client = client::connect(cluster).await?;
    let api = Api::<ExtensionInstance>::namespaced(client.clone(), ORGANIZATION);
    let kind = ApiResource::erase::<ExtensionInstance>(&());
    client::until_ready(&client, &kind, count, |release| want(&api, stage, namespace(release))).await
}

/// As `fitout install` does it.
async fn want(api: &Api<ExtensionInstance>, stage: &Stage, name: String) -> Result<()> {
    let mut spec = json!({
        "cluster": "local", "namespace": name, "extension": { "name": PODINFO, "catalog": CATALOG },
    });
    if !stage.manifests {
        spec["values"] = values();
    }
    let instance = ExtensionInstance::with_finalizer(ORGANIZATION, &name, serde_json::from_value(spec)?);
    api.create(&PostParams::default(), &instance).await?;
    Ok(())
}

/// A catalog with the chart, or with what it renders to.
async fn offer(stage: &Stage, cluster: &Cluster) -> Result<()> {
    let catalog = cluster.sandbox().dir().join("catalog");
    let chart: Value = fitout_go_yaml::documents(&fs::read_to_string(stage.chart.join("Chart.yaml"))?)?
        .pop()
        .context("a chart has a Chart.yaml")?
        .value;
    let version = chart["version"].as_str().context("a chart has a version")?;
    let dir = catalog.join(PODINFO).join(version);
    let engine = if stage.manifests {
        let all: Vec<String> = stage.sample.objects.iter().map(|object| plain(object).to_string()).collect();
        fs::create_dir_all(dir.join("manifests"))?;
        fs::write(dir.join("manifests/all.yaml"), all.join("\n---\n"))?;
        json!({ "manifests": { "path": "manifests" } })
    } else {
        copy_tree(&stage.chart, &dir.join("chart"))?;
        if stage.untested {
            fs::remove_dir_all(dir.join("chart/templates/tests"))?;
        }
        json!({ "helm": { "chart": "chart" } })
    };
    let mut spec = json!({
        "extension": PODINFO, "version": version, "kubernetes": ">=1.33",
        // The cluster has no node, and none is needed for no replicas.
        "bootstrap": true,
    });
    spec.as_object_mut().context("a spec is an object")?.extend(engine.as_object().cloned().unwrap_or_default());
    let definition = json!({
        "apiVersion": "fitout.dev/v1alpha1", "kind": "ExtensionDefinition",
        "metadata": { "name": format!("{PODINFO}-{version}") }, "spec": spec,
    });
    fs::write(dir.join("definition.yaml"), definition.to_string())?;
    let source = json!({
        "apiVersion": "fitout.dev/v1alpha1", "kind": "Catalog", "metadata": { "name": CATALOG },
        "spec": { "source": { "directory": { "path": catalog } } },
    });
    let client = client::connect(cluster).await?;
    let api = Api::<Catalog>::namespaced(client.clone(), "fitout-system");
    api.create(&PostParams::default(), &serde_json::from_value(source)?).await?;
    // Besides the one that comes with Fitout.
    client::soon_ready(&client, &ApiResource::erase::<Catalog>(&()), 2).await
}

/// Without what the hub itself gives an object.
fn plain(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("namespace");
        metadata.remove("annotations");
    }
    object
}
