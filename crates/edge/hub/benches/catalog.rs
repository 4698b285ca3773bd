//! Reading a catalog of 20,000 definitions, from a directory and from an archive: the time until all Extensions exist, the
//! memory of the hub, and the CPU time of a sync that finds nothing changed. The hub is a process of its own. A bare
//! client that makes the same objects again shows the share of the API server.

#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use fitout_hub::{MetricsHandle, Options};
use fitout_model::{Digest, FileMap, pack_files};
use fitout_testkit::http_server::{Reply, Server, reply};
use fitout_testkit::{Cluster, Installation, Spec, condition, object, until};
use flate2::Compression;
use flate2::write::GzEncoder;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tikv_jemallocator::Jemalloc;
use tokio::runtime::Builder;

/// The hub allocates as in the program that is shipped.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// The longest first read.
const COLD: Duration = Duration::from_secs(5);
/// The peak memory of the hub in megabytes.
const MEMORY: f64 = 150.0;
/// The CPU time of an unchanged sync.
const UNCHANGED: Duration = Duration::from_millis(5);

const EXTENSIONS: usize = 500;
const VERSIONS: usize = 40;
/// How often each source is read on a machine that does other things as well; the best time counts.
const ROUNDS: usize = 3;
/// As many as the hub sends at once.
const AT_ONCE: usize = 16;
/// The shortest interval between two syncs in seconds. The hub adds up to a tenth at random.
const INTERVAL: u32 = 5;
/// The unchanged syncs that are measured.
const SYNCS: u32 = 8;
const LIMIT: Duration = Duration::from_mins(2);

const NAME: &str = "bench";
const ETAG: &str = "\"one\"";
const CATALOGS: &str = "/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs";

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == "--hub") {
        return run_hub(&words[at + 1]);
    }
    let dir = std::env::temp_dir().join(format!("fitout-catalog-{}", std::process::id()));
    let result = measure_in(&dir);
    fs::remove_dir_all(&dir)?;
    result
}

fn measure_in(dir: &Path) -> Result<()> {
    let files = files();
    let bytes: usize = files.values().map(Vec::len).sum();
    write(dir, &files)?;
    let archive = archive(&files)?;
    println!(
        "{EXTENSIONS} extensions with {VERSIONS} versions each: {} files of {:.1} MB, an archive of {:.1} MB",
        files.len(),
        megabytes(bytes),
        megabytes(archive.len())
    );
    drop(files);
    let server = Server::start(move |request| match request.header("if-none-match") {
        Some(_) => Reply(b"HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n".to_vec(), false),
        None => reply(200, &[&format!("ETag: {ETAG}")], &archive),
    });
    let sources = [
        ("directory", json!({ "directory": { "path": dir } })),
        ("archive", json!({ "archive": { "url": format!("{}/catalog.tgz", server.url) } })),
    ];
    let mut bars = vec![];
    for (name, source) in &sources {
        bars.extend(bars_of(name, source).with_context(|| (*name).to_owned())?);
    }
    for (met, bar) in &bars {
        println!("{} {bar}", if *met { "  met:" } else { "  MISSED:" });
    }
    ensure!(bars.iter().all(|(met, _)| *met), "a bar is missed");
    Ok(())
}

/// The bars of one source, and whether each is met.
fn bars_of(name: &str, source: &Value) -> Result<[(bool, String); 3]> {
    let (mut cold, mut peak, mut resync) = (Duration::MAX, 0_f64, Duration::ZERO);
    for round in 0..ROUNDS {
        println!("{name}");
        let (cluster, mut hub) = start()?;
        let read = read(&cluster, &mut hub, source)?;
        (cold, peak) = (cold.min(read.0), peak.max(read.1));
        if round == 0 {
            resync = unchanged(&cluster, &mut hub)?;
        }
        drop(hub);
        write_bare(&cluster)?;
    }
    Ok([
        (cold <= COLD, format!("{name}: cold in {:.2} s (bar {} s)", cold.as_secs_f64(), COLD.as_secs())),
        (peak <= MEMORY, format!("{name}: {peak:.1} MB of memory (bar {MEMORY} MB)")),
        (
            resync <= UNCHANGED,
            format!("{name}: unchanged in {:.2} ms of CPU (bar {} ms)", milliseconds(resync), UNCHANGED.as_millis()),
        ),
    ])
}

