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

use crate::measured::Controllers;
use crate::{Stage, bars, client, fitout, namespace};

/// How often each release is changed.
const ROUNDS: usize = 10;

/// Installs releases, changes each of them over and over, and says how many bars are missed.
pub fn run(stage: &Stage, count: usize) -> Result<usize> {
    println!("\n{count} releases of podinfo, each changed {ROUNDS} times so that the same is rendered");
    let cluster = fitout::start(stage, Cluster::start(Spec::default())?, 0)?;
    let log = cluster.audit().from_now()?;
    stage.runtime.block_on(fitout::install(stage, &cluster, count))?;
    let counted = Controllers::begin(&cluster, vec![fitout::hub(&cluster)?])?;
    ensure!(!written(&log, count)?.as_slice().is_empty(), "installing wrote nothing to the target");
    let log = cluster.audit().from_now()?;
    let took = stage.runtime.block_on(async {
        let client = client::connect(&cluster).await?;
        let began = Instant::now();
        for round in 1..=ROUNDS {
            try_join!(client::for_each(count, |release| change(&client, release, round)), seen(&client, count, round))?;
        }
        anyhow::Ok(began.elapsed())
    })?;
    let measured = counted.end(took)?;
    let writes = written(&log, count)?;
    ensure!(writes.as_slice().is_empty(), "something was written to the target:\n{writes}");
    let changes = u32::try_from(count * ROUNDS)?;
    let (took, cpu) = (took.as_secs_f64(), measured.cpu.as_secs_f64());
    println!("  {changes} changes in {took:.1} s, {cpu:.2} s of CPU of the hub, nothing written to the target");
    Ok(bars::unchanged(f64::from(changes) / cpu))
}

/// What the hub wrote to the namespaces of releases.
fn written(log: &AuditLog, count: usize) -> Result<Calls> {
    let namespaces: BTreeSet<String> = (0..count).map(namespace).collect();
    let on_target = |call: &Call| call.object_ref.as_ref().is_some_and(|of| namespaces.contains(&of.namespace));
    Ok(log.calls()?.by("system:serviceaccount:fitout-system:fitout-hub").writes().only(on_target))
}

async fn change(client: &Client, release: usize, round: usize) -> Result<()> {
    let api = Api::<ExtensionInstance>::namespaced(client.clone(), fitout::ORGANIZATION);
    let patch = Patch::Merge(json!({ "spec": { "values": { "unused": round } } }));
    api.patch(&namespace(release), &PatchParams::default(), &patch).await?;
    Ok(())
}

/// Returns when the hub is done with this round of all.
async fn seen(client: &Client, count: usize, round: usize) -> Result<()> {
    let api = Api::<ExtensionInstance>::namespaced(client.clone(), fitout::ORGANIZATION);
    let mut events = pin!(watcher(api, Config::default()).default_backoff().applied_objects());
    let mut done = BTreeSet::new();
    let all = async {
        while done.len() < count {
            let instance = events.next().await.context("the watch ended")??;
            let asked = instance.spec.values.as_ref().is_some_and(|values| values.get("unused") == Some(&json!(round)));
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
