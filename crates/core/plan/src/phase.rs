//! Phases: groups of kinds that are applied in parallel, and the gates between them.

use fitout_model::Gvk;

use crate::install_rank;

/// A group of objects that are applied in parallel, once the objects they depend on exist.
///
/// Few phases make an install fast. These are enough that no write of a clean install fails, and that no controller misses an
/// object that is applied later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Namespaces and CRDs.
    NamespacesAndCrds,
    /// Service accounts, roles, configuration and storage, to which workloads refer.
    Config,
    /// Services, so that pods have their environment variables.
    Services,
    /// Workloads and ingresses.
    Workloads,
    /// Webhook configurations and API services, whose backends the API server calls at once.
    Webhooks,
    /// Custom resources and all other kinds that are not in Helm's order.
    CustomResources,
}

/// The state that a phase's objects must reach before the next phase begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The objects are applied.
    Applied,
    /// The objects are healthy.
    Healthy,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 6] =
        [Self::NamespacesAndCrds, Self::Config, Self::Services, Self::Workloads, Self::Webhooks, Self::CustomResources];

    /// The gate after a phase. Workloads only have to be healthy where webhooks follow, which the API server calls.
    pub fn gate(self, webhooks_follow: bool) -> Gate {
        match self {
            Self::NamespacesAndCrds | Self::Webhooks => Gate::Healthy,
            Self::Workloads if webhooks_follow => Gate::Healthy,
            Self::Config | Self::Services | Self::Workloads | Self::CustomResources => Gate::Applied,
        }
    }
}

/// The phase of a kind.
pub fn phase(gvk: &Gvk) -> Phase {
    const BUILT_IN: [&str; 4] = ["", "apps", "batch", "autoscaling"];
    let built_in = BUILT_IN.contains(&gvk.group.as_str()) || gvk.group.ends_with(".k8s.io");
    // A custom resource may have the kind name of a built-in resource.
    let Some(rank) = install_rank(&gvk.kind).filter(|_| built_in || gvk.group == "policy") else {
        return Phase::CustomResources;
    };
    let before = |kind: &str| install_rank(kind).is_some_and(|other| rank < other);
    match gvk.kind.as_str() {
        "Namespace" | "CustomResourceDefinition" => Phase::NamespacesAndCrds,
        "Service" => Phase::Services,
        _ if before("Service") => Phase::Config,
        _ if before("APIService") => Phase::Workloads,
        _ => Phase::Webhooks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_phase() {
        let rows = [
            ("v1", "Namespace", Phase::NamespacesAndCrds),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition", Phase::NamespacesAndCrds),
            ("v1", "ServiceAccount", Phase::Config),
            ("v1", "ConfigMap", Phase::Config),
            ("rbac.authorization.k8s.io/v1", "RoleBinding", Phase::Config),
            ("policy/v1", "PodDisruptionBudget", Phase::Config),
            ("scheduling.k8s.io/v1", "PriorityClass", Phase::Config),
            ("v1", "Service", Phase::Services),
            ("apps/v1", "Deployment", Phase::Workloads),
            ("batch/v1", "Job", Phase::Workloads),
            ("networking.k8s.io/v1", "Ingress", Phase::Workloads),
            ("apiregistration.k8s.io/v1", "APIService", Phase::Webhooks),
            ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", Phase::Webhooks),
            ("cert-manager.io/v1", "Certificate", Phase::CustomResources),
            ("serving.knative.dev/v1", "Service", Phase::CustomResources),
        ];
        for (api_version, kind, expected) in rows {
            assert_eq!(phase(&Gvk::new(api_version, kind)), expected, "{api_version} {kind}");
        }
    }

    #[test]
    fn workloads_have_to_be_healthy_only_before_webhooks() {
        assert_eq!(Phase::Workloads.gate(true), Gate::Healthy);
        assert_eq!(Phase::Workloads.gate(false), Gate::Applied);
        assert_eq!(Phase::NamespacesAndCrds.gate(false), Gate::Healthy);
    }
}
