//! The request for an instance, its authorization and the response: common to all resources.

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
use super::access_review::{Action, is_allowed, require};
use super::error::ApiError;
use super::front_proxy::Caller;

/// Less than the minute after which the API server itself gives up.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(50);

/// The input of an authorized request.
pub(crate) struct Input {
    /// The existing or the proposed instance.
    pub(crate) instance: ExtensionInstance,
    /// Whether the caller may see values.
    pub(crate) show_values: bool,
}

/// Parses the object in a request, whose metadata is optional.
pub(crate) fn parse<K: DeserializeOwned>(body: &[u8], kind: &str) -> Result<K, ApiError> {
    let invalid = |error: &dyn Display| ApiError::bad_request(format!("the body is not a valid {kind}: {error}"));
    let mut object: Value = serde_json::from_slice(body).map_err(|error| invalid(&error))?;
    if let Some(fields) = object.as_object_mut() {
        fields.entry("metadata").or_insert_with(|| json!({}));
    }
    serde_json::from_value(object).map_err(|error| invalid(&error))
}

/// Authorizes a request for an instance.
pub(crate) async fn authorize(
    hub: &Hub,
    caller: &Caller,
    namespace: &str,
    resource: &str,
    spec: &PlanSpec,
) -> Result<Input, ApiError> {
    let action = Action { verb: "create", group: GROUP, resource, namespace, name: None };
    require(hub.unfenced(), caller, action).await?;
    let instance = instance(hub, caller, namespace, spec).await?;
    // A caller who may read the organization's Secrets has its kubeconfigs, and so may see what is on the clusters.
    let secrets = Action { verb: "get", group: "", resource: "secrets", namespace, name: None };
    let show_values = is_allowed(hub.unfenced(), caller, secrets).await?;
    Ok(Input { instance, show_values })
}

/// Awaits the hub's result until the timeout, and maps its errors.
pub(crate) async fn with_timeout<T>(
    input: &Input,
    result: impl Future<Output = Result<T, PlanError>>,
) -> Result<T, ApiError> {
    let result = timeout(TIMEOUT, result).await.map_err(|_| {
        let cluster = &input.instance.spec.cluster;
        ApiError::unavailable(format!("cluster {cluster}: it does not answer in time; try again when it does"))
    })?;
    result.map_err(|error| match error {
        PlanError::NoCluster(_) => ApiError::invalid(error.to_string()),
        PlanError::Unreachable { .. } | PlanError::Refused { .. } => ApiError::unavailable(error.to_string()),
        PlanError::Hub(_) => ApiError::internal(error.to_string()),
    })
}

/// Serializes the object in the response.
pub(crate) fn response_object<K: Resource + Serialize>(mut object: K, namespace: &str) -> Result<Value, ApiError> {
    object.meta_mut().namespace = Some(namespace.to_owned());
    object.meta_mut().creation_timestamp = Some(Time(Timestamp::now()));
    serde_json::to_value(object).map_err(|error| ApiError::internal(format!("serialize the response: {error}")))
}

/// The instance of a request, if the caller may read, change, create or delete it.
async fn instance(hub: &Hub, caller: &Caller, namespace: &str, spec: &PlanSpec) -> Result<ExtensionInstance, ApiError> {
    let (name, proposed) = match (&spec.instance, &spec.proposed) {
        (Some(name), None) => (name.clone(), None),
        (None, Some(proposed)) => (proposed.name_any(), Some(proposed)),
        _ => return Err(ApiError::invalid("spec: give either `instance` or `proposed`")),
    };
    if name.is_empty() {
        return Err(ApiError::invalid("spec.proposed.metadata.name: it is empty; give the instance a name"));
    }
    if let Some(other) = proposed.and_then(ResourceExt::namespace).filter(|other| other != namespace) {
        let message = format!("spec.proposed.metadata.namespace: it is {other}; send the request to that namespace");
        return Err(ApiError::invalid(message));
    }
    let require = async |verb| {
        let (group, resource) = (fitout_api::GROUP, "extensioninstances");
        require(hub.unfenced(), caller, Action { verb, group, resource, namespace, name: Some(&name) }).await
    };
    if proposed.is_none() {
        require("get").await?;
    }
    let found = hub.instance(namespace, &name).await;
    let found = found.map_err(|error| ApiError::unavailable(format!("the hub cannot read its instances: {error}")))?;
    let now = || Some(Time(Timestamp::now()));
    match (found, proposed) {
        (Some(mut found), proposed) => {
            if let Some(proposed) = proposed {
                require("update").await?;
                check_immutable_fields(&found.spec, &proposed.spec)?;
                found.spec = proposed.spec.clone();
            }
            if spec.uninstall {
                require("delete").await?;
                found.metadata.deletion_timestamp = now();
            }
            Ok(found)
        }
        (None, None) => {
            let message = format!("spec.instance: instance {name} does not exist; give a new one as `proposed`");
            Err(ApiError::not_found(message))
        }
        (None, Some(_)) if spec.uninstall => {
            Err(ApiError::invalid("spec.uninstall: the proposed instance does not exist; name an existing instance"))
        }
        (None, Some(proposed)) => {
            require("create").await?;
            let mut proposed = ExtensionInstance::new(&name, proposed.spec.clone());
            proposed.metadata.namespace = Some(namespace.to_owned());
            // A new instance is the youngest.
            proposed.metadata.creation_timestamp = now();
            Ok(proposed)
        }
    }
}

/// Fails if the proposed spec changes an immutable field, as the API server does.
fn check_immutable_fields(found: &ExtensionInstanceSpec, proposed: &ExtensionInstanceSpec) -> Result<(), ApiError> {
    let fields = [
        ("cluster", found.cluster == proposed.cluster),
        ("extension", found.extension == proposed.extension),
        ("releaseName", found.release_name() == proposed.release_name()),
        ("namespace", found.namespace == proposed.namespace),
    ];
    match fields.into_iter().find(|(_, unchanged)| !unchanged) {
        Some((field, _)) => Err(ApiError::invalid(format!(
            "spec.proposed.spec.{field}: it cannot be changed; propose another instance, with another name"
        ))),
        None => Ok(()),
    }
}
