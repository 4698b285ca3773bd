//! The types of conditions in the status of an object, as in `metav1.Condition`. [`crate::reasons`] has their reasons.

/// The object is in its desired state. On every kind.
pub const READY: &str = "Ready";
/// The hub is reconciling the object. On every kind, while true.
pub const RECONCILING: &str = "Reconciling";
/// The hub cannot make progress until a user acts. On every kind, while true.
pub const STALLED: &str = "Stalled";
/// A version that fits was resolved. On an instance.
pub const RESOLVED: &str = "Resolved";
/// A user has approved the requirements. On an instance.
pub const APPROVED: &str = "Approved";
/// The objects are applied to the cluster. On an instance and on a revision.
pub const APPLIED: &str = "Applied";
/// The objects are healthy. On an instance and on a revision.
pub const HEALTHY: &str = "Healthy";
/// The hub is connected to the cluster. On a cluster.
pub const CONNECTED: &str = "Connected";
/// Every installed extension supports the planned Kubernetes version. On a cluster.
pub const UPGRADE_READY: &str = "UpgradeReady";
/// The definitions were read. On a catalog.
pub const SYNCED: &str = "Synced";

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// The hub has not determined whether the condition holds.
    Unknown,
}

impl ConditionStatus {
    /// The value in `metav1.Condition`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}
