//! Compares two schemas: stored values that the new one drops or rejects.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::bounds::{text, tightened};
use super::{CrdRisk, RiskKind};

/// The values that are valid in the old schema, and dropped or rejected by the new one. The messages do not name the version.
pub(super) fn narrowed(old: &Value, new: &Value) -> Vec<CrdRisk> {
    let mut walk = Walk { path: Vec::new(), found: Vec::new() };
    walk.compare(old, new);
    walk.found
}

struct Walk {
    path: Vec<String>,
    found: Vec<CrdRisk>,
}

/// Preserves all fields, whatever the schema.
const UNKNOWN_FIELDS: &str = "x-kubernetes-preserve-unknown-fields";

impl Walk {
    fn compare(&mut self, old: &Value, new: &Value) {
        if old == new || !self.same_type(old, new) {
            return;
        }
        if old["nullable"] == true && new["nullable"] != true {
            // The API server drops a null in objects and maps, and keeps it in lists.
            if self.path.last().is_some_and(|step| step == "[]") {
                self.refuses("", "may no longer be null");
            } else {
                self.drops("", "may no longer be null: a stored null is dropped");
            }
        }
        self.lists(old, new);
        for restriction in tightened(old, new) {
            self.refuses("", &restriction);
        }
        self.rules(old, new);
        self.required(old, new);
        self.properties(old, new);
        if let (Some(before), Some(after)) = (old.get("items"), new.get("items")) {
            self.within("[]", |walk| walk.compare(before, after));
        }
    }

