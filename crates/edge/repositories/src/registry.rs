//! Fetches a chart from an OCI registry.
//!
//! A pull takes a request for the manifest and one for the archive, and before them one for a token if the registry
//! requires it.

use fitout_helm_ranges::Version;
use fitout_model::Digest;
use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderName, LINK, WWW_AUTHENTICATE};
use serde::Deserialize;

use crate::access::Credential;
use crate::address::{Address, RegistryPath, host, redacted, redirect, same_server, sha256};
use crate::challenge::Challenge;
use crate::choice::choose;
use crate::expected::Expected;
use crate::http::{Http, Request, Response};
use crate::manifest::{Descriptor, MANIFEST_TYPE, Manifest};
use crate::{Access, Cause, ChartError, Fetched, ResponseError, Wanted};

/// The limit of a manifest that registries have to accept by the specification. Tokens and 100 000 tags are smaller.
const MAX_JSON: u64 = 4 << 20;

/// The number of pages of tags to read; most registries have a thousand tags on a page.
const MAX_PAGES: usize = 100;

/// Fetches a chart.
pub(crate) async fn fetch(
    http: &Http,
    path: &RegistryPath,
    wanted: &Wanted<'_>,
    access: &Access,
) -> Result<Fetched, Cause> {
    let (name, pinned) = path.chart(wanted.chart).map_err(Cause::Address)?;
    let mut pull = Pull::new(http, &path.base, name, access)?;
    let requested = wanted.version.filter(|version| !version.is_empty());
    if let Some(digest) = pinned {
        let manifest = pull.manifest(&digest).await?;
        let version = pull.version(&manifest, requested).await?;
        return pull.archive(&manifest, &Expected::new(&version, None, wanted.digest)?).await;
    }
    let version = match requested {
        // As in Helm, a version is the tag; tags are listed for a range only.
        Some(version) if Version::parse(version).is_ok() => version.to_owned(),
        _ => choose(pull.versions().await?, requested)?,
    };
    let manifest = pull.manifest(&tag(&version)).await?;
    pull.archive(&manifest, &Expected::new(&version, None, wanted.digest)?).await
}

/// Fetches the archive of a URL `oci://host/path:tag` in an index.
pub(crate) async fn fetch_url(
    http: &Http,
    reference: &str,
    expected: &Expected<'_>,
    access: &Access,
) -> Result<Fetched, Cause> {
    let malformed = || Cause::Malformed {
        what: "the index".to_owned(),
        reason: ResponseError::UrlWithoutVersion(reference.to_owned()),
    };
    let (address, version) = reference.rsplit_once(':').ok_or_else(malformed)?;
    let Address::Registry(path) = Address::parse(address).map_err(Cause::Address)? else { return Err(malformed()) };
    if Version::parse(version).is_err() {
        return Err(malformed());
    }
    let (name, _) = path.chart("").map_err(Cause::Address)?;
    let mut pull = Pull::new(http, &path.base, name, access)?;
    let manifest = pull.manifest(&tag(version)).await?;
    pull.archive(&manifest, expected).await
}

/// The tag of a version, with `_` for `+`, which tags cannot contain.
fn tag(version: &str) -> String {
    version.replace('+', "_")
}

/// A pull of one chart.
struct Pull<'a> {
    http: &'a Http,
    base: &'a Url,
    name: String,
    access: &'a Access,
    /// The configured credentials.
    configured: Credential,
    /// The credentials to send, none before the registry's challenge.
    current: Credential,
}

impl<'a> Pull<'a> {
    fn new(http: &'a Http, base: &'a Url, name: String, access: &'a Access) -> Result<Self, Cause> {
        let configured = access.for_registry(&host(base), &name).map_err(Cause::Access)?;
        Ok(Self { http, base, name, access, configured, current: Credential::None })
    }

    /// Lists the tags that are versions.
    async fn versions(&mut self) -> Result<Vec<(Version, String)>, Cause> {
        #[derive(Deserialize)]
        struct Page {
            tags: Option<Vec<String>>,
        }
        let (mut versions, mut left) = (Vec::new(), MAX_JSON);
        let mut url = self.url("tags/list");
        let what = redacted(url.as_str());
        for _ in 0..MAX_PAGES {
            let response = self.request(url.clone(), &[]).await?;
            let next = response.header(&LINK).find_map(next_link).and_then(|link| redirect(&url, link));
            let text = response.bytes(left).await?;
            left -= text.len() as u64;
            let tags = json::<Page>(&what, &text)?.tags.unwrap_or_default();
            let tags = tags.into_iter().map(|tag| tag.replace('_', "+"));
            versions.extend(tags.filter_map(|tag| Some((Version::parse_strict(&tag).ok()?, tag))));
            // The next page of another server is not read.
            match next.filter(|next| same_server(next, self.base)) {
                Some(next) => url = next,
                None => return Ok(versions),
            }
        }
        Err(Cause::Malformed { what, reason: ResponseError::TooManyPages(MAX_PAGES) })
    }

