//! A real Kubernetes, started in seconds.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::audit::AuditLog;
use crate::control_plane::{self, AUDIT_POLICY};
use crate::pki::Pki;
use crate::wait::until;
use crate::{Client, Etcd, KubeVersion, LoadBalancer, Node, Process, Sandbox, Tool};

/// The cluster to start. The default is the newest Kubernetes without a node, with an etcd of its own.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The Kubernetes version.
    pub version: KubeVersion,
    /// With a real node, on which pods run. See [`crate::pods_cannot_run`].
    pub node: bool,
    /// The controllers that run.
    pub controllers: Controllers,
    /// The number of API servers. Several are reached through one address, in turn.
    pub api_servers: u16,
    /// Whether API servers write an audit log, with the bodies of writes.
    pub audit: bool,
    /// An etcd to share. By default the cluster has its own.
    pub etcd: Option<Etcd>,
}

/// The controllers of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controllers {
    /// No controller: no garbage is collected, no pod is scheduled, and a deleted namespace stays.
    None,
    /// The namespace controller, which finishes the deletion of namespaces.
    Namespaces,
    /// The controller manager and the scheduler.
    All,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            version: KubeVersion::NEWEST,
            node: false,
            controllers: Controllers::All,
            api_servers: 1,
            audit: true,
            etcd: None,
        }
    }
}

/// A running cluster. Dropping it ends its processes and removes its directory.
///
/// The order of the fields is the order in which they are dropped: clients first, the directory last.
pub struct Cluster {
    others: Vec<Process>,
    node: Option<Node>,
    controllers: Vec<Process>,
    _load_balancer: Option<LoadBalancer>,
    api_servers: Vec<ApiServer>,
    etcd: Etcd,
    client: Client,
    pki: Pki,
    spec: Spec,
    sandbox: Sandbox,
}

struct ApiServer {
    version: KubeVersion,
    port: u16,
    process: Option<Process>,
}

/// The readiness check that passes a second after all others. The administrator needs no roles; users with roles have to
/// wait for it.
const ROLES: &str = "poststarthook/rbac/bootstrap-roles";

const READY: Duration = Duration::from_mins(1);

impl Cluster {
    /// Starts a cluster and waits until its API serves the administrator and its node, if any, is ready for pods.
    pub fn start(spec: Spec) -> Result<Self> {
        let mut sandbox = Sandbox::claim()?;
        let link = if spec.node { Some(Node::connect(&mut sandbox)?) } else { None };
        let address = if spec.node { sandbox.address_block().host() } else { sandbox.address_block().loopback() };
        let etcd = spec.etcd.clone().map_or_else(|| Etcd::start_in(&sandbox), Ok)?;
        sandbox.write("audit-policy.yaml", AUDIT_POLICY)?;
        let ports: Vec<u16> = (0..spec.api_servers).map(|index| 6443 + index).collect();
        let load_balancer = match ports[..] {
            [_] => None,
            _ => Some(LoadBalancer::start(address, &ports)?),
        };
        let server = format!("https://{address}:{}", load_balancer.as_ref().map_or(6443, LoadBalancer::port));
        let pki = Pki::create(&sandbox, &server)?;
        let admin = pki.identity("kubernetes-admin", Some("system:masters"))?;
        let client = Client::new(server, &pki.authority(), &admin)?;
        let api_servers = ports.iter().map(|&port| ApiServer { version: spec.version, port, process: None }).collect();
        let mut cluster = Self {
            others: vec![],
            node: None,
            controllers: vec![],
            _load_balancer: load_balancer,
            api_servers,
            etcd,
            client,
            pki,
            spec,
            sandbox,
        };
        for index in 0..cluster.api_servers.len() {
            cluster.launch_api_server(index)?;
        }
        for index in 0..cluster.api_servers.len() {
            cluster.await_api_server(index)?;
        }
        // Not earlier, because they would take CPU from the API servers that they wait for.
        cluster.launch_controllers()?;
        if let Some(link) = link {
            cluster.await_roles()?;
            cluster.node = Some(Node::start(link, &cluster.sandbox, &cluster.client)?);
        }
        Ok(cluster)
    }

