//! Starts the hub on a cluster, with its own service account and the RBAC rules that are shipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use crate::{Cluster, paths, until};

const LIMIT: Duration = Duration::from_mins(1);

/// Installs the hub's objects, starts the hub from this program, and registers its own cluster as `local` in the
/// organization `local`. A copy of the program is in the `bin` of the cluster.
pub fn start_hub(cluster: &mut Cluster, program: &Path) -> Result<()> {
    let token = install_hub(cluster)?;
    let examples = paths::checkout().join("deploy/examples");
    cluster.kubectl().run(&["apply", "--server-side", "--filename", &examples.to_string_lossy()])?;

    let kubeconfig = write_kubeconfig(cluster, &token)?;
    let installed = cluster.sandbox().dir().join("bin/fitout");
    fs::create_dir_all(cluster.sandbox().dir().join("bin"))?;
    // A copy, because the next build replaces the program.
    fs::copy(program, &installed)?;
    let address = format!("{}:{COMPUTE}", cluster.address());
    let kubeconfig = format!("KUBECONFIG={}", kubeconfig.display());
    let command = ["env", &kubeconfig, &installed.to_string_lossy(), "hub", "--api-address", &address];
    cluster.run("hub", &command.map(str::to_owned))?;
    serve_compute(cluster)?;
    register(cluster)
}

/// The port of the hub's aggregated API.
const COMPUTE: u16 = 8443;

/// Registers the aggregated API of a hub that listens on the cluster's own address, and waits until it is available.
pub fn serve_compute(cluster: &Cluster) -> Result<()> {
    let address = cluster.address().to_string();
    let metadata = json!({ "name": "fitout-hub", "namespace": "fitout-system" });
    let port = json!({ "name": "compute", "port": COMPUTE });
    let spec = if cluster.node().is_some() {
        json!({ "ports": [port] })
    } else {
        // Without kube-proxy a Service does not reach its endpoints.
        json!({ "type": "ExternalName", "externalName": address, "ports": [port] })
    };
    let mut objects = vec![json!({ "apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec })];
    if cluster.node().is_some() {
        let mut metadata = metadata;
        metadata["labels"] = json!({ "kubernetes.io/service-name": "fitout-hub" });
        objects.push(json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata, "addressType": "IPv4",
            "ports": [port], "endpoints": [{ "addresses": [address] }],
        }));
    }
    let objects = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
    let kubectl = cluster.kubectl();
    kubectl.run_with_input(&["apply", "--server-side", "--filename=-"], &objects.to_string())?;
    let registration = paths::checkout().join("deploy/compute");
    kubectl.run(&["apply", "--server-side", "--filename", &registration.to_string_lossy()])?;
    kubectl.run(&["wait", "--for=condition=Available", "apiservice/v1alpha1.compute.fitout.dev", "--timeout=60s"])?;
    Ok(())
}

/// Installs the CRDs and the RBAC rules of the hub, and returns a token of its service account.
pub fn install_hub(cluster: &Cluster) -> Result<String> {
    let deploy = paths::checkout().join("deploy");
    let kubectl = cluster.kubectl();
    let apply = |path: &Path| kubectl.run(&["apply", "--server-side", "--filename", &path.to_string_lossy()]);
    apply(&deploy.join("crds"))?;
    kubectl.run(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"])?;
    apply(&deploy.join("hub"))?;
    let create = ["create", "token", "fitout-hub", "--namespace=fitout-system", "--duration=8760h"];
    Ok(kubectl.run(&create)?.trim().to_owned())
}

/// A kubeconfig for the hub's service account.
fn write_kubeconfig(cluster: &Cluster, token: &str) -> Result<PathBuf> {
    let path = cluster.sandbox().dir().join("hub.kubeconfig");
    fs::write(&path, cluster.kubeconfig_with(token)?)?;
    Ok(path)
}

/// Registers the cluster as `local`, and waits until the hub has connected to it and has read its catalog.
fn register(cluster: &Cluster) -> Result<()> {
    let client = cluster.client();
    until("the organization's namespace exists", LIMIT, || client.get("/api/v1/namespaces/org-local"))?;
    let metadata = |name: &str| json!({ "name": name, "namespace": "org-local" });
    let objects = json!({ "apiVersion": "v1", "kind": "List", "items": [
        {
            "apiVersion": "v1", "kind": "Secret", "type": "fitout.dev/kubeconfig", "metadata": metadata("local-kubeconfig"),
            "stringData": { "kubeconfig": fs::read_to_string(cluster.kubeconfig())? },
        },
        {
            "apiVersion": "fitout.dev/v1alpha1", "kind": "Cluster", "metadata": metadata("local"),
            "spec": { "kubeconfigSecret": "local-kubeconfig" },
        },
    ] });
    cluster.kubectl().run_with_input(&["apply", "--server-side", "--filename=-"], &objects.to_string())?;
    let fitout = "/apis/fitout.dev/v1alpha1/namespaces";
    for path in [format!("{fitout}/org-local/clusters/local"), format!("{fitout}/fitout-system/catalogs/community")] {
        until(&format!("{path} is ready"), LIMIT, || {
            let object = client.get(&path)?;
            let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let ready = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
            if conditions.iter().any(ready) { Ok(()) } else { Err(anyhow!("{}", object["status"])) }
        })?;
    }
    Ok(())
}
