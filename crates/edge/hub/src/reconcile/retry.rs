//! When something goes wrong: what is known then, and when it is tried again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

use fitout_cluster_client::Refusal;

/// Something that did not work.
#[derive(Debug)]
pub(crate) struct ReconcileError {
    /// What, for a person.
    pub(crate) sentence: String,
    /// Nobody knows whether it was done all the same, or what is known is not so any more.
    pub(crate) unsure: bool,
    /// To try the same again does not help.
    pub(crate) terminal: bool,
}

/// Something is not as it is known to be.
#[derive(Debug, thiserror::Error)]
#[error("{0}; it is looked at again")]
pub(crate) struct StaleState(pub(crate) String);

impl ReconcileError {
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        // A server that says that something went wrong with it does not say when.
        let answered = |error: &kube::Error| matches!(error, kube::Error::Api(status) if status.code < 500);
        let unsure = error.chain().any(|cause| {
            cause.is::<StaleState>()
                || cause.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.unsure)
                || cause.downcast_ref::<kube::Error>().is_some_and(|error| !answered(error))
        });
        let refused = error.downcast_ref::<Refusal>().is_some_and(|refusal| !refusal.passing);
        Self { sentence: format!("{error:#}"), unsure, terminal: refused && !unsure }
    }
}

/// How long until the next attempt: ever longer, and never quite the same, so that those who failed together do not come
/// back together.
#[derive(Debug)]
pub(crate) struct Retry(Duration);

const FIRST: Duration = Duration::from_millis(500);
const LAST: Duration = Duration::from_mins(1);

impl Default for Retry {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Retry {
    /// The time to wait now.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(LAST);
        // A quarter less to a quarter more.
        let chance = u32::try_from(RandomState::new().build_hasher().finish() % 500).unwrap_or(0);
        pause * (750 + chance) / 1000
    }
}

/// When a hook that has failed is tried again. Expected of anything else, our own writes among it, makes that no sooner: every
/// attempt does something.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    retry: Retry,
    due: Option<Instant>,
}

impl Backoff {
    /// Takes note that it has failed, however often that is said of one attempt.
    pub(crate) fn fail(&mut self, now: Instant) {
        let retry = &mut self.retry;
        self.due.get_or_insert_with(|| now + retry.pause());
    }

    /// Takes note that another attempt was begun: should that fail too, the pause is longer.
    pub(crate) fn begin(&mut self) {
        self.due = None;
    }

    /// How long until the next attempt; none where nothing has failed.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    #[test]
    fn only_who_was_told_no_is_sure() {
        let said = |code| kube::Error::Api(Box::new(Status { code, ..Status::default() }));
        let rows = [
            (said(403).into(), false),
            (said(409).into(), false),
            (said(500).into(), true),
            (said(504).into(), true),
            (anyhow::Error::from(StaleState("it is another".to_owned())).context("write"), true),
            (anyhow::anyhow!("nothing is prepared"), false),
        ];
        for (error, unsure) in rows {
            assert_eq!(ReconcileError::of(&error).unsure, unsure, "{error:#}");
        }
    }

    #[test]
    fn a_failure_that_is_told_twice_is_one_and_the_next_one_waits_longer() {
        let mut patience = Backoff::default();
        assert_eq!(patience.left(), None);
        let now = Instant::now();
        patience.fail(now);
        let due = patience.due;
        patience.fail(now + FIRST);
        assert!(patience.due == due && due >= Some(now + FIRST * 3 / 4), "{patience:?}");
        patience.begin();
        assert_eq!(patience.left(), None);
        patience.fail(now);
        assert!(patience.due >= Some(now + FIRST * 2 * 3 / 4), "{patience:?}");
        patience.due = Some(now);
        assert_eq!(patience.left(), Some(Duration::ZERO));
    }

    #[test]
    fn pauses_grow_to_a_limit_and_differ() {
        let mut retry = Retry::default();
        let pauses: Vec<Duration> = (0..12).map(|_| retry.pause()).collect();
        assert!(pauses[0] >= FIRST * 3 / 4 && pauses[0] < FIRST * 5 / 4, "{pauses:?}");
        assert!(pauses[11] >= LAST * 3 / 4 && pauses[11] < LAST * 5 / 4, "{pauses:?}");
        assert_ne!(pauses[10], pauses[11]);
    }
}
