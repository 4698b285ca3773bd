//! Whether an API server answers, as the requests to it show.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};

use crate::Disconnected;

/// The path of the readiness probe.
pub(crate) const PROBE: &str = "/readyz";

/// Tracks whether an API server answers. A request without an answer starts the readiness probe, which runs until the
/// server answers.
#[derive(Clone, Debug)]
pub struct Connectivity {
    pub(crate) server: Arc<str>,
    lost: watch::Sender<Option<Disconnected>>,
    suspect: Arc<Notify>,
}

/// The interval between probes of a server that does not answer.
const PROBE_INTERVAL: Duration = Duration::from_millis(500);

/// The timeout of a probe, which costs the server nothing.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a restarted server may forbid the probe: until it has loaded its RBAC rules, it forbids every request. A
/// server that forbids the probe for longer does not grant the right to it, and counts as ready.
const STARTUP_GRACE: Duration = Duration::from_secs(10);

/// The result of a probe.
enum Answer {
    Ready,
    /// The client may not read the path.
    Forbidden,
    Lost(Disconnected),
}

impl Connectivity {
    pub(crate) fn new(server: &str) -> Self {
        Self { server: server.into(), lost: watch::channel(None).0, suspect: Arc::default() }
    }

    /// The reason why connectivity is lost; none while the server answers.
    pub fn lost(&self) -> Option<Disconnected> {
        self.lost.borrow().clone()
    }

    /// Waits until connectivity is lost and returns the reason.
    pub async fn until_lost(&self) -> Disconnected {
        let mut lost = self.lost.subscribe();
        loop {
            if let Some(reason) = lost.borrow_and_update().clone() {
                return reason;
            }
            // `self` keeps the sender alive, so this cannot fail.
            let _ = lost.changed().await;
        }
    }

    /// Waits until the server answers.
    pub async fn until_connected(&self) {
        let _ = self.lost.subscribe().wait_for(Option::is_none).await;
    }

    /// Runs the work while the server answers and restarts it on reconnect, so that no growing backoff delays it.
    pub(crate) async fn while_connected<W: Future<Output = ()>>(self, work: impl Fn() -> W) {
        loop {
            tokio::select! {
                () = work() => return,
                _ = self.until_lost() => {}
            }
            self.until_connected().await;
        }
    }

    /// Reports a request that takes too long or failed in transport.
    pub(crate) fn suspect(&self) {
        self.suspect.notify_one();
    }

    /// Probes the server.
    async fn probe(&self, client: &kube::Client) -> Answer {
        let Ok(request) = http::Request::get(PROBE).body(vec![]) else { return Answer::Ready };
        let server = self.server.to_string();
        match tokio::time::timeout(PROBE_TIMEOUT, client.request_text(request)).await {
            Ok(Err(kube::Error::Api(status))) if status.code >= 500 => Answer::Lost(unready(server)),
            Ok(Err(kube::Error::Api(status))) if [401, 403].contains(&status.code) => Answer::Forbidden,
            // The server answers, even where it does not serve this path.
            Ok(Ok(_) | Err(kube::Error::Api(_))) => Answer::Ready,
            Ok(Err(error)) => Answer::Lost(Disconnected::of(&server, &error)),
            Err(_) => Answer::Lost(Disconnected::TimedOut { server }),
        }
    }

    /// Probes the server after each suspect request until it answers. Without this task, connectivity is never lost.
    pub async fn watch_over(self, client: kube::Client) {
        loop {
            self.suspect.notified().await;
            let mut forbidden_since: Option<Instant> = None;
            loop {
                let reason = match self.probe(&client).await {
                    Answer::Ready => break,
                    Answer::Forbidden => {
                        let since = forbidden_since.get_or_insert_with(Instant::now);
                        if self.lost.borrow().is_none() || since.elapsed() >= STARTUP_GRACE {
                            break;
                        }
                        unready(self.server.to_string())
                    }
                    Answer::Lost(reason) => {
                        forbidden_since = None;
                        reason
                    }
                };
                self.lost.send_if_modified(|lost| lost.replace(reason).is_none());
                tokio::time::sleep(PROBE_INTERVAL).await;
            }
            self.lost.send_if_modified(|lost| lost.take().is_some());
        }
    }
}

fn unready(server: String) -> Disconnected {
    Disconnected::Other { server, message: "the API server is not ready".to_owned() }
}
