//! The capabilities of a cluster and its Kubernetes distribution, as far as they can be detected.

use std::collections::BTreeSet;

use crate::Apis;

/// The API groups that show a capability.
const GROUPS: [(&str, &str); 3] = [
    ("gateway.networking.k8s.io", "gatewayAPI"),
    ("metrics.k8s.io", "metrics"),
    ("snapshot.storage.k8s.io", "volumeSnapshot"),
];

const STORAGE_CLASS: &str = "storageClass";

/// Capabilities that no API shows: whether a cluster has them is unknown.
pub const UNDETECTABLE_CAPABILITIES: [&str; 2] = ["loadBalancer", "networkPolicy"];

/// The capabilities of a cluster, from the kinds it serves and whether it has a storage class.
///
/// [`UNDETECTABLE_CAPABILITIES`] are never in the set.
pub fn capabilities(apis: &Apis, storage_class: bool) -> BTreeSet<String> {
    let served = GROUPS.into_iter().filter(|(group, _)| apis.has_group(group)).map(|(_, name)| name);
    served.chain(storage_class.then_some(STORAGE_CLASS)).map(str::to_owned).collect()
}

/// Why a requirement is not known to be met: the cluster lacks the capability, or it is unknown whether it has it.
/// `None` if the capability was detected.
pub fn unmet_capability(cluster: &str, capability: &str, detected: &BTreeSet<String>) -> Option<String> {
    let detectable = capability == STORAGE_CLASS || GROUPS.iter().any(|(_, name)| *name == capability);
    match detected.contains(capability) {
        true => None,
        false if detectable => Some(format!("cluster {cluster} does not have {capability}")),
        false => Some(format!("unknown whether cluster {cluster} has {capability}")),
    }
}

/// The Kubernetes distribution, where the version string shows it.
pub fn platform(version: &str) -> Option<&'static str> {
    let vendors = [
        ("+k3s", "k3s"),
        ("+rke2", "RKE2"),
        ("-gke.", "GKE"),
        ("-eks-", "EKS"),
        ("+vmware", "Tanzu"),
        ("+k0s", "k0s"),
        ("-mirantis", "Mirantis"),
    ];
    vendors.into_iter().find(|(suffix, _)| version.contains(suffix)).map(|(_, vendor)| vendor)
}

#[cfg(test)]
mod tests {
    use crate::{Gvk, Scope};

    use super::*;

    #[test]
    fn capabilities_follow_from_served_kinds() {
        let apis: Apis = [
            (Gvk::new("v1", "ConfigMap"), Scope::Namespaced),
            (Gvk::new("metrics.k8s.io/v1beta1", "NodeMetrics"), Scope::Cluster),
        ]
        .into_iter()
        .collect();
        assert_eq!(capabilities(&apis, true), ["metrics", "storageClass"].map(str::to_owned).into());
        assert_eq!(capabilities(&Apis::default(), false), BTreeSet::new());
    }

    #[test]
    fn undetectable_capabilities_are_unknown_and_not_absent() {
        let detected = ["metrics".to_owned()].into();
        let rows = [
            ("metrics", None),
            ("storageClass", Some("cluster c0 does not have storageClass")),
            ("gatewayAPI", Some("cluster c0 does not have gatewayAPI")),
            ("loadBalancer", Some("unknown whether cluster c0 has loadBalancer")),
            ("networkPolicy", Some("unknown whether cluster c0 has networkPolicy")),
            ("teleportation", Some("unknown whether cluster c0 has teleportation")),
        ];
        for (capability, expected) in rows {
            assert_eq!(unmet_capability("c0", capability, &detected).as_deref(), expected, "{capability}");
        }
        for capability in UNDETECTABLE_CAPABILITIES {
            assert!(
                unmet_capability("c0", capability, &detected).is_some_and(|message| message.starts_with("unknown"))
            );
        }
    }

    #[test]
    fn distributions_are_detected_by_version_suffix() {
        let rows = [
            ("v1.36.3+k3s1", Some("k3s")),
            ("v1.35.4-gke.1200", Some("GKE")),
            ("v1.33.9-eks-1a2b3c", Some("EKS")),
            ("v1.36.3", None),
        ];
        for (version, expected) in rows {
            assert_eq!(platform(version), expected, "{version}");
        }
    }
}
