//! Fields that an API server refuses to change: the object has to be made anew, or the field left as it is.

mod changed;
mod kinds;

use serde_json::Value;

use changed::{Ours, changed};

/// Which fields of an object would change if this were applied to it, and are fixed for its life, found without asking
/// the server. Each is a path as in `spec.template.spec.containers[name=web].image`.
///
/// What is not wanted is no change, unless it was ours: applying takes it away then. The rules are those of the newest
/// Kubernetes that is supported.
pub fn immutable_fields(live: &Value, wanted: &Value) -> Vec<String> {
    let api_version = live["apiVersion"].as_str().unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let kind = live["kind"].as_str().unwrap_or_default();
    let object = Object { live, wanted };
    let mut found = Vec::new();
    for path in kinds::fields(group, kind) {
        object.keeps(path, &mut found);
    }
    if let Some((path, free)) = kinds::all_but(group, kind) {
        object.keeps_all_but(path, free, &mut found);
    }
    kinds::special(group, kind, object, &mut found);
    found.sort();
    found.dedup();
    found
}

/// An object as it is, and as it is wanted.
#[derive(Clone, Copy)]
struct Object<'a> {
    live: &'a Value,
    wanted: &'a Value,
}

impl<'a> Object<'a> {
    /// The value at a path in the object and in what is wanted, and whether it is ours.
    fn at(self, path: &str) -> (&'a Value, &'a Value, Ours<'a>) {
        const NOTHING: &Value = &Value::Null;
        let start = (self.live, self.wanted, Ours::of(self.live));
        path.split('.').fold(start, |(live, wanted, ours), step| {
            (live.get(step).unwrap_or(NOTHING), wanted.get(step).unwrap_or(NOTHING), ours.field(step))
        })
    }

    /// Finds what changes at a path.
    fn keeps(self, path: &str, found: &mut Vec<String>) {
        let (live, wanted, ours) = self.at(path);
        changed(path, live, wanted, ours, found);
    }

    /// Finds what changes below a path, but for some fields.
    fn keeps_all_but(self, path: &str, free: &[&str], found: &mut Vec<String>) {
        let (live, wanted, _) = self.at(path);
        let fields = |value: &'a Value| value.as_object().into_iter().flat_map(|object| object.keys());
        for field in fields(live).chain(fields(wanted)).filter(|field| !free.contains(&field.as_str())) {
            self.keeps(&format!("{path}.{field}"), found);
        }
    }
}

#[cfg(test)]
mod tests;
