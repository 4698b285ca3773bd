//! The identity of a Kubernetes object.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Group, version and kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gvk {
    /// Empty for the core group.
    pub group: String,
    /// The version in the group.
    pub version: String,
    /// The kind.
    pub kind: String,
}

impl Gvk {
    /// Splits an `apiVersion` into group and version.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// The `apiVersion` of an object of this kind.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// Identifies one object on one cluster. The version is not part of the identity: comparisons ignore it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ObjectId {
    /// Group, version and kind.
    #[serde(flatten)]
    pub gvk: Gvk,
    /// Empty for a cluster-scoped object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectId {
    /// The identity of an object; none where it has no `apiVersion`, kind or name.
    pub fn of(object: &Value) -> Option<Self> {
        let metadata = &object["metadata"];
        Some(Self {
            gvk: Gvk::new(object["apiVersion"].as_str()?, object["kind"].as_str()?),
            namespace: metadata["namespace"].as_str().unwrap_or_default().to_owned(),
            name: metadata["name"].as_str().filter(|name| !name.is_empty())?.to_owned(),
        })
    }

    fn key(&self) -> (&str, &str, &str, &str) {
        (&self.gvk.group, &self.gvk.kind, &self.namespace, &self.name)
    }
}

impl PartialEq for ObjectId {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ObjectId {}

impl PartialOrd for ObjectId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.gvk.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "/{}", self.namespace)?;
        }
        write!(f, "/{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn versions_of_a_group_do_not_change_the_identity() {
        let in_version = |version: &str| {
            ObjectId::of(&json!({ "apiVersion": format!("apps/{version}"), "kind": "Deployment", "metadata": { "name": "web" } }))
                .unwrap()
        };
        assert_eq!(in_version("v1"), in_version("v1beta1"));
        assert_eq!(in_version("v1").gvk.api_version(), "apps/v1");
    }

    #[test]
    fn the_identity_displays_as_kind_namespace_name() {
        let object = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "tls", "namespace": "web" } });
        assert_eq!(ObjectId::of(&object).unwrap().to_string(), "Secret/web/tls");
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "web" } });
        assert_eq!(ObjectId::of(&object).unwrap().to_string(), "Namespace/web");
    }

    #[test]
    fn an_object_without_a_name_has_no_identity() {
        assert!(ObjectId::of(&json!({ "apiVersion": "v1", "kind": "Secret", "metadata": {} })).is_none());
        assert!(ObjectId::of(&json!({ "metadata": { "name": "tls" } })).is_none());
    }
}