    /// Whether values of the old type have the new one. Otherwise nothing else is compared.
    fn same_type(&mut self, old: &Value, new: &Value) -> bool {
        let (before, after) = (types(old), types(new));
        let fits = match (&before, &after) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(before), Some(after)) => {
                before.iter().all(|kind| after.contains(kind) || (*kind == "integer" && after.contains("number")))
            }
        };
        if !fits {
            let change = format!("was {} and is {}", described(before.as_ref()), described(after.as_ref()));
            self.refuses("", &change);
        }
        fits
    }

    fn required(&mut self, old: &Value, new: &Value) {
        let names = |schema: &Value| -> BTreeSet<String> {
            let names = schema["required"].as_array().into_iter().flatten();
            names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
        };
        let has_default = |schema: &Value, name: &str| schema["properties"][name].get("default").is_some();
        let before = names(old);
        for name in names(new) {
            // An object that was stored before the old default existed does not have it.
            if (!before.contains(&name) || has_default(old, &name)) && !has_default(new, &name) {
                self.refuses(&name, "is now required and has no default");
            }
        }
        if new["x-kubernetes-embedded-resource"] == true && old["x-kubernetes-embedded-resource"] != true {
            self.refuses("", "is now an object with apiVersion, kind and metadata");
        }
    }

    fn properties(&mut self, old: &Value, new: &Value) {
        let none = Map::new();
        let before = old["properties"].as_object().unwrap_or(&none);
        let after = new["properties"].as_object().unwrap_or(&none);
        let (before_rest, after_rest) = (rest(old), rest(new));
        for (name, schema) in before {
            match after.get(name).or(after_rest.as_ref()) {
                Some(other) => self.within(name, |walk| walk.compare(schema, other)),
                None => self.drops(name, "is removed: stored values are dropped"),
            }
        }
        let Some(before_rest) = before_rest else { return };
        match &after_rest {
            Some(after_rest) => self.within("*", |walk| walk.compare(&before_rest, after_rest)),
            None => self.drops("", "no longer preserves fields of any name: those without a schema are dropped"),
        }
        // A new property may have been stored as an unknown field.
        for (name, schema) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
            self.within(name, |walk| walk.compare(&before_rest, schema));
        }
    }

    fn lists(&mut self, old: &Value, new: &Value) {
        let kind = |schema: &Value| schema["x-kubernetes-list-type"].as_str().unwrap_or("atomic").to_owned();
        let keys = |schema: &Value| -> Vec<String> {
            schema["x-kubernetes-list-map-keys"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|key| key.as_str().map(str::to_owned))
                .collect()
        };
        match (kind(old), kind(new)) {
            (before, after) if before == after => {
                let (before, after) = (keys(old), keys(new));
                if before.iter().collect::<BTreeSet<_>>() != after.iter().collect::<BTreeSet<_>>() {
                    let (before, after) = (before.join(", "), after.join(", "));
                    self.refuses("", &format!("now identifies its items by {after} instead of {before}"));
                }
            }
            (_, after) if after == "atomic" => {
                self.drops("", "is now atomic: a client that applies it replaces the items of all others");
            }
            (_, after) if after == "set" => self.refuses("", "may no longer have the same item twice"),
            (..) => {
                let keys = keys(new).join(", ");
                self.refuses("", &format!("may no longer have two items with the same {keys}"));
            }
        }
    }

    /// Compares rules and conditions as text: a new one counts as a restriction.
    fn rules(&mut self, old: &Value, new: &Value) {
        let items = |schema: &Value, field: &str| schema[field].as_array().cloned().unwrap_or_default();
        let known: Vec<Value> =
            items(old, "x-kubernetes-validations").into_iter().map(|rule| rule["rule"].clone()).collect();
        for rule in items(new, "x-kubernetes-validations") {
            if !known.contains(&rule["rule"]) {
                self.refuses("", &format!("has a new rule, {}", text(&rule["rule"])));
            }
        }
        let (before, after) = (items(old, "allOf"), items(new, "allOf"));
        if after.iter().any(|one| !before.contains(one)) {
            self.refuses("", "has new conditions (allOf)");
        }
        let (before, after) = (items(old, "anyOf"), items(new, "anyOf"));
        if !after.is_empty() && (before.is_empty() || before.iter().any(|one| !after.contains(one))) {
            self.refuses("", "has other alternatives (anyOf)");
        }
        for field in ["oneOf", "not"] {
            if new.get(field).is_some() && old.get(field) != new.get(field) {
                self.refuses("", &format!("has other conditions ({field})"));
            }
        }
    }

    fn refuses(&mut self, field: &str, message: &str) {
        self.add(
            RiskKind::Refusal,
            field,
            &format!("{message}: an object that does not fit is rejected when it is changed or recreated"),
        );
    }

    fn drops(&mut self, field: &str, message: &str) {
        self.add(RiskKind::Loss, field, message);
    }

    fn add(&mut self, harm: RiskKind, field: &str, message: &str) {
        let steps = self.path.iter().map(String::as_str).chain([field]).filter(|step| !step.is_empty());
        let place = steps.fold(String::new(), |place, step| match step {
            _ if place.is_empty() => step.to_owned(),
            "[]" => place + step,
            _ => format!("{place}.{step}"),
        });
        let place = if place.is_empty() { "the object" } else { &place };
        self.found.push(CrdRisk { harm, message: format!("{place} {message}") });
    }

    fn within(&mut self, step: &str, visit: impl FnOnce(&mut Self)) {
        self.path.push(step.to_owned());
        visit(self);
        self.path.pop();
    }
}

/// The schema of fields that are not in `properties`; none where such fields are dropped.
fn rest(schema: &Value) -> Option<Value> {
    let anything = || json!({ UNKNOWN_FIELDS: true });
    match &schema["additionalProperties"] {
        _ if schema[UNKNOWN_FIELDS] == true => Some(anything()),
        Value::Bool(true) => Some(anything()),
        Value::Object(inner) => Some(inner.clone().into()),
        _ => None,
    }
}

/// The types that a value may have; none for any type.
fn types(schema: &Value) -> Option<BTreeSet<&str>> {
    match schema["type"].as_str() {
        _ if schema["x-kubernetes-int-or-string"] == true => Some(["integer", "string"].into()),
        Some(kind) if !kind.is_empty() => Some([kind].into()),
        _ => None,
    }
}

fn described(types: Option<&BTreeSet<&str>>) -> String {
    let Some(types) = types else { return "of any type".to_owned() };
    let one = |kind: &&str| if kind.starts_with(['a', 'i', 'o']) { format!("an {kind}") } else { format!("a {kind}") };
    types.iter().map(one).collect::<Vec<_>>().join(" or ")
}
