//! What there is no way around: a namespace, the record of a release that is pending, its objects, the record again.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::future::try_join_all;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Client;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams, ValidationDirective};
use kube::core::{GroupVersionKind, Request, Resource, TypeMeta};
use serde_json::{Value, json};

use crate::client::{connect, create, for_each, until};
use crate::measured::{Measured, calm_cluster};
use crate::sample::moved;
use crate::{Stage, fresh, namespace};

/// When a release is done.
#[derive(Clone, Copy)]
pub enum Done {
    /// All is written.
    Written,
    /// What was written is healthy: the Deployment is, which is the last that becomes so.
    Healthy,
}

pub fn run(stage: &Stage, count: usize, done: Done) -> Result<Measured> {
    let cluster = fresh()?;
    calm_cluster(&cluster)?;
    let before = own()?;
    let took = stage.runtime.block_on(async {
        let client = &connect(&cluster).await?;
        let install = |release| install(client, stage, namespace(release));
        if let Done::Healthy = done {
            let deployments = ApiResource::erase::<Deployment>(&());
            return until(client, &deployments, "Available", count, install).await;
        }
        let began = Instant::now();
        for_each(count, install).await?;
        Ok(began.elapsed())
    })?;
    Ok(Measured { took, cpu: own()?.saturating_sub(before), memory: None })
}

fn own() -> Result<Duration> {
    fitout_testkit::cpu(std::process::id())
}

async fn install(client: &Client, stage: &Stage, namespace: String) -> Result<()> {
    create(client, "/api/v1/namespaces", &json!({ "metadata": { "name": namespace } })).await?;
    let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
    let record = moved(&stage.sample.record, &namespace);
    create(client, &secrets, &record).await?;
    let objects: Vec<Value> = stage.sample.objects.iter().map(|object| moved(object, &namespace)).collect();
    try_join_all(objects.iter().map(|object| apply(client, &namespace, object))).await?;
    let name = record["metadata"]["name"].as_str().context("a record has a name")?;
    let request = Request::new(&secrets).replace(name, &PostParams::default(), serde_json::to_vec(&record)?)?;
    client.request_text(request).await.context("replace the record")?;
    Ok(())
}

async fn apply(client: &Client, namespace: &str, object: &Value) -> Result<()> {
    let types: TypeMeta = serde_json::from_value(object.clone())?;
    let kind = ApiResource::from_gvk(&GroupVersionKind::try_from(&types)?);
    let name = object["metadata"]["name"].as_str().context("an object has a name")?;
    let path = DynamicObject::url_path(&kind, Some(namespace));
    // As the hub has it: then the API server reads it once.
    let params =
        PatchParams { field_validation: Some(ValidationDirective::Ignore), ..PatchParams::apply("helm").force() };
    let request = Request::new(path).patch(name, &params, &Patch::Apply(object))?;
    client.request_text(request).await.with_context(|| format!("apply {} {name}", kind.kind))?;
    Ok(())
}
