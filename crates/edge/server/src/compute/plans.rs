//! The `plans` resource: computed on create, never stored.

use std::sync::Arc;

use fitout_api::Plan;
use fitout_hub::Hub;
use serde_json::Value;

use super::error::ApiError;
use super::front_proxy::Caller;
use super::request;

/// Computes the plan for an authorized caller.
pub(crate) async fn create(hub: &Arc<Hub>, caller: &Caller, namespace: &str, body: &[u8]) -> Result<Value, ApiError> {
    let mut object: Plan = request::parse(body, "Plan")?;
    let input = request::authorize(hub, caller, namespace, "plans", &object.spec).await?;
    object.status = Some(request::with_timeout(&input, Box::pin(hub.plan(&input.instance, input.show_values))).await?);
    request::response_object(object, namespace)
}
