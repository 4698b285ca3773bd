//! What every call to a server goes through.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::{Method, Request, Response};
use kube::client::Body;
use tokio::sync::Semaphore;
use tower::{BoxError, Layer, Service};

use crate::Contact;
use crate::contact::PROBE;

/// Whether we are still the one who may write. Time is the only judge: whoever was stopped and goes on finds that it has
/// passed.
#[derive(Clone, Debug, Default)]
pub struct Fence(Arc<Mutex<Option<Instant>>>);

impl Fence {
    /// One that never closes, for who is alone.
    pub fn open() -> Self {
        let far = Instant::now() + Duration::from_hours(100 * 365 * 24);
        Self(Arc::new(Mutex::new(Some(far))))
    }

    /// Lets writes pass until then.
    pub fn extend(&self, until: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// Whether a write may pass now.
    pub fn holds(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| Instant::now() < until)
    }
}

/// One call, once it has ended.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The method, in Kubernetes' words where there are any.
    pub verb: &'a str,
    /// What was answered; none where nothing was.
    pub code: Option<u16>,
    /// How long it took.
    pub took: Duration,
}

/// What every call goes through: a fence for writes, and somebody who keeps count.
#[derive(Clone)]
pub struct Guard {
    /// Writes pass only while it holds.
    pub fence: Fence,
    /// Is told of every call.
    pub tally: Arc<dyn Fn(Call<'_>) + Send + Sync>,
}

impl Default for Guard {
    /// Lets everything pass and counts nothing.
    fn default() -> Self {
        Self { fence: Fence::open(), tally: Arc::new(|_| {}) }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("fence", &self.fence).finish_non_exhaustive()
    }
}

/// A write was held back, because somebody else may be writing.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("another hub leads: nothing is written")]
pub struct Fenced;

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("timed out")]
struct Late;

/// After this, a call is reason to ask whether the server is still there.
const DOUBT: Duration = Duration::from_secs(4);

/// After this, nobody waits for an answer any more. An admission webhook may take 30 seconds.
const DEADLINE: Duration = Duration::from_secs(35);

/// How many calls to a server are under way at once: more would only wait there instead of here, with a connection each.
const AT_ONCE: usize = 16;

#[derive(Clone)]
pub(crate) struct GuardLayer {
    guard: Guard,
    contact: Contact,
    turns: Arc<Semaphore>,
}

impl GuardLayer {
    pub(crate) fn new(guard: Guard, contact: Contact) -> Self {
        Self { guard, contact, turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl<S> Layer<S> for GuardLayer {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { inner, layer: self.clone() }
    }
}

#[derive(Clone)]
pub(crate) struct Guarded<S> {
    inner: S,
    layer: GuardLayer,
}

impl<S, B> Service<Request<Body>> for Guarded<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError>,
    S::Future: Send + 'static,
    B: Send + 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<B>, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let GuardLayer { guard, contact, turns } = self.layer.clone();
        let verb = verb(&request);
        let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        // A watch is not over soon, and whether the server is there must be asked while all others wait.
        let waits = verb != "watch" && request.uri().path() != PROBE;
        // Nothing is sent before somebody waits for the answer.
        let answer = self.inner.call(request);
        Box::pin(async move {
            let _turn = if waits { Some(turns.acquire_owned().await?) } else { None };
            if !reads && !guard.fence.holds() {
                return Err(Fenced.into());
            }
            let began = Instant::now();
            let mut answer = std::pin::pin!(answer);
            let answered = if let Ok(answered) = tokio::time::timeout(DOUBT, &mut answer).await {
                answered
            } else {
                contact.doubt();
                let rest = DEADLINE.saturating_sub(DOUBT);
                tokio::time::timeout(rest, answer).await.unwrap_or_else(|_| Err(Late.into()))
            };
            let code = answered.as_ref().ok().map(|answer| answer.status().as_u16());
            if code.is_none() {
                contact.doubt();
            }
            (guard.tally)(Call { verb, code, took: began.elapsed() });
            answered
        })
    }
}

fn verb(request: &Request<Body>) -> &'static str {
    let query = request.uri().query().unwrap_or_default();
    match *request.method() {
        Method::GET if query.contains("watch=") => "watch",
        Method::GET => "get",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "other",
    }
}
