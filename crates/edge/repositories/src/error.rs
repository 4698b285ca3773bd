//! Errors of repositories and registries, and whether a retry can succeed.

use std::time::Duration;

use fitout_helm_ranges as ranges;
use fitout_model::Digest;

use crate::Wanted;
use crate::address::redacted;

/// The reason why a request fails, as one sentence without secrets.
#[derive(Debug, thiserror::Error)]
#[error("{subject}: {cause}")]
pub struct Error {
    /// The chart, the repository or the archive.
    subject: String,
    /// The cause.
    #[source]
    pub cause: Cause,
}

impl Error {
    /// An error about a chart.
    pub(crate) fn of_chart(wanted: &Wanted<'_>, cause: Cause) -> Self {
        let repository = redacted(wanted.repository);
        // The address of a registry may include the chart.
        let subject = match wanted.chart {
            "" => format!("chart {repository}"),
            chart => format!("chart {chart} of {repository}"),
        };
        Self { subject, cause }
    }

    /// An error about a repository, an archive or a push, at this address.
    pub(crate) fn of(what: &str, address: &str, cause: Cause) -> Self {
        Self { subject: format!("{what} {}", redacted(address)), cause }
    }

    /// Whether the same request may succeed later without any change by a user.
    pub fn passing(&self) -> bool {
        self.cause.passing()
    }

    /// The delay that the server asks for before a retry, an hour at most.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.cause {
            Cause::RateLimited { retry_after, .. } | Cause::ServerError { retry_after, .. } => retry_after,
            _ => None,
        }
    }
}

/// The cause of an error. Servers are named without user, password and query.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The address of the repository is invalid.
    #[error("the repository address {0}")]
    Address(AddressError),
    /// The credentials or certificates cannot be used.
    #[error("the credentials cannot be used: {0}; correct them")]
    Access(AccessError),
    /// No connection to the server.
    #[error("{host} cannot be reached: {reason}; check the address and the network")]
    Unreachable {
        /// The server.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The server sent nothing for too long.
    #[error("{host} did not answer in time; it may be overloaded")]
    Timeout {
        /// The server.
        host: String,
    },
    /// The TLS handshake failed.
    #[error("the TLS handshake with {host} failed: {reason}; check the authority and the client certificate")]
    Untrusted {
        /// The server.
        host: String,
        /// The TLS error.
        reason: String,
    },
    /// The server requires other credentials.
    #[error("{what} is refused with {status}; {}", refused_remedy(*.with_credentials))]
    Refused {
        /// The requested resource.
        what: String,
        /// 401 or 403.
        status: u16,
        /// Whether the request had credentials.
        with_credentials: bool,
    },
    /// Another server requires credentials, but the repository's credentials are not sent to it.
    #[error(
        "{what} is refused with {status} by {host}, to which the repository's credentials are not sent; have it served \
         by the repository itself, or without credentials"
    )]
    RefusedElsewhere {
        /// The requested resource.
        what: String,
        /// 401 or 403.
        status: u16,
        /// The server that refuses it.
        host: String,
    },
    /// The resource does not exist.
    #[error("{what} does not exist; check the names of the repository and the chart")]
    Missing {
        /// The requested resource.
        what: String,
    },
    /// The server limits the rate of requests.
    #[error("{host} returned 429 (too many requests); wait until its rate limit resets")]
    RateLimited {
        /// The server.
        host: String,
        /// The delay that it asks for.
        retry_after: Option<Duration>,
    },
    /// The server failed.
    #[error("{what} returned {status}, an error of the server")]
    ServerError {
        /// The requested resource.
        what: String,
        /// 5xx.
        status: u16,
        /// The delay that it asks for.
        retry_after: Option<Duration>,
    },
    /// Any other status.
    #[error("{what} returned {status}; check the address of the repository")]
    Unexpected {
        /// The requested resource.
        what: String,
        /// The status.
        status: u16,
    },
    /// The server answers that the resource has not changed, to a request that does not ask whether it has.
    #[error("{what} returned 304 (not modified) to an unconditional request; check the proxy before the server")]
    NotModified {
        /// The requested resource.
        what: String,
    },
    /// A redirect that is not followed.
    #[error("{what} is redirected {reason}; check the address of the repository")]
    Redirected {
        /// The requested resource.
        what: String,
        /// The reason why it is not followed.
        reason: RedirectError,
    },
    /// The connection was closed before the end of the response.
    #[error("{what} arrived only in part; the connection broke")]
    Truncated {
        /// The requested resource.
        what: String,
    },
    /// The response is larger than the limit.
    #[error("{what} is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The requested resource.
        what: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The response cannot be parsed.
    #[error("{what} is malformed: {reason}; check the address of the repository or tell its publisher")]
    Malformed {
        /// The requested resource.
        what: String,
        /// The reason.
        reason: ResponseError,
    },
    /// The index has no such chart.
    #[error("the repository has no chart of this name; check the name")]
    NoChart,
    /// No version matches the requested range.
    #[error("no version matches {wanted}; available versions: {offered}")]
    NoVersion {
        /// The requested version or range.
        wanted: String,
        /// The newest available versions.
        offered: String,
    },
    /// The requested version is invalid.
    #[error("{text:?} is neither a version nor a range: {reason}; correct it")]
    Range {
        /// The requested version.
        text: String,
        /// The reason.
        reason: ranges::Error,
    },
    /// The index has no URL for the version.
    #[error("the index has no URL for version {0}; tell its publisher")]
    NoArchive(String),
    /// The content does not have the digest that its publisher states.
    #[error("{what} has the digest {found}, but the repository states {stated}; do not use it, and tell its publisher")]
    DigestMismatch {
        /// The requested resource.
        what: String,
        /// The digest in the index, the manifest or the header.
        stated: String,
        /// The digest of the content.
        found: Digest,
    },
    /// The archive does not have the requested digest.
    #[error(
        "version {version} has the digest {found}, but {wanted} is required: the published chart has changed; find out \
         why, and require the new digest if that is right"
    )]
    Changed {
        /// The version.
        version: String,
        /// The required digest.
        wanted: Digest,
        /// The digest of the published archive.
        found: Digest,
    },
    /// The content is not a chart.
    #[error("{what} is not a chart: {reason}; check the names of the repository and the chart")]
    NotAChart {
        /// The requested resource.
        what: String,
        /// The reason.
        reason: ChartError,
    },
}

