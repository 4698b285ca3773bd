//! Whether a server answers, as the calls to it show.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};

use crate::Disconnected;

/// What a server is asked to find out whether it is there.
pub(crate) const PROBE: &str = "/readyz";

/// Word of whether a server answers. Every call tells; once one goes unanswered, the server is asked until it answers.
#[derive(Clone, Debug)]
pub struct Connectivity {
    pub(crate) server: Arc<str>,
    lost: watch::Sender<Option<Disconnected>>,
    suspect: Arc<Notify>,
}

/// How often a server that does not answer is asked again.
const AGAIN: Duration = Duration::from_millis(500);

/// How long it has for the answer to a question that costs it nothing.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long one that is back may refuse to say whether it is ready: until it has read who may what, it refuses everybody.
/// One that goes on refusing will not say.
const STARTING: Duration = Duration::from_secs(10);

/// What a server says to the question whether it is there.
enum Answer {
    Ready,
    /// It will not say.
    Forbidden,
    Lost(Disconnected),
}

impl Connectivity {
    pub(crate) fn new(server: &str) -> Self {
        Self { server: server.into(), lost: watch::channel(None).0, suspect: Arc::default() }
    }

    /// Why there is no connectivity, if there is none.
    pub fn lost(&self) -> Option<Disconnected> {
        self.lost.borrow().clone()
    }

    /// Waits until connectivity is lost, and says why.
    pub async fn until_lost(&self) -> Disconnected {
        let mut lost = self.lost.subscribe();
        loop {
            if let Some(reason) = lost.borrow_and_update().clone() {
                return reason;
            }
            // The sender is ours: it does not end.
            let _ = lost.changed().await;
        }
    }

    /// Waits until there is connectivity.
    pub async fn until_connected(&self) {
        let _ = self.lost.subscribe().wait_for(Option::is_none).await;
    }

    /// Does something for as long as there is connectivity, and begins it anew when there is again: whoever waited meanwhile,
    /// ever longer, would come back late.
    pub(crate) async fn while_connected<W: Future<Output = ()>>(self, work: impl Fn() -> W) {
        loop {
            tokio::select! {
                () = work() => return,
                _ = self.until_lost() => {}
            }
            self.until_connected().await;
        }
    }

    /// A call takes longer than it should, or failed on the way.
    pub(crate) fn suspect(&self) {
        self.suspect.notify_one();
    }

    /// Asks the server whether it is ready: one that has only just started refuses what it will soon allow.
    async fn ask(&self, client: &kube::Client) -> Answer {
        let Ok(request) = http::Request::get(PROBE).body(vec![]) else { return Answer::Ready };
        let server = self.server.to_string();
        match tokio::time::timeout(PATIENCE, client.request_text(request)).await {
            Ok(Err(kube::Error::Api(status))) if status.code >= 500 => Answer::Lost(unready(server)),
            Ok(Err(kube::Error::Api(status))) if [401, 403].contains(&status.code) => Answer::Forbidden,
            // It answers, even where it does not answer this.
            Ok(Ok(_) | Err(kube::Error::Api(_))) => Answer::Ready,
            Ok(Err(error)) => Answer::Lost(Disconnected::of(&server, &error)),
            Err(_) => Answer::Lost(Disconnected::TimedOut { server }),
        }
    }

    /// Asks the server whenever there is suspect, until it answers. Somebody has to run it, or doubts stay doubts.
    pub async fn watch_over(self, client: kube::Client) {
        loop {
            self.suspect.notified().await;
            let mut forbids: Option<Instant> = None;
            loop {
                let reason = match self.ask(&client).await {
                    Answer::Ready => break,
                    Answer::Forbidden => {
                        let since = forbids.get_or_insert_with(Instant::now);
                        if self.lost.borrow().is_none() || since.elapsed() >= STARTING {
                            break;
                        }
                        unready(self.server.to_string())
                    }
                    Answer::Lost(reason) => {
                        forbids = None;
                        reason
                    }
                };
                self.lost.send_if_modified(|lost| lost.replace(reason).is_none());
                tokio::time::sleep(AGAIN).await;
            }
            self.lost.send_if_modified(|lost| lost.take().is_some());
        }
    }
}

fn unready(server: String) -> Disconnected {
    Disconnected::Other { server, message: "it is not ready yet".to_owned() }
}
