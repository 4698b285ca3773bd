//! What a cluster can do for extensions, and whose Kubernetes it is, as far as it shows.

use std::collections::BTreeSet;

use crate::Apis;

/// What a cluster can do, from the kinds it serves and whether it has a class of storage.
///
/// Whether a load balancer gets an address or a network policy is enforced shows nowhere: only trying tells.
pub fn capabilities(apis: &Apis, storage_class: bool) -> BTreeSet<String> {
    let groups = [
        ("gateway.networking.k8s.io", "gatewayAPI"),
        ("metrics.k8s.io", "metrics"),
        ("snapshot.storage.k8s.io", "volumeSnapshot"),
    ];
    let served = groups.into_iter().filter(|(group, _)| apis.has_group(group)).map(|(_, name)| name);
    served.chain(storage_class.then_some("storageClass")).map(str::to_owned).collect()
}

/// Whose Kubernetes has this version, where the version says so.
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
    vendors.into_iter().find(|(mark, _)| version.contains(mark)).map(|(_, vendor)| vendor)
}

#[cfg(test)]
mod tests {
    use crate::{Gvk, Scope};

    use super::*;

    #[test]
    fn a_cluster_can_do_what_it_serves() {
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
    fn vendors_are_known_by_their_suffix() {
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
