//! Writing to the hub's own API server: what objects should be, and what there is to say about them.

use std::time::Duration;

use fitout_model::contains;
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

/// The time that conditions are stamped with.
pub(crate) fn now() -> Time {
    // Kubernetes keeps whole seconds: more would make what was written differ from what is read.
    Time(Timestamp::from_second(Timestamp::now().as_second()).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// Replaces the status of an object, whatever it was, and says which version that makes.
pub(crate) async fn patch_status<K, S>(api: &Api<K>, name: &str, status: &S) -> kube::Result<u64>
where
    K: Clone + std::fmt::Debug + DeserializeOwned + Resource,
    S: Serialize,
{
    let value = serde_json::to_value(status).map_err(kube::Error::SerdeError)?;
    // Not a merge: that would keep what is no longer said.
    let replace = AddOperation { path: PointerBuf::from_tokens(["status"]), value };
    let patch = Patch::<()>::Json(json_patch::Patch(vec![PatchOperation::Add(replace)]));
    // It has the fields that its type has: nobody need look for others.
    let params = PatchParams { field_validation: Some(ValidationDirective::Ignore), ..PatchParams::default() };
    Ok(version(&api.patch_status(name, &params, &patch).await?))
}

/// The same of an object that nobody has changed since it was read, most likely: then the API server has the least to do.
pub(crate) async fn replace_status<K, S>(client: &Client, api: &Api<K>, object: &K, status: &S) -> kube::Result<u64>
where
    K: Clone + std::fmt::Debug + DeserializeOwned + Serialize + Resource,
    S: Serialize,
{
    let name = object.name_any();
    let mut whole = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
    whole["status"] = serde_json::to_value(status).map_err(kube::Error::SerdeError)?;
    // As above, nobody need look for other fields; kube has no parameter for it here.
    let request = Request::put(format!("{}/{name}/status?fieldValidation=Ignore", api.resource_url()))
        .header(CONTENT_TYPE, "application/json")
        .body(whole.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    match client.request_text(request).await {
        Err(kube::Error::Api(refused)) if refused.code == 409 => patch_status(api, &name, status).await,
        replaced => {
            let replaced: Versioned = serde_json::from_str(&replaced?).map_err(kube::Error::SerdeError)?;
            Ok(replaced.metadata.resource_version.parse().unwrap_or_default())
        }
    }
}

/// An object, as far as it says which version of itself it is.
#[derive(Deserialize)]
struct Versioned {
    metadata: VersionedMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VersionedMeta {
    resource_version: String,
}

/// Makes an object what it should be. What is so already is not written: a hub that starts again writes nothing.
pub(crate) async fn ensure<K>(api: &Api<K>, name: &str, object: &Value) -> kube::Result<()>
where
    K: Clone + std::fmt::Debug + DeserializeOwned + Serialize,
{
    let there = api.get_opt(name).await?;
    let there = there.map(serde_json::to_value).transpose().map_err(kube::Error::SerdeError)?;
    if there.is_some_and(|there| contains(&there, object)) {
        return Ok(());
    }
    api.patch(name, &PatchParams::apply("fitout").force(), &Patch::Apply(object)).await.map(drop)
}

/// How long until something is tried again that the hub's API server did not do.
const AGAIN: Duration = Duration::from_secs(5);

/// Waits for the next change, and no longer than a moment where something has failed.
pub(crate) async fn next_change(changes: &mut watch::Receiver<u64>, failed: bool) -> Result<(), RecvError> {
    let word = changes.changed();
    if failed { timeout(AGAIN, word).await.unwrap_or(Ok(())) } else { word.await }
}

/// What is gone need not be removed.
pub(crate) fn found(done: kube::Result<()>) -> kube::Result<()> {
    match done {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => other,
    }
}
