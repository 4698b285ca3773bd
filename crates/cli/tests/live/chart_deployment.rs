//! The page "run the hub", word for word: Helm installs our chart, the hub runs as a pod, and installs an extension on
//! another cluster.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use fitout_testkit::{Cluster, Image, Spec, install_dns, paths, pods_cannot_run, skip, until};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use crate::scrape::value;

const LIMIT: Duration = Duration::from_secs(90);
/// As the chart asks for it.
pub(crate) const IMAGE: &str = concat!("localhost/fitout:", env!("CARGO_PKG_VERSION"));
const HUB: &str = "system:serviceaccount:fitout-system:fitout-hub";
/// The user that the hub is on the other cluster.
const USER: &str = "fitout";
const INSTANCE: &str = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensioninstances/foo-hello";

/// The program in the image: the one of this build, or another, such as what `cargo xtask image` puts into it.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("FITOUT_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_fitout").into(), PathBuf::from)
}

/// The page, and where its commands are typed.
struct Page {
    text: String,
    dir: PathBuf,
    path: String,
    kubeconfig: PathBuf,
}

impl Page {
    fn open(hub: &Cluster) -> Result<Self> {
        let dir = hub.sandbox().dir().join("page");
        fs::create_dir_all(dir.join("deploy"))?;
        let mut copy = Command::new("cp");
        copy.arg("-r").args([paths::checkout().join("deploy/chart"), dir.join("deploy")]);
        ensure!(copy.status()?.success(), "the chart could not be copied");
        let bin = hub.bin()?;
        symlink(env!("CARGO_BIN_EXE_fitout"), bin.join("fitout"))?;
        let path = format!("{}:{}", bin.display(), std::env::var("PATH")?);
        let text = fs::read_to_string(paths::checkout().join("docs/run-the-hub.md"))?;
        Ok(Self { text, dir, path, kubeconfig: hub.kubeconfig() })
    }

    /// The block of commands of a section with this number, as a person would paste it.
    fn command(&self, section: &str, number: usize) -> Result<Command> {
        let section = self.text.split(&format!("\n## {section}\n")).nth(1).context("the section")?;
        let section = section.split("\n## ").next().context("its end")?;
        let block = section.split("```sh\n").nth(number + 1).and_then(|block| block.split("```").next());
        let mut command = Command::new("sh");
        command.args(["-exc", block.context("a block of commands")?]).current_dir(&self.dir);
        command.env("PATH", &self.path).env("KUBECONFIG", &self.kubeconfig).env("HOME", &self.dir);
        Ok(command)
    }

    fn run(&self, section: &str, number: usize) -> Result<String> {
        let output = self.command(section, number)?.output()?;
        let said = String::from_utf8([output.stdout, output.stderr].concat())?;
        ensure!(output.status.success(), "{said}");
        Ok(said)
    }
}

/// Lets pods of one cluster reach the API server of another, by a name. Nothing else is reached by that.
fn make_way(hub: &Cluster, target: &Cluster, to_file: &Path) -> Result<()> {
    let (from, to) = (hub.sandbox().address_block().host(), target.sandbox().address_block().host());
    hub.node().context("a node")?.shell(&format!("ip route add {to}/32 via {from}"))?;
    let metadata = json!({ "name": "foo", "namespace": "default" });
    let slice = json!({ "name": "foo", "namespace": "default", "labels": { "kubernetes.io/service-name": "foo" } });
    let objects = json!({ "apiVersion": "v1", "kind": "List", "items": [
        {
            "apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": { "clusterIP": "None", "ports": [{ "name": "https", "port": 6443 }] },
        },
        {
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": slice, "addressType": "IPv4",
            "endpoints": [{ "addresses": [to] }], "ports": [{ "name": "https", "port": 6443 }],
        },
    ] });
    hub.kubectl().run_with_input(&["apply", "--server-side", "--filename=-"], &objects.to_string())?;
    let mut config: Value =
        serde_json::from_str(&fs::read_to_string(target.kubeconfig_for(USER, Some("system:masters"))?)?)?;
    config["clusters"][0]["cluster"]["server"] = "https://foo.default.svc.cluster.local:6443".into();
    config["clusters"][0]["cluster"]["tls-server-name"] = "kubernetes".into();
    fs::write(to_file, config.to_string())?;
    Ok(())
}

