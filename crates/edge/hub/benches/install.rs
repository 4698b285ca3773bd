//! How fast the hub installs: a hundred instances of eight objects each, against a bare loop that sends the same
//! server-side applies and release records with as many requests at once. One API server has it all: the hub's own
//! objects and what is installed.

#![allow(clippy::unwrap_used, reason = "a benchmark")]

#[path = "../tests/live/world.rs"]
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use fitout_api::ExtensionInstance;
use fitout_cluster_client::{ClientOptions, ClusterClient, connect};
use fitout_helm_release::{Chart, Metadata, Release, Stamp, Status, secret};
use fitout_model::{Apis, ObjectId};
use fitout_plan::{Ignored, Owner, transform};
use fitout_testkit::until;
use futures::StreamExt;
use kube::api::PostParams;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, watcher};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use time::OffsetDateTime;
use world::World;

const INSTANCES_WANTED: usize = 100;
/// The machine has better and worse minutes.
const ROUNDS: usize = 5;
/// As many as the hub sends at once.
const AT_ONCE: usize = 16;

fn main() -> Result<()> {
    println!("{INSTANCES_WANTED} instances of 8 objects each; seconds computed by each program");
    let mut ratios = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<f64>>>()?;
    ratios.sort_by(f64::total_cmp);
    let middle = ratios[ROUNDS / 2];
    println!("the middle of {ROUNDS} ratios: {middle:.2}");
    anyhow::ensure!(middle >= 0.6, "the bar is 0.6");
    Ok(())
}

/// Both, one after the other, on an API server that nobody has used before.
fn round() -> Result<f64> {
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
    let before = computed(&world)?;
    let bare = rate(bare(&world, "bare", INSTANCES_WANTED)?);
    let between = computed(&world)?;
    let ours = rate(ours(&world, "ours", INSTANCES_WANTED)?);
    let after = computed(&world)?;
    let shown = |from: &Computed, to: &Computed| {
        let programs =
            to.iter().map(|(name, until)| format!("{name} {:.2}", until.saturating_sub(from[name]).as_secs_f64()));
        programs.collect::<Vec<_>>().join(", ")
    };
    println!("  bare loop {bare:>5.1}/s   {}", shown(&before, &between));
    println!("  fitout    {ours:>5.1}/s   {}", shown(&between, &after));
    println!("  ratio     {:>5.2}", ours / bare);
    Ok(ours / bare)
}

type Computed = BTreeMap<String, Duration>;

/// What each program has computed so far; the bare loop and the hub are both in this one.
fn computed(world: &World) -> Result<Computed> {
    let mut programs = world.hub.cpu()?;
    programs.insert("this program".to_owned(), fitout_testkit::cpu(std::process::id())?);
    Ok(programs)
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
        let (client, connectivity) = connect(&kubeconfig, ClientOptions::default()).await?;
        let target = Arc::new(ClusterClient::open(client, connectivity).await?);
        let objects: Vec<Value> =
            fitout_go_yaml::documents(&manifests())?.into_iter().map(|document| document.value).collect();
        let began = Instant::now();
        let releases = (0..count).map(|n| {
            let (target, objects, namespace) = (Arc::clone(&target), objects.clone(), format!("{prefix}{n}"));
            async move {
                let owner = Owner { name: "thing", namespace: &namespace };
                let objects = transform(objects, &Apis::default(), owner, &target.info().apis)
                    .map_err(|problem| anyhow!("{problem}"))?;
                let mut release = record(&namespace, &objects);
                target.create_namespace(&namespace, "org-bench/bench").await?;
                target.create_record(&secret(&release, Stamp::Created(OffsetDateTime::now_utc()))?).await?;
                let ids: Vec<ObjectId> = objects.iter().filter_map(ObjectId::of).collect();
                let ignored = Ignored::default();
                let applies = ids.iter().zip(&objects).map(|(id, object)| target.apply(id, object, &ignored));
                for applied in futures::future::join_all(applies).await {
                    applied?;
                }
                release.info.status = Status::Deployed;
                target.replace_record(secret(&release, Stamp::Modified(OffsetDateTime::now_utc()))?, None).await?;
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
        chart: Some(Chart::new(metadata, serde_json::Map::new()).into()),
        manifest: objects.iter().map(fitout_go_yaml::to_yaml).collect::<Vec<_>>().join("---\n"),
        ..Release::default()
    };
    release.info.status = Status::PendingInstall;
    release
}

/// From the moment they are wanted until the last one is Ready, as a watch tells.
fn ours(world: &World, prefix: &str, count: usize) -> Result<Duration> {
    let kubeconfig = fs::read_to_string(world.hub.kubeconfig())?;
    world.runtime.block_on(async {
        let api: Api<ExtensionInstance> = Api::namespaced(connect(&kubeconfig, ClientOptions::default()).await?.0, "org-acme");
        let mut events = pin!(watcher(api.clone(), Config::default()).default_backoff().applied_objects());
        let instances = (0..count).map(|n| {
            let (api, name) = (api.clone(), format!("{prefix}{n}"));
            let spec = json!({
                "cluster": "foo", "namespace": name, "version": "1.x", "extension": { "name": "thing", "catalog": "local" },
            });
            async move {
                // As `fitout install` makes it.
                let instance = ExtensionInstance::with_finalizer("org-acme", &name, serde_json::from_value(spec)?);
                anyhow::Ok(api.create(&PostParams::default(), &instance).await.map(drop)?)
            }
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
