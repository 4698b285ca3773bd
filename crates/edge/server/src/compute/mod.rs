//! The aggregated API `compute.fitout.dev`, whose resources are computed and not stored.
//!
//! The hub's API server forwards requests of users over TLS, with the client certificate of its front proxy. A request
//! without that certificate is unauthorized, whatever its headers claim. Users are authorized by RBAC of the hub's API
//! server.

mod access_review;
mod available_extensions;
mod certificate;
mod discovery;
mod error;
mod extension_details;
mod front_proxy;
mod plans;
mod request;
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

use certificate::Certificate;
use error::ApiError;
use front_proxy::{Caller, FrontProxy};

/// The served group and version.
const GROUP: &str = "compute.fitout.dev";
const VERSION: &str = "v1alpha1";

/// The number of concurrent connections; the API server keeps only a few.
const MAX_CONNECTIONS: usize = 256;

/// The timeout of an idle connection: longer than the API server keeps one, so that it never finds one closed.
const IDLE_TIMEOUT: Duration = Duration::from_mins(2);

/// The timeout of a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The limit of a request body, that of the API server itself.
const MAX_BODY: usize = 3 << 20;

/// Serves the API until a fatal error.
pub async fn serve(hub: Arc<Hub>, address: SocketAddr) -> Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))?;
    let certificate = Certificate::load_or_create(hub.unfenced()).await.context("load the serving certificate")?;
    let front_proxy = Arc::new(FrontProxy::watch(hub.unfenced()).await?);
    tracing::info!(group = GROUP, %address, "serving aggregated API");
    let accept = async {
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let permit = Arc::clone(&permits).acquire_owned().await?;
            // An error of one connection does not affect the others.
            let Ok((stream, _)) = listener.accept().await else { continue };
            let (hub, front_proxy, certificate) = (Arc::clone(&hub), Arc::clone(&front_proxy), certificate.clone());
            tokio::spawn(async move {
                if let Err(error) = connection(hub, &front_proxy, &certificate, stream).await {
                    tracing::debug!(%error, "connection failed");
                }
                drop(permit);
            });
        }
    };
    tokio::select! {
        ended = accept => ended,
        ended = certificate.register(hub.unfenced()) => ended,
    }
}

async fn connection(
    hub: Arc<Hub>,
    front_proxy: &FrontProxy,
    certificate: &Certificate,
    stream: TcpStream,
) -> Result<()> {
    let config = Arc::new(front_proxy.config()?);
    let acceptor = TlsAcceptor::from(Arc::new(config.tls(certificate)?));
    let stream = timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await??;
    let is_trusted = config.is_front_proxy(stream.get_ref().1.peer_certificates());
    let service = service_fn(move |request: Request<Incoming>| {
        let (hub, config) = (Arc::clone(&hub), Arc::clone(&config));
        async move {
            let caller = Some(request.headers()).filter(|_| is_trusted).and_then(|headers| config.caller(headers));
            let response = match caller {
                Some(caller) => Box::pin(handle(&hub, &caller, request)).await,
                None => Err(ApiError::unauthorized()),
            };
            Ok::<_, Infallible>(response.unwrap_or_else(|error| json(error.code(), &error.status())))
        }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    // An unauthorized client gets one request and little time.
    let read_timeout = if is_trusted { IDLE_TIMEOUT } else { HANDSHAKE_TIMEOUT };
    server.timer(TokioTimer::new()).header_read_timeout(read_timeout).keep_alive(is_trusted);
    Ok(server.serve_connection(TokioIo::new(stream), service).await?)
}

async fn handle(
    hub: &Arc<Hub>,
    caller: &Caller,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, ApiError> {
    let (method, path) = (request.method().clone(), request.uri().path().trim_matches('/').to_owned());
    if let Some(document) = discovery::document(&path).filter(|_| method == Method::GET) {
        return Ok(json(StatusCode::OK, &document));
    }
    let not_found = || {
        let message = format!("nothing is served at /{path}; `kubectl api-resources` lists the served resources");
        Err(ApiError::not_found(message))
    };
    let parts: Vec<&str> = path.split('/').collect();
    let ["apis", GROUP, VERSION, "namespaces", namespace, resource, ref name @ ..] = parts[..] else {
        return not_found();
    };
    match (resource, name) {
        (available_extensions::RESOURCE, []) if method == Method::GET => {
            let query = request.uri().query().unwrap_or_default().to_owned();
            let list = available_extensions::list(hub, caller, namespace, &query, request.headers());
            return Ok(json(StatusCode::OK, &Box::pin(list).await?));
        }
        (available_extensions::RESOURCE, [name]) if method == Method::GET => {
            let get = available_extensions::get(hub, caller, namespace, name, request.headers());
            return Ok(json(StatusCode::OK, &Box::pin(get).await?));
        }
        (available_extensions::RESOURCE, [] | [_]) => {
            return Err(ApiError::not_allowed(format!("{resource} can only be read")));
        }
        (extension_details::RESOURCE | "plans" | "values", []) => {}
        _ => return not_found(),
    }
    if method != Method::POST {
        return Err(ApiError::not_allowed(format!("{resource} are not stored; they can only be created")));
    }
    let body = Limited::new(request.into_body(), MAX_BODY).collect().await;
    let body = body.map_err(|error| ApiError::bad_request(format!("the request cannot be read: {error}")))?;
    let body = body.to_bytes();
    let created = match resource {
        "values" => Box::pin(values::create(hub, caller, namespace, &body)).await?,
        extension_details::RESOURCE => Box::pin(extension_details::create(hub, caller, namespace, &body)).await?,
        _ => Box::pin(plans::create(hub, caller, namespace, &body)).await?,
    };
    Ok(json(StatusCode::CREATED, &created))
}

fn json(code: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
