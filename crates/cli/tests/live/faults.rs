//! A hub that runs as its own process and reaches everything through proxies, so that it can be killed and cut off.

#![allow(clippy::unwrap_used, dead_code, unreachable_pub, missing_docs, reason = "shared by several test programs")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail, ensure};
use fitout_testkit::{
    Cluster, Controllers, Fault, INSTANCES, Process, Proxy, ProxyRequest, Spec, add_fake_node, apply, condition,
    install_hub, object, until, write_example_catalog,
};
use serde_json::{Value, json};

/// How long a test waits for a step.
pub const LIMIT: Duration = Duration::from_secs(30);

pub struct Faults {
    pub hub: Cluster,
    pub hub_proxy: Proxy,
    pub targets: Vec<Cluster>,
    pub proxies: Vec<Proxy>,
    kubeconfig: PathBuf,
}

/// The name that the cluster with this index is registered by.
pub fn name_of(target: usize) -> String {
    format!("c{target}")
}

impl Faults {
    /// A hub that is installed and not running, and so many clusters that are registered with it.
    pub fn start(targets: usize) -> Result<Self> {
        let hub = Cluster::start(Spec::default())?;
        let token = install_hub(&hub)?;
        let hub_proxy = Proxy::start(&hub)?;
        let kubeconfig = hub.sandbox().dir().join("proxy.kubeconfig");
        fs::write(&kubeconfig, hub_proxy.kubeconfig(&token).to_string())?;
        let mut faults = Self { hub, hub_proxy, targets: vec![], proxies: vec![], kubeconfig };
        let catalog = faults.hub.sandbox().dir().join("catalog");
        write_example_catalog(&catalog)?;
        write_plain(&catalog, "1.0.0", [0, 1])?;
        let source = json!({ "spec": { "source": { "directory": { "path": catalog } } } });
        apply(&faults.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "local", &source))?;
        faults.organization("acme")?;
        for index in 0..targets {
            // Without the node lifecycle controller, which would mark the fake node as not ready.
            let target = Cluster::start(Spec { controllers: Controllers::Namespaces, ..Spec::default() })?;
            add_fake_node(&target)?;
            let proxy = Proxy::start(&target)?;
            faults.register("acme", &name_of(index), &proxy.kubeconfig(&target.admin_token()?))?;
            faults.targets.push(target);
            faults.proxies.push(proxy);
        }
        Ok(faults)
    }

    /// Makes an organization, with its namespace: the hub would do the same.
    pub fn organization(&self, name: &str) -> Result<()> {
        apply(&self.hub, &object("fitout.dev/v1alpha1", "Organization", "", name, &json!({ "spec": {} })))?;
        let _hub = self.run_hub("org")?;
        until("the organization's namespace", LIMIT, || {
            self.hub.client().get(&format!("/api/v1/namespaces/org-{name}"))
        })?;
        Ok(())
    }

    pub fn register(&self, organization: &str, cluster: &str, kubeconfig: &Value) -> Result<()> {
        let namespace = format!("org-{organization}");
        let name = format!("{cluster}-kubeconfig");
        let secret = json!({ "type": "fitout.dev/kubeconfig", "stringData": { "kubeconfig": kubeconfig.to_string() } });
        apply(&self.hub, &object("v1", "Secret", &namespace, &name, &secret))?;
        let spec = json!({ "spec": { "kubeconfigSecret": name } });
        apply(&self.hub, &object("fitout.dev/v1alpha1", "Cluster", &namespace, cluster, &spec))
    }

    /// Starts a hub. It is killed when what is returned is dropped.
    pub fn run_hub(&self, name: &str) -> Result<Process> {
        self.run_hub_with(name, &["--lease=2s", "--content-gc-grace=1s", "--history=5"])
    }

    pub fn run_hub_with(&self, name: &str, flags: &[&str]) -> Result<Process> {
        self.run_hub_in(name, &[], flags)
    }

    /// With more in its environment.
    pub fn run_hub_in(&self, name: &str, environment: &[String], flags: &[&str]) -> Result<Process> {
        let kubeconfig = format!("KUBECONFIG={}", self.kubeconfig.display());
        let mut command = vec!["env".to_owned(), kubeconfig];
        command.extend_from_slice(environment);
        command
            .extend([env!("CARGO_BIN_EXE_fitout"), "hub"].into_iter().chain(flags.iter().copied()).map(str::to_owned));
        self.hub.launch(name, &command)
    }

    /// Runs a hub until it is done.
    pub fn run_until(&self, done: impl Fn() -> Result<bool>) -> Result<()> {
        let _hub = self.run_hub("hub")?;
        until("it is done", LIMIT, || if done()? { Ok(()) } else { bail!("not yet") })
    }

    /// Runs hub after hub, each killed after its first write, until there is nothing left to write.
    pub fn drive(&self, written: &mut Vec<String>, done: impl Fn() -> Result<bool>) -> Result<()> {
        let deadline = Instant::now() + Duration::from_mins(4);
        while Instant::now() < deadline {
            self.drop_responses();
            let hub = self.run_hub("hub")?;
            while Instant::now() < deadline {
                if let Some(asked) = self.dropped(Duration::from_millis(300)) {
                    written.push(format!("{} {}", asked.method, asked.path.split('?').next().unwrap_or_default()));
                    let last = &written[written.len().saturating_sub(5)..];
                    let same = last.len() == 5 && last.iter().all(|one| *one == last[0]);
                    ensure!(!same, "it does not get on: {written:#?}");
                    break;
                }
                // Nothing was written for a while by a hub that leads and has seen everything.
                if done()? && self.dropped(Duration::from_secs(2)).is_none() {
                    hub.kill();
                    self.let_pass();
                    return Ok(());
                }
            }
            hub.kill();
        }
        bail!("four minutes were not enough: {written:#?}")
    }

    /// Wants an instance of the thing on a cluster.
    pub fn want(&self, name: &str, target: usize, spec: &Value) -> Result<()> {
        apply(&self.hub, &wanted(name, target, spec))
    }

    /// Wants an instance of what a cluster can have many of.
    pub fn want_plain(&self, name: &str, target: usize, size: u32) -> Result<()> {
        apply(&self.hub, &plain(name, target, size))
    }

    pub fn instance(&self, name: &str) -> Result<Option<Value>> {
        self.hub.client().find(&format!("{INSTANCES}/{name}"))
    }

    /// Whether an instance is Ready at this revision, in its newest generation.
    pub fn is_ready(&self, name: &str, revision: u32) -> Result<bool> {
        let Some(instance) = self.instance(name)? else { return Ok(false) };
        let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
        let at = instance["status"]["revision"] == revision;
        Ok(seen && at && condition(&instance, "Ready")["status"] == "True")
    }

    pub fn until_ready(&self, name: &str, revision: u32, limit: Duration) -> Result<Duration> {
        let began = Instant::now();
        until(&format!("{name} is ready at revision {revision}"), limit, || {
            if self.is_ready(name, revision)? { Ok(()) } else { Err(anyhow!("{:?}", self.instance(name)?)) }
        })?;
        Ok(began.elapsed())
    }

    /// From now on: the answer to a write that is anything to a change is kept back, whoever it is to.
    pub fn drop_responses(&self) {
        for proxy in self.proxies.iter().chain([&self.hub_proxy]) {
            while proxy.dropped(Duration::ZERO).is_some() {}
            proxy.decide(|asked| if is_effect(asked) { Fault::DropResponse } else { Fault::Pass });
        }
    }

    /// From now on: nothing is kept back.
    pub fn let_pass(&self) {
        for proxy in self.proxies.iter().chain([&self.hub_proxy]) {
            proxy.decide(|_| Fault::Pass);
        }
    }

    /// What was kept back, if anything was within this time.
    pub fn dropped(&self, limit: Duration) -> Option<ProxyRequest> {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            for proxy in self.proxies.iter().chain([&self.hub_proxy]) {
                if let Some(asked) = proxy.dropped(Duration::from_millis(10)) {
                    return Some(asked);
                }
            }
        }
        None
    }
}

