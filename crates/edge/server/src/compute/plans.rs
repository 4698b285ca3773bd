//! Plans: made when they are created, and kept nowhere.

use std::sync::Arc;

use fitout_api::Plan;
use fitout_hub::Hub;
use serde_json::Value;

use super::asked;
use super::caller::Caller;
use super::refusal::Refusal;

/// Answers with the plan that is asked for, if whoever asks may know it.
pub(crate) async fn create(hub: &Arc<Hub>, caller: &Caller, namespace: &str, body: &[u8]) -> Result<Value, Refusal> {
    let mut object: Plan = asked::read(body, "Plan")?;
    let asked = asked::about(hub, caller, namespace, "plans", &object.spec).await?;
    object.status = Some(asked::answered(&asked, hub.plan(&asked.instance, asked.values)).await?);
    asked::written(object, namespace)
}
