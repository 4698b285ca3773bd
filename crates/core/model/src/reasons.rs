//! The reasons of conditions, in one word for programs.

/// Reasons of [`crate::conditions::READY`].
pub mod ready {
    /// The desired version is installed and healthy.
    pub const INSTALLED: &str = "Installed";
    /// The hub has processed the object, and nothing is left to do.
    pub const ACCEPTED: &str = "Accepted";
    /// A change is in progress.
    pub const PROGRESSING: &str = "Progressing";
    /// Reconciliation is suspended.
    pub const SUSPENDED: &str = "Suspended";
    /// Something that the object needs does not exist or is not ready.
    pub const WAITING: &str = "Waiting";
    /// The last attempt failed and is retried.
    pub const FAILED: &str = "Failed";
    /// The object is being deleted.
    pub const REMOVING: &str = "Removing";
}

/// Reasons of [`crate::conditions::STALLED`].
pub mod stalled {
    /// The spec is invalid; a retry does not help.
    pub const INVALID_SPEC: &str = "InvalidSpec";
    /// A user has to decide, for example because another client changed the release.
    pub const NEEDS_DECISION: &str = "NeedsDecision";
}

/// Reasons of [`crate::conditions::RECONCILING`].
pub mod reconciling {
    /// A new desired state is being applied.
    pub const CHANGED: &str = "Changed";
    /// A failed change is retried.
    pub const RETRYING: &str = "Retrying";
    /// Drift on the cluster is being reverted.
    pub const REPAIRING: &str = "Repairing";
}

/// Reasons of [`crate::conditions::RESOLVED`].
pub mod resolved {
    /// A version that fits was found.
    pub const RESOLVED: &str = "Resolved";
    /// No version fits the cluster and the extensions installed on it.
    pub const NOTHING_FITS: &str = "NothingFits";
    /// No available catalog contains the extension.
    pub const NOT_FOUND: &str = "NotFound";
    /// The cluster does not exist or is unreachable.
    pub const CLUSTER_UNKNOWN: &str = "ClusterUnknown";
}

/// Reasons of [`crate::conditions::APPROVED`].
pub mod approved {
    /// All requirements are approved.
    pub const APPROVED: &str = "Approved";
    /// No requirement needs approval.
    pub const NOTHING_TO_APPROVE: &str = "NothingToApprove";
    /// A requirement is not approved.
    pub const NEEDS_APPROVAL: &str = "NeedsApproval";
}

/// Reasons of [`crate::conditions::APPLIED`].
pub mod applied {
    /// Every object is applied.
    pub const APPLIED: &str = "Applied";
    /// Objects are being applied.
    pub const APPLYING: &str = "Applying";
    /// The cluster refused an object.
    pub const REFUSED: &str = "Refused";
    /// Another client has changed the release; the hub leaves it alone until a user decides.
    pub const FOREIGN_REVISION: &str = "ForeignRevision";
    /// A dependency is not healthy yet.
    pub const DEPENDENCY_NOT_READY: &str = "DependencyNotReady";
    /// The maintenance window is closed.
    pub const OUTSIDE_WINDOW: &str = "OutsideWindow";
}

/// Reasons of [`crate::conditions::HEALTHY`].
pub mod healthy {
    /// Every object is healthy.
    pub const HEALTHY: &str = "Healthy";
    /// Objects are starting.
    pub const STARTING: &str = "Starting";
    /// An object is unhealthy.
    pub const UNHEALTHY: &str = "Unhealthy";
}

/// Reasons of [`crate::conditions::CONNECTED`].
pub mod connected {
    /// The hub is connected to the cluster.
    pub const CONNECTED: &str = "Connected";
    /// The kubeconfig Secret does not exist.
    pub const SECRET_MISSING: &str = "SecretMissing";
    /// The kubeconfig Secret has another type or holds no valid kubeconfig.
    pub const SECRET_INVALID: &str = "SecretInvalid";
    /// The cluster does not answer.
    pub const UNREACHABLE: &str = "Unreachable";
    /// The kubeconfig does not trust the cluster's certificate.
    pub const UNTRUSTED: &str = "Untrusted";
    /// The cluster rejects the hub's credentials.
    pub const UNAUTHORIZED: &str = "Unauthorized";
    /// The hub's credentials lack permissions on the cluster.
    pub const FORBIDDEN: &str = "Forbidden";
    /// The same cluster is registered under another name.
    pub const ALREADY_REGISTERED: &str = "AlreadyRegistered";
    /// The cluster's Kubernetes version is not supported.
    pub const UNSUPPORTED_VERSION: &str = "UnsupportedVersion";
}

/// Reasons of [`crate::conditions::UPGRADE_READY`].
pub mod upgrade_ready {
    /// Every extension has a version for the planned Kubernetes version.
    pub const CLEAR: &str = "Clear";
    /// An extension has no version for it.
    pub const BLOCKED: &str = "Blocked";
}

/// Reasons of [`crate::conditions::SYNCED`].
pub mod synced {
    /// All definitions were read.
    pub const SYNCED: &str = "Synced";
    /// The source is unreachable.
    pub const UNREACHABLE: &str = "Unreachable";
    /// Some definitions are invalid and were skipped.
    pub const PARTIALLY_SYNCED: &str = "PartiallySynced";
    /// The source contains no definition.
    pub const EMPTY: &str = "Empty";
    /// The source rejects the hub's credentials.
    pub const UNAUTHORIZED: &str = "Unauthorized";
    /// The source contradicts what it said before, such as a published version with another content.
    pub const INCONSISTENT: &str = "Inconsistent";
    /// The spec of the catalog cannot be carried out.
    pub const INVALID_SPEC: &str = "InvalidSpec";
    /// Syncing is suspended.
    pub const SUSPENDED: &str = "Suspended";
}
