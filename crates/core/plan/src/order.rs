//! The order of kinds, as Helm installs them.

/// Helm's order of kinds at installation. What is not in it comes last, in the order of its kind's name.
const INSTALL: [&str; 36] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

/// Helm's whole order.
pub fn install_order() -> impl Iterator<Item = &'static str> {
    INSTALL.into_iter().chain(["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
}

/// Where a kind comes in Helm's order; none for a kind that Helm does not know.
pub fn install_rank(kind: &str) -> Option<usize> {
    install_order().position(|known| known == kind)
}
