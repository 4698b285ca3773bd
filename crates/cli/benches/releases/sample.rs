//! What Helm writes for one release: what all others have to write too.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{PODINFO, fresh};

/// The values of each release, as Helm's command takes them.
pub const SET: &str = "replicaCount=0";

/// The same values as an object.
pub fn values() -> Value {
    json!({ "replicaCount": 0 })
}

/// The objects of a release and its record.
pub struct Sample {
    pub objects: Vec<Value>,
    pub record: Value,
}

impl Sample {
    /// Has Helm install the chart, and looks at what it wrote.
    pub fn take(chart: &Path) -> Result<Self> {
        let cluster = fresh()?;
        let helm = cluster.helm();
        helm.run(&["install", PODINFO, &chart.to_string_lossy(), "--namespace=default", "--set", SET])?;
        let manifest = helm.run(&["get", "manifest", PODINFO, "--namespace=default"])?;
        let objects = fitout_go_yaml::documents(&manifest)?.into_iter().map(|document| owned(document.value));
        let record = format!("/api/v1/namespaces/default/secrets/sh.helm.release.v1.{PODINFO}.v1");
        let record = cluster.client().get(&record)?;
        let name = &record["metadata"]["name"];
        let record = json!({
            "apiVersion": "v1", "kind": "Secret", "type": record["type"], "data": record["data"],
            "metadata": { "name": name, "labels": record["metadata"]["labels"] },
        });
        Ok(Self { objects: objects.collect::<Result<_>>()?, record })
    }
}

/// With the annotations that Helm adds when it applies an object.
fn owned(mut object: Value) -> Result<Value> {
    let metadata = object["metadata"].as_object_mut().context("an object has metadata")?;
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    annotations["meta.helm.sh/release-name"] = PODINFO.into();
    annotations["meta.helm.sh/release-namespace"] = "default".into();
    Ok(object)
}

/// The same object for another namespace.
pub fn moved(object: &Value, namespace: &str) -> Value {
    let mut object = object.clone();
    object["metadata"]["namespace"] = namespace.into();
    if let Some(of) = object.pointer_mut("/metadata/annotations/meta.helm.sh~1release-namespace") {
        *of = namespace.into();
    }
    object
}
