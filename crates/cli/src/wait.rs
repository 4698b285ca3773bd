//! Waiting for an object: watches it until a condition holds, it is stalled, or a timeout.

use std::fmt::Debug;
use std::pin::pin;
use std::time::Duration;

use fitout_api::{ExtensionInstance, ObjectCount, TestResult};
use futures::StreamExt;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::connection::{OrganizationResource, Session};
use crate::display::Display;
use crate::durations;
use crate::failure::{Failure, refused};
use crate::progress;
use crate::wait_outcome::{self, WaitOutcome};

/// How long the hub may take to observe a new object.
const SEEN_TIMEOUT: Duration = Duration::from_secs(30);

/// Waits until the hub has observed a new object, which is when `seen` holds. The caller reports an object that is not
/// observed in time.
pub(crate) async fn wait_until_seen<K>(api: Api<K>, name: &str, doing: &str, seen: impl Fn(&K) -> bool)
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let mut watched = pin!(watcher::watch_object(api, name).default_backoff());
    let done = async {
        while let Some(now) = watched.next().await {
            if !matches!(&now, Ok(Some(now)) if !seen(now)) {
                return;
            }
        }
    };
    eprintln!("waiting for the hub to {doing} {name}");
    let _ = tokio::time::timeout(SEEN_TIMEOUT, done).await;
}

/// The condition to wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// The object is ready, in its current generation.
    Ready,
    /// The object is deleted.
    Gone,
    /// The test run with this number has ended.
    Tested(u32),
}

/// A kind whose objects a command waits for.
pub(crate) trait WaitTarget: OrganizationResource + Serialize {
    /// The noun for it in messages.
    const NOUN: &'static str;

    /// Whether the object is ready, stalled or neither.
    fn wait_outcome(&self) -> WaitOutcome;

    /// The current progress in one line, without the object's name.
    fn line(&self) -> String;

    /// How many of its objects are ready, if it has any.
    fn objects(&self) -> Option<ObjectCount> {
        None
    }

    /// Whether the test run with this number has ended.
    fn is_tested(&self, _run: u32) -> bool {
        false
    }

    /// The error for a wait that has timed out.
    fn timeout_failure(&self, until: Until, waited: &str) -> Failure;
}

impl WaitTarget for ExtensionInstance {
    const NOUN: &'static str = "instance";

    fn wait_outcome(&self) -> WaitOutcome {
        wait_outcome::wait_outcome(self)
    }

    fn line(&self) -> String {
        progress::line(self)
    }

    fn objects(&self) -> Option<ObjectCount> {
        progress::objects(self)
    }

    fn is_tested(&self, run: u32) -> bool {
        let test = self.status.as_ref().and_then(|status| status.test.as_ref());
        test.is_some_and(|test| test.run == run && test.result != TestResult::Running)
    }

    fn timeout_failure(&self, until: Until, waited: &str) -> Failure {
        let state = match until {
            Until::Ready => "ready",
            Until::Gone => "gone",
            Until::Tested(_) => "tested",
        };
        wait_outcome::timeout_failure(self, state, waited)
    }
}

/// Watches an object until the condition holds, the object is stalled, or the timeout, and returns its last state. Each
/// state is shown. A lost connection to the hub is retried.
pub(crate) async fn wait_for<K: WaitTarget>(
    session: &Session,
    object: K,
    until: Until,
    timeout: Duration,
    display: &Display,
) -> Result<K, Failure> {
    let name = object.meta().name.clone().unwrap_or_default();
    display.show(&object);
    let mut last = object;
    let watched = watcher::watch_object(session.own::<K>(), &name).default_backoff();
    let mut watched = pin!(watched);
    let ended = tokio::time::timeout(timeout, async {
        while let Some(seen) = watched.next().await {
            match seen {
                Ok(Some(seen)) => {
                    let is_open = display.show(&seen);
                    last = seen;
                    match last.wait_outcome() {
                        _ if matches!(until, Until::Tested(run) if last.is_tested(run)) => {
                            return Ok(last.clone());
                        }
                        WaitOutcome::Stalled(failure) => return Err(failure),
                        WaitOutcome::Ready if until == Until::Ready => return Ok(last.clone()),
                        // A reader that closes the pipe early is no error.
                        _ if !is_open => return Ok(last.clone()),
                        WaitOutcome::Ready | WaitOutcome::Working => {}
                    }
                }
                Ok(None) if until == Until::Gone => return Ok(last.clone()),
                Ok(None) => return Err(Failure::new(format!("{} {name} was deleted by another client", K::NOUN))),
                Err(error) => lost::<K>(&name, display, &error)?,
            }
        }
        Err(Failure::new(format!("the hub's API server ended the watch of {} {name}", K::NOUN)))
    })
    .await;
    display.end();
    ended.unwrap_or_else(|_| Err(last.timeout_failure(until, &durations::print(timeout))))
}

/// Handles an error of the watch: fails if rights are missing, else the watch is retried.
pub(crate) fn lost<K: OrganizationResource>(
    name: &str,
    display: &Display,
    error: &watcher::Error,
) -> Result<(), Failure> {
    if let watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error) = error
        && let kube::Error::Api(status) = error
        && matches!(status.code, 401 | 403)
    {
        return Err(refused(&format!("watch {} {name}", K::kind(&())), error));
    }
    display.message("the hub's API server does not answer; retrying");
    Ok(())
}