/// Starts a hub on an API server that nobody has used before.
fn start() -> Result<(Arc<Cluster>, HubProcess)> {
    let cluster = Arc::new(Cluster::start(Spec { audit: false, ..Spec::default() })?);
    Installation::prepare(Arc::clone(&cluster), Arc::clone(&cluster))?;
    let mut hub = HubProcess::start(&cluster.kubeconfig())?;
    // Every hub has it. Connections are open and code is loaded once it was read.
    create(&cluster, "community", &json!({ "directory": { "embedded": "community" } }))?;
    synced(&cluster, "community", |_| true)?;
    calm(&cluster, &mut hub)?;
    Ok((cluster, hub))
}

/// The time from the creation of the catalog until all of its Extensions exist, and the peak memory of the hub.
fn read(cluster: &Cluster, hub: &mut HubProcess, source: &Value) -> Result<(Duration, f64)> {
    let (before, of_cluster, of_machine) = (hub.usage()?, cluster.cpu()?, machine_cpu()?);
    let begin = Instant::now();
    create(cluster, NAME, source)?;
    synced(cluster, NAME, |status| status["extensions"] == EXTENSIONS && status["versions"] == EXTENSIONS * VERSIONS)?;
    let cold = begin.elapsed();
    let after = hub.usage()?;
    let of_machine = machine_cpu()?.saturating_sub(of_machine);
    let mut programs = BTreeMap::from([("hub".to_owned(), after.cpu.saturating_sub(before.cpu))]);
    for (name, until) in cluster.cpu()? {
        programs.insert(name.clone(), until.saturating_sub(of_cluster[&name]));
    }
    let others = of_machine.saturating_sub(programs.values().sum());
    programs.insert("others".to_owned(), others);
    let cpu =
        programs.iter().map(|(name, cpu)| format!("{name} {:.2}", cpu.as_secs_f64())).collect::<Vec<_>>().join(", ");
    println!("  cold           {:>7.2} s   seconds of CPU: {cpu}", cold.as_secs_f64());
    println!("  peak memory    {:>7.1} MB  {:.1} MB before", after.peak, before.peak);
    Ok((cold, after.peak))
}

/// The CPU time of all programs on this machine so far.
fn machine_cpu() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/stat")?;
    let fields: Vec<&str> = stat.lines().next().context("no line")?.split_whitespace().collect();
    // Without idle, waiting and what guests count twice; in hundredths of a second.
    let ticks = [1, 2, 3, 6, 7].map(|at| fields[at].parse::<u64>());
    Ok(Duration::from_millis(ticks.into_iter().sum::<Result<u64, _>>()? * 10))
}

/// The CPU time of a sync that finds nothing changed: what the hub computes in the time of several, less what it computes
/// in the same time while the catalog is suspended.
fn unchanged(cluster: &Cluster, hub: &mut HubProcess) -> Result<Duration> {
    let time = Duration::from_secs(INTERVAL.into()).mul_f64(1.1) * SYNCS;
    let mut computed = |spec: Value| {
        update(cluster, &spec)?;
        calm(cluster, hub)?;
        let before = hub.usage()?.cpu;
        thread::sleep(time);
        anyhow::Ok(hub.usage()?.cpu.saturating_sub(before))
    };
    let suspended = computed(json!({ "intervalSeconds": INTERVAL, "suspend": true }))?;
    let syncing = computed(json!({ "intervalSeconds": INTERVAL, "suspend": false }))?;
    let each = syncing.saturating_sub(suspended) / SYNCS;
    println!(
        "  unchanged      {:>7.2} ms  of CPU: {:.1} ms in {:.0} s with {SYNCS} syncs, {:.1} ms without",
        milliseconds(each),
        milliseconds(syncing),
        time.as_secs_f64(),
        milliseconds(suspended)
    );
    Ok(each)
}

