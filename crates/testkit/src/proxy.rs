//! A server between a client and a cluster, which can lose requests and answers, and be late to tell.

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

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is answered by the cluster.
    Pass,
    /// It never reaches the cluster: the answer is that there is no service.
    Refuse,
    /// It never reaches the cluster: the answer is that it is not allowed.
    Forbid,
    /// It is carried out, and the answer is never given; where it is not carried out, the answer says so.
    DropResponse,
    /// It is carried out, and the answer says that something went wrong.
    LieAboutFailure,
    /// It is answered by the cluster, and those who watch what is at a path like this are hushed.
    DelayWatch(&'static str),
}

/// A request, as far as its fate depends on it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The path, with the query.
    pub path: String,
}

impl Asked {
    /// Whether it would change something.
    pub fn writes(&self) -> bool {
        !["GET", "HEAD", "OPTIONS"].contains(&self.method.as_str())
    }
}

type Decide = Box<dyn FnMut(&Asked) -> Fault + Send>;
type Body = BoxBody<Bytes, hyper::Error>;

struct Shared {
    decide: Mutex<Decide>,
    kept_back: Sender<Asked>,
    hushed: watch::Sender<Option<&'static str>>,
    upstream: Client<HttpsConnector<HttpConnector>, Incoming>,
    server: String,
}

/// A proxy in front of a cluster. Who goes through it has to bring a token: certificates end here.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    kept_back: Mutex<Receiver<Asked>>,
    /// Ends with everything that runs on it.
    _runtime: Runtime,
}

impl Proxy {
    /// Starts a proxy that lets everything pass.
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
            kept_back: sender,
            hushed: watch::Sender::new(None),
            upstream: Client::builder(TokioExecutor::new()).build(connector),
            server: cluster.client().server().to_owned(),
        });
        let host = cluster.sandbox().address_block().loopback();
        let listener = runtime.block_on(TcpListener::bind((host, 0))).with_context(|| format!("listen on {host}"))?;
        let address = listener.local_addr()?;
        runtime.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, kept_back: Mutex::new(receiver), _runtime: runtime })
    }

    /// Decides from now on what becomes of requests.
    pub fn decide(&self, decide: impl FnMut(&Asked) -> Fault + Send + 'static) {
        *self.shared.decide.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(decide);
    }

    /// Has those who watch what is at a path like this wait for word, until they are told all of it together.
    pub fn hush(&self, path: Option<&'static str>) {
        self.shared.hushed.send_replace(path);
    }

    /// Waits for the next answer that is kept back or belied, and says to what.
    pub fn kept_back(&self, limit: Duration) -> Option<Asked> {
        self.kept_back.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(limit).ok()
    }

    /// A kubeconfig for the bearer of a token.
    pub fn kubeconfig(&self, token: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "contexts": [{ "name": "proxy", "context": { "cluster": "proxy", "user": "proxy" } }],
            "clusters": [{ "name": "proxy", "cluster": { "server": format!("http://{}", self.address) } }],
            "users": [{ "name": "proxy", "user": { "token": token } }],
        })
    }
}

/// Who is believed to be the cluster.
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
            // However a connection ends, it has ended.
            let _ = server::conn::http1::Builder::new().serve_connection(TokioIo::new(connection), service).await;
        });
    }
}

async fn answer(shared: Arc<Shared>, mut request: Request<Incoming>) -> Result<Response<Body>> {
    let path = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let asked = Asked { method: request.method().to_string(), path };
    let fate = (shared.decide.lock().unwrap_or_else(PoisonError::into_inner))(&asked);
    match fate {
        Fault::Refuse => return Ok(failed(StatusCode::SERVICE_UNAVAILABLE, "refused by the test")),
        Fault::Forbid => return Ok(failed(StatusCode::FORBIDDEN, "forbidden by the test")),
        Fault::DelayWatch(path) => drop(shared.hushed.send_replace(Some(path))),
        Fault::Pass | Fault::DropResponse | Fault::LieAboutFailure => {}
    }
    *request.uri_mut() = format!("{}{}", shared.server, asked.path).parse::<Uri>()?;
    // Where the cluster is not there, neither are we: an error ends the connection.
    let answer = shared.upstream.request(request).await?;
    if fate == Fault::DropResponse && answer.status().is_success() {
        // Once the whole answer is here, the request was certainly carried out.
        let _ = answer.into_body().collect().await;
        let _ = shared.kept_back.send(asked);
        return std::future::pending().await;
    }
    if fate == Fault::LieAboutFailure {
        let _ = answer.into_body().collect().await;
        let _ = shared.kept_back.send(asked);
        return Ok(failed(StatusCode::INTERNAL_SERVER_ERROR, "belied by the test"));
    }
    if asked.path.contains("watch=true") {
        return Ok(answer.map(|body| told(body, shared.hushed.subscribe(), asked.path)));
    }
    Ok(answer.map(BodyExt::boxed))
}

/// What a watch tells, as long as it is not hushed.
fn told(body: Incoming, hushed: watch::Receiver<Option<&'static str>>, path: String) -> Body {
    let path: Arc<str> = path.into();
    let words = BodyStream::new(body).then(move |word| {
        let (mut hushed, path) = (hushed.clone(), Arc::clone(&path));
        async move {
            // Who could hush it is gone with the proxy.
            let _ = hushed.wait_for(|hushed| !hushed.is_some_and(|part| path.contains(part))).await;
            word
        }
    });
    BodyExt::boxed(StreamBody::new(words))
}

fn failed(status: StatusCode, said: &'static str) -> Response<Body> {
    let body = Full::new(Bytes::from_static(said.as_bytes())).map_err(|never| match never {}).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer
}
