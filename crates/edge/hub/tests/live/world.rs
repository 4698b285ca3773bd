//! A hub and a target for tests, both real.

#![allow(clippy::unwrap_used, dead_code, unreachable_pub, missing_docs, reason = "shared by several test programs")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use fitout_hub::{MetricsHandle, Options};
use fitout_testkit::{Cluster, Spec, until};
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};

pub const LIMIT: Duration = Duration::from_secs(30);

/// A hub and a target, and the hub running.
pub struct World {
    pub hub: Arc<Cluster>,
    pub target: Arc<Cluster>,
    pub catalog: PathBuf,
    pub runtime: tokio::runtime::Runtime,
}

pub const INSTANCES: &str = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensioninstances";

impl World {
    /// With a catalog to install from, and a target whose node only looks like one.
    pub fn start() -> Result<Self> {
        let world = Self::start_with(false)?;
        world.offer()?;
        Ok(world)
    }

    /// With a real node or without, and no catalog yet.
    pub fn start_with(node: bool) -> Result<Self> {
        let hub = Cluster::start(Spec::default())?;
        let target = Cluster::start(Spec { node, ..Spec::default() })?;
        Self::start_on(Arc::new(hub), Arc::new(target), node)
    }

    /// With one cluster that is both, and no catalog yet.
    pub fn start_on_itself() -> Result<Self> {
        let both = Arc::new(Cluster::start(Spec::default())?);
        Self::start_on(Arc::clone(&both), both, false)
    }

    /// With these two, which may be one, and no catalog yet.
    pub fn start_on(hub: Arc<Cluster>, target: Arc<Cluster>, node: bool) -> Result<Self> {
        if !node {
            make_node(&target)?;
        }
        let crds: Vec<Value> = fitout_api::crds().iter().map(|crd| serde_json::to_value(crd).unwrap()).collect();
        apply(&hub, &json!({ "apiVersion": "v1", "kind": "List", "items": crds }))?;
        hub.kubectl().run(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"])?;
        apply(&hub, &object("v1", "Namespace", "", "fitout-system", &json!({})))?;
        let catalog = hub.sandbox().dir().join("catalog");
        write_catalog(&catalog)?;

        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let world = Self { hub, target, catalog, runtime };
        world.run_hub()?;
        apply(&world.hub, &object("fitout.dev/v1alpha1", "Organization", "", "acme", &json!({ "spec": {} })))?;
        until("the organization's namespace", LIMIT, || world.hub.client().get("/api/v1/namespaces/org-acme"))?;
        let kubeconfig = fs::read_to_string(world.target.kubeconfig())?;
        let secret = json!({ "type": "fitout.dev/kubeconfig", "stringData": { "kubeconfig": kubeconfig } });
        apply(&world.hub, &object("v1", "Secret", "org-acme", "foo-kubeconfig", &secret))?;
        let cluster = json!({ "spec": { "kubeconfigSecret": "foo-kubeconfig" } });
        apply(&world.hub, &object("fitout.dev/v1alpha1", "Cluster", "org-acme", "foo", &cluster))?;
        Ok(world)
    }

    /// Makes the catalog known to the hub.
    pub fn offer(&self) -> Result<()> {
        let source = json!({ "spec": { "source": { "directory": { "path": self.catalog } } } });
        apply(&self.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "local", &source))?;
        Ok(())
    }

    /// Ends the hub as it is, and starts another.
    pub fn restart_hub(self) -> Result<Self> {
        let Self { hub, target, catalog, runtime } = self;
        runtime.shutdown_background();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let world = Self { hub, target, catalog, runtime };
        world.run_hub()?;
        Ok(world)
    }

    pub fn run_hub(&self) -> Result<()> {
        let kubeconfig = Kubeconfig::from_yaml(&fs::read_to_string(self.hub.kubeconfig())?)?;
        let (content_gc_grace, lease) = (Duration::from_secs(1), Duration::from_secs(2));
        let options = Options { history: 5, content_gc_grace, lease, ..Options::default() };
        self.runtime.spawn(async move {
            let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
            if let Err(error) =
                fitout_hub::run(config, options, &MetricsHandle::default(), std::future::pending()).await
            {
                eprintln!("the hub ended: {error:#}");
            }
        });
        Ok(())
    }

    pub fn want(&self, spec: &Value) -> Result<()> {
        let mut whole = json!({
            "cluster": "foo", "namespace": "thing",
            "extension": { "name": "thing", "catalog": "local" },
        });
        whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        apply(
            &self.hub,
            &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", "thing", &json!({ "spec": whole })),
        )
    }

    pub fn instance(&self) -> Result<Value> {
        self.hub.client().get(&format!("{INSTANCES}/thing"))
    }

    /// Waits until the newest generation is Ready at this revision.
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

    pub fn config_map(&self, name: &str) -> Result<Option<Value>> {
        self.target.client().find(&format!("/api/v1/namespaces/thing/configmaps/{name}"))
    }
}

/// A node that is there and Ready, as far as anybody can tell from the API.
pub fn make_node(target: &Cluster) -> Result<()> {
    target.client().create("/api/v1/nodes", &json!({ "metadata": { "name": "n" } }))?;
    let ready = json!({ "status": { "conditions": [{ "type": "Ready", "status": "True" }] } }).to_string();
    target.kubectl().run(&["patch", "node", "n", "--subresource=status", "--type=merge", "--patch", &ready])?;
    Ok(())
}

pub fn condition(object: &Value, aspect: &str) -> Value {
    let all = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    all.into_iter().find(|condition| condition["type"] == aspect).unwrap_or_default()
}

pub fn object(api_version: &str, kind: &str, namespace: &str, name: &str, rest: &Value) -> Value {
    let mut object = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name } });
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    object
}

pub fn apply(cluster: &Cluster, object: &Value) -> Result<()> {
    let args = ["apply", "--server-side", "--force-conflicts", "--filename=-"];
    cluster.kubectl().run_with_input(&args, &object.to_string())?;
    Ok(())
}

/// Two versions of a thing: the second has one config map less and another one more.
pub fn write_catalog(dir: &Path) -> Result<()> {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
        metadata: { name: widgets.example.com }\n\
        spec:\n  group: example.com\n  scope: Namespaced\n  names: { kind: Widget, plural: widgets, singular: widget, listKind: WidgetList }\n\
        \x20 versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }]\n";
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: w }\nspec: { size: \"${size}\" }\n";
    let map = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata: {{ size: \"x${{size}}\" }}\n")
    };
    for (version, maps) in [("1.0.0", ["kept", "old"]), ("2.0.0", ["kept", "new"])] {
        let folder = dir.join("thing").join(version);
        fs::create_dir_all(folder.join("m"))?;
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: thing-{version} }}\n\
             spec:\n  extension: thing\n  version: {version}\n  upgradeFrom: \">=1\"\n  kubernetes: \">=1.33\"\n  parameters: schema.json\n  manifests: {{ path: m }}\n"
        );
        fs::write(folder.join("definition.yaml"), definition)?;
        fs::write(
            folder.join("schema.json"),
            r#"{"type":"object","properties":{"size":{"type":"integer","default":1}}}"#,
        )?;
        let documents = [widget.to_owned(), map(maps[0]), map(maps[1]), crd.to_owned()];
        fs::write(folder.join("m/all.yaml"), documents.join("---\n"))?;
    }
    Ok(())
}
