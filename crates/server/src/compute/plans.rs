//! Plans: made when they are created, and kept nowhere.

use std::sync::Arc;
use std::time::Duration;

use fitout_api::{ExtensionInstance, ExtensionInstanceSpec, Plan};
use fitout_hub::{Hub, Unplanned};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::GROUP;
use super::caller::Caller;
use super::refusal::Refusal;
use super::rights::{Right, demand, has};

/// The API server itself gives up after a minute.
const PATIENCE: Duration = Duration::from_secs(50);

/// Answers with the plan that is asked for, if whoever asks may know it.
pub(crate) async fn create(hub: &Arc<Hub>, caller: &Caller, namespace: &str, body: &[u8]) -> Result<Value, Refusal> {
    let right = Right { verb: "create", group: GROUP, resource: "plans", namespace, name: None };
    demand(hub.unfenced(), caller, right).await?;
    let mut plan = read(body).map_err(|error| Refusal::bad(format!("this is no Plan: {error}")))?;
    let instance = instance(hub, caller, namespace, &plan).await?;
    // Who may read the organization's secrets has the kubeconfigs in them, and so the cluster: nobody else is shown what
    // is on it.
    let secrets = Right { verb: "get", group: "", resource: "secrets", namespace, name: None };
    let values = has(hub.unfenced(), caller, secrets).await?;
    let made = timeout(PATIENCE, hub.plan(&instance, values)).await.map_err(|_| {
        let cluster = &instance.spec.cluster;
        Refusal::unavailable(format!("cluster {cluster}: it does not answer in time; ask again when it does"))
    })?;
    plan.status = Some(made.map_err(|error| match error {
        Unplanned::NoCluster(_) => Refusal::invalid(error.to_string()),
        Unplanned::Unreachable { .. } | Unplanned::Refused { .. } => Refusal::unavailable(error.to_string()),
        Unplanned::Hub(_) => Refusal::internal(error.to_string()),
    })?);
    plan.metadata.namespace = Some(namespace.to_owned());
    plan.metadata.creation_timestamp = Some(Time(Timestamp::now()));
    serde_json::to_value(plan).map_err(|error| Refusal::internal(format!("the plan cannot be written: {error}")))
}

/// A plan needs no name, and so no metadata.
fn read(body: &[u8]) -> serde_json::Result<Plan> {
    let mut object: Value = serde_json::from_slice(body)?;
    if let Some(fields) = object.as_object_mut() {
        fields.entry("metadata").or_insert_with(|| json!({}));
    }
    serde_json::from_value(object)
}

/// The instance that is asked for, as it is or as it would be.
async fn instance(hub: &Hub, caller: &Caller, namespace: &str, plan: &Plan) -> Result<ExtensionInstance, Refusal> {
    let (name, proposed) = match (&plan.spec.instance, &plan.spec.proposed) {
        (Some(name), None) => (name.clone(), None),
        (None, Some(proposed)) if !plan.spec.uninstall => (proposed.name_any(), Some(proposed)),
        (None, Some(_)) => {
            return Err(Refusal::invalid(
                "spec.uninstall: what is only proposed need not be uninstalled; name an instance",
            ));
        }
        _ => return Err(Refusal::invalid("spec: give either `instance` or `proposed`")),
    };
    if name.is_empty() {
        return Err(Refusal::invalid("spec.proposed.metadata.name: it is empty; give the instance a name"));
    }
    if let Some(other) = proposed.and_then(ResourceExt::namespace).filter(|other| other != namespace) {
        let sentence = format!("spec.proposed.metadata.namespace: it is {other}; ask for the plan in that namespace");
        return Err(Refusal::invalid(sentence));
    }
    let may = async |verb| {
        let (group, resource) = (fitout_api::GROUP, "extensioninstances");
        demand(hub.unfenced(), caller, Right { verb, group, resource, namespace, name: Some(&name) }).await
    };
    if proposed.is_none() {
        may("get").await?;
    }
    let found = hub.instance(namespace, &name).await;
    let found = found.map_err(|error| Refusal::unavailable(format!("the hub cannot read its instances: {error}")))?;
    let now = || Some(Time(Timestamp::now()));
    match (found, proposed) {
        (Some(mut found), None) => {
            if plan.spec.uninstall {
                may("delete").await?;
                found.metadata.deletion_timestamp = now();
            }
            Ok(found)
        }
        (None, None) => {
            Err(Refusal::not_found(format!("spec.instance: there is no instance {name}; propose one with `proposed`")))
        }
        (Some(mut found), Some(proposed)) => {
            may("update").await?;
            fixed(&found.spec, &proposed.spec)?;
            found.spec = proposed.spec.clone();
            Ok(found)
        }
        (None, Some(proposed)) => {
            may("create").await?;
            let mut proposed = ExtensionInstance::new(&name, proposed.spec.clone());
            proposed.metadata.namespace = Some(namespace.to_owned());
            // It would be the youngest.
            proposed.metadata.creation_timestamp = now();
            Ok(proposed)
        }
    }
}

/// Refuses what the API server would refuse: what an instance is for cannot be changed.
fn fixed(found: &ExtensionInstanceSpec, proposed: &ExtensionInstanceSpec) -> Result<(), Refusal> {
    let same = [
        ("cluster", found.cluster == proposed.cluster),
        ("extension", found.extension == proposed.extension),
        ("releaseName", found.release_name() == proposed.release_name()),
        ("namespace", found.namespace == proposed.namespace),
    ];
    match same.into_iter().find(|(_, same)| !same) {
        Some((field, _)) => Err(Refusal::invalid(format!(
            "spec.proposed.spec.{field}: it cannot be changed; propose another instance, under another name"
        ))),
        None => Ok(()),
    }
}
