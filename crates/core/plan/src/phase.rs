//! Phases: what can be applied side by side, and what has to be waited for before the next.

use fitout_model::Gvk;

use crate::install_rank;

/// A group of objects that are applied side by side, once what they need is there.
///
/// Few phases make an install fast; these are enough that no write of a clean install fails, and that no controller
/// finds something missing that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Namespaces and the definitions of custom resources.
    NamespacesAndCrds,
    /// Accounts, roles, configuration, storage: what workloads refer to.
    Config,
    /// Services, so that workloads find them in their environment.
    Services,
    /// What runs, and what leads to it.
    Workloads,
    /// What the API server itself calls: it must be answered from the first moment.
    Webhooks,
    /// Custom resources and everything that Helm's order does not know.
    CustomResources,
}

/// What has to be true of a phase's objects before the next phase begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// They were applied.
    Applied,
    /// They are healthy.
    Healthy,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Self; 6] =
        [Self::NamespacesAndCrds, Self::Config, Self::Services, Self::Workloads, Self::Webhooks, Self::CustomResources];

    /// What a later phase waits for. Workloads are only waited for where the API server is going to call them.
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
    // A custom resource may share its kind's name with one of Kubernetes' own.
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
    fn workloads_are_waited_for_only_where_the_server_will_call_them() {
        assert_eq!(Phase::Workloads.gate(true), Gate::Healthy);
        assert_eq!(Phase::Workloads.gate(false), Gate::Applied);
        assert_eq!(Phase::NamespacesAndCrds.gate(false), Gate::Healthy);
    }
}