fn pods(hub: &Cluster) -> Result<Vec<Value>> {
    let pods = hub.client().get("/api/v1/namespaces/fitout-system/pods")?;
    Ok(pods["items"].as_array().unwrap().clone())
}

fn lease(hub: &Cluster) -> Result<Value> {
    let lease = hub.client().get("/apis/coordination.k8s.io/v1/namespaces/fitout-system/leases/fitout-hub")?;
    Ok(lease["spec"].clone())
}

/// What the kernel says of the hub's processes on the node.
fn the_process_can_do_nothing(hub: &Cluster) -> Result<()> {
    let found = hub.node().context("a node")?.shell(
        "for process in /proc/[0-9]*; do
             if [ \"$(tr '\\0' ' ' < $process/cmdline | cut -c1-11)\" = '/fitout hub' ]; then
                 grep -E '^(Uid|Gid|CapEff|CapBnd|NoNewPrivs|Seccomp):' $process/status | tr -s '\\t' ' '
                 awk '$5 == \"/\" { print \"root \" substr($6, 1, 2) }' $process/mountinfo
             fi
         done",
    )?;
    let ids = "65532 65532 65532 65532";
    let none = "0000000000000000";
    let one = format!("Uid: {ids}\nGid: {ids}\nCapEff: {none}\nCapBnd: {none}\nNoNewPrivs: 1\nSeccomp: 2\nroot ro\n");
    assert_eq!(found, one.repeat(2));
    Ok(())
}

fn until_instance(hub: &Cluster, what: &str, found: impl Fn(&Value) -> bool) -> Result<Value> {
    until(what, LIMIT, || {
        let instance = hub.client().get(INSTANCE)?;
        if found(&instance["status"]) { Ok(instance) } else { Err(anyhow!("{}", instance["status"])) }
    })
}

fn ready(status: &Value) -> bool {
    let conditions = status["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["type"] == "Ready" && one["status"] == "True"))
}

/// The longest time for which nobody led, from when one let go until another took over.
fn longest_without_a_leader(hub: &Cluster) -> Result<(usize, Duration)> {
    let calls = hub.audit().calls()?.by(HUB).writes().of("leases").only(|call| call.response_status.code < 300);
    let (mut moves, mut longest) = (0, Duration::ZERO);
    let mut free: Option<Timestamp> = None;
    for call in calls.as_slice() {
        let at: Timestamp = call.stage_timestamp.parse()?;
        let held = call.request_object.as_ref().is_some_and(|lease| lease["spec"]["holderIdentity"].is_string());
        match (held, free) {
            (false, _) => free = Some(at),
            (true, Some(since)) => {
                moves += 1;
                longest = longest.max(Duration::try_from(at.duration_since(since))?);
                free = None;
            }
            (true, None) => {}
        }
    }
    ensure!(free.is_none(), "nobody leads:\n{calls}");
    Ok((moves, longest))
}

#[test]
fn the_chart_runs_the_hub_as_a_restricted_pod_and_an_upgrade_of_it_loses_nothing() -> Result<()> {
    if let Some(reason) = pods_cannot_run() {
        skip(&reason);
        return Ok(());
    }
    let hub = Cluster::start(Spec { node: true, ..Spec::default() })?;
    let target = Cluster::start(Spec { node: true, ..Spec::default() })?;
    hub.node().context("a node")?.import(&Image::hub(IMAGE, &program())?)?;
    target.node().context("a node")?.import(&Image::podinfo(target.sandbox().programs()))?;
    install_dns(&hub)?;

    // Installed by Helm, as it comes.
    let page = Page::open(&hub)?;
    let began = Instant::now();
    let said = page.run("Install", 0)?;
    ensure!(said.contains("kubectl rollout status deployment/fitout-hub"), "{said}");
    eprintln!("  deployed: two hubs are ready after {:.1} s", began.elapsed().as_secs_f32());
    ensure!(pods(&hub)?.len() == 2, "{:#?}", pods(&hub)?);
    the_process_can_do_nothing(&hub)?;
    elsewhere_and_wrong_values_are_refused(&hub)?;

    // An organization, a catalog, and a cluster that a name leads to.
    make_way(&hub, &target, &page.dir.join("foo.kubeconfig"))?;
    page.run("Install", 1)?;

    // In the middle of an install, which waits for a node to have its pod, the hub is upgraded.
    target.kubectl().run(&["cordon", "node"])?;
    let install = page.command("Install", 2)?.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    until_instance(&hub, "it waits for its pod", |status| {
        status["firstUnhealthy"]["object"].as_str().is_some_and(|object| object.starts_with("Deployment/"))
    })?;
    let before = (lease(&hub)?, pods(&hub)?);
    // The next version of the chart: it logs more.
    let values = page.dir.join("deploy/chart/values.yaml");
    let text = fs::read_to_string(&values)?;
    fs::write(&values, text.replace("logLevel: info", "logLevel: debug"))?;
    let began = Instant::now();
    page.run("Upgrade", 0)?;
    let took = began.elapsed();
    until("the old hubs are gone", LIMIT, || {
        let now = pods(&hub)?;
        let old = now.iter().filter(|pod| before.1.iter().any(|one| one["metadata"]["uid"] == pod["metadata"]["uid"]));
        let old = old.count();
        ensure!(old == 0 && now.len() == 2, "{old} of {}", now.len());
        Ok(())
    })?;
    until("a new hub leads", LIMIT, || {
        let now = lease(&hub)?;
        let holder = now["holderIdentity"].as_str().context("nobody leads")?.to_owned();
        let pods = pods(&hub)?;
        let names = pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str());
        ensure!(names.into_iter().any(|name| holder.starts_with(name)), "{holder} leads");
        Ok(())
    })?;
    ensure!(lease(&hub)?["leaseTransitions"].as_i64() > before.0["leaseTransitions"].as_i64());
    target.kubectl().run(&["uncordon", "node"])?;
    let installed = until_instance(&hub, "it is installed", ready)?;
    let told = install.wait_with_output()?;
    ensure!(told.status.success(), "whoever waited was told: {}", String::from_utf8(told.stderr)?);
    let (moves, longest) = longest_without_a_leader(&hub)?;
    eprintln!(
        "  upgraded: {:.1} s, {moves} times another hub took over, at most {:.3} s without a leader",
        took.as_secs_f32(),
        longest.as_secs_f32()
    );
    ensure!(moves >= 1 && longest < Duration::from_secs(5), "{moves} times, {longest:?}");
    nothing_was_written_twice(&hub, &target, &installed)?;
    ensure!(pods(&hub)?.iter().all(|pod| pod["status"]["containerStatuses"][0]["restartCount"] == 0));

    // The new one watches what the old one installed.
    let map = "/api/v1/namespaces/hello/configmaps/hello";
    target.client().delete(map)?;
    until("what was deleted is back", LIMIT, || target.client().get(map))?;
    metrics_are_seen_through_the_service(&hub)?;
    a_plan_is_had_from_the_pods(&hub)?;

    // Without the hub, all that was written and installed is still there.
    hub.helm().run(&["uninstall", "fitout", "--namespace=fitout-system", "--wait"])?;
    ensure!(ready(&hub.client().get(INSTANCE)?["status"]));
    target.client().get(map)?;
    Ok(())
}

fn nothing_was_written_twice(hub: &Cluster, target: &Cluster, installed: &Value) -> Result<()> {
    let writes = target.audit().calls()?.by(USER).writes();
    writes.clone().failed().assert_none("no write failed");
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for line in writes.summary() {
        *times.entry(line).or_default() += 1;
    }
    // Its objects and their namespace, the record of the release and what came of it.
    let objects = installed["status"]["objects"]["total"].as_u64().and_then(|total| usize::try_from(total).ok());
    ensure!(
        Some(times.len()) == objects.map(|objects| objects + 3) && times.values().all(|count| *count == 1),
        "{times:#?}"
    );
    let revisions = hub.client().get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
    assert_eq!(revisions["items"].as_array().map(Vec::len), Some(1));
    let history = target.helm().run(&["history", "hello", "--namespace=hello", "--output=json"])?;
    let history: Vec<Value> = serde_json::from_str(&history)?;
    ensure!(history.len() == 1 && history[0]["status"] == "deployed", "{history:?}");
    Ok(())
}

/// The API server asks the hub that the Service leads to, and the hub asks the other cluster.
fn a_plan_is_had_from_the_pods(hub: &Cluster) -> Result<()> {
    let plan =
        json!({ "apiVersion": "compute.fitout.dev/v1alpha1", "kind": "Plan", "spec": { "instance": "foo-hello" } });
    let plans = "/apis/compute.fitout.dev/v1alpha1/namespaces/org-acme/plans";
    let answer = until("a plan is had", LIMIT, || hub.client().create(plans, &plan))?;
    ensure!(answer["status"]["change"] == "Nothing" && answer["status"]["unchanged"] != 0, "{answer}");
    Ok(())
}

fn metrics_are_seen_through_the_service(hub: &Cluster) -> Result<()> {
    let path = "/api/v1/namespaces/fitout-system/services/fitout-hub:observe/proxy/metrics";
    let text = hub.kubectl().run(&["get", "--raw", path])?;
    let connected = "fitout_clusters{organization=\"acme\",cluster=\"foo\",state=\"connected\"}";
    ensure!(value(&text, connected) > 0.5, "{text}");
    Ok(())
}

/// What cannot work is refused before anything is written, with a sentence.
fn elsewhere_and_wrong_values_are_refused(hub: &Cluster) -> Result<()> {
    let chart = paths::checkout().join("deploy/chart").to_string_lossy().into_owned();
    let refused = |args: &[&str], sentence: &str| -> Result<()> {
        let output = hub.helm().output(&[&["template", "fitout", &chart][..], args].concat(), "")?;
        let said = String::from_utf8(output.stderr)?;
        ensure!(!output.status.success() && said.contains(sentence), "{said}");
        Ok(())
    };
    refused(&["--namespace=elsewhere"], "the hub lives in namespace fitout-system, not elsewhere")?;
    refused(&["--namespace=fitout-system", "--set=hub.logLevel=loud"], "/hub/logLevel")?;
    refused(&["--namespace=fitout-system", "--set=replica=3"], "replica")?;
    // Without the aggregated API, where it is not wanted.
    let options = ["template", "fitout", &chart, "--namespace=fitout-system", "--set=compute.enabled=false"];
    let rendered = hub.helm().run(&options)?;
    ensure!(!rendered.contains("kind: APIService") && !rendered.contains("8443"), "{rendered}");
    the_chart_has_every_kind(&rendered, Path::new(&chart))
}

/// The kinds in the chart are those of `deploy/crds`, and stay when the release goes.
fn the_chart_has_every_kind(rendered: &str, chart: &Path) -> Result<()> {
    let documents: Vec<Value> = fitout_go_yaml::documents(rendered)?.into_iter().map(|one| one.value).collect();
    let mut count = 0;
    for file in fs::read_dir(chart.join("../crds"))? {
        let mut wanted = fitout_go_yaml::from_yaml(&fs::read_to_string(file?.path())?)?;
        wanted["metadata"]["annotations"] = json!({ "helm.sh/resource-policy": "keep" });
        ensure!(documents.contains(&wanted), "{}", wanted["metadata"]["name"]);
        count += 1;
    }
    ensure!(count >= 7, "{count}");
    Ok(())
}
