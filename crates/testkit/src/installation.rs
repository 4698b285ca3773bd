//! A hub's cluster and a target that is registered with it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use crate::objects::{INSTANCES, add_fake_node, apply, condition, object};
use crate::{Cluster, Spec, paths, until, write_example_catalog};

const LIMIT: Duration = Duration::from_secs(30);

/// A cluster with the CRDs of the hub, and a target cluster, which may be the same. The test runs the hub.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The cluster that the hub runs on.
    pub hub: Arc<Cluster>,
    /// The cluster that is registered as `foo` in the organization `acme`.
    pub target: Arc<Cluster>,
    /// The directory of the catalog `local`.
    pub catalog: PathBuf,
}

impl Installation {
    /// Starts both clusters. The target has a real node, or a Node object only.
    pub fn start(node: bool) -> Result<Self> {
        let hub = Cluster::start(Spec::default())?;
        let target = Cluster::start(Spec { node, ..Spec::default() })?;
        Self::prepare(Arc::new(hub), Arc::new(target))
    }

    /// Prepares two clusters, which may be one: a Node object where the target has no node, the CRDs and the catalog.
    pub fn prepare(hub: Arc<Cluster>, target: Arc<Cluster>) -> Result<Self> {
        if target.node().is_none() {
            add_fake_node(&target)?;
        }
        let crds = paths::checkout().join("deploy/crds");
        hub.kubectl().run(&["apply", "--server-side", "--filename", &crds.to_string_lossy()])?;
        hub.kubectl().run(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"])?;
        apply(&hub, &object("v1", "Namespace", "", "fitout-system", &json!({})))?;
        let catalog = hub.sandbox().dir().join("catalog");
        write_example_catalog(&catalog)?;
        Ok(Self { hub, target, catalog })
    }

    /// Creates the organization and registers the target with the hub, which has to run.
    pub fn register(&self) -> Result<()> {
        apply(&self.hub, &object("fitout.dev/v1alpha1", "Organization", "", "acme", &json!({ "spec": {} })))?;
        until("the organization's namespace", LIMIT, || self.hub.client().get("/api/v1/namespaces/org-acme"))?;
        self.register_as(&self.target, "foo")
    }

    /// Registers a cluster in the organization `acme` under this name.
    pub fn register_as(&self, cluster: &Cluster, name: &str) -> Result<()> {
        let kubeconfig = fs::read_to_string(cluster.kubeconfig())?;
        let secret = json!({ "type": "fitout.dev/kubeconfig", "stringData": { "kubeconfig": kubeconfig } });
        let secret_name = format!("{name}-kubeconfig");
        apply(&self.hub, &object("v1", "Secret", "org-acme", &secret_name, &secret))?;
        let cluster = json!({ "spec": { "kubeconfigSecret": secret_name } });
        apply(&self.hub, &object("fitout.dev/v1alpha1", "Cluster", "org-acme", name, &cluster))
    }

    /// Creates the catalog `local`.
    pub fn offer(&self) -> Result<()> {
        let source = json!({ "spec": { "source": { "directory": { "path": self.catalog } } } });
        apply(&self.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "local", &source))
    }

    /// Applies the instance `thing` with these fields of its spec.
    pub fn want(&self, spec: &Value) -> Result<()> {
        let mut whole = json!({
            "cluster": "foo", "namespace": "thing",
            "extension": { "name": "thing", "catalog": "local" },
        });
        for (name, value) in spec.as_object().into_iter().flatten() {
            whole[name] = value.clone();
        }
        let instance =
            object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "thing", &json!({ "spec": whole }));
        apply(&self.hub, &instance)
    }

    /// The instance `thing`.
    pub fn instance(&self) -> Result<Value> {
        self.hub.client().get(&format!("{INSTANCES}/thing"))
    }

    /// Waits until the newest generation of the instance is Ready at this revision.
    pub fn ready(&self, revision: u32) -> Result<Value> {
        until(&format!("revision {revision} is ready"), LIMIT, || {
            let instance = self.instance()?;
            let ready = condition(&instance, "Ready");
            let seen = instance["status"]["observedGeneration"] == instance["metadata"]["generation"];
            if seen && ready["status"] == "True" && instance["status"]["revision"] == revision {
                Ok(instance)
            } else {
                Err(anyhow!("{}", instance["status"]))
            }
        })
    }

    /// A config map that the instance has installed.
    pub fn config_map(&self, name: &str) -> Result<Option<Value>> {
        self.target.client().find(&format!("/api/v1/namespaces/thing/configmaps/{name}"))
    }
}
