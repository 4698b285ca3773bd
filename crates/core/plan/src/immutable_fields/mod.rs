//! Immutable fields: the object has to be recreated to change them.

mod changed;
mod kinds;

use serde_json::Value;

use changed::{Ours, changed};

/// The immutable fields that applying `desired` would change, found without a request to the API server. Each is a path such as
/// `spec.template.spec.containers[name=web].image`.
///
/// A field that is not in `desired` changes only if our manager owns it, because applying then removes it. The rules are those
/// of the newest supported Kubernetes.
pub fn immutable_fields(live: &Value, desired: &Value) -> Vec<String> {
    let api_version = live["apiVersion"].as_str().unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let kind = live["kind"].as_str().unwrap_or_default();
    let object = Object { live, desired };
    let mut found = Vec::new();
    for path in kinds::fields(group, kind) {
        object.keeps(path, &mut found);
    }
    if let Some((path, mutable)) = kinds::all_but(group, kind) {
        object.keeps_all_but(path, mutable, &mut found);
    }
    kinds::special(group, kind, object, &mut found);
    found.sort();
    found.dedup();
    found
}

/// The live and the desired state of an object.
#[derive(Clone, Copy)]
struct Object<'a> {
    live: &'a Value,
    desired: &'a Value,
}

impl<'a> Object<'a> {
    /// The live and the desired value at a path, and what our manager owns there.
    fn at(self, path: &str) -> (&'a Value, &'a Value, Ours<'a>) {
        const NOTHING: &Value = &Value::Null;
        let start = (self.live, self.desired, Ours::of(self.live));
        path.split('.').fold(start, |(live, desired, ours), step| {
            (live.get(step).unwrap_or(NOTHING), desired.get(step).unwrap_or(NOTHING), ours.field(step))
        })
    }

    /// Adds the changes at a path, which is immutable.
    fn keeps(self, path: &str, found: &mut Vec<String>) {
        let (live, desired, ours) = self.at(path);
        changed(path, live, desired, ours, found);
    }

    /// Adds the changes below a path, except in mutable fields.
    fn keeps_all_but(self, path: &str, mutable: &[&str], found: &mut Vec<String>) {
        let (live, desired, _) = self.at(path);
        let fields = |value: &'a Value| value.as_object().into_iter().flat_map(|object| object.keys());
        for field in fields(live).chain(fields(desired)).filter(|field| !mutable.contains(&field.as_str())) {
            self.keeps(&format!("{path}.{field}"), found);
        }
    }
}

#[cfg(test)]
mod tests;