/// An instance on a cluster, of the thing unless it says otherwise.
fn wanted(name: &str, target: usize, spec: &Value) -> Value {
    let mut whole = json!({
        "cluster": name_of(target), "namespace": name, "releaseName": name,
        "extension": { "name": "thing", "catalog": "local" },
    });
    whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", name, &json!({ "spec": whole }))
}

/// An instance of what a cluster can have many of.
pub fn plain(name: &str, target: usize, size: u32) -> Value {
    let extension = json!({ "name": "plain", "catalog": "local" });
    wanted(name, target, &json!({ "extension": extension, "values": { "size": size } }))
}

/// A version of something that a cluster can have many of: two config maps, an account and a role.
pub fn write_plain(catalog: &Path, version: &str, maps: [u32; 2]) -> Result<()> {
    let folder = catalog.join("plain").join(version);
    fs::create_dir_all(folder.join("m"))?;
    let definition = format!(
        "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: plain-{version} }}\nspec:\n  \
         extension: plain\n  version: {version}\n  upgradeFrom: \">=1\"\n  singleton: false\n  parameters: schema.json\n  \
         manifests: {{ path: m }}\n"
    );
    fs::write(folder.join("definition.yaml"), definition)?;
    fs::write(folder.join("schema.json"), r#"{"type":"object","properties":{"size":{"type":"integer","default":1}}}"#)?;
    let map = |number: u32| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: plain-{number} }}\ndata: {{ size: \"x${{size}}\" }}\n"
        )
    };
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: plain }\n";
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: plain }\n\
                rules: [{ apiGroups: [''], resources: [pods], verbs: [get] }]\n";
    fs::write(folder.join("m/all.yaml"), [&map(maps[0]), &map(maps[1]), account, role].join("---\n"))?;
    Ok(())
}

/// Whether a request is a write of a change: not one that keeps the hub in office, nor what it writes for those who look
/// later.
pub fn is_effect(asked: &ProxyRequest) -> bool {
    let result = asked.path.contains("/extensionrevisions/") && asked.path.contains("/status");
    asked.writes() && !asked.path.contains("/leases") && !asked.path.contains("/events") && !result
}
