//! Kinds that objects of a chart are of, and that no chart brings: an operator would define them.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, anyhow};
use fitout_testkit::{Cluster, until};
use serde_json::{Value, json};

/// For an API server to serve a kind.
const SOON: Duration = Duration::from_secs(20);

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Defines what neither the cluster nor the objects themselves define, as kinds that take anything.
pub fn stand_in(cluster: &Cluster, objects: &[Value]) -> Result<()> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let defined = cluster.client().get(DEFINITIONS)?;
    let brought = objects.iter().filter(|object| object["kind"] == "CustomResourceDefinition");
    let known: BTreeSet<[String; 2]> = brought
        .chain(defined["items"].as_array().into_iter().flatten())
        .map(|crd| [text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["kind"])])
        .collect();
    for object in objects {
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let Some((group, version)) = api_version.split_once('/') else { continue };
        if known.contains(&[group.to_owned(), kind.clone()]) || is_served(cluster, group, version, &kind)? {
            continue;
        }
        println!("  {api_version} {kind} is of a kind that stands in");
        let plural = format!("{}s", kind.to_lowercase());
        let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{plural}.{group}") },
            "spec": {
                "group": group, "names": { "kind": kind, "plural": plural },
                "scope": if kind.starts_with("Cluster") { "Cluster" } else { "Namespaced" },
                "versions": [
                    { "name": version, "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } },
                ],
            },
        });
        cluster.client().create(DEFINITIONS, &definition)?;
        until(&format!("{kind} is served"), SOON, || {
            if is_served(cluster, group, version, &kind)? { Ok(()) } else { Err(anyhow!("not yet")) }
        })?;
    }
    Ok(())
}

fn is_served(cluster: &Cluster, group: &str, version: &str, kind: &str) -> Result<bool> {
    let served = cluster.client().find(&format!("/apis/{group}/{version}"))?.unwrap_or_default();
    Ok(served["resources"].as_array().into_iter().flatten().any(|resource| resource["kind"] == kind))
}
