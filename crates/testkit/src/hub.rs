//! Starting the hub on a cluster, as its own service account and with the rights that are shipped for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use crate::{Cluster, paths, until};

const LIMIT: Duration = Duration::from_mins(1);

/// Installs the hub's objects, starts it from this program, and registers the cluster it runs on with it: as `local`, in
/// the organization `local`. A copy of the program is in the cluster's `bin`.
pub fn start_hub(cluster: &mut Cluster, program: &Path) -> Result<()> {
    let token = install_hub(cluster)?;
    let examples = paths::checkout().join("deploy/examples");
    cluster.kubectl().run(&["apply", "--server-side", "--filename", &examples.to_string_lossy()])?;

    let kubeconfig = write_kubeconfig(cluster, &token)?;
    let installed = cluster.bed().dir().join("bin/fitout");
    fs::create_dir_all(cluster.bed().dir().join("bin"))?;
    // A copy: the next build must not pull the program away from under the hub.
    fs::copy(program, &installed)?;
    let command = ["env", &format!("KUBECONFIG={}", kubeconfig.display()), &installed.to_string_lossy(), "hub"];
    cluster.run("hub", &command.map(str::to_owned))?;
    register(cluster)
}

/// Installs the kinds and the rights that the hub needs, and says the token of its service account.
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
    let mut config: Value = serde_json::from_str(&fs::read_to_string(cluster.kubeconfig())?)?;
    config["users"][0]["user"] = json!({ "token": token });
    let path = cluster.bed().dir().join("hub.kubeconfig");
    fs::write(&path, serde_json::to_string_pretty(&config)?)?;
    Ok(path)
}

/// Registers the local cluster as `local`, and waits until the hub has connected to it and read its catalog.
fn register(cluster: &Cluster) -> Result<()> {
    let client = cluster.client();
    until("the organization's namespace is there", LIMIT, || client.get("/api/v1/namespaces/org-local"))?;
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
