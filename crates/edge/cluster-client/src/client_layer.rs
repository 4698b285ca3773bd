//! The tower layer of every request: fence, concurrency limit, deadline and metrics.

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

/// Allows writes only until a deadline, the end of the hub's lease. A hub that was suspended finds the deadline expired
/// and writes nothing.
#[derive(Clone, Debug, Default)]
pub struct Fence(Arc<Mutex<Option<Instant>>>);

impl Fence {
    /// A fence that never closes, for a client without leader election.
    pub fn open() -> Self {
        let far = Instant::now() + Duration::from_hours(100 * 365 * 24);
        Self(Arc::new(Mutex::new(Some(far))))
    }

    /// Allows writes until this instant.
    pub fn extend(&self, until: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// Whether writes are allowed now.
    pub fn allows_writes(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| Instant::now() < until)
    }
}

/// A request that has ended, for metrics.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The Kubernetes verb, approximated from the HTTP method.
    pub verb: &'a str,
    /// The status code; none without an answer.
    pub code: Option<u16>,
    /// The duration.
    pub took: Duration,
}

/// Options of a client: the fence for its writes and a callback for each request.
#[derive(Clone)]
pub struct ClientOptions {
    /// The fence that every write has to pass.
    pub fence: Fence,
    /// Called after every request.
    pub on_request: Arc<dyn Fn(Call<'_>) + Send + Sync>,
}

impl Default for ClientOptions {
    /// An open fence and no callback.
    fn default() -> Self {
        Self { fence: Fence::open(), on_request: Arc::new(|_| {}) }
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions").field("fence", &self.fence).finish_non_exhaustive()
    }
}

/// A write that the fence rejected, because another hub may hold the lease.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("another hub may hold the lease; the write was not sent")]
pub struct Fenced;

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("timed out")]
struct DeadlineExceeded;

/// A request that takes longer starts the readiness probe.
const SUSPECT_AFTER: Duration = Duration::from_secs(4);

/// The deadline of a request. An admission webhook may take 30 seconds.
const DEADLINE: Duration = Duration::from_secs(35);

/// The number of concurrent requests to a server: more would only queue there instead of here, with a connection each.
const MAX_REQUESTS: usize = 16;

#[derive(Clone)]
pub(crate) struct ClientLayer {
    options: ClientOptions,
    connectivity: Connectivity,
    permits: Arc<Semaphore>,
}

impl ClientLayer {
    pub(crate) fn new(options: ClientOptions, connectivity: Connectivity) -> Self {
        Self { options, connectivity, permits: Arc::new(Semaphore::new(MAX_REQUESTS)) }
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
        let ClientLayer { options, connectivity, permits } = self.layer.clone();
        let verb = verb(&request);
        let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        // A watch would hold its permit for minutes, and the probe must not queue behind requests that hang.
        let is_limited = verb != "watch" && request.uri().path() != PROBE;
        // Nothing is sent before the future is polled.
        let response = self.inner.call(request);
        Box::pin(async move {
            let _permit = if is_limited { Some(permits.acquire_owned().await?) } else { None };
            if !reads && !options.fence.allows_writes() {
                return Err(Fenced.into());
            }
            let started = Instant::now();
            let mut response = std::pin::pin!(response);
            let result = if let Ok(result) = tokio::time::timeout(SUSPECT_AFTER, &mut response).await {
                result
            } else {
                connectivity.suspect();
                let rest = DEADLINE.saturating_sub(SUSPECT_AFTER);
                tokio::time::timeout(rest, response).await.unwrap_or_else(|_| Err(DeadlineExceeded.into()))
            };
            let code = result.as_ref().ok().map(|response| response.status().as_u16());
            if code.is_none() {
                connectivity.suspect();
            }
            (options.on_request)(Call { verb, code, took: started.elapsed() });
            result
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