fn refused_remedy(with_credentials: bool) -> &'static str {
    if with_credentials { "check the credentials and what they may read" } else { "give credentials that may read it" }
}

impl Cause {
    /// Whether the same request may succeed later without any change by a user.
    pub(crate) fn passing(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Timeout { .. }
                | Self::RateLimited { .. }
                | Self::ServerError { .. }
                | Self::Truncated { .. }
        )
    }
}

/// The reason why a repository's address is invalid; the message continues "the repository address".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The scheme is missing or not supported.
    #[error("has no supported scheme; begin it with https://, http://, oci:// or oci+http://")]
    Scheme,
    /// The address is not a URL.
    #[error("is not a URL: {0}; correct it")]
    Url(<reqwest::Url as std::str::FromStr>::Err),
    /// The address cannot have paths below it.
    #[error("cannot have an index.yaml below it; correct it")]
    NoBase,
    /// The address is that of a registry.
    #[error("is that of a registry, which has no index; list its charts instead")]
    NoIndex,
    /// The address contains credentials.
    #[error("contains a user or a password; give them as credentials of the repository")]
    Credentials,
    /// The path and the chart are no valid name in a registry.
    #[error(
        "and the chart make the name {0:?}, which is invalid in a registry; use lower case, and give the version \
         separately"
    )]
    Name(String),
    /// The digest of the manifest is invalid.
    #[error("has a digest that is not a SHA-256; write it as sha256:…")]
    Digest,
}

