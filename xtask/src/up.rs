//! `up` and `down`: a local Kubernetes to work with.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use fitout_testkit::{
    Cluster, Image, Part, Programs, Spec, end, find_kept, install_dns, pods_cannot_run, start_hub, sweep, until,
};

use crate::{hub, packages, testbed};

const NAME: &str = "up";

pub(crate) fn up() -> Result<()> {
    packages::install_tools();
    packages::install();
    if let Some(programs) = Programs::find(&Part::CLUSTER)? {
        sweep(&programs)?;
        if let Some(dir) = find_kept(NAME) {
            println!("already running");
            return show(&programs, &dir);
        }
    }
    println!("building fitout in the background");
    thread::scope(|scope| {
        let fitout = scope.spawn(hub::build);
        let programs = testbed::build(&Part::CLUSTER)?;
        sweep(&programs)?;
        let began = Instant::now();
        let mut cluster = start_cluster(&programs, began)?;
        let fitout = fitout.join().map_err(|_| anyhow!("the build of fitout panicked"))??;
        step("fitout", began);
        start_hub(&mut cluster, &fitout)?;
        step("hub", began);
        let dir = cluster.sandbox().dir().to_owned();
        cluster.bin()?;
        cluster.keep(NAME)?;
        show(&programs, &dir)
    })
}

/// Starts Kubernetes, with a node, images and DNS where pods can run.
fn start_cluster(programs: &Programs, began: Instant) -> Result<Cluster> {
    let without_pods = pods_cannot_run();
    if let Some(reason) = &without_pods {
        println!("starting without a node: {reason}");
    }
    let cluster = Cluster::start(Spec { node: without_pods.is_none(), ..Spec::default() })?;
    step("Kubernetes", began);
    if let Some(node) = cluster.node() {
        for image in [Image::podinfo(programs), Image::metrics_server(programs)] {
            node.import(&image)?;
        }
        step("images", began);
        install_dns(&cluster)?;
        until("the cluster's DNS is ready", Duration::from_secs(90), || dns_ready(&cluster))?;
        step("DNS", began);
    }
    Ok(cluster)
}

pub(crate) fn down() -> Result<()> {
    let Some(programs) = Programs::find(&[Part::Tools])? else {
        println!("no cluster is running");
        return Ok(());
    };
    match find_kept(NAME) {
        Some(dir) => {
            end(&programs, &dir)?;
            println!("stopped the cluster and removed its files");
        }
        None => println!("no cluster is running"),
    }
    sweep(&programs)
}

fn step(what: &str, began: Instant) {
    println!("  {what:14} ready after {:>4.1} s", began.elapsed().as_secs_f32());
}

fn dns_ready(cluster: &Cluster) -> Result<()> {
    let deployment = cluster.client().get("/apis/apps/v1/namespaces/kube-system/deployments/coredns")?;
    if deployment["status"]["readyReplicas"] == 1 { Ok(()) } else { Err(anyhow!("{}", deployment["status"])) }
}

fn show(programs: &Programs, dir: &Path) -> Result<()> {
    let kubeconfig = dir.join("admin.kubeconfig");
    let text = fs::read_to_string(&kubeconfig).with_context(|| format!("read {}", kubeconfig.display()))?;
    let config: serde_json::Value = serde_json::from_str(&text)?;
    let Some(server) = config["clusters"][0]["cluster"]["server"].as_str() else {
        bail!("{} names no server: run `cargo xtask down` and `cargo xtask up`", kubeconfig.display());
    };
    let show = |what: &str, path: PathBuf| println!("  {what:12} {}", path.display());
    println!();
    println!("  {:12} {server}", "Kubernetes");
    show("kubeconfig", kubeconfig.clone());
    show("logs", dir.join("*.log"));
    show("charts", programs.chart("podinfo"));
    println!();
    println!("next:");
    println!("  export KUBECONFIG={} PATH={}:$PATH", kubeconfig.display(), dir.join("bin").display());
    println!("  fitout extension list");
    println!("  fitout install hello --cluster local");
    println!("  cargo xtask down");
    Ok(())
}
