//! The HTTP client: credentials, redirects and the meaning of a response.

use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use fitout_model::Digest;
use reqwest::header::{HeaderName, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Url};

use crate::access::Credential;
use crate::address::{host, redacted, redirect, same_server};
use crate::{Access, AccessError, Cause, Limits, RedirectError, ResponseError, tls};

/// The number of clients to keep, one for each authority and client certificate.
const MAX_CLIENTS: usize = 64;

/// The number of attempts to send a request whose connection is closed before it was sent.
const MAX_ATTEMPTS: usize = 6;

/// The upper bound of `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// HTTP clients, by authority and client certificate.
pub struct Http {
    pub(crate) limits: Limits,
    clients: Mutex<HashMap<Digest, Client>>,
}

/// A request.
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// The server to which credentials and the client certificate are sent.
    pub(crate) home: &'a Url,
    pub(crate) access: &'a Access,
    pub(crate) credential: &'a Credential,
    /// Headers that are sent to every server.
    pub(crate) headers: &'a [(HeaderName, String)],
    pub(crate) body: Option<&'a [u8]>,
}

/// A request of another protocol over HTTP.
pub struct HttpRequest<'a> {
    /// The URL.
    pub url: Url,
    /// The credentials, which are sent to the server of the URL and to no other.
    pub access: &'a Access,
    /// Headers that are sent to every server.
    pub headers: &'a [(HeaderName, String)],
    /// The body of a POST; none for a GET.
    pub body: Option<&'a [u8]>,
}

/// The response to a request.
pub struct Response {
    inner: reqwest::Response,
    /// The requested resource, for messages.
    what: String,
    /// Whether it comes from the home server, without a redirect to another.
    pub(crate) from_home: bool,
    /// Whether the request had credentials.
    pub(crate) with_credentials: bool,
}

impl Http {
    /// Creates a client with these limits.
    pub fn new(limits: Limits) -> Self {
        Self { limits, clients: Mutex::default() }
    }

    /// Sends a request, and returns its response if the status is 200. Follows redirects, of a POST only those that keep the
    /// method. Once a redirect leaves the server, no more credentials are sent.
    pub async fn request(&self, request: HttpRequest<'_>) -> Result<Response, Cause> {
        let HttpRequest { url, access, headers, body } = request;
        let (home, credential) = (url.clone(), access.credential());
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let request = Request { method, url, home: &home, access, credential: &credential, headers, body };
        self.send(request).await?.error_for_status()
    }

    /// Sends a request and follows redirects: of a write only those that keep the method. Once a redirect leaves `home`, no
    /// more credentials are sent.
    pub(crate) async fn send(&self, request: Request<'_>) -> Result<Response, Cause> {
        let what = redacted(request.url.as_str());
        let is_read = matches!(request.method, Method::GET | Method::HEAD);
        let is_upload = matches!(request.method, Method::PUT | Method::PATCH);
        let (mut url, mut at_home) = (request.url, true);
        for _ in 0..=self.limits.redirects {
            at_home &= same_server(&url, request.home);
            let client = self.client(request.access, at_home, is_upload).map_err(Cause::Access)?;
            let builder = client.request(request.method.clone(), url.clone());
            let headers = request.headers.iter();
            let builder = headers.fold(builder, |builder, (name, value)| builder.header(name, value));
            let builder = request.body.iter().fold(builder, |builder, body| builder.body(body.to_vec()));
            let (builder, with_credentials) = match request.credential {
                Credential::Basic(user, password) if at_home => (builder.basic_auth(user, Some(password)), true),
                Credential::Bearer(token) if at_home => (builder.bearer_auth(token), true),
                _ => (builder, false),
            };
            let response = send(builder).await.map_err(|error| classify(&error, &url, &what))?;
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let next = match (response.status().as_u16(), location) {
                (301..=303, Some(location)) if is_read => redirect(&url, location),
                (307 | 308, Some(location)) => redirect(&url, location),
                _ => return Ok(Response { inner: response, what, from_home: at_home, with_credentials }),
            };
            url = match next.ok_or(RedirectError::InvalidUrl).and_then(|next| check_redirect(&url, next)) {
                Ok(next) => next,
                Err(reason) => return Err(Cause::Redirected { what, reason }),
            };
        }
        Err(Cause::Redirected { what, reason: RedirectError::TooMany(self.limits.redirects) })
    }

    /// The client for an access. It presents the client certificate to the home server only. An upload has no read timeout,
    /// because the server is silent while it receives an archive.
    fn client(&self, access: &Access, at_home: bool, is_upload: bool) -> Result<Client, AccessError> {
        let identity = access.identity.as_ref().filter(|_| at_home);
        let parts = (&access.authority, identity.map(|identity| (&identity.certificate, &identity.key)));
        let key = Digest::of(format!("{is_upload} {parts:?}"));
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::config(access.authority.as_deref(), identity)?)
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(self.limits.connect)
            .timeout(self.limits.answer)
            .user_agent(concat!("fitout/", env!("CARGO_PKG_VERSION")));
        if !is_upload {
            builder = builder.read_timeout(self.limits.silence);
        }
        let client = builder.build().map_err(|error| AccessError::Client(root(&error).to_string()))?;
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(key, client.clone());
        Ok(client)
    }
}