    /// A client with the rights of the administrator.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The kubeconfig file of the administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.sandbox.dir().join("admin.kubeconfig")
    }

    /// The content of a kubeconfig file with this token.
    pub fn kubeconfig_with(&self, token: &str) -> Result<String> {
        let mut config: Value = serde_json::from_str(&fs::read_to_string(self.kubeconfig())?)?;
        config["users"][0]["user"] = json!({ "token": token });
        Ok(serde_json::to_string_pretty(&config)?)
    }

    /// A kubeconfig file for a user, who has only the rights that are granted to this name or group.
    pub fn kubeconfig_for(&self, user: &str, group: Option<&str>) -> Result<PathBuf> {
        let name = format!("user-{}", user.replace(['/', ':'], "-"));
        self.pki.write_kubeconfig(&self.sandbox, &name, user, group)?;
        self.await_roles()?;
        Ok(self.sandbox.dir().join(format!("{name}.kubeconfig")))
    }

    /// `kubectl` of the version that the cluster was started with.
    pub fn kubectl(&self) -> Tool {
        let program = self.sandbox.programs().kubebox(self.spec.version);
        Tool::new(program, &["kubectl"], &self.kubeconfig(), self.sandbox.dir())
    }

    /// Helm 3, as the cluster's administrator.
    pub fn helm3(&self) -> Result<Tool> {
        Ok(Tool::new(self.sandbox.programs().helm3()?, &[], &self.kubeconfig(), self.sandbox.dir()))
    }

    /// Helm 4, as the cluster's administrator.
    pub fn helm(&self) -> Tool {
        Tool::new(self.sandbox.programs().helm(), &[], &self.kubeconfig(), self.sandbox.dir())
    }

    /// A directory for a `PATH`, with `kubectl` and `helm` under their own names.
    pub fn bin(&self) -> Result<PathBuf> {
        let bin = self.sandbox.dir().join("bin");
        fs::create_dir_all(&bin)?;
        let tools =
            [("kubectl", self.sandbox.programs().kubebox(self.spec.version)), ("helm", self.sandbox.programs().helm())];
        for (name, program) in tools {
            if !bin.join(name).exists() {
                symlink(program, bin.join(name))?;
            }
        }
        Ok(bin)
    }

    /// The node, if the cluster was started with one.
    pub fn node(&self) -> Option<&Node> {
        self.node.as_ref()
    }

    /// The sandbox: its directory and addresses.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The audit log of all its API servers, from the start.
    pub fn audit(&self) -> AuditLog {
        AuditLog::new((0..self.api_servers.len()).map(|index| PathBuf::from(self.audit_path(index))).collect())
    }

    /// Creates a namespace for a test that shares the cluster with others.
    pub fn namespace(&self, prefix: &str) -> Result<String> {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let name = format!("{prefix}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.client.create("/api/v1/namespaces", &json!({ "metadata": { "name": name } }))?;
        Ok(name)
    }

    /// The answer of `/version`.
    pub fn version(&self) -> Result<Value> {
        self.client.get("/version")
    }

    /// The memory of its processes on the host, in bytes. See [`Process::memory`].
    pub fn memory(&self) -> Result<u64> {
        self.processes().map(Process::memory).sum()
    }

    /// The CPU time of each of its processes on the host, by name.
    pub fn cpu(&self) -> Result<BTreeMap<String, Duration>> {
        self.processes().map(|process| Ok((process.name().to_owned(), process.cpu()?))).collect()
    }

    /// Its etcd.
    pub fn etcd(&self) -> &Etcd {
        &self.etcd
    }

    fn processes(&self) -> impl Iterator<Item = &Process> {
        let servers = self.api_servers.iter().filter_map(|server| server.process.as_ref());
        servers.chain(&self.controllers).chain([self.etcd.process()])
    }

    /// Stops an API server with SIGTERM.
    pub fn stop_api_server(&mut self, index: usize) -> Result<()> {
        self.api_servers[index].process.take().map_or(Ok(()), Process::stop)
    }

    /// Kills an API server.
    pub fn kill_api_server(&mut self, index: usize) {
        if let Some(process) = self.api_servers[index].process.take() {
            process.kill();
        }
    }

    /// Starts an API server that was stopped or killed, and waits until it is ready.
    pub fn start_api_server(&mut self, index: usize) -> Result<()> {
        self.launch_api_server(index)?;
        self.await_api_server(index)
    }

    /// Stops an API server and starts it again.
    pub fn restart_api_server(&mut self, index: usize) -> Result<()> {
        self.stop_api_server(index)?;
        self.start_api_server(index)
    }

    /// Freezes an API server: its connections stay open and no request is answered.
    pub fn freeze_api_server(&self, index: usize) -> Result<()> {
        self.api_servers[index].process.as_ref().context("the API server is not running")?.freeze()
    }

    /// Resumes a frozen API server.
    pub fn thaw_api_server(&self, index: usize) -> Result<()> {
        self.api_servers[index].process.as_ref().context("the API server is not running")?.thaw()
    }

    /// Restarts one API server as another Kubernetes version, on the same data. The others keep their version, as in the
    /// middle of a rolling upgrade.
    pub fn switch_api_server(&mut self, index: usize, version: KubeVersion) -> Result<()> {
        self.stop_api_server(index)?;
        self.api_servers[index].version = version;
        self.start_api_server(index)
    }

    /// Restarts the whole control plane as another Kubernetes version, on the same data.
    pub fn switch(&mut self, version: KubeVersion) -> Result<()> {
        self.controllers.clear();
        for index in 0..self.api_servers.len() {
            self.switch_api_server(index, version)?;
        }
        self.spec.version = version;
        self.launch_controllers()
    }

    /// Runs another program until the cluster ends. Its output is in `NAME.log`.
    pub fn run(&mut self, name: &str, command: &[String]) -> Result<()> {
        self.others.push(Process::start(&self.sandbox, name, command)?);
        Ok(())
    }

    /// A program that [`Self::run`] has started.
    pub fn other(&self, name: &str) -> Option<&Process> {
        self.others.iter().find(|process| process.name() == name)
    }

    /// Starts another program, which ends when the result is dropped. Its output is in `NAME.log`.
    pub fn launch(&self, name: &str, command: &[String]) -> Result<Process> {
        Process::start(&self.sandbox, name, command)
    }

    /// A token of a service account with all rights, for clients without a certificate.
    pub fn admin_token(&self) -> Result<String> {
        let kubectl = self.kubectl();
        let account = "kube-system:testbed-admin";
        kubectl.run(&["create", "serviceaccount", "testbed-admin", "--namespace=kube-system"])?;
        let binding = ["create", "clusterrolebinding", "testbed-admin", "--clusterrole=cluster-admin"];
        kubectl.run(&[&binding[..], &[&format!("--serviceaccount={account}")]].concat())?;
        let token = kubectl.run(&["create", "token", "testbed-admin", "--namespace=kube-system", "--duration=24h"])?;
        Ok(token.trim().to_owned())
    }

    /// Keeps the cluster running under this name after this program has ended.
    pub fn keep(mut self, name: &str) -> Result<()> {
        self.sandbox.keep(name)?;
        self.others.into_iter().chain(self.controllers).for_each(Process::leave);
        self.api_servers.into_iter().filter_map(|server| server.process).for_each(Process::leave);
        self.etcd.leave();
        if let Some(node) = self.node {
            node.leave();
        }
        Ok(())
    }

    /// The address of its API servers.
    pub fn address(&self) -> Ipv4Addr {
        if self.spec.node { self.sandbox.address_block().host() } else { self.sandbox.address_block().loopback() }
    }

    fn audit_path(&self, index: usize) -> String {
        self.sandbox.path(&format!("audit-{index}.jsonl"))
    }

    fn launch_api_server(&mut self, index: usize) -> Result<()> {
        let server = &self.api_servers[index];
        self.sandbox.programs().ensure_kubernetes(server.version)?;
        let command = control_plane::ApiServer {
            sandbox: &self.sandbox,
            version: server.version,
            address: self.address(),
            port: server.port,
            etcd: self.etcd.address(),
            audit_log: self.spec.audit.then(|| self.audit_path(index)).as_deref(),
            with_node: self.spec.node,
        }
        .command();
        let process = Process::start(&self.sandbox, &format!("kube-apiserver-{index}"), &command)?;
        self.api_servers[index].process = Some(process);
        Ok(())
    }

    fn launch_controllers(&mut self) -> Result<()> {
        let (sandbox, version) = (&self.sandbox, self.spec.version);
        let controllers = match self.spec.controllers {
            _ if self.spec.node => Controllers::All,
            Controllers::None => return Ok(()),
            controllers => controllers,
        };
        let manager = control_plane::controller_manager(sandbox, version, controllers);
        self.controllers.push(Process::start(sandbox, "kube-controller-manager", &manager)?);
        if controllers == Controllers::All {
            let scheduler = control_plane::scheduler(sandbox, version);
            self.controllers.push(Process::start(sandbox, "kube-scheduler", &scheduler)?);
        }
        Ok(())
    }

    fn await_roles(&self) -> Result<()> {
        until("the built-in roles exist", READY, || self.client.get("/readyz")).map(drop)
    }

    fn await_api_server(&mut self, index: usize) -> Result<()> {
        let client = self.client.to(&format!("https://{}:{}", self.address(), self.api_servers[index].port));
        let process = self.api_servers[index].process.as_mut().context("the API server is not running")?;
        process.until_ready(READY, || client.get(&format!("/readyz?exclude={ROLES}")))?;
        Ok(())
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").field("sandbox", &self.sandbox).field("spec", &self.spec).finish_non_exhaustive()
    }
}
