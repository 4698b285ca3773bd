//! The supported Kubernetes versions: the kinds that each serves by default, and the roles that Kubernetes itself has.
//!
//! The data in `discovery/` is the answer of a real API server at each version. `cargo xtask generate discovery` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use fitout_helm_ranges::{Range, Version};
use fitout_model::{AccessRule, Apis, Gvk, Scope};
use serde_json::Value;

/// A supported minor version of Kubernetes.
#[derive(Debug)]
pub struct Kubernetes {
    /// The number of the minor version, such as 36.
    pub minor: u64,
    /// The patch version that was asked, such as 1.36.3.
    pub version: String,
    /// The kinds that it serves by default.
    pub apis: Apis,
    resources: BTreeMap<Gvk, String>,
}

const DISCOVERY: [&str; 4] = [
    include_str!("../discovery/1.33.txt"),
    include_str!("../discovery/1.34.txt"),
    include_str!("../discovery/1.35.txt"),
    include_str!("../discovery/1.36.txt"),
];

static SUPPORTED: LazyLock<Vec<Kubernetes>> = LazyLock::new(|| DISCOVERY.into_iter().map(Kubernetes::parse).collect());

/// Every group that some supported version serves.
static GROUPS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    SUPPORTED.iter().flat_map(|kubernetes| kubernetes.apis.kinds()).map(|gvk| gvk.group.as_str()).collect()
});

/// The roles of the newest version, by `ClusterRole/NAME` and `Role/NAMESPACE/NAME`.
static ROLES: LazyLock<BTreeMap<String, Vec<AccessRule>>> = LazyLock::new(|| {
    let roles: BTreeMap<String, Value> =
        serde_json::from_str(include_str!("../discovery/roles.json")).unwrap_or_default();
    roles.into_iter().map(|(name, rules)| (name, serde_json::from_value(rules).unwrap_or_default())).collect()
});

/// The supported versions, oldest first.
pub fn supported() -> &'static [Kubernetes] {
    &SUPPORTED
}

/// Whether Kubernetes itself defines a group. Groups of CRDs and of aggregated APIs have another domain.
pub fn is_builtin_group(group: &str) -> bool {
    // Groups that no supported version serves any more had no domain.
    GROUPS.contains(group) || !group.contains('.')
}

/// The rules of a role that every cluster has, by its name: `ClusterRole/NAME` or `Role/NAMESPACE/NAME`.
pub(crate) fn default_role(name: &str) -> Option<&'static [AccessRule]> {
    ROLES.get(name).map(Vec::as_slice)
}

/// The first and the last supported version in a sentence.
pub(crate) fn span() -> String {
    let ends = SUPPORTED.first().zip(SUPPORTED.last());
    ends.map_or_else(String::new, |(first, last)| format!("1.{} to 1.{}", first.minor, last.minor))
}

impl Kubernetes {
    /// Parses a line `VERSION`, then a line `APIVERSION KIND RESOURCE SCOPE` for each kind.
    fn parse(text: &str) -> Self {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let version = lines.next().unwrap_or_default().trim_start_matches('v').to_owned();
        let minor = version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or_default();
        let (mut kinds, mut resources) = (Vec::new(), BTreeMap::new());
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let [api_version, kind, resource, scope] = words[..] else { continue };
            let gvk = Gvk::new(api_version, kind);
            let scope = if scope == "Cluster" { Scope::Cluster } else { Scope::Namespaced };
            kinds.push((gvk.clone(), scope));
            resources.insert(gvk, resource.to_owned());
        }
        Self { minor, version, apis: kinds.into_iter().collect(), resources }
    }

    /// The resource of a kind, such as `deployments`.
    pub(crate) fn resource(&self, gvk: &Gvk) -> Option<&str> {
        self.resources.get(gvk).map(String::as_str)
    }

    /// Whether it is a kind of Kubernetes itself that this version does not serve.
    pub(crate) fn lacks(&self, gvk: &Gvk) -> bool {
        is_builtin_group(&gvk.group) && self.apis.scope(gvk).is_none()
    }

    /// A patch version of this minor version that is in the range. The one that was asked comes first.
    pub(crate) fn patch_in(&self, range: Option<&Range>) -> Option<String> {
        let patches = [self.version.clone(), format!("1.{}.0", self.minor), format!("1.{}.999", self.minor)];
        patches.into_iter().find(|patch| range.is_none_or(|range| contains(range, patch)))
    }

    /// Whether every patch version of this minor version is in the range, as far as the first and the last one show.
    pub(crate) fn is_whole_in(&self, range: &Range) -> bool {
        [0, 999].iter().all(|patch| contains(range, &format!("1.{}.{patch}", self.minor)))
    }
}

fn contains(range: &Range, version: &str) -> bool {
    Version::parse(version).is_ok_and(|version| range.matches(&version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_version_has_the_kinds_that_all_clusters_have() {
        let minors: Vec<u64> = supported().iter().map(|kubernetes| kubernetes.minor).collect();
        assert_eq!(minors, [33, 34, 35, 36]);
        for kubernetes in supported() {
            let deployment = Gvk::new("apps/v1", "Deployment");
            assert_eq!(kubernetes.apis.scope(&deployment), Some(Scope::Namespaced));
            assert_eq!(kubernetes.resource(&deployment), Some("deployments"));
            assert_eq!(kubernetes.apis.scope(&Gvk::new("v1", "Node")), Some(Scope::Cluster));
            assert!(kubernetes.lacks(&Gvk::new("policy/v1beta1", "PodDisruptionBudget")));
            assert!(kubernetes.lacks(&Gvk::new("extensions/v1beta1", "Ingress")));
            assert!(!kubernetes.lacks(&Gvk::new("cert-manager.io/v1", "Certificate")));
        }
    }

    #[test]
    fn versions_differ_in_what_they_serve() {
        let serves = |gvk: &Gvk| -> Vec<u64> {
            supported().iter().filter(|one| one.apis.scope(gvk).is_some()).map(|one| one.minor).collect()
        };
        // Generally available since 1.34.
        assert_eq!(serves(&Gvk::new("resource.k8s.io/v1", "DeviceClass")), [34, 35, 36]);
    }

    #[test]
    fn default_roles_have_their_rules() {
        let admin = default_role("ClusterRole/cluster-admin").unwrap();
        assert!(admin.iter().any(|rule| rule.verbs == ["*"] && rule.resources == ["*"]));
        assert!(default_role("Role/kube-system/extension-apiserver-authentication-reader").is_some());
        assert!(default_role("ClusterRole/unknown").is_none());
    }
}