/// Fails if a redirect, or the address that a server names for an upload, is not to be followed.
pub(crate) fn check_redirect(from: &Url, to: Url) -> Result<Url, RedirectError> {
    match to.scheme() {
        "http" if from.scheme() == "https" => Err(RedirectError::Downgrade),
        "http" | "https" => Ok(to),
        _ => Err(RedirectError::NotHttp),
    }
}

impl Response {
    /// The URL that answered, after redirects.
    pub fn url(&self) -> &Url {
        self.inner.url()
    }

    /// Whether it comes from the server that was asked, without a redirect to another.
    pub fn is_from_home(&self) -> bool {
        self.from_home
    }

    pub(crate) fn status(&self) -> u16 {
        self.inner.status().as_u16()
    }

    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// All values of a header that are text.
    pub fn header(&self, name: &HeaderName) -> impl Iterator<Item = &str> {
        self.inner.headers().get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    /// Returns the response if its status is 200, else an error.
    pub(crate) fn error_for_status(self) -> Result<Self, Cause> {
        let (what, status) = (self.what.clone(), self.status());
        let retry_after = self.header(&RETRY_AFTER).next().and_then(parse_retry_after);
        match status {
            200 => Ok(self),
            304 => Err(Cause::NotModified { what }),
            401 | 403 if self.from_home => {
                Err(Cause::Refused { what, status, with_credentials: self.with_credentials })
            }
            401 | 403 => Err(Cause::RefusedElsewhere { what, status, host: host(self.inner.url()) }),
            404 | 410 => Err(Cause::Missing { what }),
            408 => Err(Cause::Timeout { host: host(self.inner.url()) }),
            429 => Err(Cause::RateLimited { host: host(self.inner.url()), retry_after }),
            500.. => Err(Cause::ServerError { what, status, retry_after }),
            _ => Err(Cause::Unexpected { what, status }),
        }
    }

    /// Reads the next bytes; none at the end.
    pub async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Cause> {
        let url = self.inner.url().clone();
        self.inner.chunk().await.map_err(|error| classify(&error, &url, &self.what))
    }

    /// Reads the whole body, up to the limit.
    pub(crate) async fn bytes(mut self, limit: u64) -> Result<Vec<u8>, Cause> {
        let too_large = |what: &str| Cause::TooLarge { what: what.to_owned(), limit };
        if self.inner.content_length().is_some_and(|length| length > limit) {
            return Err(too_large(&self.what));
        }
        let mut all = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            all.extend_from_slice(chunk.as_ref());
            if all.len() as u64 > limit {
                return Err(too_large(&self.what));
            }
        }
        Ok(all)
    }
}

/// Sends a request, again if the server closed the connection before it was sent. The server may have sent the reason
/// in a TLS alert (for example, a client certificate is required), which hyper drops when it arrives that early.
async fn send(request: RequestBuilder) -> Result<reqwest::Response, reqwest::Error> {
    for _ in 1..MAX_ATTEMPTS {
        let Some(attempt) = request.try_clone() else { break };
        match attempt.send().await {
            Err(error) if is_unsent(&error) => {}
            result => return result,
        }
    }
    request.send().await
}

/// Whether the connection was closed before the request was sent.
fn is_unsent(error: &reqwest::Error) -> bool {
    let mut sources = std::iter::successors(error.source(), |&error| error.source());
    sources.any(|error| error.downcast_ref().is_some_and(hyper::Error::is_canceled))
}

/// Classifies an error of the HTTP client.
fn classify(error: &reqwest::Error, url: &Url, what: &str) -> Cause {
    let host = host(url);
    if let Some(tls) = tls_error(error) {
        return Cause::Untrusted { host, reason: tls.to_string() };
    }
    match error {
        _ if error.is_timeout() && !error.is_connect() => Cause::Timeout { host },
        _ if error.is_timeout() => Cause::Unreachable { host, reason: "the connection timed out".to_owned() },
        _ if error.is_connect() => Cause::Unreachable { host, reason: root(error).to_string() },
        _ if is_unsent(error) => Cause::Unreachable { host, reason: "it closes the connection at once".to_owned() },
        _ if error.is_request() || error.is_body() || error.is_decode() => Cause::Truncated { what: what.to_owned() },
        _ => Cause::Malformed { what: what.to_owned(), reason: ResponseError::Http(root(error).to_string()) },
    }
}

/// The TLS error among the sources of an error.
fn tls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // The source of an I/O error is not the error in it, but the source of that.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = inner.map(|inner| inner as &(dyn std::error::Error + 'static)).or_else(|| error.source());
    }
    None
}

/// The root cause. The errors around it contain the URL, which may have secrets in it.
fn root<'e>(error: &'e reqwest::Error) -> &'e (dyn std::error::Error + 'static) {
    let mut root: &'e (dyn std::error::Error + 'static) = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root
}

/// Parses `Retry-After`: seconds, or a date.
fn parse_retry_after(text: &str) -> Option<Duration> {
    let delay = match text.trim().parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok()?,
    };
    Some(delay.min(MAX_RETRY_AFTER))
}
