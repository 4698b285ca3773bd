//! The changes that applying makes to a value, ignoring defaults of the API server.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::MANAGER;

/// The part of a value that our manager owns: applying removes it where it is no longer desired.
#[derive(Clone, Copy)]
pub(super) enum Ours<'a> {
    /// Nothing: a field that is not desired stays.
    Nothing,
    /// These fields, in the `fieldsV1` format.
    Fields(&'a Value),
    /// All of it: the value is replaced as a whole.
    Whole,
}

impl<'a> Ours<'a> {
    /// The part of an object that our manager owns.
    pub(super) fn of(live: &'a Value) -> Self {
        let mut managers = live["metadata"]["managedFields"].as_array().into_iter().flatten();
        let ours = managers.find(|entry| entry["manager"] == MANAGER && entry["operation"] == "Apply");
        ours.map_or(Self::Nothing, |entry| Self::Fields(&entry["fieldsV1"]))
    }

    pub(super) fn field(self, name: &str) -> Self {
        self.inner(&format!("f:{name}"))
    }

    fn inner(self, key: &str) -> Self {
        match self {
            Self::Fields(fields) => match fields.get(key) {
                // A field without subfields is owned as a whole.
                Some(inner) if inner.as_object().is_none_or(serde_json::Map::is_empty) => Self::Whole,
                Some(inner) => Self::Fields(inner),
                None => Self::Nothing,
            },
            other => other,
        }
    }

    fn is_nothing(self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// The part of a list item, by its key field.
    fn item(self, key_field: &str, item: &Value) -> Self {
        let Self::Fields(fields) = self else { return self };
        let is_item = |key: &String| {
            let key = key.strip_prefix("k:").and_then(|key| serde_json::from_str::<Value>(key).ok());
            key.is_some_and(|key| key[key_field] == item[key_field])
        };
        let key = fields.as_object().and_then(|fields| fields.keys().find(|key| is_item(key)));
        key.map_or(Self::Nothing, |key| self.inner(key))
    }
}

/// Whether a value is the default of the API server, by the field's name.
fn is_default(path: &str, value: &Value) -> bool {
    let default = match path.rsplit('.').next().unwrap_or(path) {
        "apiGroup" => json!("rbac.authorization.k8s.io"),
        "apiVersion" => json!("v1"),
        "attachRequired" => json!(true),
        "completionMode" => json!("NonIndexed"),
        "dnsPolicy" => json!("ClusterFirst"),
        "immutable" | "value" => return false,
        "kind" => json!("PersistentVolumeClaim"),
        "podManagementPolicy" => json!("OrderedReady"),
        "preemptionPolicy" => json!("PreemptLowerPriority"),
        "protocol" => json!("TCP"),
        "reclaimPolicy" => json!("Delete"),
        "restartPolicy" => json!("Always"),
        "schedulerName" => json!("default-scheduler"),
        "status" => json!({ "phase": "Pending" }),
        "terminationGracePeriodSeconds" => json!(30),
        "terminationMessagePath" => json!("/dev/termination-log"),
        "terminationMessagePolicy" => json!("File"),
        "type" => json!("Opaque"),
        "volumeBindingMode" => json!("Immediate"),
        "volumeLifecycleModes" => json!(["Persistent"]),
        "volumeMode" => json!("Filesystem"),
        _ => return is_empty(value),
    };
    *value == default || is_empty(value)
}

/// Whether a value is equivalent to an absent one.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(Value::is_null),
    }
}

/// Adds the paths that change when `desired` is applied.
pub(super) fn changed(path: &str, live: &Value, desired: &Value, ours: Ours<'_>, found: &mut Vec<String>) {
    match (live, desired) {
        (live, desired) if live == desired => {}
        (live, Value::Null) => {
            if !ours.is_nothing() && !is_default(path, live) {
                found.push(path.to_owned());
            }
        }
        (Value::Object(before), Value::Object(after)) => {
            let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for name in names {
                let field =
                    if name.contains(['.', '/']) { format!("{path}[{name}]") } else { format!("{path}.{name}") };
                changed(&field, &live[name], &desired[name], ours.field(name), found);
            }
        }
        (Value::Array(before), Value::Array(after)) => items(path, before, after, ours, found),
        (live, desired) => {
            if !(is_empty(live) && is_empty(desired) || is_quantity(path) && quantity(live) == quantity(desired)) {
                found.push(path.to_owned());
            }
        }
    }
}

/// The key fields of the lists in a pod template.
const KEY_FIELDS: [&str; 5] = ["name", "mountPath", "devicePath", "containerPort", "ip"];

fn items(path: &str, before: &[Value], after: &[Value], ours: Ours<'_>, found: &mut Vec<String>) {
    let is_key = |key: &&&str| before.iter().chain(after).all(|item| item.get(**key).is_some());
    let key = KEY_FIELDS.iter().find(is_key).filter(|_| !matches!(ours, Ours::Whole));
    let Some(key) = key else {
        // An atomic list is replaced as a whole.
        if before.len() != after.len() {
            found.push(path.to_owned());
            return;
        }
        for (index, (live, desired)) in before.iter().zip(after).enumerate() {
            changed(&format!("{path}[{index}]"), live, desired, Ours::Whole, found);
        }
        return;
    };
    let protocol = |item: &Value| item["protocol"].as_str().unwrap_or("TCP").to_owned();
    let same = |one: &Value, other: &Value| one[key] == other[key] && protocol(one) == protocol(other);
    for item in before {
        let desired = after.iter().find(|desired| same(item, desired)).unwrap_or(&Value::Null);
        changed(&step(path, key, item), item, desired, ours.item(key, item), found);
    }
    for item in after.iter().filter(|item| !before.iter().any(|live| same(live, item))) {
        found.push(step(path, key, item));
    }
}

fn step(path: &str, key: &str, item: &Value) -> String {
    let value = item[key].as_str().map_or_else(|| item[key].to_string(), str::to_owned);
    format!("{path}[{key}={value}]")
}

/// Whether the value at a path is a quantity, which the API server normalizes.
fn is_quantity(path: &str) -> bool {
    [".resources.", ".capacity.", ".sizeLimit"].iter().any(|part| path.contains(part))
}

/// The value of a quantity such as `1.5Gi`, in billionths.
pub(super) fn quantity(value: &Value) -> Option<i128> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let binary = |power: u32| (1_i128 << (10 * power), 1);
    let decimal = |power: u32| (1000_i128.pow(power), 1);
    let (factor, divisor) = match unit {
        "n" => (1, 1000_i128.pow(3)),
        "u" => (1, 1000_i128.pow(2)),
        "m" => (1, 1000),
        "" => (1, 1),
        "k" => decimal(1),
        "M" => decimal(2),
        "G" => decimal(3),
        "T" => decimal(4),
        "P" => decimal(5),
        "E" => decimal(6),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // The API server keeps nine decimal places.
    let digits: i128 = format!("{whole}{fraction:0<9.9}").parse().ok()?;
    digits.checked_mul(factor).map(|digits| digits / divisor)
}
