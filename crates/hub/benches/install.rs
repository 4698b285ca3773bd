//! How fast the hub installs: a hundred instances of eight objects each, against a bare loop that sends the same
//! server-side applies and release records with as many requests at once. One API server has it all: the hub's own
//! objects and what is installed.

#![allow(clippy::unwrap_used, reason = "a benchmark")]

#[path = "../tests/world/mod.rs"]
mod world;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use fitout_api::ExtensionInstance;
use fitout_model::ObjectId;
use fitout_plan::{Owner, transform};
use fitout_release::{Chart, Metadata, Release, Stamp, Status, secret};
use fitout_target::{Guard, Target, connect};
use fitout_testkit::until;
use futures::StreamExt;
use kube::api::PostParams;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, watcher};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use time::OffsetDateTime;
use world::{World, object};

const INSTANCES_WANTED: usize = 100;
/// As many as the hub sends at once.
const AT_ONCE: usize = 16;

fn main() -> Result<()> {
    let world = World::start_on_itself()?;
    fs::write(world.catalog.join("thing/1.0.0/m/all.yaml"), manifests())?;
    world.offer()?;
    until("the cluster is connected", Duration::from_secs(30), || {
        let path = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/clusters/foo";
        let version = world.hub.client().get(path)?["status"]["version"].clone();
        if version.is_string() { Ok(()) } else { Err(anyhow!("{version}")) }
    })?;
    // Each once before it counts: connections, caches, code.
    bare(&world, "warm", 5)?;
    ours(&world, "calm", 5)?;
    let before = world.hub.cpu()?;
    let bare = rate(bare(&world, "bare", INSTANCES_WANTED)?);
    let between = world.hub.cpu()?;
    let ours = rate(ours(&world, "ours", INSTANCES_WANTED)?);
    let after = world.hub.cpu()?;
    println!("instances a second, {INSTANCES_WANTED} of 8 objects each");
    println!("  bare loop {bare:>7.1}");
    println!("  fitout    {ours:>7.1}");
    println!("  ratio     {:>7.2}", ours / bare);
    println!("seconds computed           bare  fitout");
    for (name, last) in &after {
        let [first, second, last] = [before[name], between[name], *last].map(|computed| computed.as_secs_f64());
        println!("  {name:24} {:>5.2}  {:>6.2}", second - first, last - second);
    }
    anyhow::ensure!(ours / bare >= 0.6, "the bar is 0.6");
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn rate(took: Duration) -> f64 {
    INSTANCES_WANTED as f64 / took.as_secs_f64()
}

fn manifests() -> String {
    let mut text = String::new();
    for n in 0..4 {
        let _ = write!(text, "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: c{n} }}\ndata: {{ k: v }}\n---\n");
    }
    text + "apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: a }\n---\n\
            apiVersion: v1\nkind: Service\nmetadata: { name: s }\nspec: { selector: { a: b }, ports: [{ port: 80 }] }\n---\n\
            apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: r }\nrules: [{ apiGroups: [''], resources: [pods], verbs: [get] }]\n---\n\
            apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: { name: r }\n\
            roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: r }\nsubjects: [{ kind: ServiceAccount, name: a }]\n"
}

/// What there is no way around: a namespace, a record, eight objects, the record again.
fn bare(world: &World, prefix: &str, count: usize) -> Result<Duration> {
    let kubeconfig = fs::read_to_string(world.target.kubeconfig())?;
    world.runtime.block_on(async {
        let (client, contact) = connect(&kubeconfig, Guard::default()).await?;
        let target = Arc::new(Target::open(client, contact).await?);
        let objects: Vec<Value> =
            fitout_goyaml::documents(&manifests())?.into_iter().map(|document| document.value).collect();
        let began = Instant::now();
        let releases = (0..count).map(|n| {
            let (target, objects, namespace) = (Arc::clone(&target), objects.clone(), format!("{prefix}{n}"));
            async move {
                let owner = Owner { name: "thing", namespace: &namespace };
                let objects =
                    transform(objects, owner, &target.facts().apis).map_err(|problem| anyhow!("{problem}"))?;
                let mut release = record(&namespace, &objects);
                target.make_namespace(&namespace).await?;
                target.create_record(&secret(&release, Stamp::Created(OffsetDateTime::now_utc()))?).await?;
                let ids: Vec<ObjectId> = objects.iter().filter_map(ObjectId::of).collect();
                let applies = ids.iter().zip(&objects).map(|(id, object)| target.apply(id, object));
                for applied in futures::future::join_all(applies).await {
                    applied?;
                }
                release.info.status = Status::Deployed;
                target.replace_record(&secret(&release, Stamp::Modified(OffsetDateTime::now_utc()))?).await?;
                anyhow::Ok(())
            }
        });
        let mut all = futures::stream::iter(releases).buffer_unordered(AT_ONCE);
        while let Some(done) = all.next().await {
            done?;
        }
        Ok(began.elapsed())
    })
}

fn record(namespace: &str, objects: &[Value]) -> Release {
    let metadata =
        Metadata { name: "thing".into(), version: "1.0.0".into(), api_version: "v2".into(), ..Metadata::default() };
    let mut release = Release {
        name: "thing".into(),
        namespace: namespace.into(),
        revision: 1,
        chart: Some(Chart::new(metadata, serde_json::Map::new())),
        manifest: objects.iter().map(fitout_goyaml::to_yaml).collect::<Vec<_>>().join("---\n"),
        ..Release::default()
    };
    release.info.status = Status::PendingInstall;
    release
}

/// From the moment they are wanted until the last one is Ready, as a watch tells.
fn ours(world: &World, prefix: &str, count: usize) -> Result<Duration> {
    let kubeconfig = fs::read_to_string(world.hub.kubeconfig())?;
    world.runtime.block_on(async {
        let api: Api<ExtensionInstance> = Api::namespaced(connect(&kubeconfig, Guard::default()).await?.0, "org-acme");
        let mut events = pin!(watcher(api.clone(), Config::default()).default_backoff().applied_objects());
        let instances = (0..count).map(|n| {
            let (api, name) = (api.clone(), format!("{prefix}{n}"));
            let spec = json!({ "spec": {
                "cluster": "foo", "namespace": name, "version": "1.x", "extension": { "name": "thing", "catalog": "local" },
            } });
            let instance = object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", &name, &spec);
            async move { anyhow::Ok(api.create(&PostParams::default(), &serde_json::from_value(instance)?).await.map(drop)?) }
        });
        let began = Instant::now();
        let mut created = futures::stream::iter(instances).buffer_unordered(AT_ONCE);
        while let Some(done) = created.next().await {
            done?;
        }
        let mut ready = BTreeSet::new();
        while ready.len() < count {
            let instance = events.next().await.context("the watch ended")??;
            let conditions = instance.status.iter().flat_map(|status| &status.conditions);
            let is_ready = conditions.into_iter().any(|found| found.type_ == "Ready" && found.status == "True");
            if is_ready && instance.name_any().starts_with(prefix) {
                ready.insert(instance.name_any());
            }
        }
        Ok(began.elapsed())
    })
}
