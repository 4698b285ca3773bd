//! Migration of managed fields from Helm 3, as `csaupgrade` of client-go does.
//!
//! Helm 3 wrote objects with updates instead of server-side apply. Without migration, a field that is no longer desired would
//! stay, because the update entry still owns it.

use serde_json::{Value, json};

use crate::MANAGER;

/// The managed fields of an object with our update entries merged into the apply entry; none where no update entry exists.
pub fn migrate_update_managers(metadata: &Value) -> Option<Value> {
    let entries = metadata["managedFields"].as_array()?;
    let (updated, mut rest): (Vec<Value>, Vec<Value>) = entries.iter().cloned().partition(is_updated);
    let mut applied = updated.into_iter().reduce(|mut one, other| {
        unite(&mut one["fieldsV1"], &other["fieldsV1"]);
        one
    })?;
    applied["operation"] = json!("Apply");
    match rest.iter_mut().find(|entry| entry["manager"] == MANAGER && entry["operation"] == "Apply") {
        Some(known) => unite(&mut known["fieldsV1"], &applied["fieldsV1"]),
        None => rest.push(applied),
    }
    Some(Value::Array(rest))
}

fn is_updated(entry: &Value) -> bool {
    let is_main_resource = entry["subresource"].as_str().is_none_or(str::is_empty);
    entry["manager"] == MANAGER && entry["operation"] == "Update" && is_main_resource
}

/// Whether an object with this metadata has an update entry of our manager.
pub fn has_update_manager(metadata: &Value) -> bool {
    metadata["managedFields"].as_array().into_iter().flatten().any(is_updated)
}

fn unite(fields: &mut Value, more: &Value) {
    let (Some(fields), Some(more)) = (fields.as_object_mut(), more.as_object()) else { return };
    for (name, inner) in more {
        unite(fields.entry(name).or_insert_with(|| json!({})), inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn update_entries_become_apply_entries() {
        let entry = |manager: &str, operation: &str, fields: Value| json!({ "manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields });
        let (a, b) = (json!({ "f:data": { "f:a": {} } }), json!({ "f:data": { "f:b": {} } }));
        let other = entry("kubectl", "Update", a.clone());
        let both = json!({ "f:data": { "f:a": {}, "f:b": {} } });
        let rows = [
            (vec![other.clone()], None),
            (vec![entry("helm", "Apply", a.clone())], None),
            (
                vec![entry("helm", "Update", a.clone()), other.clone()],
                Some(vec![other.clone(), entry("helm", "Apply", a.clone())]),
            ),
            (
                vec![entry("helm", "Apply", a), entry("helm", "Update", b), other.clone()],
                Some(vec![entry("helm", "Apply", both), other]),
            ),
        ];
        for (before, after) in rows {
            let metadata = json!({ "managedFields": before });
            assert_eq!(migrate_update_managers(&metadata), after.clone().map(Value::Array));
            assert_eq!(has_update_manager(&metadata), after.is_some());
        }
    }
}
