//! Many kinds that have nothing to do with anybody, as large as real ones are.

use anyhow::{Context, Result};
use fitout_testkit::Cluster;
use serde_json::{Value, json};

/// Adds so many kinds to a cluster.
pub fn add(cluster: &Cluster, count: usize) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let crds = fitout_api::crds();
    let like = crds.iter().find(|crd| crd.spec.names.kind == "ExtensionInstance").context("there is such a kind")?;
    let like = serde_json::to_value(like)?;
    let items: Vec<Value> = (0..count).map(|number| another(&like, number)).collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
    let kubectl = cluster.kubectl();
    kubectl.run_with_input(&["create", "--validate=false", "--filename=-"], &list)?;
    kubectl.run(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=120s"])?;
    Ok(())
}

/// Ten kinds in a group.
fn another(like: &Value, number: usize) -> Value {
    let mut crd = like.clone();
    let (group, plural) = (format!("g{}.example.com", number / 10), format!("thing{number}s"));
    crd["metadata"] = json!({ "name": format!("{plural}.{group}") });
    crd["spec"]["group"] = group.into();
    crd["spec"]["names"] = json!({ "kind": format!("Thing{number}"), "plural": plural });
    crd
}
