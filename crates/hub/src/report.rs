//! Writing what the hub has to say about an object into its status.

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, PatchOperation};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The time that conditions are stamped with.
pub(crate) fn now() -> Time {
    // Kubernetes keeps whole seconds: more would make what was written differ from what is read.
    Time(Timestamp::from_second(Timestamp::now().as_second()).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// Replaces the status of an object, whatever it was.
pub(crate) async fn write<K, S>(api: &Api<K>, name: &str, status: &S) -> kube::Result<()>
where
    K: Clone + std::fmt::Debug + DeserializeOwned,
    S: Serialize,
{
    let value = serde_json::to_value(status).map_err(kube::Error::SerdeError)?;
    // Not a merge: that would keep what is no longer said.
    let replace = AddOperation { path: PointerBuf::from_tokens(["status"]), value };
    let patch = Patch::<()>::Json(json_patch::Patch(vec![PatchOperation::Add(replace)]));
    api.patch_status(name, &PatchParams::default(), &patch).await.map(drop)
}
