//! The errors of a worker, and the backoff after them.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

use fitout_cluster_client::ClusterError;
use fitout_plan::RenderError;

/// Why a round failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReconcileError {
    /// The target cluster did not carry out a call.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The hub's API server did not carry out a call.
    #[error(transparent)]
    Hub(#[from] kube::Error),
    /// Content could not be read or stored.
    #[error(transparent)]
    Content(#[from] fitout_content::Error),
    /// A release record could not be encoded.
    #[error(transparent)]
    Record(#[from] fitout_helm_release::Error),
    /// The desired artifact could not be rendered, or a recorded one could not be read.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// Recorded state differs from what the worker knows.
    #[error("{0}; it is read again")]
    Stale(String),
    /// Another client writes to the release's records at the same time.
    #[error("another client is changing the release")]
    OutOfBandChange,
    /// A hook failed.
    #[error("{0}")]
    HookFailed(String),
    /// An object did not become healthy before the deadline.
    #[error("{0}")]
    HealthTimeout(String),
    /// The status of the instance could not be written.
    #[error("the hub's API server did not accept the status")]
    StatusNotWritten,
    /// Several effects failed. The first decides what to do, and the outcome of another one is unknown.
    #[error("{first}")]
    OutcomeUnknown {
        /// The first error.
        first: Box<ReconcileError>,
    },
    /// An effect names a part that the rendered release does not have.
    #[error("the rendered release has no {0}")]
    Incomplete(String),
}

impl ReconcileError {
    /// Whether it is certain that the failed write was not carried out and that recorded state is current. Otherwise the
    /// worker must read everything again.
    pub(crate) fn is_outcome_known(&self) -> bool {
        match self {
            Self::Cluster(error) => error.cause.is_outcome_known(),
            Self::Hub(error) | Self::Content(fitout_content::Error::Hub(error)) => is_answered(error),
            Self::Stale(_) | Self::OutOfBandChange | Self::StatusNotWritten | Self::OutcomeUnknown { .. } => false,
            Self::Content(_)
            | Self::Record(_)
            | Self::Render(_)
            | Self::HookFailed(_)
            | Self::HealthTimeout(_)
            | Self::Incomplete(_) => true,
        }
    }

    /// Whether a retry of the same change fails again.
    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Self::Cluster(error) => !error.cause.is_retryable() && error.cause.is_outcome_known(),
            Self::HookFailed(_) | Self::HealthTimeout(_) => true,
            Self::OutcomeUnknown { first } => first.is_terminal(),
            _ => false,
        }
    }

    /// This error, with the outcome of another one: both effects failed.
    pub(crate) fn and(self, other: &Self) -> Self {
        if self.is_outcome_known() && !other.is_outcome_known() {
            Self::OutcomeUnknown { first: Box::new(self) }
        } else {
            self
        }
    }
}

/// Whether the server has rejected a call. A server error leaves open whether the call was carried out.
fn is_answered(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code < 500)
}

/// Exponential backoff with jitter, so that workers that failed together do not retry together.
#[derive(Debug)]
pub(crate) struct Backoff(Duration);

const FIRST: Duration = Duration::from_millis(500);
const LAST: Duration = Duration::from_mins(1);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Backoff {
    /// The pause before the next attempt; the one after it is twice as long, up to a limit.
    pub(crate) fn next_pause(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(LAST);
        // A quarter less to a quarter more.
        let jitter = u32::try_from(RandomState::new().build_hasher().finish() % 500).unwrap_or(0);
        pause * (750 + jitter) / 1000
    }
}

/// The retry of a failed hook. Notifications do not bring it forward: every attempt runs the hook.
#[derive(Debug, Default)]
pub(crate) struct HookRetry {
    backoff: Backoff,
    due: Option<Instant>,
}

impl HookRetry {
    /// Schedules the next attempt. Reporting the same failure again does not change it.
    pub(crate) fn fail(&mut self, now: Instant) {
        let backoff = &mut self.backoff;
        self.due.get_or_insert_with(|| now + backoff.next_pause());
    }

    /// Notes that the next attempt has started: if it fails, too, the pause is longer.
    pub(crate) fn start(&mut self) {
        self.due = None;
    }

    /// The time left until the next attempt; `None` where no hook has failed.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(Instant::now()))
    }
}

/// The retries of one worker.
#[derive(Debug, Default)]
pub(crate) struct RetryState {
    /// The retry of a failed hook.
    pub(crate) hook: HookRetry,
    /// The cause of the last hook failure, read before the hook's objects are deleted.
    pub(crate) hook_cause: Option<String>,
    /// The pause between health checks of an unhealthy workload.
    pub(crate) health: Backoff,
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    #[test]
    fn outcome_is_known_only_after_a_rejection() {
        let answer = |code| kube::Error::Api(Box::new(Status { code, ..Status::default() }));
        let rows: [(ReconcileError, bool); 8] = [
            (answer(403).into(), true),
            (answer(409).into(), true),
            (answer(500).into(), false),
            (answer(504).into(), false),
            (fitout_content::Error::Hub(answer(500)).into(), false),
            (ReconcileError::Stale("it is another".to_owned()), false),
            (ReconcileError::OutOfBandChange, false),
            (ReconcileError::Incomplete("hook 3".to_owned()), true),
        ];
        for (error, known) in rows {
            assert_eq!(error.is_outcome_known(), known, "{error}");
            assert!(!error.is_terminal(), "{error}");
        }
    }

    #[test]
    fn first_of_several_errors_decides_and_an_unknown_outcome_counts() {
        let first = || ReconcileError::HookFailed("hook".to_owned());
        let unknown = ReconcileError::Stale("record".to_owned());
        let both = first().and(&unknown);
        assert_eq!((both.to_string().as_str(), both.is_terminal(), both.is_outcome_known()), ("hook", true, false));
        assert!(first().and(&ReconcileError::Incomplete("hook 3".to_owned())).is_outcome_known());
    }

    #[test]
    fn failed_hook_and_missed_deadline_are_terminal() {
        for error in [ReconcileError::HookFailed(String::new()), ReconcileError::HealthTimeout(String::new())] {
            assert!(error.is_terminal() && error.is_outcome_known(), "{error:?}");
        }
    }

    #[test]
    fn hook_failure_reported_twice_counts_once() {
        let mut retry = HookRetry::default();
        assert_eq!(retry.left(), None);
        let now = Instant::now();
        retry.fail(now);
        let due = retry.due;
        retry.fail(now + FIRST);
        assert!(retry.due == due && due >= Some(now + FIRST * 3 / 4), "{retry:?}");
        retry.start();
        assert_eq!(retry.left(), None);
        retry.fail(now);
        assert!(retry.due >= Some(now + FIRST * 2 * 3 / 4), "{retry:?}");
        retry.due = Some(now);
        assert_eq!(retry.left(), Some(Duration::ZERO));
    }

    #[test]
    fn pauses_grow_to_a_limit_and_differ() {
        let mut backoff = Backoff::default();
        let pauses: Vec<Duration> = (0..12).map(|_| backoff.next_pause()).collect();
        assert!(pauses[0] >= FIRST * 3 / 4 && pauses[0] < FIRST * 5 / 4, "{pauses:?}");
        assert!(pauses[11] >= LAST * 3 / 4 && pauses[11] < LAST * 5 / 4, "{pauses:?}");
        assert_ne!(pauses[10], pauses[11]);
    }
}
