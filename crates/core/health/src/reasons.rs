//! Condition reasons, for programs. A reason that the object itself gives takes precedence.

/// The object has a deletion timestamp.
pub const TERMINATING: &str = "Terminating";
/// The controller has not observed the newest generation.
pub const NOT_OBSERVED: &str = "NotObserved";
/// The condition `Reconciling` is true.
pub const RECONCILING: &str = "Reconciling";
/// The condition `Stalled` is true.
pub const STALLED: &str = "Stalled";
/// The condition `Ready` is not true.
pub const NOT_READY: &str = "NotReady";

/// Fewer pods exist than desired.
pub const TOO_FEW_REPLICAS: &str = "TooFewReplicas";
/// Fewer pods are up to date than desired.
pub const TOO_FEW_UPDATED: &str = "TooFewUpdated";
/// Fewer pods are available than desired.
pub const TOO_FEW_AVAILABLE: &str = "TooFewAvailable";
/// Fewer pods are ready than desired.
pub const TOO_FEW_READY: &str = "TooFewReady";
/// Fewer pods have the labels of the pod template than desired.
pub const TOO_FEW_LABELLED: &str = "TooFewLabelled";
/// More pods exist than desired.
pub const TOO_MANY_REPLICAS: &str = "TooManyReplicas";
/// The pods exist, and the rollout is not complete.
pub const ROLLOUT_NOT_COMPLETE: &str = "RolloutNotComplete";
/// The rollout is complete, and the object is not available.
pub const NOT_AVAILABLE: &str = "NotAvailable";
/// The rollout took longer than its progress deadline.
pub const PROGRESS_DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";
/// Pods cannot be created.
pub const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The kubelet has not reported on the pod.
pub const POD_NOT_OBSERVED: &str = "PodNotObserved";
/// The pod is not assigned to a node.
pub const NOT_SCHEDULED: &str = "NotScheduled";
/// The scheduler finds no node for the pod.
pub const UNSCHEDULABLE: &str = "Unschedulable";
/// The pod's containers are being started.
pub const STARTING: &str = "Starting";
/// A container keeps exiting and is restarted with a back-off.
pub const CRASH_LOOP: &str = "CrashLoopBackOff";
/// A container exited.
pub const CONTAINER_ENDED: &str = "ContainerEnded";

/// A `PersistentVolumeClaim` is not bound to a volume.
pub const NOT_BOUND: &str = "NotBound";
/// A Service has no cluster IP.
pub const NO_ADDRESS: &str = "NoAddress";
/// A Job has not started.
pub const NOT_STARTED: &str = "NotStarted";
/// A Job is suspended.
pub const SUSPENDED: &str = "Suspended";
/// A Job has failed.
pub const JOB_FAILED: &str = "JobFailed";
/// A Job or Pod that runs to completion, such as a hook, has failed.
pub const RUN_FAILED: &str = "RunFailed";
/// A custom resource is not served.
pub const NOT_ESTABLISHED: &str = "NotEstablished";
/// The names of a `CustomResourceDefinition` are not accepted.
pub const NAMES_REFUSED: &str = "NamesRefused";
