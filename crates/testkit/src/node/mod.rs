//! A real node: containerd, kubelet and kube-proxy in namespaces of their own.
//!
//! The network namespace has no default route, so no packet leaves the machine. The mount namespace hides the node's
//! mounts. The PID namespace ends all processes, pods included, with the first one. Files at fixed paths, which Kubernetes
//! and its network plugins require, are written into the sandbox through an overlay.

mod dns;

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::pki::NODE;
use crate::wait::until;
use crate::{Client, Image, KubeVersion, Process, Sandbox, sandbox};

pub use dns::install_dns;

/// The namespaces of a node, connected to the host, before its programs start.
#[derive(Debug)]
pub(crate) struct Link {
    first: Process,
    /// The id of the first process in the namespaces, as the host sees it.
    inner: u32,
}

/// A running node.
#[derive(Debug)]
pub struct Node {
    link: Link,
    daemons: Vec<Process>,
    socket: String,
    images: std::path::PathBuf,
}

/// Why pods cannot run on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoPods {
    /// `FITOUT_NO_PODS` is set.
    SwitchedOff,
    /// Only root can create namespaces and mounts.
    NotRoot,
    /// Programs that are not installed.
    Missing(Vec<&'static str>),
}

impl fmt::Display for NoPods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SwitchedOff => f.write_str("FITOUT_NO_PODS is set"),
            Self::NotRoot => f.write_str("pods need root"),
            Self::Missing(what) => write!(f, "pods need {}: run `cargo xtask up` as root", what.join(", ")),
        }
    }
}

/// Why pods cannot run on this machine, if they cannot.
pub fn pods_cannot_run() -> Option<NoPods> {
    if std::env::var_os("FITOUT_NO_PODS").is_some() {
        return Some(NoPods::SwitchedOff);
    }
    if !rustix::process::geteuid().is_root() {
        return Some(NoPods::NotRoot);
    }
    let needed = ["containerd", "ctr", "runc", "nft", "ip", "unshare", "nsenter"];
    let mut missing: Vec<_> = needed.into_iter().filter(|program| !installed(program)).collect();
    if !Path::new(PLUGINS).is_dir() {
        missing.push("CNI plugins");
    }
    if missing.is_empty() { None } else { Some(NoPods::Missing(missing)) }
}

const NAMESPACES: &str = include_str!("namespaces.sh");
const JOIN: &str = include_str!("join.sh");

/// Where Debian puts the network plugins.
const PLUGINS: &str = "/usr/lib/cni";

fn installed(program: &str) -> bool {
    let path = sandbox::environment(Path::new("/")).remove("PATH").unwrap_or_default();
    path.split(':').any(|dir| Path::new(dir).join(program).is_file())
}

impl Node {
    /// Creates the namespaces and the network link. The API server listens at the host's end of the link.
    pub(crate) fn connect(sandbox: &mut Sandbox) -> Result<Link> {
        if let Some(reason) = pods_cannot_run() {
            bail!("{reason}");
        }
        let number = sandbox.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (outside, inside) = (format!("fitout{number}"), "up0");
        sandbox.write("link", &outside)?;
        sandbox.write("cgroup", cgroup(sandbox))?;
        let reaper = sandbox.programs().tool("reaper").to_string_lossy().into_owned();
        let command = ["sh", "-c", NAMESPACES, "sh", &cgroup(sandbox), &reaper, "init"].map(str::to_owned);
        let first = Process::start(sandbox, "node", &command)?;
        until("the node's namespaces", Duration::from_secs(10), || {
            if first.tail(1) == "ready" { Ok(()) } else { Err(first.tail(3)) }
        })?;
        let link = Link { inner: child_of(first.id())?, first };

        let slot = sandbox.address_block();
        shell(
            &[],
            &format!(
                "ip link add {outside} type veth peer name {inside} netns {}
             ip address add {host}/30 dev {outside}
             ip link set {outside} up
             ip route add {pods} via {node}",
                link.inner,
                host = slot.host(),
                node = slot.node(),
                pods = slot.pods(),
            ),
        )
        .context("connect the node")?;
        let dir = sandbox.dir().display();
        let (node, services) = (slot.node(), slot.services());
        link.shell(&format!(
            "ip link set lo up
             ip address add {node}/30 dev {inside}
             ip link set {inside} up
             # A connection of the node to a Service needs a route before kube-proxy rewrites it.
             ip route add {services} dev {inside}
             echo 1 > /proc/sys/net/ipv4/ip_forward
             mount -t tmpfs tmpfs /run
             for place in var opt etc; do
                 mkdir -p {dir}/overlay/$place {dir}/overlay/.$place
                 layers=lowerdir=/$place,upperdir={dir}/overlay/$place,workdir={dir}/overlay/.$place
                 mount -t overlay -o $layers overlay /$place
             done
             mount --make-rshared /"
        ))
        .context("prepare the node")?;
        Ok(link)
    }

