//! Writes of objects and their status.

use std::time::Duration;

use fitout_model::{ResourceVersion, contains};
use http::Request;
use http::header::CONTENT_TYPE;
use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, PatchOperation};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams, ValidationDirective};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch::{self, error::RecvError};
use tokio::time::timeout;

use crate::cache::pending_writes::version;

/// The current time, as conditions have it.
pub(crate) fn now() -> Time {
    // Kubernetes stores whole seconds. A fraction would make the written status differ from the stored one.
    Time(Timestamp::from_second(Timestamp::now().as_second()).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// Replaces the status of an object unconditionally. Returns the new resource version.
pub(crate) async fn patch_status<K, S>(api: &Api<K>, name: &str, status: &S) -> kube::Result<ResourceVersion>
where
    K: Clone + std::fmt::Debug + DeserializeOwned + Resource,
    S: Serialize,
{
    let value = serde_json::to_value(status).map_err(kube::Error::SerdeError)?;
    // A merge patch would keep fields that the new status does not have.
    let replace = AddOperation { path: PointerBuf::from_tokens(["status"]), value };
    let patch = Patch::<()>::Json(json_patch::Patch(vec![PatchOperation::Add(replace)]));
    // The type has no unknown fields, so the API server need not check for them.
    let params = PatchParams { field_validation: Some(ValidationDirective::Ignore), ..PatchParams::default() };
    Ok(version(&api.patch_status(name, &params, &patch).await?))
}

/// Replaces the status of an object that was read before, with a PUT, which costs the API server least. Falls back to a
/// patch if the object has changed since.
pub(crate) async fn replace_status<K, S>(
    client: &Client,
    api: &Api<K>,
    object: &K,
    status: &S,
) -> kube::Result<ResourceVersion>
where
    K: Clone + std::fmt::Debug + DeserializeOwned + Serialize + Resource,
    S: Serialize,
{
    let name = object.name_any();
    let mut whole = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
    whole["status"] = serde_json::to_value(status).map_err(kube::Error::SerdeError)?;
    // As above; kube has no parameter for it here.
    let request = Request::put(format!("{}/{name}/status?fieldValidation=Ignore", api.resource_url()))
        .header(CONTENT_TYPE, "application/json")
        .body(whole.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    match client.request_text(request).await {
        Err(kube::Error::Api(refused)) if refused.code == 409 => patch_status(api, &name, status).await,
        replaced => {
            let replaced: Versioned = serde_json::from_str(&replaced?).map_err(kube::Error::SerdeError)?;
            Ok(ResourceVersion::parse(Some(&replaced.metadata.resource_version)).unwrap_or_default())
        }
    }
}

/// The resource version of an object.
#[derive(Deserialize)]
struct Versioned {
    metadata: VersionedMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VersionedMeta {
    resource_version: String,
}

/// Applies an object, unless it already has these fields: a hub that restarts writes nothing.
pub(crate) async fn ensure<K>(api: &Api<K>, name: &str, object: &Value) -> kube::Result<()>
where
    K: Clone + std::fmt::Debug + DeserializeOwned + Serialize,
{
    let live = api.get_opt(name).await?;
    let live = live.map(serde_json::to_value).transpose().map_err(kube::Error::SerdeError)?;
    if live.is_some_and(|live| contains(&live, object)) {
        return Ok(());
    }
    api.patch(name, &PatchParams::apply("fitout").force(), &Patch::Apply(object)).await.map(drop)
}

/// The pause before a failed write is retried.
const RETRY: Duration = Duration::from_secs(5);

/// Waits for the next change, or for the retry interval if something has failed.
pub(crate) async fn next_change(changes: &mut watch::Receiver<u64>, failed: bool) -> Result<(), RecvError> {
    let next = changes.changed();
    if failed { timeout(RETRY, next).await.unwrap_or(Ok(())) } else { next.await }
}

/// Ignores the error that an object does not exist.
pub(crate) fn found(result: kube::Result<()>) -> kube::Result<()> {
    match result {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => other,
    }
}
