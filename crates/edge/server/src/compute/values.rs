//! The `values` resource: all values of an instance, each with the layer that set it. Computed on create, never stored.

use std::sync::Arc;

use fitout_api::Values;
use fitout_hub::Hub;
use serde_json::Value;

use super::error::ApiError;
use super::front_proxy::Caller;
use super::request;

/// Computes the values of an instance for an authorized caller.
pub(crate) async fn create(hub: &Arc<Hub>, caller: &Caller, namespace: &str, body: &[u8]) -> Result<Value, ApiError> {
    let mut object: Values = request::parse(body, "Values")?;
    let input = request::authorize(hub, caller, namespace, "values", &(&object.spec).into()).await?;
    object.status = Some(request::with_timeout(&input, hub.values(&input.instance, input.show_values)).await?);
    request::response_object(object, namespace)
}
