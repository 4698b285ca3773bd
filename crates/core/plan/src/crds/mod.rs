//! What a change of a custom resource definition would do to objects that are stored, and to those who use them.

mod bounds;
mod schema;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that a change of a definition would break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrdRisk {
    /// What kind of harm it is.
    pub harm: RiskKind,
    /// The version and the field, and what happens.
    pub message: String,
}

/// The harm that a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RiskKind {
    /// The API server refuses the change itself.
    Impossible,
    /// What is stored in objects is lost.
    Loss,
    /// What is stored no longer fits: a server leaves it as it is, and refuses it when it is changed or made anew.
    Refusal,
    /// Who asks as before is refused.
    Absence,
}

impl fmt::Display for CrdRisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What is dangerous about replacing one definition, as it is on a cluster, by another. What is safe is not named: more
/// versions, more optional fields, wider types and bounds, other descriptions.
pub fn crd_risks(old: &Value, new: &Value) -> Vec<CrdRisk> {
    let mut found = Vec::new();
    identity(old, new, &mut found);
    versions(old, new, &mut found);
    conversion(old, new, &mut found);
    if old["spec"]["preserveUnknownFields"] == true && new["spec"]["preserveUnknownFields"] != true {
        found.push(CrdRisk {
            harm: RiskKind::Loss,
            message: "fields that no schema has are no longer kept: they are dropped from objects that are stored"
                .to_owned(),
        });
    }
    schemas(old, new, &mut found);
    found
}

/// What an API server never changes in a definition.
fn identity(old: &Value, new: &Value, found: &mut Vec<CrdRisk>) {
    for path in ["/spec/group", "/spec/scope", "/spec/names/kind", "/spec/names/plural"] {
        let text = |crd: &Value| crd.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (before, after) = (text(old), text(new));
        if before != after {
            let field = path.trim_start_matches('/').replace('/', ".");
            found.push(CrdRisk {
                harm: RiskKind::Impossible,
                message: format!(
                    "{field} changes from {before} to {after}: a definition keeps it for life, and its objects go with \
                     it when it is made anew"
                ),
            });
        }
    }
}

/// Versions that are gone or no longer served, and what was served beside their objects.
fn versions(old: &Value, new: &Value, found: &mut Vec<CrdRisk>) {
    let stored = stored(old);
    let kept = storage(new).map(name).unwrap_or_default();
    for before in list(old) {
        let version = name(before);
        let Some(after) = named(new, version) else {
            found.push(if stored.contains(&version) {
                let message = format!(
                    "version {version} is removed, and objects are stored in it: write each of them once so that it is \
                     stored as {kept}, and take {version} out of status.storedVersions"
                );
                CrdRisk { harm: RiskKind::Impossible, message }
            } else if before["served"] == true {
                absence(format!("version {version} is removed: whoever still asks for it is refused"))
            } else {
                continue;
            });
            continue;
        };
        if before["served"] == true && after["served"] != true {
            found.push(absence(format!("version {version} is no longer served: whoever still asks for it is refused")));
            continue;
        }
        for part in ["status", "scale"] {
            if !before["subresources"][part].is_null() && after["subresources"][part].is_null() {
                found.push(absence(format!(
                    "version {version} has no {part} of its own any more: whoever writes it there is refused"
                )));
            }
        }
    }
}

fn absence(message: String) -> CrdRisk {
    CrdRisk { harm: RiskKind::Absence, message }
}

/// A webhook that knows how versions differ, and is gone while they are still in use.
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
                 versions as they are, and what those do not have is dropped"
            ),
        });
    }
}

/// Each version that stays, beside what it was; and a version in which objects are stored from now on, beside the one in
/// which they were, unless a webhook knows how they differ.
fn schemas(old: &Value, new: &Value, found: &mut Vec<CrdRisk>) {
    let used = |version: &Value| version["served"] == true || version["storage"] == true;
    for after in list(new).filter(|version| used(version)) {
        if let Some(before) = named(old, name(after)) {
            found.extend(schema::narrowed(name(after), schema_of(before), schema_of(after)));
        }
    }
    if let (Some(before), Some(after)) = (storage(old), storage(new))
        && name(before) != name(after)
        && !converts(new)
    {
        let words = format!("{} instead of {}", name(after), name(before));
        for danger in schema::narrowed(&words, schema_of(before), schema_of(after)) {
            let told = |known: &CrdRisk| known.message.split_once(": ").map(|(_, rest)| rest.to_owned());
            if !found.iter().any(|known| told(known) == told(&danger)) {
                found.push(danger);
            }
        }
    }
}

fn list(crd: &Value) -> impl Iterator<Item = &Value> {
    crd["spec"]["versions"].as_array().into_iter().flatten()
}

fn name(version: &Value) -> &str {
    version["name"].as_str().unwrap_or_default()
}

fn named<'a>(crd: &'a Value, wanted: &str) -> Option<&'a Value> {
    list(crd).find(|version| name(version) == wanted)
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

/// In which versions there may be objects.
fn stored(crd: &Value) -> Vec<&str> {
    let said: Vec<&str> =
        crd["status"]["storedVersions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if said.is_empty() { storage(crd).map(name).into_iter().collect() } else { said }
}

#[cfg(test)]
mod tests;
