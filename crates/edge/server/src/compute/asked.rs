//! What is asked about an instance, by whom, and the form of the answer: the same for all that is computed.

use std::fmt::Display;
use std::time::Duration;

use fitout_api::{ExtensionInstance, ExtensionInstanceSpec, PlanSpec};
use fitout_hub::{Hub, PlanError};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::GROUP;
use super::caller::Caller;
use super::refusal::Refusal;
use super::rights::{Right, demand, has};

/// The API server itself gives up after a minute.
const PATIENCE: Duration = Duration::from_secs(50);

/// An instance that somebody may ask about.
pub(crate) struct Asked {
    /// As it is, or as it would be.
    pub(crate) instance: ExtensionInstance,
    /// Whether values are shown to who asks.
    pub(crate) values: bool,
}

/// What is asked for, where it need have no name, and so no metadata.
pub(crate) fn read<K: DeserializeOwned>(body: &[u8], kind: &str) -> Result<K, Refusal> {
    let wrong = |error: &dyn Display| Refusal::bad(format!("this is no {kind}: {error}"));
    let mut object: Value = serde_json::from_slice(body).map_err(|error| wrong(&error))?;
    if let Some(fields) = object.as_object_mut() {
        fields.entry("metadata").or_insert_with(|| json!({}));
    }
    serde_json::from_value(object).map_err(|error| wrong(&error))
}

/// Refuses somebody who may not ask for this of this instance.
pub(crate) async fn about(
    hub: &Hub,
    caller: &Caller,
    namespace: &str,
    resource: &str,
    asked: &PlanSpec,
) -> Result<Asked, Refusal> {
    let right = Right { verb: "create", group: GROUP, resource, namespace, name: None };
    demand(hub.unfenced(), caller, right).await?;
    let instance = instance(hub, caller, namespace, asked).await?;
    // Who may read the organization's secrets has the kubeconfigs in them, and so the cluster: nobody else is shown what
    // is on it.
    let secrets = Right { verb: "get", group: "", resource: "secrets", namespace, name: None };
    let values = has(hub.unfenced(), caller, secrets).await?;
    Ok(Asked { instance, values })
}

/// What the hub answers, if it does so in time.
pub(crate) async fn answered<T>(
    asked: &Asked,
    answer: impl Future<Output = Result<T, PlanError>>,
) -> Result<T, Refusal> {
    let made = timeout(PATIENCE, answer).await.map_err(|_| {
        let cluster = &asked.instance.spec.cluster;
        Refusal::unavailable(format!("cluster {cluster}: it does not answer in time; ask again when it does"))
    })?;
    made.map_err(|error| match error {
        PlanError::NoCluster(_) => Refusal::invalid(error.to_string()),
        PlanError::Unreachable { .. } | PlanError::Refused { .. } => Refusal::unavailable(error.to_string()),
        PlanError::Hub(_) => Refusal::internal(error.to_string()),
    })
}

/// The object that is answered with.
pub(crate) fn written<K: Resource + Serialize>(mut object: K, namespace: &str) -> Result<Value, Refusal> {
    object.meta_mut().namespace = Some(namespace.to_owned());
    object.meta_mut().creation_timestamp = Some(Time(Timestamp::now()));
    serde_json::to_value(object).map_err(|error| Refusal::internal(format!("the answer cannot be written: {error}")))
}

/// The instance that is asked for, as it is or as it would be.
async fn instance(hub: &Hub, caller: &Caller, namespace: &str, asked: &PlanSpec) -> Result<ExtensionInstance, Refusal> {
    let (name, proposed) = match (&asked.instance, &asked.proposed) {
        (Some(name), None) => (name.clone(), None),
        (None, Some(proposed)) => (proposed.name_any(), Some(proposed)),
        _ => return Err(Refusal::invalid("spec: give either `instance` or `proposed`")),
    };
    if name.is_empty() {
        return Err(Refusal::invalid("spec.proposed.metadata.name: it is empty; give the instance a name"));
    }
    if let Some(other) = proposed.and_then(ResourceExt::namespace).filter(|other| other != namespace) {
        let sentence = format!("spec.proposed.metadata.namespace: it is {other}; ask in that namespace");
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
        (Some(mut found), proposed) => {
            if let Some(proposed) = proposed {
                may("update").await?;
                fixed(&found.spec, &proposed.spec)?;
                found.spec = proposed.spec.clone();
            }
            if asked.uninstall {
                may("delete").await?;
                found.metadata.deletion_timestamp = now();
            }
            Ok(found)
        }
        (None, None) => {
            Err(Refusal::not_found(format!("spec.instance: there is no instance {name}; propose one with `proposed`")))
        }
        (None, Some(_)) if asked.uninstall => {
            let sentence = "spec.uninstall: what is only proposed need not be uninstalled; name an instance";
            Err(Refusal::invalid(sentence))
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
