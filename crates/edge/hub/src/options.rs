//! How the hub runs.

use std::time::Duration;

/// How the hub runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many revisions of an instance are kept beside the one that is deployed.
    pub history: usize,
    /// How long content stays that no revision names.
    pub content_gc_grace: Duration,
    /// How long another hub waits for one that has gone silent.
    pub lease: Duration,
    /// How long until a repository is asked again whose answer only its publisher can mend.
    pub fetch_retry_interval: Duration,
}

impl Default for Options {
    fn default() -> Self {
        // As many revisions as Helm keeps, the deployed one included.
        Self {
            history: 9,
            content_gc_grace: Duration::from_mins(5),
            lease: Duration::from_secs(15),
            fetch_retry_interval: Duration::from_mins(10),
        }
    }
}
