//! What a cluster serves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::{Gvk, nearest};

/// Whether objects of a kind are in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// They are.
    Namespaced,
    /// They are not.
    Cluster,
}

/// The kinds a cluster serves, as its discovery tells.
#[derive(Clone, Debug, Default)]
pub struct Apis {
    kinds: BTreeMap<Gvk, Scope>,
    /// Made when it is first asked for: whoever renders for a cluster does so again and again.
    names: OnceLock<Arc<[String]>>,
}

impl PartialEq for Apis {
    fn eq(&self, other: &Self) -> bool {
        self.kinds == other.kinds
    }
}

impl Eq for Apis {}

impl Apis {
    /// The scope of a kind; none where the cluster does not serve it.
    pub fn scope(&self, gvk: &Gvk) -> Option<Scope> {
        self.kinds.get(gvk).copied()
    }

    /// Every kind, in the order of groups and versions.
    pub fn kinds(&self) -> impl Iterator<Item = &Gvk> {
        self.kinds.keys()
    }

    /// The versions that it serves, such as `apps/v1`, and kinds of these, such as `apps/v1/Deployment`, each in the order of
    /// texts.
    pub fn names(&self) -> Arc<[String]> {
        let names = || {
            let kinds: BTreeSet<(String, &str)> =
                self.kinds.keys().map(|gvk| (gvk.api_version(), gvk.kind.as_str())).collect();
            let versions: BTreeSet<&String> = kinds.iter().map(|(version, _)| version).collect();
            let with_kind = kinds.iter().map(|(version, kind)| format!("{version}/{kind}"));
            versions.into_iter().cloned().chain(with_kind).collect()
        };
        Arc::clone(self.names.get_or_init(names))
    }

    /// Adds a kind.
    pub fn insert(&mut self, gvk: Gvk, scope: Scope) {
        self.kinds.insert(gvk, scope);
        self.names = OnceLock::new();
    }

    /// Whether a kind of this group is served.
    pub fn has_group(&self, group: &str) -> bool {
        self.kinds.keys().any(|gvk| gvk.group == group)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// A kind that somebody may have meant: the same kind in another version or group, or one that is written alike.
    pub fn nearest(&self, gvk: &Gvk) -> Option<&Gvk> {
        let served = || self.kinds.keys();
        served()
            .find(|known| known.kind == gvk.kind && known.group == gvk.group)
            .or_else(|| served().find(|known| known.kind == gvk.kind))
            .or_else(|| {
                let kind = nearest(&gvk.kind, served().map(|known| known.kind.as_str()))?;
                served().find(|known| known.kind == kind)
            })
    }
}

impl FromIterator<(Gvk, Scope)> for Apis {
    fn from_iter<I: IntoIterator<Item = (Gvk, Scope)>>(kinds: I) -> Self {
        Self { kinds: kinds.into_iter().collect(), names: OnceLock::new() }
    }
}

/// The kinds that a definition of custom resources brings along.
pub fn defined_kinds(object: &Value) -> Vec<(Gvk, Scope)> {
    let spec = &object["spec"];
    if object["kind"] != "CustomResourceDefinition" {
        return vec![];
    }
    let scope = if spec["scope"] == "Cluster" { Scope::Cluster } else { Scope::Namespaced };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions = spec["versions"].as_array().into_iter().flatten();
    versions
        .map(|version| Gvk {
            group: text(&spec["group"]),
            version: text(&version["name"]),
            kind: text(&spec["names"]["kind"]),
        })
        .map(|gvk| (gvk, scope))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_before_kinds_of_them_and_what_is_added_is_among_them() {
        let kinds = [("v1", "Pod"), ("apps/v1", "Deployment"), ("v1", "ConfigMap")];
        let mut apis: Apis =
            kinds.map(|(version, kind)| (Gvk::new(version, kind), Scope::Namespaced)).into_iter().collect();
        assert_eq!(*apis.names(), ["apps/v1", "v1", "apps/v1/Deployment", "v1/ConfigMap", "v1/Pod"]);
        let before = apis.clone();
        apis.insert(Gvk::new("batch/v1", "Job"), Scope::Namespaced);
        assert_eq!(
            *apis.names(),
            ["apps/v1", "batch/v1", "v1", "apps/v1/Deployment", "batch/v1/Job", "v1/ConfigMap", "v1/Pod"]
        );
        assert_eq!(before.names().len(), 5);
        assert_ne!(before, apis);
    }
}