/// The reason why credentials or certificates cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AccessError {
    /// A part is not PEM. The parser's message is left out, because it might contain part of a key.
    #[error("the {part} is not PEM")]
    NotPem {
        /// The authority, the client certificate or the client key.
        part: &'static str,
    },
    /// TLS rejects a part.
    #[error("the {part} is invalid: {error}")]
    Rejected {
        /// The authority or the client certificate.
        part: &'static str,
        /// The error of the TLS library.
        error: rustls::Error,
    },
    /// The TLS configuration cannot be built.
    #[error("{0}")]
    Tls(rustls::Error),
    /// The HTTP client cannot be built.
    #[error("{0}")]
    Client(String),
    /// Docker's configuration is not JSON.
    #[error("the Docker config is not JSON")]
    DockerJson,
    /// Docker's configuration has an identity token.
    #[error("the Docker config has an identity token for {0}, which is not supported; give a user and a password")]
    IdentityToken(String),
    /// Docker's configuration has an invalid `auth`.
    #[error("the Docker config has an auth for {0} that is not user:password in base64")]
    DockerAuth(String),
}

/// The reason why a redirect is not followed; the message continues "is redirected".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    /// The target is not HTTP.
    #[error("to a URL that is not HTTP")]
    NotHttp,
    /// The target has no TLS, unlike the source.
    #[error("from https to http")]
    Downgrade,
    /// The target is not a URL.
    #[error("to an invalid URL")]
    InvalidUrl,
    /// Too many redirects.
    #[error("more than {0} times")]
    TooMany(usize),
}

/// The reason why a response is malformed.
#[derive(Debug, thiserror::Error)]
pub enum ResponseError {
    /// The index cannot be parsed.
    #[error("{0}")]
    Index(IndexError),
    /// The task that parses the index failed.
    #[error("{0}")]
    Task(tokio::task::JoinError),
    /// A URL in the index is neither HTTP nor a registry's.
    #[error("its URL {0:?} is not supported")]
    Url(String),
    /// A registry's URL in the index has no version as its tag.
    #[error("its URL {0:?} has no version")]
    UrlWithoutVersion(String),
    /// A digest in the index is invalid.
    #[error("the digest {digest:?} of version {version} is not a SHA-256")]
    Digest {
        /// The version.
        version: String,
        /// The digest in the index.
        digest: String,
    },
    /// The list of tags has too many pages.
    #[error("it has more than {0} pages")]
    TooManyPages(usize),
    /// The version of a chart is invalid.
    #[error("its version {version:?} is invalid: {error}")]
    Version {
        /// The version.
        version: String,
        /// The reason.
        error: ranges::Error,
    },
    /// Not the expected JSON. The text is left out, because it may contain a token.
    #[error("it is not the expected JSON, at line {0}")]
    Json(usize),
    /// The registry's challenge has no valid URL of a token server.
    #[error("it names no valid token server")]
    TokenServer,
    /// A registry with TLS names a token server without TLS.
    #[error("it requires a token from a server without TLS")]
    InsecureTokenServer,
    /// The token server returned no token.
    #[error("it has no token")]
    NoToken,
    /// An error of the HTTP client.
    #[error("{0}")]
    Http(String),
}

/// The reason why an index cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Invalid gzip.
    #[error("{0}")]
    Gzip(String),
    /// Invalid YAML.
    #[error("{0}")]
    Yaml(fitout_go_yaml::Error),
    /// Not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The text ends within a value.
    #[error("it ends in the middle of a value")]
    Incomplete,
    /// Not a mapping.
    #[error("it is not a mapping")]
    NotAMapping,
    /// `apiVersion` is missing.
    #[error("it has no apiVersion")]
    NoApiVersion,
    /// `entries` is not a mapping.
    #[error("its entries are not a mapping")]
    Entries,
    /// A chart is listed twice.
    #[error("it lists the chart {0} twice")]
    DuplicateChart(String),
    /// The charts have too many versions.
    #[error("its charts have more than {0} versions")]
    TooManyVersions(usize),
    /// The versions of a chart are not a list.
    #[error("the versions of {0} are not a list")]
    Versions(String),
}

/// The reason why content is not a chart.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The manifest is not an OCI image manifest.
    #[error("its manifest is invalid: {0}")]
    Manifest(serde_json::Error),
    /// The manifest's config is not Helm's.
    #[error("its manifest is not a chart's")]
    Config,
    /// The manifest has no layer with a chart archive.
    #[error("its manifest has no archive")]
    NoArchive,
    /// A digest in the manifest is invalid.
    #[error("its manifest has the digest {0:?}, which is not a SHA-256")]
    Digest(String),
    /// The archive is not gzipped.
    #[error("it is not a gzip archive")]
    NotGzip,
}
