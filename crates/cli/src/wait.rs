//! Following an object until the hub is done with it.

use std::fmt::Debug;
use std::pin::pin;
use std::time::Duration;

use fitout_api::{ExtensionInstance, ObjectCount, TestResult};
use futures::StreamExt;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ages::span;
use crate::connection::{OrganizationResource, Session};
use crate::display::Display;
use crate::failure::{Failure, refused};
use crate::progress;
use crate::wait_outcome::{self, WaitOutcome};

/// How long the hub may take to see what was made just now.
const SEEING: Duration = Duration::from_secs(30);

/// Waits for the hub to see what was made just now, which is when this holds of it. What is not seen in time is missing, and
/// that is said next.
pub(crate) async fn until_seen<K>(api: Api<K>, name: &str, doing: &str, seen: impl Fn(&K) -> bool)
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
    let _ = tokio::time::timeout(SEEING, done).await;
}

/// What is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// That it is as it is wanted.
    Ready,
    /// That it is no more.
    Gone,
    /// That it was tested, the time that has this number.
    Tested(u32),
}

/// What can be followed.
pub(crate) trait Followed: OrganizationResource + Serialize {
    /// What it is called in a sentence.
    const WHAT: &'static str;

    /// How far it is.
    fn wait_outcome(&self) -> WaitOutcome;

    /// What is going on, in a line without its name.
    fn line(&self) -> String;

    /// How many objects of it are ready, where it has any.
    fn objects(&self) -> Option<ObjectCount> {
        None
    }

    /// Whether it was tested, the time that has this number.
    fn is_tested(&self, _run: u32) -> bool {
        false
    }

    /// What to say when it was not what was waited for within this time.
    fn out_of_time(&self, until: Until, waited: &str) -> Failure;
}

impl Followed for ExtensionInstance {
    const WHAT: &'static str = "instance";

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

    fn out_of_time(&self, until: Until, waited: &str) -> Failure {
        let what = match until {
            Until::Ready => "ready",
            Until::Gone => "gone",
            Until::Tested(_) => "tested",
        };
        wait_outcome::out_of_time(self, what, waited)
    }
}

/// Follows an object until it is what is waited for, cannot go on, or the time is over. Each state it is seen in is shown.
/// Losing the hub is no end: it is found again.
pub(crate) async fn follow<K: Followed>(
    session: &Session,
    object: K,
    until: Until,
    limit: Duration,
    display: &Display,
) -> Result<Option<K>, Failure> {
    let name = object.meta().name.clone().unwrap_or_default();
    display.show(&object);
    let mut last = object;
    let watched = watcher::watch_object(session.own::<K>(), &name).default_backoff();
    let mut watched = pin!(watched);
    let ended = tokio::time::timeout(limit, async {
        while let Some(seen) = watched.next().await {
            match seen {
                Ok(Some(seen)) => {
                    let looked_at = display.show(&seen);
                    last = seen;
                    match last.wait_outcome() {
                        _ if matches!(until, Until::Tested(run) if last.is_tested(run)) => {
                            return Ok(Some(last.clone()));
                        }
                        WaitOutcome::Stuck(failure) => return Err(failure),
                        WaitOutcome::Ready if until == Until::Ready => return Ok(Some(last.clone())),
                        // Who does not read to the end has read enough.
                        _ if !looked_at => return Ok(Some(last.clone())),
                        WaitOutcome::Ready | WaitOutcome::Working => {}
                    }
                }
                Ok(None) if until == Until::Gone => return Ok(None),
                Ok(None) => return Err(Failure::new(format!("{} {name} was deleted by somebody else", K::WHAT))),
                Err(error) => lost::<K>(&name, display, &error)?,
            }
        }
        Err(Failure::new(format!("the hub's API server no longer says anything about {} {name}", K::WHAT)))
    })
    .await;
    display.end();
    ended.unwrap_or_else(|_| Err(last.out_of_time(until, &span(limit))))
}

/// What came between: a missing right stays missing, everything else passes.
fn lost<K: Followed>(name: &str, display: &Display, error: &watcher::Error) -> Result<(), Failure> {
    if let watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error) = error
        && let kube::Error::Api(status) = error
        && matches!(status.code, 401 | 403)
    {
        return Err(refused(&format!("watch {} {name}", K::kind(&())), error));
    }
    display.say("the hub's API server does not answer; trying again");
    Ok(())
}