/// Makes the objects of the hub again, in a namespace of their own.
fn write_bare(cluster: &Cluster) -> Result<()> {
    let client = cluster.client();
    client.create("/api/v1/namespaces", &json!({ "metadata": { "name": "bare" } }))?;
    let fitout = "/apis/fitout.dev/v1alpha1/namespaces";
    let kinds = [
        ("/api/v1/namespaces", "secrets?labelSelector=fitout.dev/content", "Secret", "v1"),
        (fitout, "extensions?fieldSelector=spec.catalog%3Dbench", "Extension", "fitout.dev/v1alpha1"),
    ];
    let mut lines = vec![];
    for (group, query, kind, version) in kinds {
        let found = client.get(&format!("{group}/fitout-system/{query}"))?;
        let mut objects = found["items"].as_array().cloned().unwrap_or_default();
        if kind == "Extension" {
            let versions = objects.iter().filter_map(|object| object["spec"]["versions"].as_array()).map(Vec::len);
            let found = (objects.len(), versions.sum());
            ensure!(found == (EXTENSIONS, EXTENSIONS * VERSIONS), "{found:?} extensions and versions");
        }
        for object in &mut objects {
            let metadata = json!({
                "name": object["metadata"]["name"],
                "labels": object["metadata"]["labels"],
                "annotations": object["metadata"]["annotations"],
            });
            object["metadata"] = metadata;
            (object["apiVersion"], object["kind"]) = (version.into(), kind.into());
        }
        let path = format!("{group}/bare/{}", query.split('?').next().unwrap_or_default());
        let before = cluster.cpu()?.values().sum();
        let took = create_all(cluster, &path, &objects)?.as_secs_f64();
        let cpu = cluster.cpu()?.values().sum::<Duration>().saturating_sub(before).as_secs_f64();
        lines.push(format!("{} {kind}s in {took:.2} s ({cpu:.2} s of the cluster's CPU)", objects.len()));
    }
    println!("  bare writes    {}", lines.join(", "));
    Ok(())
}

/// Creates objects, with as many requests at once as the hub.
fn create_all(cluster: &Cluster, path: &str, objects: &[Value]) -> Result<Duration> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(object) = objects.get(next.fetch_add(1, Ordering::Relaxed)) {
            cluster.client().create(path, object)?;
        }
        anyhow::Ok(())
    };
    let begin = Instant::now();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })?;
    Ok(begin.elapsed())
}

fn create(cluster: &Cluster, name: &str, source: &Value) -> Result<()> {
    let spec = json!({ "spec": { "source": source } });
    let catalog = object("fitout.dev/v1alpha1", "Catalog", "fitout-system", name, &spec);
    cluster.client().create(CATALOGS, &catalog).map(drop)
}

/// Waits until a catalog was read as a whole.
fn synced(cluster: &Cluster, name: &str, expected: impl Fn(&Value) -> bool) -> Result<()> {
    until(&format!("catalog {name} was read"), LIMIT, || {
        let catalog = cluster.client().get(&format!("{CATALOGS}/{name}"))?;
        let is_synced = condition(&catalog, "Synced")["status"] == "True" && expected(&catalog["status"]);
        if is_synced { Ok(()) } else { Err(anyhow!("{}", catalog["status"])) }
    })
}

/// Sets fields of the catalog, and waits until the hub has processed them.
fn update(cluster: &Cluster, fields: &Value) -> Result<()> {
    let path = format!("{CATALOGS}/{NAME}");
    until("the catalog is updated", LIMIT, || {
        let mut catalog = cluster.client().get(&path)?;
        for (field, value) in fields.as_object().into_iter().flatten() {
            catalog["spec"][field] = value.clone();
        }
        cluster.client().replace(&path, &catalog)
    })?;
    until("the hub has processed the update", LIMIT, || {
        let catalog = cluster.client().get(&path)?;
        let is_processed = catalog["status"]["observedGeneration"] == catalog["metadata"]["generation"];
        if is_processed { Ok(()) } else { Err(anyhow!("{}", catalog["status"])) }
    })
}

/// Waits until the hub and the cluster compute little: a tenth of a core in a second.
fn calm(cluster: &Cluster, hub: &mut HubProcess) -> Result<()> {
    let mut computed = || anyhow::Ok(cluster.cpu()?.into_values().sum::<Duration>() + hub.usage()?.cpu);
    until("the cluster is calm", LIMIT, || {
        let before = computed()?;
        thread::sleep(Duration::from_secs(1));
        let took = computed()?.saturating_sub(before);
        if took < Duration::from_millis(150) { Ok(()) } else { Err(anyhow!("{took:?} of CPU in a second")) }
    })
}

/// A hub in a process of its own.
struct HubProcess {
    child: Child,
    output: BufReader<ChildStdout>,
}

/// The resources that a hub has used so far.
struct Usage {
    cpu: Duration,
    /// In megabytes.
    peak: f64,
}

impl HubProcess {
    fn start(kubeconfig: &Path) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--hub").arg(kubeconfig).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, output })
    }

    fn usage(&mut self) -> Result<Usage> {
        self.child.stdin.as_mut().context("no input")?.write_all(b"\n")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let (cpu, peak) = line.trim().split_once(' ').context("the hub has ended")?;
        Ok(Usage { cpu: Duration::from_nanos(cpu.parse()?), peak: megabytes(peak.parse::<usize>()? * 1000) })
    }
}

