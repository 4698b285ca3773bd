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

use crate::Connectivity;
use crate::connectivity::PROBE;

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
    pub fn allows_writes(&self) -> bool {
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
pub struct ClientOptions {
    /// Writes pass only while it holds.
    pub fence: Fence,
    /// Is told of every call.
    pub on_request: Arc<dyn Fn(Call<'_>) + Send + Sync>,
}

impl Default for ClientOptions {
    /// Lets everything pass and counts nothing.
    fn default() -> Self {
        Self { fence: Fence::open(), on_request: Arc::new(|_| {}) }
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions").field("fence", &self.fence).finish_non_exhaustive()
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
pub(crate) struct ClientLayer {
    options: ClientOptions,
    connectivity: Connectivity,
    turns: Arc<Semaphore>,
}

impl ClientLayer {
    pub(crate) fn new(options: ClientOptions, connectivity: Connectivity) -> Self {
        Self { options, connectivity, turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl<S> Layer<S> for ClientLayer {
    type Service = ClientService<S>;

    fn layer(&self, inner: S) -> ClientService<S> {
        ClientService { inner, layer: self.clone() }
    }
}

#[derive(Clone)]
pub(crate) struct ClientService<S> {
    inner: S,
    layer: ClientLayer,
}

impl<S, B> Service<Request<Body>> for ClientService<S>
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
        let ClientLayer { options, connectivity, turns } = self.layer.clone();
        let verb = verb(&request);
        let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        // A watch is not over soon, and whether the server is there must be asked while all others wait.
        let waits = verb != "watch" && request.uri().path() != PROBE;
        // Nothing is sent before somebody waits for the answer.
        let answer = self.inner.call(request);
        Box::pin(async move {
            let _turn = if waits { Some(turns.acquire_owned().await?) } else { None };
            if !reads && !options.fence.allows_writes() {
                return Err(Fenced.into());
            }
            let began = Instant::now();
            let mut answer = std::pin::pin!(answer);
            let answered = if let Ok(answered) = tokio::time::timeout(DOUBT, &mut answer).await {
                answered
            } else {
                connectivity.suspect();
                let rest = DEADLINE.saturating_sub(DOUBT);
                tokio::time::timeout(rest, answer).await.unwrap_or_else(|_| Err(Late.into()))
            };
            let code = answered.as_ref().ok().map(|answer| answer.status().as_u16());
            if code.is_none() {
                connectivity.suspect();
            }
            (options.on_request)(Call { verb, code, took: began.elapsed() });
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
