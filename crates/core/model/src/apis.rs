//! The APIs that a cluster serves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::{Gvk, nearest};

/// The scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Objects are in a namespace.
    Namespaced,
    /// Objects are cluster-scoped.
    Cluster,
}

/// The kinds that a cluster serves, from API discovery.
#[derive(Clone, Debug, Default)]
pub struct Apis {
    kinds: BTreeMap<Gvk, Scope>,
    /// Computed on first use, because every rendering for the cluster needs it.
    names: OnceLock<Arc<[String]>>,
}

impl PartialEq for Apis {
    fn eq(&self, other: &Self) -> bool {
        self.kinds == other.kinds
    }
}

impl Eq for Apis {}

impl Apis {
    /// The scope of a kind; none if the cluster does not serve it.
    pub fn scope(&self, gvk: &Gvk) -> Option<Scope> {
        self.kinds.get(gvk).copied()
    }

    /// Every kind, ordered by group and version.
    pub fn kinds(&self) -> impl Iterator<Item = &Gvk> {
        self.kinds.keys()
    }

    /// The API versions, such as `apps/v1`, then their kinds, such as `apps/v1/Deployment`, each in alphabetical order.
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

    /// Whether it has no kinds.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// A suggestion for a kind that is not served: the same kind in another version or group, or one with a similar name.
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

/// The kinds that a `CustomResourceDefinition` registers; empty for any other object.
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
    fn names_are_versions_then_kinds_and_include_inserted_ones() {
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
