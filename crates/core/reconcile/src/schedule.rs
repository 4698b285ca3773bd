//! Timing of one instance: how long its worker pauses, which notifications wake it, and when progress is reported.

use std::time::Duration;

/// The longest time between two reports of a change in progress.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// The same while other changes wait for a slot on the cluster: every report is a write that delays them.
const CONTENDED_REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// The facts that the pause after a round depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseInput {
    /// Whether the round failed.
    pub failed: bool,
    /// Whether the change has failed for good and its policy is to stop.
    pub stopped: bool,
    /// The time left until a failed hook runs again.
    pub hook_retry: Option<Duration>,
    /// The time left until a chart that could not be fetched is fetched again.
    pub fetch_retry: Option<Duration>,
    /// The time left until the revision in progress must be healthy.
    pub deadline: Option<Duration>,
    /// The time left until the progress of this round may be reported.
    pub report: Option<Duration>,
    /// Whether a workload is unhealthy. Its cause shows in pods and events, which the hub does not watch.
    pub unhealthy: bool,
}

/// How long a worker pauses when no notification wakes it earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Until a notification.
    UntilNotified,
    /// For this long.
    For(Duration),
    /// As long as the backoff after failures says.
    Backoff,
    /// As long as the backoff of health checks says, and at most until the deadline.
    HealthCheck {
        /// The time left until the deadline.
        at_most: Option<Duration>,
    },
}

/// Decides how long the worker pauses after a round. Times that are over do not count.
pub fn pause(input: &PauseInput) -> Pause {
    let left = |time: Option<Duration>| time.filter(|left| !left.is_zero());
    if input.failed {
        if input.stopped {
            return Pause::UntilNotified;
        }
        return left(input.hook_retry).or(input.fetch_retry).map_or(Pause::Backoff, Pause::For);
    }
    if let Some(report) = input.report {
        return Pause::For(report);
    }
    let deadline = left(input.deadline);
    if input.unhealthy {
        return Pause::HealthCheck { at_most: deadline };
    }
    [deadline, input.fetch_retry].into_iter().flatten().min().map_or(Pause::UntilNotified, Pause::For)
}

/// A change that a worker is notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notification {
    /// An object of the instance has changed on the cluster.
    Object,
    /// A record of the release was written.
    Record {
        /// Whether another client wrote it.
        out_of_band: bool,
    },
    /// The cluster's version, nodes or kinds have changed.
    ClusterInfo,
    /// The versions that catalogs offer have changed.
    Catalog,
    /// Another object of the hub that the instance may depend on has changed, such as a Secret with values.
    Dependency,
    /// The instance was written.
    Instance {
        /// Whether it differs from the one that the last round used.
        changed: bool,
    },
}

/// Whether a notification starts the next round at once, and resets the backoff. The hub's own writes do not.
pub fn wakes(notification: Notification) -> bool {
    match notification {
        Notification::Record { out_of_band } => out_of_band,
        Notification::Instance { changed } => changed,
        Notification::Object | Notification::ClusterInfo | Notification::Catalog | Notification::Dependency => true,
    }
}

/// How long the report of a round waits; `None`: it is written now.
///
/// Results are reported at once. Progress is reported at an interval: `since_last` is the time since the last report of this
/// change, `contended` whether other changes wait for a slot on the cluster.
pub fn report_delay(transient: bool, since_last: Option<Duration>, contended: bool) -> Option<Duration> {
    let interval = if contended { CONTENDED_REPORT_INTERVAL } else { REPORT_INTERVAL };
    let left = interval.checked_sub(since_last?)?;
    (transient && !left.is_zero()).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pause_takes_the_first_reason_that_applies() {
        let idle = PauseInput::default();
        let failed = PauseInput { failed: true, ..idle };
        let (one, two) = (Some(SECOND), Some(SECOND * 2));
        let rows = [
            ("idle", idle, Pause::UntilNotified),
            ("deadline", PauseInput { deadline: two, ..idle }, Pause::For(SECOND * 2)),
            ("deadline that has passed", PauseInput { deadline: Some(Duration::ZERO), ..idle }, Pause::UntilNotified),
            ("fetch retry", PauseInput { fetch_retry: one, ..idle }, Pause::For(SECOND)),
            ("earlier of two", PauseInput { deadline: two, fetch_retry: one, ..idle }, Pause::For(SECOND)),
            ("unhealthy", PauseInput { unhealthy: true, ..idle }, Pause::HealthCheck { at_most: None }),
            (
                "unhealthy before the deadline",
                PauseInput { unhealthy: true, deadline: two, ..idle },
                Pause::HealthCheck { at_most: two },
            ),
            ("report", PauseInput { report: one, unhealthy: true, ..idle }, Pause::For(SECOND)),
            ("failure", failed, Pause::Backoff),
            ("failure, unhealthy", PauseInput { unhealthy: true, report: one, ..failed }, Pause::Backoff),
            ("failed hook", PauseInput { hook_retry: one, fetch_retry: two, ..failed }, Pause::For(SECOND)),
            ("hook that is due", PauseInput { hook_retry: Some(Duration::ZERO), ..failed }, Pause::Backoff),
            ("failed fetch", PauseInput { fetch_retry: two, ..failed }, Pause::For(SECOND * 2)),
            ("stopped", PauseInput { stopped: true, hook_retry: one, ..failed }, Pause::UntilNotified),
            ("stopped without failure", PauseInput { stopped: true, deadline: one, ..idle }, Pause::For(SECOND)),
        ];
        for (name, input, expected) in rows {
            assert_eq!(pause(&input), expected, "{name}");
        }
    }

    #[test]
    fn own_writes_wake_nothing() {
        assert!(!wakes(Notification::Record { out_of_band: false }));
        assert!(!wakes(Notification::Instance { changed: false }));
    }

    #[test]
    fn changes_of_others_wake_at_once() {
        for notification in [
            Notification::Object,
            Notification::Record { out_of_band: true },
            Notification::ClusterInfo,
            Notification::Catalog,
            Notification::Dependency,
            Notification::Instance { changed: true },
        ] {
            assert!(wakes(notification), "{notification:?}");
        }
    }

    #[test]
    fn results_are_reported_at_once() {
        assert_eq!(report_delay(false, Some(Duration::ZERO), true), None);
    }

    #[test]
    fn progress_is_reported_at_an_interval() {
        let half = SECOND / 2;
        assert_eq!(report_delay(true, None, false), None);
        assert_eq!(report_delay(true, Some(half), false), Some(half));
        assert_eq!(report_delay(true, Some(SECOND), false), None);
        assert_eq!(report_delay(true, Some(SECOND), true), Some(SECOND * 4));
        assert_eq!(report_delay(true, Some(SECOND * 6), true), None);
    }
}
