//! The options of a hub.

use std::time::Duration;

/// The options of a hub.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of revisions of an instance that are kept besides the deployed one.
    pub history: usize,
    /// Content that no revision names is deleted after this time.
    pub content_gc_grace: Duration,
    /// The lease duration: another hub may lead when the lease was not renewed for this long.
    pub lease: Duration,
    /// Retry interval after a permanent fetch failure (wrong digest, 401, invalid chart).
    pub fetch_retry_interval: Duration,
}

impl Default for Options {
    fn default() -> Self {
        // Ten with the deployed one, as Helm keeps by default.
        Self {
            history: 9,
            content_gc_grace: Duration::from_mins(5),
            lease: Duration::from_secs(15),
            fetch_retry_interval: Duration::from_mins(10),
        }
    }
}
