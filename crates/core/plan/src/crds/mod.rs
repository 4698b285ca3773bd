//! The risks of a changed `CustomResourceDefinition` for stored objects and for API clients.

mod bounds;
mod schema;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A risk of a changed CRD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrdRisk {
    /// The kind of harm.
    pub harm: RiskKind,
    /// The version, the field and the consequence.
    pub message: String,
}

/// The kind of harm that a changed CRD does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RiskKind {
    /// The API server rejects the change itself.
    Impossible,
    /// Stored values are lost.
    Loss,
    /// Stored objects no longer fit: they stay, and are rejected when they are changed or recreated.
    Refusal,
    /// Requests to a removed version or subresource fail.
    Absence,
}

impl fmt::Display for CrdRisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The risks of replacing a live CRD by another. Safe changes are not listed: new versions, new optional fields, wider types
/// and bounds, other descriptions.
pub fn crd_risks(old: &Value, new: &Value) -> Vec<CrdRisk> {
    let mut found = Vec::new();
    identity(old, new, &mut found);
    versions(old, new, &mut found);
    conversion(old, new, &mut found);
    if old["spec"]["preserveUnknownFields"] == true && new["spec"]["preserveUnknownFields"] != true {
        found.push(CrdRisk {
            harm: RiskKind::Loss,
            message: "fields that are not in the schema are no longer preserved: they are dropped from stored objects"
                .to_owned(),
        });
    }
    schemas(old, new, &mut found);
    found
}

/// Immutable fields of a CRD.
fn identity(old: &Value, new: &Value, found: &mut Vec<CrdRisk>) {
    for path in ["/spec/group", "/spec/scope", "/spec/names/kind", "/spec/names/plural"] {
        let text = |crd: &Value| crd.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (before, after) = (text(old), text(new));
        if before != after {
            let field = path.trim_start_matches('/').replace('/', ".");
            found.push(CrdRisk {
                harm: RiskKind::Impossible,
                message: format!(
                    "{field} changes from {before} to {after}: it is immutable, and recreating the CRD deletes all its \
                     objects"
                ),
            });
        }
    }
}

/// Versions and subresources that are removed or no longer served.
fn versions(old: &Value, new: &Value, found: &mut Vec<CrdRisk>) {
    let stored = stored(old);
    let kept = storage(new).map(name).unwrap_or_default();
    for before in list(old) {
        let version = name(before);
        let Some(after) = named(new, version) else {
            found.push(if stored.contains(&version) {
                let message = format!(
                    "version {version} is removed, and objects are stored in it: rewrite each of them so that it is stored \
                     as {kept}, and remove {version} from status.storedVersions"
                );
                CrdRisk { harm: RiskKind::Impossible, message }
            } else if before["served"] == true {
                absence(format!("version {version} is removed: requests for it fail"))
            } else {
                continue;
            });
            continue;
        };
        if before["served"] == true && after["served"] != true {
            found.push(absence(format!("version {version} is no longer served: requests for it fail")));
            continue;
        }
        for part in ["status", "scale"] {
            if !before["subresources"][part].is_null() && after["subresources"][part].is_null() {
                found.push(absence(format!(
                    "version {version} no longer has the {part} subresource: requests for it fail"
                )));
            }
        }
    }
}

fn absence(message: String) -> CrdRisk {
    CrdRisk { harm: RiskKind::Absence, message }
}

/// A conversion webhook that is removed while several versions are in use.
fn conversion(old: &Value, new: &Value, found: &mut Vec<CrdRisk>) {
    let served = list(new).filter(|version| version["served"] == true).count();
    let stored = stored(old);
    let needed = stored.len() > 1 || served > 1 || storage(new).is_some_and(|version| !stored.contains(&name(version)));
    if converts(old) && !converts(new) && needed {
        let versions = stored.join(", ");
        found.push(CrdRisk {
            harm: RiskKind::Loss,
            message: format!(
                "the conversion webhook is removed, and objects are stored as {versions}: they are read in other \
                 versions without conversion, and fields that those do not have are dropped"
            ),
        });
    }
}

/// Compares the schema of each version that stays with its old one, and that of a new storage version with that of the old
/// storage version, unless a webhook converts between them.
fn schemas(old: &Value, new: &Value, found: &mut Vec<CrdRisk>) {
    let used = |version: &Value| version["served"] == true || version["storage"] == true;
    let mut known = Vec::new();
    for after in list(new).filter(|version| used(version)) {
        if let Some(before) = named(old, name(after)) {
            let risks = schema::narrowed(schema_of(before), schema_of(after));
            found.extend(risks.iter().map(|risk| in_version(name(after), risk)));
            known.extend(risks);
        }
    }
    if let (Some(before), Some(after)) = (storage(old), storage(new))
        && name(before) != name(after)
        && !converts(new)
    {
        let versions = format!("{} instead of {}", name(after), name(before));
        let risks = schema::narrowed(schema_of(before), schema_of(after));
        found.extend(risks.iter().filter(|risk| !known.contains(risk)).map(|risk| in_version(&versions, risk)));
    }
}

fn in_version(version: &str, risk: &CrdRisk) -> CrdRisk {
    CrdRisk { harm: risk.harm, message: format!("{version}: {}", risk.message) }
}

fn list(crd: &Value) -> impl Iterator<Item = &Value> {
    crd["spec"]["versions"].as_array().into_iter().flatten()
}

fn name(version: &Value) -> &str {
    version["name"].as_str().unwrap_or_default()
}

fn named<'a>(crd: &'a Value, expected: &str) -> Option<&'a Value> {
    list(crd).find(|version| name(version) == expected)
}

fn storage(crd: &Value) -> Option<&Value> {
    list(crd).find(|version| version["storage"] == true)
}

fn schema_of(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]
}

fn converts(crd: &Value) -> bool {
    crd["spec"]["conversion"]["strategy"] == "Webhook"
}

/// The versions in which objects may be stored.
fn stored(crd: &Value) -> Vec<&str> {
    let stored: Vec<&str> =
        crd["status"]["storedVersions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if stored.is_empty() { storage(crd).map(name).into_iter().collect() } else { stored }
}

#[cfg(test)]
mod tests;
