//! The `extensiondetails` resource: all that is known of one version of an extension. Computed on create, never stored.

use fitout_api::ExtensionDetails;
use fitout_hub::Hub;
use serde_json::Value;
use tokio::time::timeout;

use super::access_review::{Action, require};
use super::available_extensions::api_error;
use super::error::ApiError;
use super::front_proxy::Caller;
use super::{GROUP, request};

/// The name of the resource.
pub(crate) const RESOURCE: &str = "extensiondetails";

/// Computes the details for an authorized caller.
pub(crate) async fn create(hub: &Hub, caller: &Caller, namespace: &str, body: &[u8]) -> Result<Value, ApiError> {
    let mut object: ExtensionDetails = request::parse(body, "ExtensionDetails")?;
    let action = Action { verb: "create", group: GROUP, resource: RESOURCE, namespace, name: None };
    require(hub.unfenced(), caller, action).await?;
    let details = timeout(request::TIMEOUT, hub.extension_details(namespace, &object.spec)).await.map_err(|_| {
        ApiError::unavailable(format!("{}: its chart could not be read in time; try again", object.spec.extension.name))
    })?;
    object.status = Some(details.map_err(|error| api_error(&error))?);
    request::response_object(object, namespace)
}
