//! Flux as it is at its fastest: as many releases at once as all others have, no limit on requests, no election, and one
//! chart that all releases share. By default it waits for what it installs to be healthy, as Fitout does.

use std::fs;
use std::path::Path;

use anyhow::Result;
use fitout_testkit::{Cluster, Flux, Process};
use kube::Client;
use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use crate::client::{connect, create, soon_ready, until_ready};
use crate::measured::{Controllers, Measured};
use crate::sample::values;
use crate::{AT_ONCE, PODINFO, Stage, fresh, namespace, shelf};

const SOURCES: &str = "/apis/source.toolkit.fluxcd.io/v1/namespaces/default";

/// What a release that is ready means.
#[derive(Clone, Copy)]
pub enum Ready {
    /// Its objects are healthy.
    Healthy,
    /// Its objects are applied.
    Applied,
}

pub fn run(stage: &Stage, count: usize, means: Ready) -> Result<Measured> {
    let cluster = fresh()?;
    let flux = Flux::get()?;
    for crds in flux.crds() {
        cluster.kubectl().run(&["apply", "--server-side", "--filename", &crds.to_string_lossy()])?;
    }
    // A controller that starts before there is what it watches gives up.
    cluster.kubectl().run(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"])?;
    let repository = shelf::serve(&cluster, &stage.chart)?;
    let address = cluster.address();
    let kept = cluster.sandbox().dir().join("storage");
    fs::create_dir(&kept)?;
    let storage = [
        format!("--storage-path={}", kept.display()),
        format!("--storage-addr={address}:9790"),
        format!("--storage-adv-addr={address}:9790"),
    ];
    let source = launch(&cluster, "source-controller", &flux.source_controller(), 9440, &storage)?;
    let helm = launch(&cluster, "helm-controller", &flux.helm_controller(), 9441, &[])?;
    let client = &stage.runtime.block_on(connect(&cluster))?;
    stage.runtime.block_on(offer(client, &repository))?;
    let counted = Controllers::begin(&cluster, vec![&source, &helm])?;
    let kind = kind("helm.toolkit.fluxcd.io", "v2", "HelmRelease");
    let took =
        stage.runtime.block_on(until_ready(client, &kind, count, |release| want(client, namespace(release), means)))?;
    counted.end(took)
}

fn launch(cluster: &Cluster, name: &str, program: &Path, port: u16, more: &[String]) -> Result<Process> {
    let address = cluster.address();
    let mut command = vec![
        "env".to_owned(),
        format!("KUBECONFIG={}", cluster.kubeconfig().display()),
        "RUNTIME_NAMESPACE=default".to_owned(),
        format!("TMPDIR={}", cluster.sandbox().dir().display()),
        program.to_string_lossy().into_owned(),
        format!("--health-addr={address}:{port}"),
        "--metrics-addr=0".to_owned(),
        format!("--concurrent={AT_ONCE}"),
        "--kube-api-qps=10000".to_owned(),
        "--kube-api-burst=10000".to_owned(),
        "--log-level=error".to_owned(),
    ];
    command.extend_from_slice(more);
    cluster.launch(name, &command)
}

/// The chart, which all releases share.
async fn offer(client: &Client, repository: &str) -> Result<()> {
    let source = |kind: &str, spec: Value| object("source.toolkit.fluxcd.io/v1", kind, &spec);
    let spec = json!({ "interval": "1h", "url": repository });
    create(client, &format!("{SOURCES}/helmrepositories"), &source("HelmRepository", spec)).await?;
    let spec =
        json!({ "interval": "1h", "chart": PODINFO, "sourceRef": { "kind": "HelmRepository", "name": PODINFO } });
    create(client, &format!("{SOURCES}/helmcharts"), &source("HelmChart", spec)).await?;
    soon_ready(client, &kind("source.toolkit.fluxcd.io", "v1", "HelmChart"), 1).await
}

async fn want(client: &Client, namespace: String, means: Ready) -> Result<()> {
    create(client, "/api/v1/namespaces", &json!({ "metadata": { "name": namespace } })).await?;
    let spec = json!({
        "interval": "1h", "values": values(), "install": { "disableWait": matches!(means, Ready::Applied) },
        "chartRef": { "kind": "HelmChart", "name": PODINFO, "namespace": "default" },
    });
    let path = format!("/apis/helm.toolkit.fluxcd.io/v2/namespaces/{namespace}/helmreleases");
    create(client, &path, &object("helm.toolkit.fluxcd.io/v2", "HelmRelease", &spec)).await
}

fn object(api_version: &str, kind: &str, spec: &Value) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": PODINFO }, "spec": spec })
}

fn kind(group: &str, version: &str, kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}
