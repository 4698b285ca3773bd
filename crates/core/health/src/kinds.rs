//! Which kinds have rules of their own, and the rules of those that need a few lines.

use time::OffsetDateTime;

use crate::sentence::because;
use crate::view::View;
use crate::{Health, generic, job, pod, reasons, registration, workload};

/// The answer for a kind with rules of its own.
pub(crate) fn by_kind(object: View<'_>, now: Option<OffsetDateTime>) -> Option<Health> {
    // `extensions` is where the workloads were before `apps`; no cluster serves them there any more, old manifests
    // still say so.
    Some(match (object.group(), object.text("/kind")) {
        ("apps" | "extensions", "Deployment") => workload::deployment(object),
        ("apps" | "extensions", "DaemonSet") => workload::daemon_set(object),
        ("apps" | "extensions", "ReplicaSet") => workload::replica_set(object),
        ("apps", "StatefulSet") => workload::stateful_set(object),
        ("", "Pod") => pod::pod(object, now),
        ("", "PersistentVolumeClaim") => claim(object),
        ("", "Service") => service(object),
        ("", "Namespace") => namespace(object)?,
        ("batch", "Job") => job::job(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => registration::definition(object),
        ("apiregistration.k8s.io", "APIService") => registration::api_service(object),
        // They are what they are as soon as they exist. A budget whose generation was seen has been computed.
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") | ("policy", "PodDisruptionBudget") => Health::Current,
        _ => return None,
    })
}

/// Whether a kind is what it is as soon as it exists: then its metadata is all that has to be looked at.
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

fn claim(object: View<'_>) -> Health {
    let sentence = match object.text("/status/phase") {
        "Bound" => return Health::Current,
        "Lost" => "its volume is lost",
        _ => "it is not bound to a volume yet",
    };
    Health::in_progress(reasons::NOT_BOUND, sentence)
}

/// A Service is there when it has an address in the cluster. Whether somebody outside gives it one more is not asked,
/// for many clusters have nobody who does.
fn service(object: View<'_>) -> Health {
    if object.text("/spec/type") == "LoadBalancer" && object.text("/spec/clusterIP").is_empty() {
        return Health::in_progress(reasons::NO_ADDRESS, "it has no address in the cluster yet");
    }
    Health::Current
}

fn namespace(object: View<'_>) -> Option<Health> {
    if object.text("/status/phase") != "Terminating" {
        return None;
    }
    Some(generic::deleted(object))
}

/// What still holds back a namespace that is being deleted, in the words of its controller.
pub(crate) fn remains(object: View<'_>) -> Option<String> {
    if (object.group(), object.text("/kind")) != ("", "Namespace") {
        return None;
    }
    // Those that name an error first; the last says only that something is left.
    let kinds = [
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceDeletionContentFailure",
        "NamespaceFinalizersRemaining",
        "NamespaceContentRemaining",
    ];
    let found = kinds.iter().find_map(|kind| object.conditions().find(|condition| condition.is(kind, "True")))?;
    Some(because("it is being deleted and not empty yet", found.message))
}
