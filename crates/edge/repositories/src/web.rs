//! Asking servers: where credentials go, where redirects lead, and what an answer means.

use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use fitout_model::Digest;
use reqwest::header::{HeaderName, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, Url};

use crate::access::Credential;
use crate::address::{host, redirect, same_server, shown};
use crate::{Access, Cause, Limits, tls};

/// So many kinds of TLS are kept: one for each authority and client certificate.
const CLIENTS: usize = 64;

/// So often a request is sent that its connection lost before it left.
const SENDINGS: usize = 6;

/// However long a server wants to be left alone.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// Connections to servers, by what they are shown before a request.
pub(crate) struct Web {
    pub(crate) limits: Limits,
    clients: Mutex<HashMap<Digest, Client>>,
}

/// A request, and for whom its credentials are.
pub(crate) struct Ask<'a> {
    pub(crate) url: Url,
    /// The server that may see the credentials, and the client certificate.
    pub(crate) home: &'a Url,
    pub(crate) access: &'a Access,
    pub(crate) credential: &'a Credential,
    /// Anybody may see these.
    pub(crate) headers: &'a [(HeaderName, String)],
}

/// What a server answered.
pub(crate) struct Answer {
    response: Response,
    /// What it answers to.
    what: String,
    /// Whether it comes from the server that may see the credentials.
    pub(crate) from_home: bool,
    /// Whether it was shown any.
    shown: bool,
}

