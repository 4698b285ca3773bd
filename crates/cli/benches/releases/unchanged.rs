//! Changes that change nothing: another value that no template looks at.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use fitout_api::{ExtensionInstance, conditions};
use fitout_testkit::{AuditLog, Call, Calls, Cluster, Spec};
use futures::{StreamExt, try_join};
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, watcher};
use kube::{Client, ResourceExt};
use serde_json::json;

use crate::measured::{Controllers, Measured};
use crate::{Stage, bars, client, fitout, namespace};

/// How often each release is changed, each time that is measured.
const CHANGES: usize = 10;

/// Installs releases, changes each of them over and over, and says how many bars are missed.
pub fn run(stage: &Stage, count: usize, rounds: u8) -> Result<usize> {
    println!("\n{count} releases of podinfo, each changed {CHANGES} times so that the same is rendered");
    let cluster = fitout::start(stage, Cluster::start(Spec::default())?, 0)?;
    let log = cluster.audit().from_now()?;
    stage.runtime.block_on(fitout::install(stage, &cluster, count))?;
    ensure!(!written(&log, count)?.as_slice().is_empty(), "installing wrote nothing to the target");
    let log = cluster.audit().from_now()?;
    let changes = u32::try_from(count * CHANGES)?;
    let mut all = Vec::new();
    for round in 0..usize::from(rounds) {
        let measured = change_all(stage, &cluster, count, round * CHANGES)?;
        let writes = written(&log, count)?;
        ensure!(writes.as_slice().is_empty(), "something was written to the target:\n{writes}");
        let (took, cpu) = (measured.took.as_secs_f64(), measured.cpu.as_secs_f64());
        println!("  {changes} changes in {took:.1} s, {cpu:.2} s of CPU of the hub, nothing written to the target");
        all.push(measured);
    }
    Ok(bars::unchanged(f64::from(changes) / Measured::middle(&all).cpu.as_secs_f64()))
}

/// Changes all releases so often, each time to another number after this one.
fn change_all(stage: &Stage, cluster: &Cluster, count: usize, after: usize) -> Result<Measured> {
    let counted = Controllers::begin(cluster, vec![fitout::hub(cluster)?])?;
    let took = stage.runtime.block_on(async {
        let client = client::connect(cluster).await?;
        let began = Instant::now();
        for number in after + 1..=after + CHANGES {
            let changes = client::for_each(count, |release| change(&client, release, number));
            try_join!(changes, seen(&client, count, number))?;
        }
        anyhow::Ok(began.elapsed())
    })?;
    counted.end(took)
}

/// What the hub wrote to the namespaces of releases, as whom the kubeconfig of the cluster says.
fn written(log: &AuditLog, count: usize) -> Result<Calls> {
    let namespaces: BTreeSet<String> = (0..count).map(namespace).collect();
    let on_target = |call: &Call| call.object_ref.as_ref().is_some_and(|of| namespaces.contains(&of.namespace));
    Ok(log.calls()?.by("kubernetes-admin").writes().only(on_target))
}

async fn change(client: &Client, release: usize, number: usize) -> Result<()> {
    let api = Api::<ExtensionInstance>::namespaced(client.clone(), fitout::ORGANIZATION);
    let patch = Patch::Merge(json!({ "spec": { "values": { "unused": number } } }));
    api.patch(&namespace(release), &PatchParams::default(), &patch).await?;
    Ok(())
}

/// Returns when the hub is done with this change of all.
async fn seen(client: &Client, count: usize, number: usize) -> Result<()> {
    let api = Api::<ExtensionInstance>::namespaced(client.clone(), fitout::ORGANIZATION);
    let mut events = pin!(watcher(api, Config::default()).default_backoff().applied_objects());
    let mut done = BTreeSet::new();
    let all = async {
        while done.len() < count {
            let instance = events.next().await.context("the watch ended")??;
            let asked =
                instance.spec.values.as_ref().is_some_and(|values| values.get("unused") == Some(&json!(number)));
            let ready = instance.status.as_ref().is_some_and(|status| {
                status.observed_generation == instance.metadata.generation
                    && conditions::is_true(&status.conditions, conditions::READY)
            });
            if asked && ready {
                done.insert(instance.name_any());
            }
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(Duration::from_mins(2), all).await.context("not all changes were seen")?
}