    /// Starts the node's programs and waits until it is ready for pods.
    pub(crate) fn start(link: Link, sandbox: &Sandbox, client: &Client) -> Result<Self> {
        let socket = sandbox.path("containerd.sock");
        sandbox.write("cni/10-bridge.conflist", serde_json::to_vec(&network(sandbox))?)?;
        sandbox.write("containerd.toml", containerd_config(sandbox))?;
        sandbox.write("kubelet.yaml", serde_json::to_vec(&kubelet_config(sandbox))?)?;
        sandbox.write("kube-proxy.yaml", serde_json::to_vec(&proxy_config(sandbox))?)?;
        // No name server beside the cluster DNS.
        sandbox.write("resolv.conf", "")?;
        fs::create_dir_all(sandbox.dir().join("images"))?;
        let mut node = Self { link, daemons: vec![], socket, images: sandbox.dir().join("images") };

        let config = format!("--config={}", sandbox.path("containerd.toml"));
        node.daemon(sandbox, "containerd", &["containerd".to_owned(), config])?;
        until("containerd answers", Duration::from_secs(20), || node.ctr(&["version"]))?;
        for image in [Image::pause(sandbox.programs()), Image::dns(sandbox.programs())] {
            node.import(&image)?;
        }
        let kubebox = sandbox.programs().kubebox(KubeVersion::NEWEST).to_string_lossy().into_owned();
        node.daemon(
            sandbox,
            "kubelet",
            &[
                kubebox.clone(),
                "kubelet".to_owned(),
                format!("--kubeconfig={}", sandbox.path("kubelet.kubeconfig")),
                format!("--config={}", sandbox.path("kubelet.yaml")),
                format!("--root-dir={}", sandbox.path("kubelet")),
                format!("--hostname-override={NODE}"),
                format!("--node-ip={}", sandbox.address_block().node()),
            ],
        )?;
        let config = format!("--config={}", sandbox.path("kube-proxy.yaml"));
        node.daemon(sandbox, "kube-proxy", &[kubebox, "kube-proxy".to_owned(), config])?;
        until("the node is ready", Duration::from_secs(90), || ready(client))?;
        Ok(node)
    }

    /// Imports an image into containerd.
    pub fn import(&self, image: &Image) -> Result<()> {
        let name: String = image.reference.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let archive = self.images.join(format!("{name}.tar"));
        image.write(&archive)?;
        self.ctr(&["--namespace=k8s.io", "images", "import", &archive.to_string_lossy()])
            .with_context(|| format!("import {}", image.reference))?;
        fs::remove_file(archive)?;
        Ok(())
    }

    /// Runs a shell script on the node, as root, and returns what it printed.
    pub fn shell(&self, script: &str) -> Result<String> {
        self.link.shell(script)
    }

    pub(crate) fn leave(self) {
        self.daemons.into_iter().for_each(Process::leave);
        self.link.first.leave();
    }

    fn daemon(&mut self, sandbox: &Sandbox, name: &str, command: &[String]) -> Result<()> {
        let command = [self.link.enter(), command.to_vec()].concat();
        self.daemons.push(Process::start(sandbox, name, &command)?);
        Ok(())
    }

    fn ctr(&self, args: &[&str]) -> Result<String> {
        let mut command = vec!["ctr", "--address", &self.socket];
        command.extend(args);
        run(&command.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }
}

impl Link {
    /// The prefix of a command that runs on the node.
    fn enter(&self) -> Vec<String> {
        let target = format!("--target={}", self.inner);
        ["nsenter", &target, "--net", "--mount", "--pid", "--cgroup", "--", "sh", "-c", JOIN, "sh"]
            .map(str::to_owned)
            .into()
    }

