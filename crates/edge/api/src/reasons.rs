//! Why a condition is what it is, in one word for programs. The sentence for a person stands beside it.

/// Of [`crate::conditions::READY`].
pub mod ready {
    /// An instance is installed at the version that is wanted, and healthy.
    pub const INSTALLED: &str = "Installed";
    /// The hub has accepted the object and there is nothing left to do.
    pub const ACCEPTED: &str = "Accepted";
    /// Work is under way.
    pub const PROGRESSING: &str = "Progressing";
    /// It is suspended: it is watched and nothing is written.
    pub const SUSPENDED: &str = "Suspended";
    /// Something that it needs is not there or not ready.
    pub const WAITING: &str = "Waiting";
    /// It failed, and is tried again.
    pub const FAILED: &str = "Failed";
    /// It is being removed.
    pub const REMOVING: &str = "Removing";
}

/// Of [`crate::conditions::STALLED`].
pub mod stalled {
    /// What was asked for is wrong, and trying again will not help.
    pub const INVALID_SPEC: &str = "InvalidSpec";
    /// A person has to choose, as when somebody else changed the release.
    pub const NEEDS_DECISION: &str = "NeedsDecision";
}

/// Of [`crate::conditions::RECONCILING`].
pub mod reconciling {
    /// A new wish is being carried out.
    pub const CHANGED: &str = "Changed";
    /// What went wrong is tried again.
    pub const RETRYING: &str = "Retrying";
    /// What drifted on the cluster is put back.
    pub const REPAIRING: &str = "Repairing";
}

/// Of [`crate::conditions::RESOLVED`].
pub mod resolved {
    /// One version fits, and it is known which.
    pub const RESOLVED: &str = "Resolved";
    /// No version fits this cluster and what is installed on it.
    pub const NOTHING_FITS: &str = "NothingFits";
    /// The extension is in no catalog that may be used.
    pub const NOT_FOUND: &str = "NotFound";
    /// The cluster does not exist or cannot be reached, so nothing is known of it.
    pub const CLUSTER_UNKNOWN: &str = "ClusterUnknown";
}

/// Of [`crate::conditions::APPROVED`].
pub mod approved {
    /// All that it needs was approved.
    pub const APPROVED: &str = "Approved";
    /// It needs nothing that has to be approved.
    pub const NOTHING_TO_APPROVE: &str = "NothingToApprove";
    /// It needs more than was approved.
    pub const NEEDS_APPROVAL: &str = "NeedsApproval";
}

/// Of [`crate::conditions::APPLIED`].
pub mod applied {
    /// Every object is on the cluster.
    pub const APPLIED: &str = "Applied";
    /// Objects are being written.
    pub const APPLYING: &str = "Applying";
    /// The cluster refused an object.
    pub const REFUSED: &str = "Refused";
    /// Somebody else has changed the release, so it is left alone until a person chooses.
    pub const FOREIGN_REVISION: &str = "ForeignRevision";
    /// A dependency is not healthy yet.
    pub const DEPENDENCY_NOT_READY: &str = "DependencyNotReady";
    /// It is not the time in which upgrades may begin.
    pub const OUTSIDE_WINDOW: &str = "OutsideWindow";
}

/// Of [`crate::conditions::HEALTHY`].
pub mod healthy {
    /// Every object is healthy.
    pub const HEALTHY: &str = "Healthy";
    /// Objects are on their way.
    pub const STARTING: &str = "Starting";
    /// An object is unhealthy.
    pub const UNHEALTHY: &str = "Unhealthy";
}

/// Of [`crate::conditions::CONNECTED`]: why a cluster is connected, or why not.
pub mod connected {
    /// The cluster answers.
    pub const CONNECTED: &str = "Connected";
    /// The kubeconfig secret is not there.
    pub const SECRET_MISSING: &str = "SecretMissing";
    /// The kubeconfig secret is not of our type, or no kubeconfig is in it.
    pub const SECRET_INVALID: &str = "SecretInvalid";
    /// The cluster does not answer.
    pub const UNREACHABLE: &str = "Unreachable";
    /// The cluster answers with a certificate that the kubeconfig does not trust.
    pub const UNTRUSTED: &str = "Untrusted";
    /// The cluster does not accept who we are.
    pub const UNAUTHORIZED: &str = "Unauthorized";
    /// The cluster lets us in, and refuses what we have to do.
    pub const FORBIDDEN: &str = "Forbidden";
    /// The same cluster is registered under another name.
    pub const ALREADY_REGISTERED: &str = "AlreadyRegistered";
    /// The cluster runs a Kubernetes that is not supported.
    pub const UNSUPPORTED_VERSION: &str = "UnsupportedVersion";
}

/// Of [`crate::conditions::UPGRADE_READY`].
pub mod upgrade_ready {
    /// Everything has a version for the planned Kubernetes.
    pub const CLEAR: &str = "Clear";
    /// Something has none.
    pub const BLOCKED: &str = "Blocked";
}

/// Of [`crate::conditions::SYNCED`].
pub mod synced {
    /// All definitions were read.
    pub const SYNCED: &str = "Synced";
    /// The source cannot be reached.
    pub const UNREACHABLE: &str = "Unreachable";
    /// Some definitions are wrong and were left out.
    pub const PARTIALLY_SYNCED: &str = "PartiallySynced";
    /// Nothing in the source is a definition.
    pub const EMPTY: &str = "Empty";
}
