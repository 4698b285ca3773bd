//! Writing what the hub has to say about an object into its status.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The time that conditions are stamped with.
pub(crate) fn now() -> Time {
    // Kubernetes keeps whole seconds: more would make what was written differ from what is read.
    Time(Timestamp::from_second(Timestamp::now().as_second()).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// Replaces the status of an object.
pub(crate) async fn write<K, S>(api: &Api<K>, name: &str, status: &S) -> kube::Result<()>
where
    K: Clone + std::fmt::Debug + DeserializeOwned,
    S: Serialize,
{
    // A merge keeps what is not mentioned, so what a status may cease to say is taken out by name.
    let mut patch = json!({ "step": null, "firstUnhealthy": null });
    if let (Some(patch), Value::Object(fields)) =
        (patch.as_object_mut(), serde_json::to_value(status).map_err(kube::Error::SerdeError)?)
    {
        patch.extend(fields);
    }
    api.patch_status(name, &PatchParams::default(), &Patch::Merge(json!({ "status": patch }))).await.map(drop)
}
