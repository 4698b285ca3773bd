//! A proxy between a client and a cluster that injects faults: lost requests and responses, and late watch events.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use futures::StreamExt;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri, server};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::Cluster;

/// The fault that the proxy injects into a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Forwards the request and its response.
    Pass,
    /// Responds with 503. The request does not reach the cluster.
    Refuse,
    /// Responds with 403. The request does not reach the cluster.
    Forbid,
    /// Forwards the request and drops the response where the request succeeded. A failure is passed on.
    DropResponse,
    /// Forwards the request and responds with 500.
    LieAboutFailure,
    /// Forwards the request, and from now on delays watches whose path contains this text.
    DelayWatch(&'static str),
}

/// A request, as far as its fault depends on it.
#[derive(Clone, Debug)]
pub struct ProxyRequest {
    /// The method.
    pub method: String,
    /// The path, with the query.
    pub path: String,
}

impl ProxyRequest {
    /// Whether it is a write.
    pub fn writes(&self) -> bool {
        !["GET", "HEAD", "OPTIONS"].contains(&self.method.as_str())
    }
}

type Decide = Box<dyn FnMut(&ProxyRequest) -> Fault + Send>;
type Body = BoxBody<Bytes, hyper::Error>;

struct Shared {
    decide: Mutex<Decide>,
    dropped: Sender<ProxyRequest>,
    delayed: watch::Sender<Option<&'static str>>,
    upstream: Client<HttpsConnector<HttpConnector>, Incoming>,
    server: String,
}

/// A proxy in front of a cluster. It ends TLS, so clients authenticate with a token.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    dropped: Mutex<Receiver<ProxyRequest>>,
    /// Ends all tasks when it is dropped.
    _runtime: Runtime,
}

impl Proxy {
    /// Starts a proxy that forwards all requests.
    pub fn start(cluster: &Cluster) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (sender, receiver) = channel();
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(trust(cluster)?)
            .https_only()
            .enable_http1()
            .build();
        let shared = Arc::new(Shared {
            decide: Mutex::new(Box::new(|_| Fault::Pass)),
            dropped: sender,
            delayed: watch::Sender::new(None),
            upstream: Client::builder(TokioExecutor::new()).build(connector),
            server: cluster.client().server().to_owned(),
        });
        let host = cluster.sandbox().address_block().loopback();
        let listener = runtime.block_on(TcpListener::bind((host, 0))).with_context(|| format!("listen on {host}"))?;
        let address = listener.local_addr()?;
        runtime.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, dropped: Mutex::new(receiver), _runtime: runtime })
    }

    /// Sets the function that selects the fault of each request.
    pub fn decide(&self, decide: impl FnMut(&ProxyRequest) -> Fault + Send + 'static) {
        *self.shared.decide.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(decide);
    }

    /// Delays the events of watches whose path contains this text. With `None` all delayed events are sent.
    pub fn delay_watches(&self, path: Option<&'static str>) {
        self.shared.delayed.send_replace(path);
    }

    /// Waits for the next request whose response was dropped or replaced by a failure.
    pub fn dropped(&self, limit: Duration) -> Option<ProxyRequest> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(limit).ok()
    }

    /// A kubeconfig with this token.
    pub fn kubeconfig(&self, token: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "contexts": [{ "name": "proxy", "context": { "cluster": "proxy", "user": "proxy" } }],
            "clusters": [{ "name": "proxy", "cluster": { "server": format!("http://{}", self.address) } }],
            "users": [{ "name": "proxy", "user": { "token": token } }],
        })
    }
}

/// TLS that trusts the cluster's authority only.
fn trust(cluster: &Cluster) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(cluster.sandbox().dir().join("pki/ca.crt"))?)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((connection, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(Arc::clone(&shared), request));
            // The end of a connection is no error, in whatever way it ends.
            let _ = server::conn::http1::Builder::new().serve_connection(TokioIo::new(connection), service).await;
        });
    }
}

async fn answer(shared: Arc<Shared>, mut request: Request<Incoming>) -> Result<Response<Body>> {
    let path = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let asked = ProxyRequest { method: request.method().to_string(), path };
    let fault = (shared.decide.lock().unwrap_or_else(PoisonError::into_inner))(&asked);
    match fault {
        Fault::Refuse => return Ok(failed(StatusCode::SERVICE_UNAVAILABLE, "refused by the test")),
        Fault::Forbid => return Ok(failed(StatusCode::FORBIDDEN, "forbidden by the test")),
        Fault::DelayWatch(path) => drop(shared.delayed.send_replace(Some(path))),
        Fault::Pass | Fault::DropResponse | Fault::LieAboutFailure => {}
    }
    *request.uri_mut() = format!("{}{}", shared.server, asked.path).parse::<Uri>()?;
    // Without a response of the cluster the connection ends.
    let answer = shared.upstream.request(request).await?;
    if fault == Fault::DropResponse && answer.status().is_success() {
        // With the whole response here, the request has been carried out.
        let _ = answer.into_body().collect().await;
        let _ = shared.dropped.send(asked);
        return std::future::pending().await;
    }
    if fault == Fault::LieAboutFailure {
        let _ = answer.into_body().collect().await;
        let _ = shared.dropped.send(asked);
        return Ok(failed(StatusCode::INTERNAL_SERVER_ERROR, "failed by the test"));
    }
    if asked.path.contains("watch=true") {
        return Ok(answer.map(|body| delayed(body, shared.delayed.subscribe(), asked.path)));
    }
    Ok(answer.map(BodyExt::boxed))
}

/// The events of a watch, each sent once the watch is not delayed.
fn delayed(body: Incoming, delayed: watch::Receiver<Option<&'static str>>, path: String) -> Body {
    let path: Arc<str> = path.into();
    let frames = BodyStream::new(body).then(move |frame| {
        let (mut delayed, path) = (delayed.clone(), Arc::clone(&path));
        async move {
            // An error means that the proxy has ended.
            let _ = delayed.wait_for(|delayed| !delayed.is_some_and(|part| path.contains(part))).await;
            frame
        }
    });
    BodyExt::boxed(StreamBody::new(frames))
}

fn failed(status: StatusCode, message: &'static str) -> Response<Body> {
    let body = Full::new(Bytes::from_static(message.as_bytes())).map_err(|never| match never {}).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer
}