    fn shell(&self, script: &str) -> Result<String> {
        shell(&self.enter(), script)
    }
}

fn shell(enter: &[String], script: &str) -> Result<String> {
    run(&[enter, &["sh", "-ec", script].map(str::to_owned)].concat())
}

fn run(command: &[String]) -> Result<String> {
    let output = Command::new(&command[0])
        .args(&command[1..])
        .env_clear()
        .envs(sandbox::environment(Path::new("/")))
        .output()
        .with_context(|| format!("run {}", command[0]))?;
    if !output.status.success() {
        bail!("{}: {}", command.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn child_of(parent: u32) -> Result<u32> {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))?;
    children.split_whitespace().next().context("the node has no first process")?.parse().context("a process id")
}

fn cgroup(sandbox: &Sandbox) -> String {
    format!("fitout-testbed-{}", sandbox.dir().file_name().unwrap_or_default().display())
}

fn ready(client: &Client) -> Result<()> {
    let node = client.get(&format!("/api/v1/nodes/{NODE}"))?;
    let conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let ready = conditions.iter().find(|condition| condition["type"] == "Ready").context("no Ready condition yet")?;
    if ready["status"] != "True" {
        bail!("{}", ready["message"]);
    }
    // The node controller removes the taints once it has seen the condition.
    if let Some(taint) = node["spec"]["taints"].get(0) {
        bail!("tainted {}", taint["key"]);
    }
    Ok(())
}

fn network(sandbox: &Sandbox) -> Value {
    json!({
        "cniVersion": "1.0.0",
        "name": "testbed",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "pods",
                "isGateway": true,
                // With it a pod reaches itself through its Service.
                "hairpinMode": true,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{ "subnet": sandbox.address_block().pods() }]],
                    "routes": [{ "dst": "0.0.0.0/0" }],
                    "dataDir": sandbox.path("addresses"),
                },
            },
            { "type": "portmap", "capabilities": { "portMappings": true } },
        ],
    })
}

fn containerd_config(sandbox: &Sandbox) -> String {
    format!(
        r#"version = 2
root = "{root}"
state = "{state}"
[grpc]
  address = "{socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{opt}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  # Inside a container the OOM score cannot be lowered.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{PLUGINS}"
    conf_dir = "{cni}"
"#,
        root = sandbox.path("containerd"),
        state = sandbox.path("containerd-state"),
        socket = sandbox.path("containerd.sock"),
        opt = sandbox.path("containerd-opt"),
        cni = sandbox.path("cni"),
    )
}

fn kubelet_config(sandbox: &Sandbox) -> Value {
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": format!("unix://{}", sandbox.path("containerd.sock")),
        "authentication": {
            "anonymous": { "enabled": false },
            "webhook": { "enabled": true },
            "x509": { "clientCAFile": sandbox.path("pki/ca.crt") },
        },
        "authorization": { "mode": "Webhook" },
        "tlsCertFile": sandbox.path("pki/kubelet.crt"),
        "tlsPrivateKeyFile": sandbox.path("pki/kubelet.key"),
        "clusterDNS": [sandbox.address_block().dns_service()],
        "clusterDomain": "cluster.local",
        "resolvConf": sandbox.path("resolv.conf"),
        // Independent of the machine's control groups: each pod has one group.
        "failCgroupV1": false,
        "cgroupDriver": "cgroupfs",
        "cgroupsPerQOS": false,
        "enforceNodeAllocatable": [],
        "failSwapOn": false,
        // Images cannot be pulled again, so neither garbage collection nor a full disk may remove them.
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "evictionHard": { "memory.available": "100Mi", "nodefs.available": "0%", "imagefs.available": "0%" },
    })
}

fn proxy_config(sandbox: &Sandbox) -> Value {
    json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clientConnection": { "kubeconfig": sandbox.path("proxy.kubeconfig") },
        "clusterCIDR": sandbox.address_block().pods(),
        "hostnameOverride": NODE,
        // The limits of connection tracking belong to the whole machine: do not change them.
        "conntrack": { "maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s" },
    })
}
