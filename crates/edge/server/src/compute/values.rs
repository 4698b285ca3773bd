//! Values, each with the layer that set it: found when they are asked for, and kept nowhere.

use std::sync::Arc;

use fitout_api::Values;
use fitout_hub::Hub;
use serde_json::Value;

use super::asked;
use super::caller::Caller;
use super::refusal::Refusal;

/// Answers with the values of an instance, if whoever asks may know them.
pub(crate) async fn create(hub: &Arc<Hub>, caller: &Caller, namespace: &str, body: &[u8]) -> Result<Value, Refusal> {
    let mut object: Values = asked::read(body, "Values")?;
    let asked = asked::about(hub, caller, namespace, "values", &(&object.spec).into()).await?;
    object.status = Some(asked::answered(&asked, hub.values(&asked.instance, asked.values)).await?);
    asked::written(object, namespace)
}