    /// Fetches the manifest of a tag or a digest.
    async fn manifest(&mut self, reference: &str) -> Result<Manifest, Cause> {
        let url = self.url(&format!("manifests/{reference}"));
        let response = self.request(url, &[(ACCEPT, MANIFEST_TYPE.to_owned())]).await?;
        let what = response.what().to_owned();
        let header = response.header(&HeaderName::from_static("docker-content-digest")).next().and_then(sha256);
        let text = response.bytes(MAX_JSON).await?;
        let stated = if reference.contains(':') { Some(reference.to_owned()) } else { header };
        verify(&what, &text, stated.as_deref())?;
        Manifest::parse(&text).map_err(|reason| Cause::NotAChart { what, reason })
    }

    /// Reads the version of a chart that is pinned by digest, and fails if it does not match the requested one.
    async fn version(&mut self, manifest: &Manifest, requested: Option<&str>) -> Result<String, Cause> {
        #[derive(Deserialize)]
        struct Metadata {
            version: String,
        }
        let (what, text) = self.blob(&manifest.config, MAX_JSON).await?;
        let Metadata { version } = json(&what, &text)?;
        match Version::parse(&version) {
            Ok(parsed) if requested.is_some() => choose(vec![(parsed, version)], requested),
            Ok(_) => Ok(version),
            Err(error) => Err(Cause::Malformed { what, reason: ResponseError::Version { version, error } }),
        }
    }

    async fn archive(&mut self, manifest: &Manifest, expected: &Expected<'_>) -> Result<Fetched, Cause> {
        expected.check_digest(sha256(&manifest.archive.digest).map(Digest::from).as_ref())?;
        let (what, archive) = self.blob(&manifest.archive, self.http.limits.archive).await?;
        expected.verify(&what, archive)
    }

    /// Fetches a blob and verifies its digest.
    async fn blob(&mut self, descriptor: &Descriptor, limit: u64) -> Result<(String, Vec<u8>), Cause> {
        let invalid =
            || Cause::NotAChart { what: self.name.clone(), reason: ChartError::Digest(descriptor.digest.clone()) };
        let digest = sha256(&descriptor.digest).filter(|digest| *digest == descriptor.digest).ok_or_else(invalid)?;
        let url = self.url(&format!("blobs/{digest}"));
        let what = redacted(url.as_str());
        if descriptor.size > limit {
            return Err(Cause::TooLarge { what, limit });
        }
        let bytes = self.request(url, &[]).await?.bytes(limit).await?;
        if (bytes.len() as u64) < descriptor.size {
            return Err(Cause::Truncated { what });
        }
        verify(&what, &bytes, Some(&digest))?;
        Ok((what, bytes))
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("/v2/{}/{path}", self.name));
        url
    }

    /// Sends a request, and sends it again with credentials if the registry answers with a challenge.
    async fn request(&mut self, url: Url, headers: &[(HeaderName, String)]) -> Result<Response, Cause> {
        let response = self.get(url.clone(), headers).await?;
        // A challenge of another server, after a redirect, is not answered.
        if response.status() != 401 || !response.from_home || !matches!(self.current, Credential::None) {
            return response.error_for_status();
        }
        self.current = match (Challenge::parse(response.header(&WWW_AUTHENTICATE)), &self.configured) {
            (Some(Challenge::Bearer { realm, service, scope }), Credential::None | Credential::Basic(..)) => {
                self.token(&realm, service, scope).await?
            }
            (None, _) | (_, Credential::None) => return response.error_for_status(),
            (Some(_), configured) => configured.clone(),
        };
        self.get(url, headers).await?.error_for_status()
    }

    async fn get(&self, url: Url, headers: &[(HeaderName, String)]) -> Result<Response, Cause> {
        let request = Request { url, home: self.base, access: self.access, credential: &self.current, headers };
        self.http.get(request).await
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
        let scope = scope.unwrap_or_else(|| format!("repository:{}:pull", self.name));
        url.query_pairs_mut().extend_pairs(service.map(|service| ("service", service))).append_pair("scope", &scope);
        let access = if same_server(&url, self.base) { self.access.clone() } else { self.access.elsewhere() };
        let home = url.clone();
        let request = Request { url, home: &home, access: &access, credential: &self.configured, headers: &[] };
        let response = self.http.get(request).await?.error_for_status()?;
        let what = response.what().to_owned();
        let Token { token, access_token } = json(&what, &response.bytes(MAX_JSON).await?)?;
        let token = token.or(access_token).filter(|token| !token.is_empty());
        token.map(Credential::Bearer).ok_or(Cause::Malformed { what, reason: ResponseError::NoToken })
    }
}

/// Fails if bytes do not have the stated digest.
fn verify(what: &str, bytes: &[u8], stated: Option<&str>) -> Result<(), Cause> {
    let found = Digest::of(bytes);
    match stated.filter(|stated| *stated != found.as_str()) {
        Some(stated) => Err(Cause::DigestMismatch { what: what.to_owned(), stated: stated.to_owned(), found }),
        None => Ok(()),
    }
}

/// Parses JSON. The error has no text of it, which may contain a token.
fn json<T: for<'t> Deserialize<'t>>(what: &str, text: &[u8]) -> Result<T, Cause> {
    serde_json::from_slice(text)
        .map_err(|error| Cause::Malformed { what: what.to_owned(), reason: ResponseError::Json(error.line()) })
}

/// The target of a header such as `</v2/x/tags/list?last=y>; rel="next"`.
fn next_link(link: &str) -> Option<&str> {
    let (target, relation) = link.strip_prefix('<')?.split_once('>')?;
    relation.contains("next").then_some(target)
}
