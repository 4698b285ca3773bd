//! The order in which Helm installs kinds.

/// Helm's `InstallOrder`. Unknown kinds come last, in alphabetical order.
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

/// Helm's complete install order.
pub fn install_order() -> impl Iterator<Item = &'static str> {
    INSTALL.into_iter().chain(["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
}

/// The position of a kind in Helm's install order; none for a kind that Helm does not know.
pub fn install_rank(kind: &str) -> Option<usize> {
    install_order().position(|known| known == kind)
}