impl Web {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, clients: Mutex::default() }
    }

    /// Asks, wherever redirects lead. A server that is not `home` sees no credentials, nor does any after it.
    pub(crate) async fn get(&self, ask: Ask<'_>) -> Result<Answer, Cause> {
        let what = shown(ask.url.as_str());
        let (mut url, mut at_home) = (ask.url, true);
        for _ in 0..=self.limits.redirects {
            at_home &= same_server(&url, ask.home);
            let client = self.client(ask.access, at_home)?;
            let request =
                ask.headers.iter().fold(client.get(url.clone()), |request, (name, value)| request.header(name, value));
            let (request, shown) = match ask.credential {
                Credential::Basic(user, password) if at_home => (request.basic_auth(user, Some(password)), true),
                Credential::Bearer(token) if at_home => (request.bearer_auth(token), true),
                _ => (request, false),
            };
            let response = send(request).await.map_err(|error| failed(&error, &url, &what))?;
            let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let next = match (response.status().as_u16(), location) {
                (301 | 302 | 303 | 307 | 308, Some(location)) => redirect(&url, location),
                _ => return Ok(Answer { response, what, from_home: at_home, shown }),
            };
            let refused = |why: &str| Cause::Redirected { what: what.clone(), why: why.to_owned() };
            url = match next {
                Some(next) if !matches!(next.scheme(), "http" | "https") => {
                    return Err(refused("to what is not the web"));
                }
                Some(next) if url.scheme() == "https" && next.scheme() == "http" => {
                    return Err(refused("from https to http"));
                }
                Some(next) => next,
                None => return Err(refused("to what is no address")),
            };
        }
        Err(Cause::Redirected { what, why: format!("more than {} times", self.limits.redirects) })
    }

    /// A client that shows our certificate, or one that does not.
    fn client(&self, access: &Access, at_home: bool) -> Result<Client, Cause> {
        let identity = access.identity.as_ref().filter(|_| at_home);
        let parts = (&access.authority, identity.map(|own| (&own.certificate, &own.key)));
        let key = Digest::of(format!("{parts:?}"));
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let built = Client::builder()
            .tls_backend_preconfigured(tls::config(access.authority.as_deref(), identity)?)
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(self.limits.connect)
            .read_timeout(self.limits.silence)
            .timeout(self.limits.answer)
            .user_agent(concat!("fitout/", env!("CARGO_PKG_VERSION")))
            .build();
        let client = built.map_err(|error| Cause::Access(root(&error).to_string()))?;
        if clients.len() >= CLIENTS {
            clients.clear();
        }
        clients.insert(key, client.clone());
        Ok(client)
    }
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// All values of a header that are text.
    pub(crate) fn header(&self, name: &HeaderName) -> impl Iterator<Item = &str> {
        self.response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    /// The same answer, unless it is a refusal.
    pub(crate) fn accepted(self) -> Result<Self, Cause> {
        let (what, status) = (self.what.clone(), self.status());
        let retry_after = self.header(&RETRY_AFTER).next().and_then(wait);
        match status {
            200 => Ok(self),
            401 | 403 if self.from_home => Err(Cause::Refused { what, status, shown: self.shown }),
            401 | 403 => Err(Cause::Elsewhere { what, status, host: host(self.response.url()) }),
            404 | 410 => Err(Cause::Missing { what }),
            408 => Err(Cause::Silent { host: host(self.response.url()) }),
            429 => Err(Cause::Busy { host: host(self.response.url()), retry_after }),
            500.. => Err(Cause::Failed { what, status, retry_after }),
            _ => Err(Cause::Unexpected { what, status }),
        }
    }

    /// The next bytes, none at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Cause> {
        let url = self.response.url().clone();
        self.response.chunk().await.map_err(|error| failed(&error, &url, &self.what))
    }

    /// All bytes, of which there may be so many.
    pub(crate) async fn bytes(mut self, limit: u64) -> Result<Vec<u8>, Cause> {
        let too_large = |what: &str| Cause::TooLarge { what: what.to_owned(), limit };
        if self.response.content_length().is_some_and(|length| length > limit) {
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

/// Sends a request, anew where the server had closed the connection before the request left. It may have said why in
/// an alert (that it wants a certificate), which hyper keeps to itself if it comes that early.
async fn send(request: RequestBuilder) -> Result<Response, reqwest::Error> {
    for _ in 1..SENDINGS {
        let Some(again) = request.try_clone() else { break };
        match again.send().await {
            Err(error) if unsent(&error) => {}
            sent => return sent,
        }
    }
    request.send().await
}

/// Whether nothing of the request left.
fn unsent(error: &reqwest::Error) -> bool {
    let mut sources = std::iter::successors(error.source(), |&error| error.source());
    sources.any(|error| error.downcast_ref().is_some_and(hyper::Error::is_canceled))
}

/// Why there is no answer, or only part of one.
fn failed(error: &reqwest::Error, url: &Url, what: &str) -> Cause {
    let host = host(url);
    if let Some(tls) = mistrust(error) {
        return Cause::Untrusted { host, why: tls.to_string() };
    }
    match error {
        _ if error.is_timeout() && !error.is_connect() => Cause::Silent { host },
        _ if error.is_timeout() => Cause::Unreachable { host, why: "no connection in time".to_owned() },
        _ if error.is_connect() => Cause::Unreachable { host, why: root(error).to_string() },
        _ if unsent(error) => Cause::Unreachable { host, why: "it closes the connection at once".to_owned() },
        _ if error.is_request() || error.is_body() || error.is_decode() => Cause::Truncated { what: what.to_owned() },
        _ => Cause::Malformed { what: what.to_owned(), why: root(error).to_string() },
    }
}

/// What TLS says, where it is TLS that failed.
fn mistrust(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // The source of an I/O error is not what is in it, but the source of that.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = inner.map(|inner| inner as &(dyn std::error::Error + 'static)).or_else(|| error.source());
    }
    None
}

/// The first cause: what is around it has the address, which may have secrets in it.
fn root<'e>(error: &'e reqwest::Error) -> &'e (dyn std::error::Error + 'static) {
    let mut root: &'e (dyn std::error::Error + 'static) = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root
}

/// How long a server wants to be left alone: seconds, or a date.
fn wait(text: &str) -> Option<Duration> {
    let wait = match text.trim().parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok()?,
    };
    Some(wait.min(LONGEST_WAIT))
}
