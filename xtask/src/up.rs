//! `up` and `down`: a local Kubernetes to work with.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use fitout_testkit::{Cluster, Image, Programs, Spec, end, find_kept, install_dns, pods_cannot_run, sweep, until};

use crate::{packages, testbed};

const NAME: &str = "up";

pub(crate) fn up() -> Result<()> {
    packages::install();
    let programs = testbed::build()?;
    sweep(&programs)?;
    if let Some(dir) = find_kept(NAME) {
        println!("already running");
        return show(&programs, &dir);
    }
    let without_pods = pods_cannot_run();
    if let Some(reason) = &without_pods {
        println!("starting without a node: {reason}");
    }
    let began = Instant::now();
    let cluster = Cluster::start(Spec { node: without_pods.is_none(), ..Spec::default() })?;
    step("Kubernetes", began);
    if let Some(node) = cluster.node() {
        for image in [Image::podinfo(&programs), Image::metrics_server(&programs)] {
            node.import(&image)?;
        }
        step("images", began);
        install_dns(&cluster)?;
        until("the cluster's DNS is ready", Duration::from_secs(90), || dns_ready(&cluster))?;
        step("DNS", began);
    }
    let dir = cluster.bed().dir().to_owned();
    write_tools(&programs, &dir)?;
    cluster.keep(NAME)?;
    show(&programs, &dir)
}

pub(crate) fn down() -> Result<()> {
    let Some(programs) = Programs::find()? else {
        println!("nothing is running: the testbed was never built");
        return Ok(());
    };
    let kept = find_kept(NAME);
    match &kept {
        Some(dir) => {
            end(&programs, dir)?;
            println!("ended the cluster; nothing of it is left");
        }
        None => println!("nothing is running"),
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

/// `kubectl` and `helm` under their own names: the one program acts by the name it is called by.
fn write_tools(programs: &Programs, dir: &Path) -> Result<()> {
    let bin = dir.join("bin");
    fs::create_dir_all(&bin)?;
    symlink(programs.kubebox(fitout_testkit::KubeVersion::NEWEST), bin.join("kubectl"))?;
    symlink(programs.helm(), bin.join("helm"))?;
    Ok(())
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
    println!("  kubectl get nodes,pods --all-namespaces");
    println!("  helm install podinfo {} --wait", programs.chart("podinfo").display());
    println!("  cargo xtask down");
    Ok(())
}
