//! Dispatch to the rules of each kind, and the rules that take only a few lines.

use time::OffsetDateTime;

use crate::sentence::because;
use crate::view::View;
use crate::{Health, generic, job, pod, reasons, registration, workload};

/// The health of an object whose kind has rules of its own.
pub(crate) fn by_kind(object: View<'_>, now: Option<OffsetDateTime>) -> Option<Health> {
    // Workloads were in the group `extensions` before `apps`. No cluster serves them there, but old manifests name it.
    Some(match (object.group(), object.text("/kind")) {
        ("apps" | "extensions", "Deployment") => workload::deployment(object),
        ("apps" | "extensions", "DaemonSet") => workload::daemon_set(object),
        ("apps" | "extensions", "ReplicaSet") => workload::replica_set(object),
        ("apps", "StatefulSet") => workload::stateful_set(object),
        ("", "Pod") => pod::pod(object, now),
        ("", "PersistentVolumeClaim") => persistent_volume_claim(object),
        ("", "Service") => service(object),
        ("", "Namespace") => namespace(object)?,
        ("batch", "Job") => job::job(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => registration::custom_resource_definition(object),
        ("apiregistration.k8s.io", "APIService") => registration::api_service(object),
        // Current as soon as they exist. A disruption budget has been computed once its generation was observed.
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") | ("policy", "PodDisruptionBudget") => Health::Current,
        _ => return None,
    })
}

/// Whether an object of this kind is current as soon as it exists, so that its metadata is enough to know its health.
pub fn shown_by_metadata(group: &str, kind: &str) -> bool {
    match group {
        "" => matches!(kind, "ConfigMap" | "Secret" | "ServiceAccount" | "LimitRange" | "PodTemplate"),
        "rbac.authorization.k8s.io" => true,
        "admissionregistration.k8s.io" => kind.ends_with("Configuration") || kind.ends_with("Binding"),
        "networking.k8s.io" => matches!(kind, "NetworkPolicy" | "IngressClass"),
        "scheduling.k8s.io" => kind == "PriorityClass",
        "storage.k8s.io" => matches!(kind, "StorageClass" | "CSIDriver"),
        "node.k8s.io" => kind == "RuntimeClass",
        _ => false,
    }
}

fn persistent_volume_claim(object: View<'_>) -> Health {
    let sentence = match object.text("/status/phase") {
        "Bound" => return Health::Current,
        "Lost" => "its volume is lost",
        _ => "it is not bound to a volume yet",
    };
    Health::in_progress(reasons::NOT_BOUND, sentence)
}

/// A Service is current once it has a cluster IP. An external address is not required, because many clusters have no
/// load balancer controller.
fn service(object: View<'_>) -> Health {
    if object.text("/spec/type") == "LoadBalancer" && object.text("/spec/clusterIP").is_empty() {
        return Health::in_progress(reasons::NO_ADDRESS, "it has no cluster IP yet");
    }
    Health::Current
}

fn namespace(object: View<'_>) -> Option<Health> {
    if object.text("/status/phase") != "Terminating" {
        return None;
    }
    Some(generic::deleted(object))
}

/// The remaining content of a namespace that is being deleted, in the message of the namespace controller.
pub(crate) fn remains(object: View<'_>) -> Option<String> {
    if (object.group(), object.text("/kind")) != ("", "Namespace") {
        return None;
    }
    // Conditions that name an error come first; the last says only that content is left.
    let types = [
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceDeletionContentFailure",
        "NamespaceFinalizersRemaining",
        "NamespaceContentRemaining",
    ];
    let found = types.iter().find_map(|type_| object.conditions().find(|condition| condition.is(type_, "True")))?;
    Some(because("it is being deleted and not empty yet", found.message))
}
