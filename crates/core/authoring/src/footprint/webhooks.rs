//! Admission webhooks.

use fitout_model::{Webhook, WebhookKind, WebhookRule};
use serde_json::Value;

/// The webhooks of a configuration; none for other objects.
pub(super) fn of(object: &Value) -> Vec<Webhook> {
    let kind = match object["kind"].as_str() {
        Some("ValidatingWebhookConfiguration") => WebhookKind::Validating,
        Some("MutatingWebhookConfiguration") => WebhookKind::Mutating,
        _ => return vec![],
    };
    let webhooks = object["webhooks"].as_array().into_iter().flatten();
    webhooks
        .map(|webhook| Webhook {
            name: webhook["name"].as_str().unwrap_or_default().to_owned(),
            kind,
            rules: webhook["rules"].as_array().into_iter().flatten().map(rule).collect(),
        })
        .collect()
}

fn rule(rule: &Value) -> WebhookRule {
    let list = |field: &str| {
        let values = rule[field].as_array().into_iter().flatten();
        values.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    WebhookRule { api_groups: list("apiGroups"), resources: list("resources"), operations: list("operations") }
}

/// The webhooks without duplicates, by name.
pub(super) fn distinct(webhooks: Vec<Webhook>) -> Vec<Webhook> {
    let mut all: Vec<Webhook> = Vec::new();
    for webhook in webhooks {
        if !all.contains(&webhook) {
            all.push(webhook);
        }
    }
    let order = |webhook: &Webhook| (webhook.name.clone(), webhook.kind == WebhookKind::Validating);
    all.sort_by_key(order);
    all
}