impl Drop for HubProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a hub until the input ends. Answers each line with its CPU time in nanoseconds and its peak memory in kilobytes.
fn run_hub(kubeconfig: &str) -> Result<()> {
    let kubeconfig = Kubeconfig::from_yaml(&fs::read_to_string(kubeconfig)?)?;
    // As many threads as the shipped program has.
    let workers = thread::available_parallelism()?.get().div_ceil(2);
    let runtime = Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    runtime.spawn(async move {
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        let metrics = MetricsHandle::default();
        let ended = fitout_hub::run(config, Options::default(), &metrics, std::future::pending()).await;
        eprintln!("the hub ended: {ended:?}");
    });
    for line in std::io::stdin().lines() {
        line?;
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let status = fs::read_to_string("/proc/self/status")?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak memory")?;
        println!("{}{:09} {}", cpu.tv_sec, cpu.tv_nsec, peak.trim().trim_end_matches(" kB"));
    }
    runtime.shutdown_background();
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// The files of the catalog: a definition and manifests for each version.
fn files() -> FileMap {
    let mut files = FileMap::new();
    for extension in 0..EXTENSIONS {
        let name = format!("extension-{extension:03}");
        for version in 0..VERSIONS {
            let version = format!("1.{version}.0");
            files.insert(format!("{name}/{version}/definition.yaml"), definition(&name, &version).into_bytes());
            files.insert(format!("{name}/{version}/manifests/{name}.yaml"), manifests(&name, &version).into_bytes());
        }
    }
    files
}

fn write(dir: &Path, files: &FileMap) -> Result<()> {
    for (path, content) in files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        fs::write(path, content)?;
    }
    Ok(())
}

fn archive(files: &FileMap) -> Result<Vec<u8>> {
    let tar = pack_files(files.iter().map(|(path, content)| (path.as_str(), content.as_slice())));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&tar)?;
    Ok(encoder.finish()?)
}

/// A definition like those of the built-in catalog.
fn definition(name: &str, version: &str) -> String {
    let mut text = format!(
        r#"apiVersion: fitout.dev/v1alpha1
kind: ExtensionDefinition
metadata: {{ name: {name}-{version} }}
spec:
  extension: {name}
  version: {version}
  appVersion: v{version}
  upgradeFrom: ">=1.0 <2"
  displayName: Extension {name}
  summary: Does what extensions do, in a line that is about as long as most
  publisher: example
  license: Apache-2.0
  links:
    - {{ name: Documentation, url: "https://example.com/{name}/docs/" }}
  categories: [examples, observability]
  kubernetes: ">=1.33 <1.40"
  requirements:
    namespaces: [{name}]
    installer:
"#
    );
    for (group, resources) in [("\"\"", "configmaps, serviceaccounts, services"), ("apps", "deployments")] {
        let _ = write!(
            text,
            "      - apiGroups: [{group}]\n        resources: [{resources}]\n        \
             verbs: [get, list, watch, create, update, patch, delete]\n        namespaces: [{name}]\n"
        );
    }
    text + "    registries: [registry.example.com]\n  manifests: { path: manifests }\n"
}

fn manifests(name: &str, version: &str) -> String {
    let digest = Digest::of(format!("{name} {version}"));
    format!(
        r"apiVersion: v1
kind: ServiceAccount
metadata: {{ name: {name} }}
automountServiceAccountToken: false
---
apiVersion: v1
kind: Service
metadata: {{ name: {name} }}
spec:
  selector: {{ app: {name} }}
  ports: [{{ name: http, port: 8080, targetPort: http }}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{ name: {name} }}
spec:
  replicas: 2
  selector: {{ matchLabels: {{ app: {name} }} }}
  template:
    metadata: {{ labels: {{ app: {name} }} }}
    spec:
      serviceAccountName: {name}
      securityContext: {{ runAsNonRoot: true, runAsUser: 1000, seccompProfile: {{ type: RuntimeDefault }} }}
      containers:
        - name: {name}
          image: registry.example.com/{name}:{version}@{digest}
          ports: [{{ name: http, containerPort: 8080 }}]
          readinessProbe: {{ httpGet: {{ path: /readyz, port: http }}, periodSeconds: 1 }}
          livenessProbe: {{ httpGet: {{ path: /healthz, port: http }} }}
          securityContext: {{ allowPrivilegeEscalation: false, capabilities: {{ drop: [ALL] }} }}
"
    )
}
