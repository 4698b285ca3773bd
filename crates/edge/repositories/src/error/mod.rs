//! Errors of repositories and registries, and whether a retry can succeed.

mod reasons;

use std::time::Duration;

use fitout_helm_ranges as ranges;
use fitout_model::Digest;

use crate::Wanted;
use crate::address::redacted;

pub use reasons::{AccessError, AddressError, CatalogError, ChartError, IndexError, RedirectError, ResponseError};

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
        self.cause.retry_after()
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
    /// The archive does not exist.
    #[error("{what} does not exist; check the address")]
    NotFound {
        /// The requested resource.
        what: String,
    },
    /// The registry does not list its repositories.
    #[error("{host} does not list its repositories ({status}); list the charts by name")]
    NoCatalog {
        /// The registry.
        host: String,
        /// The status.
        status: u16,
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
    /// The content is not a catalog.
    #[error("{what} is not a catalog: {reason}; check the address")]
    NotACatalog {
        /// The requested resource.
        what: String,
        /// The reason.
        reason: CatalogError,
    },
    /// The archive to push is not a chart.
    #[error("the archive is not a chart that can be pushed: {0}; package it with `helm package`")]
    InvalidArchive(String),
    /// The registry refuses a push.
    #[error("the push to {what} is refused with {status}; {}", push_remedy(*.with_credentials))]
    PushRefused {
        /// The resource.
        what: String,
        /// 401 or 403.
        status: u16,
        /// Whether the request had credentials.
        with_credentials: bool,
    },
    /// The registry does not accept a push.
    #[error("the push to {what} failed with {status}{}; {}", shown_code(.code.as_ref()), failure_remedy(*.status))]
    PushFailed {
        /// The resource.
        what: String,
        /// The status.
        status: u16,
        /// The error code of the registry, such as `TAG_INVALID`.
        code: Option<String>,
    },
}

fn push_remedy(with_credentials: bool) -> &'static str {
    if with_credentials {
        "check the credentials and what they may write"
    } else {
        "give credentials that may write it"
    }
}

fn shown_code(code: Option<&String>) -> String {
    code.map(|code| format!(" ({code})")).unwrap_or_default()
}

fn failure_remedy(status: u16) -> &'static str {
    match status {
        404 | 405 => "check the address, and create the repository if the registry requires that",
        400 | 409 | 412 => "the tag may be immutable: push a new version",
        413 => "the registry limits the size of an archive",
        _ => "check the address",
    }
}

fn refused_remedy(with_credentials: bool) -> &'static str {
    if with_credentials { "check the credentials and what they may read" } else { "give credentials that may read it" }
}

impl Cause {
    /// Whether the same request may succeed later without any change by a user.
    pub fn passing(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Timeout { .. }
                | Self::RateLimited { .. }
                | Self::ServerError { .. }
                | Self::Truncated { .. }
        )
    }

    /// The delay that the server asks for before a retry, an hour at most.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::ServerError { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
