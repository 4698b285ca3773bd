//! The aggregated API `compute.fitout.dev`: what is computed rather than stored.
//!
//! The hub's API server asks on behalf of people, over TLS, with a certificate of its front proxy. Whoever has no such
//! certificate is nobody, whatever the headers of the request claim. Who asks is then held to what kube RBAC says.

mod asked;
mod caller;
mod certificate;
mod discovery;
mod plans;
mod refusal;
mod rights;
mod values;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use fitout_hub::Hub;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use caller::{Caller, LoadBalancer};
use certificate::Certificate;
use refusal::Refusal;

/// The group and version that is served.
const GROUP: &str = "compute.fitout.dev";
const VERSION: &str = "v1alpha1";

/// The API server keeps a few connections; anybody else has no business here.
const CONNECTIONS: usize = 256;

/// For a connection that is not used: longer than the API server keeps one, which must not find it closed.
const IDLE: Duration = Duration::from_mins(2);

/// For a handshake.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the API server itself takes of an object.
const LARGEST: usize = 3 << 20;

/// Serves until it cannot go on.
pub async fn serve(hub: Arc<Hub>, address: SocketAddr) -> Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))?;
    let certificate = Certificate::shared(hub.unfenced()).await.context("the certificate to serve with")?;
    let front = Arc::new(LoadBalancer::follow(hub.unfenced()).await?);
    tracing::info!("{GROUP} is served on {address}");
    let accept = async {
        let turns = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let turn = Arc::clone(&turns).acquire_owned().await?;
            // What one connection dies of is nothing to the others.
            let Ok((stream, _)) = listener.accept().await else { continue };
            let (hub, front, certificate) = (Arc::clone(&hub), Arc::clone(&front), certificate.clone());
            tokio::spawn(async move {
                if let Err(error) = connection(hub, &front, &certificate, stream).await {
                    tracing::debug!(%error, "connection");
                }
                drop(turn);
            });
        }
    };
    tokio::select! {
        ended = accept => ended,
        ended = certificate.register(hub.unfenced()) => ended,
    }
}

async fn connection(hub: Arc<Hub>, front: &LoadBalancer, certificate: &Certificate, stream: TcpStream) -> Result<()> {
    let trust = Arc::new(front.trust()?);
    let acceptor = TlsAcceptor::from(Arc::new(trust.tls(certificate)?));
    let stream = timeout(PATIENCE, acceptor.accept(stream)).await??;
    let known = trust.knows(stream.get_ref().1.peer_certificates());
    let service = service_fn(move |request: Request<Incoming>| {
        let (hub, trust) = (Arc::clone(&hub), Arc::clone(&trust));
        async move {
            let caller = Some(request.headers()).filter(|_| known).and_then(|headers| trust.caller(headers));
            let answer = match caller {
                Some(caller) => Box::pin(answer(&hub, &caller, request)).await,
                None => Err(Refusal::unauthorized()),
            };
            Ok::<_, Infallible>(answer.unwrap_or_else(|refusal| json(refusal.code(), &refusal.status())))
        }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    // Whoever is nobody has one question, and not much time for it.
    let patience = if known { IDLE } else { PATIENCE };
    server.timer(TokioTimer::new()).header_read_timeout(patience).keep_alive(known);
    Ok(server.serve_connection(TokioIo::new(stream), service).await?)
}

async fn answer(hub: &Arc<Hub>, caller: &Caller, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Refusal> {
    let (method, path) = (request.method().clone(), request.uri().path().trim_matches('/').to_owned());
    if let Some(document) = discovery::document(&path).filter(|_| method == Method::GET) {
        return Ok(json(StatusCode::OK, &document));
    }
    let parts: Vec<&str> = path.split('/').collect();
    let ["apis", GROUP, VERSION, "namespaces", namespace, resource @ ("plans" | "values")] = parts[..] else {
        return Err(Refusal::not_found(format!("nothing is served at /{path}; `kubectl api-resources` shows what is")));
    };
    if method != Method::POST {
        return Err(Refusal::not_allowed(format!("{resource} are not kept; they can only be created")));
    }
    let body = Limited::new(request.into_body(), LARGEST).collect().await;
    let body = body.map_err(|error| Refusal::bad(format!("the request cannot be read: {error}")))?;
    let body = body.to_bytes();
    let made = match resource {
        "values" => Box::pin(values::create(hub, caller, namespace, &body)).await?,
        _ => Box::pin(plans::create(hub, caller, namespace, &body)).await?,
    };
    Ok(json(StatusCode::CREATED, &made))
}

fn json(code: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
