//! Requests to a registry about one of its repositories.

use std::sync::{Mutex, PoisonError};

use fitout_model::Digest;
use reqwest::header::{ACCEPT, HeaderName, LINK, WWW_AUTHENTICATE};
use reqwest::{Method, Url};
use serde::Deserialize;

use crate::access::Credential;
use crate::address::{host, redacted, redirect, same_server, sha256};
use crate::challenge::Challenge;
use crate::http::{Http, Request, Response};
use crate::manifest::{Descriptor, MANIFEST_TYPE};
use crate::{Access, Cause, ChartError, ResponseError};

/// The limit of a manifest that registries have to accept by the specification. Tokens and 100 000 tags are smaller.
pub(super) const MAX_JSON: u64 = 4 << 20;

/// The number of pages of a list to read; most registries have a thousand entries on a page.
const MAX_PAGES: usize = 100;

/// The purpose of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Reading a repository.
    Pull,
    /// Reading and writing a repository.
    Push,
    /// Listing the repositories of the registry.
    Catalog,
}

/// Requests about one repository. Can be shared by concurrent requests, which then share a token.
pub(super) struct Session<'a> {
    http: &'a Http,
    pub(super) base: &'a Url,
    pub(super) name: String,
    access: &'a Access,
    scope: Scope,
    /// The configured credentials.
    configured: Credential,
    /// The credentials to send, none before the registry's challenge.
    current: Mutex<Credential>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        http: &'a Http,
        base: &'a Url,
        name: String,
        access: &'a Access,
        scope: Scope,
    ) -> Result<Self, Cause> {
        let configured = access.for_registry(&host(base), &name).map_err(Cause::Access)?;
        Ok(Self { http, base, name, access, scope, configured, current: Mutex::default() })
    }

    pub(super) fn limits(&self) -> &crate::Limits {
        &self.http.limits
    }

    /// A URL of the repository.
    pub(super) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("/v2/{}/{path}", self.name));
        url
    }

    /// Lists all tags.
    pub(super) async fn tags(&self) -> Result<Vec<String>, Cause> {
        #[derive(Deserialize)]
        struct Page {
            tags: Option<Vec<String>>,
        }
        self.pages(self.url("tags/list"), |page: Page| page.tags.unwrap_or_default()).await
    }

    /// Reads all pages of a list.
    pub(super) async fn pages<P: for<'t> Deserialize<'t>>(
        &self,
        mut url: Url,
        entries: impl Fn(P) -> Vec<String>,
    ) -> Result<Vec<String>, Cause> {
        let (mut all, mut left) = (Vec::new(), MAX_JSON);
        let what = redacted(url.as_str());
        for _ in 0..MAX_PAGES {
            let response = self.get(url.clone(), &[]).await?;
            let next = response.header(&LINK).find_map(next_link).and_then(|link| redirect(&url, link));
            let text = response.bytes(left).await?;
            left -= text.len() as u64;
            all.extend(entries(json(&what, &text)?));
            // The next page of another server is not read.
            match next.filter(|next| same_server(next, self.base)) {
                Some(next) => url = next,
                None => return Ok(all),
            }
        }
        Err(Cause::Malformed { what, reason: ResponseError::TooManyPages(MAX_PAGES) })
    }

    /// Fetches the manifest of a tag or a digest, and returns its URL for messages, its digest and its text.
    pub(super) async fn manifest(&self, reference: &str) -> Result<(String, Digest, Vec<u8>), Cause> {
        let url = self.url(&format!("manifests/{reference}"));
        let response = self.get(url, &[(ACCEPT, MANIFEST_TYPE.to_owned())]).await?;
        let what = response.what().to_owned();
        let header = content_digest(&response);
        let text = response.bytes(MAX_JSON).await?;
        let stated = if reference.contains(':') { Some(reference.to_owned()) } else { header };
        let digest = verify(&what, &text, stated.as_deref())?;
        Ok((what, digest, text))
    }

    /// Asks for the digest of a tag's manifest, without the manifest if the registry states it.
    pub(super) async fn manifest_digest(&self, tag: &str) -> Result<Digest, Cause> {
        let url = self.url(&format!("manifests/{tag}"));
        let response = self.send(Method::HEAD, url, &[(ACCEPT, MANIFEST_TYPE.to_owned())], None).await?;
        match content_digest(&response.error_for_status()?) {
            Some(digest) => Ok(Digest::from(digest)),
            None => self.manifest(tag).await.map(|(_, digest, _)| digest),
        }
    }

    /// Fetches a blob and verifies its digest. Returns its URL for messages, and its content.
    pub(super) async fn blob(&self, descriptor: &Descriptor, limit: u64) -> Result<(String, Vec<u8>), Cause> {
        let invalid =
            || Cause::NotAChart { what: self.name.clone(), reason: ChartError::Digest(descriptor.digest.clone()) };
        let digest = sha256(&descriptor.digest).filter(|digest| *digest == descriptor.digest).ok_or_else(invalid)?;
        let url = self.url(&format!("blobs/{digest}"));
        let what = redacted(url.as_str());
        if descriptor.size > limit {
            return Err(Cause::TooLarge { what, limit });
        }
        let bytes = self.get(url, &[]).await?.bytes(limit).await?;
        if (bytes.len() as u64) < descriptor.size {
            return Err(Cause::Truncated { what });
        }
        verify(&what, &bytes, Some(&digest))?;
        Ok((what, bytes))
    }

    /// Sends a GET request, and fails if its status is not 200.
    pub(super) async fn get(&self, url: Url, headers: &[(HeaderName, String)]) -> Result<Response, Cause> {
        self.send(Method::GET, url, headers, None).await?.error_for_status()
    }

    /// Sends a request, and sends it again with credentials if the registry answers with a challenge: the first time, or
    /// because a token has expired.
    pub(super) async fn send(
        &self,
        method: Method,
        url: Url,
        headers: &[(HeaderName, String)],
        body: Option<&[u8]>,
    ) -> Result<Response, Cause> {
        let used = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let response = self.attempt(&used, method.clone(), url.clone(), headers, body).await?;
        // A challenge of another server, after a redirect, is not answered.
        if response.status() != 401 || !response.from_home {
            return Ok(response);
        }
        let next = match (Challenge::parse(response.header(&WWW_AUTHENTICATE)), &self.configured) {
            (Some(Challenge::Bearer { realm, service, scope }), Credential::None | Credential::Basic(..)) => {
                self.token(&realm, service, scope).await?
            }
            (Some(_), Credential::Basic(..) | Credential::Bearer(_)) if matches!(used, Credential::None) => {
                self.configured.clone()
            }
            _ => return Ok(response),
        };
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&next);
        self.attempt(&next, method, url, headers, body).await
    }

    async fn attempt(
        &self,
        credential: &Credential,
        method: Method,
        url: Url,
        headers: &[(HeaderName, String)],
        body: Option<&[u8]>,
    ) -> Result<Response, Cause> {
        let (home, access) = (self.base, self.access);
        self.http.send(Request { method, url, home, access, credential, headers, body }).await
    }

    /// Fetches a token from the token server of the challenge. The credentials are sent to it, but never without TLS if
    /// the registry has TLS; the client certificate is presented to the registry only.
    async fn token(&self, realm: &str, service: Option<String>, scope: Option<String>) -> Result<Credential, Cause> {
        #[derive(Deserialize)]
        struct Token {
            token: Option<String>,
            access_token: Option<String>,
        }
        let malformed = |reason| Cause::Malformed { what: format!("the challenge of {}", host(self.base)), reason };
        let mut url = Url::parse(realm).map_err(|_| malformed(ResponseError::TokenServer))?;
        if url.scheme() != "https" && (url.scheme() != "http" || self.base.scheme() != "http") {
            return Err(malformed(ResponseError::InsecureTokenServer));
        }
        let scope = match (self.scope, scope) {
            // The challenge to a check whether a blob exists asks for reading only.
            (Scope::Push, _) => format!("repository:{}:pull,push", self.name),
            (_, Some(scope)) => scope,
            (Scope::Pull, None) => format!("repository:{}:pull", self.name),
            (Scope::Catalog, None) => "registry:catalog:*".to_owned(),
        };
        url.query_pairs_mut().extend_pairs(service.map(|service| ("service", service))).append_pair("scope", &scope);
        let access = if same_server(&url, self.base) { self.access.clone() } else { self.access.elsewhere() };
        let (home, credential) = (url.clone(), &self.configured);
        let request =
            Request { method: Method::GET, url, home: &home, access: &access, credential, headers: &[], body: None };
        let response = self.http.send(request).await?.error_for_status()?;
        let what = response.what().to_owned();
        let Token { token, access_token } = json(&what, &response.bytes(MAX_JSON).await?)?;
        let token = token.or(access_token).filter(|token| !token.is_empty());
        token.map(Credential::Bearer).ok_or(Cause::Malformed { what, reason: ResponseError::NoToken })
    }
}

/// The digest that a registry states for a manifest.
pub(super) fn content_digest(response: &Response) -> Option<String> {
    response.header(&HeaderName::from_static("docker-content-digest")).next().and_then(sha256)
}

/// Returns the digest of bytes, and fails if it is not the stated one.
pub(super) fn verify(what: &str, bytes: &[u8], stated: Option<&str>) -> Result<Digest, Cause> {
    let found = Digest::of(bytes);
    match stated.filter(|stated| *stated != found.as_str()) {
        Some(stated) => Err(Cause::DigestMismatch { what: what.to_owned(), stated: stated.to_owned(), found }),
        None => Ok(found),
    }
}

/// Parses JSON. The error has no text of it, which may contain a token.
pub(super) fn json<T: for<'t> Deserialize<'t>>(what: &str, text: &[u8]) -> Result<T, Cause> {
    serde_json::from_slice(text)
        .map_err(|error| Cause::Malformed { what: what.to_owned(), reason: ResponseError::Json(error.line()) })
}

/// The target of a header such as `</v2/x/tags/list?last=y>; rel="next"`.
fn next_link(link: &str) -> Option<&str> {
    let (target, relation) = link.strip_prefix('<')?.split_once('>')?;
    relation.contains("next").then_some(target)
}
