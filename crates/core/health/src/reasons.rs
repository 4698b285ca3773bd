//! The words for machines. Where an object gives a reason of its own, that one is used instead.

/// The object has a deletion timestamp.
pub const TERMINATING: &str = "Terminating";
/// The controller has not seen the newest specification.
pub const NOT_OBSERVED: &str = "NotObserved";
/// The object says that its controller is at work.
pub const RECONCILING: &str = "Reconciling";
/// The object says that its controller has given up.
pub const STALLED: &str = "Stalled";
/// The object says that it is not ready.
pub const NOT_READY: &str = "NotReady";

/// Fewer pods exist than are wanted.
pub const TOO_FEW_REPLICAS: &str = "TooFewReplicas";
/// Fewer pods are of the newest specification than are wanted.
pub const TOO_FEW_UPDATED: &str = "TooFewUpdated";
/// Fewer pods are available than are wanted.
pub const TOO_FEW_AVAILABLE: &str = "TooFewAvailable";
/// Fewer pods are ready than are wanted.
pub const TOO_FEW_READY: &str = "TooFewReady";
/// Fewer pods carry the labels of the template than are wanted.
pub const TOO_FEW_LABELLED: &str = "TooFewLabelled";
/// More pods exist than are wanted.
pub const TOO_MANY_REPLICAS: &str = "TooManyReplicas";
/// The pods are there, and the rollout is not over.
pub const ROLLOUT_NOT_COMPLETE: &str = "RolloutNotComplete";
/// The rollout is over, and the whole is not available.
pub const NOT_AVAILABLE: &str = "NotAvailable";
/// The rollout took longer than it may.
pub const PROGRESS_DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";
/// Pods cannot be made.
pub const REPLICA_FAILURE: &str = "ReplicaFailure";

/// Nobody has reported on the pod.
pub const POD_NOT_OBSERVED: &str = "PodNotObserved";
/// The pod has no node.
pub const NOT_SCHEDULED: &str = "NotScheduled";
/// No node takes the pod.
pub const UNSCHEDULABLE: &str = "Unschedulable";
/// The pod's containers are being made.
pub const STARTING: &str = "Starting";
/// A container ended and is started again and again.
pub const CRASH_LOOP: &str = "CrashLoopBackOff";
/// A container ended.
pub const CONTAINER_ENDED: &str = "ContainerEnded";

/// A claim has no volume.
pub const NOT_BOUND: &str = "NotBound";
/// A Service has no address.
pub const NO_ADDRESS: &str = "NoAddress";
/// A Job has not started.
pub const NOT_STARTED: &str = "NotStarted";
/// A Job is not to start.
pub const SUSPENDED: &str = "Suspended";
/// A Job has failed.
pub const JOB_FAILED: &str = "JobFailed";
/// What was to be run to its end has failed.
pub const RUN_FAILED: &str = "RunFailed";
/// A kind is not served.
pub const NOT_ESTABLISHED: &str = "NotEstablished";
/// A kind's names are taken.
pub const NAMES_REFUSED: &str = "NamesRefused";
