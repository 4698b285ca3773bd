//! Why there is no chart, and whether to try again.

use std::time::Duration;

use fitout_model::Digest;

use crate::Wanted;
use crate::address::shown;

/// Why a chart could not be had: one sentence, without anything secret.
#[derive(Debug, thiserror::Error)]
#[error("{subject}: {cause}")]
pub struct Error {
    /// Which chart of which repository.
    subject: String,
    /// What happened.
    #[source]
    pub cause: Cause,
}

impl Error {
    pub(crate) fn new(wanted: &Wanted<'_>, cause: Cause) -> Self {
        let repository = shown(wanted.repository);
        // In a registry, the repository may be the chart.
        let subject = match wanted.chart {
            "" => format!("chart {repository}"),
            chart => format!("chart {chart} of {repository}"),
        };
        Self { subject, cause }
    }

    /// Whether the same may succeed later, with nobody changing anything.
    pub fn passing(&self) -> bool {
        self.cause.passing()
    }

    /// How long the server asks to be left alone, an hour at most.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.cause {
            Cause::Busy { retry_after, .. } | Cause::Failed { retry_after, .. } => retry_after,
            _ => None,
        }
    }
}

/// What happened. Servers are named without user, password and query.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The repository's address is none.
    #[error("the address of the repository {0}")]
    Address(String),
    /// What is to be shown to the server cannot be read.
    #[error("the access cannot be used: {0}; correct it")]
    Access(String),
    /// Nobody is there.
    #[error("{host} cannot be reached: {why}; check the address and the network")]
    Unreachable {
        /// Who.
        host: String,
        /// Why.
        why: String,
    },
    /// Nothing came for too long.
    #[error("{host} did not answer in time; it may be overloaded")]
    Silent {
        /// Who.
        host: String,
    },
    /// TLS did not come about.
    #[error(
        "{host} and we do not trust each other: {why}; check the authority and the client certificate of the access"
    )]
    Untrusted {
        /// Who.
        host: String,
        /// Why.
        why: String,
    },
    /// The server wants other credentials.
    #[error("{what} is refused with {status}; {}", if *.shown { "check the credentials and what they may read" } else { "give credentials that may read it" })]
    Refused {
        /// What was asked for.
        what: String,
        /// 401 or 403.
        status: u16,
        /// Whether the server was shown any credentials.
        shown: bool,
    },
    /// Another server wants credentials, which are not for it.
    #[error(
        "{what} is refused with {status} by {host}, to which the repository's credentials are not shown; have it served \
         by the repository itself, or without credentials"
    )]
    Elsewhere {
        /// What was asked for.
        what: String,
        /// 401 or 403.
        status: u16,
        /// Who refuses it.
        host: String,
    },
    /// It is not there.
    #[error("{what} is not there; check the names of the repository and the chart")]
    Missing {
        /// What was asked for.
        what: String,
    },
    /// The server wants to be left alone.
    #[error("{host} has been asked too often; it wants to be left alone for a while")]
    Busy {
        /// Who.
        host: String,
        /// For how long.
        retry_after: Option<Duration>,
    },
    /// The server has trouble of its own.
    #[error("{what} is answered with {status}; the server has a problem of its own")]
    Failed {
        /// What was asked for.
        what: String,
        /// 5xx.
        status: u16,
        /// For how long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// An answer that is none.
    #[error("{what} is answered with {status}; check the address of the repository")]
    Unexpected {
        /// What was asked for.
        what: String,
        /// The status.
        status: u16,
    },
    /// The server sends us elsewhere, and we do not go.
    #[error("{what} is redirected {why}; check the address of the repository")]
    Redirected {
        /// What was asked for.
        what: String,
        /// Where to.
        why: String,
    },
    /// The answer ended before its end.
    #[error("{what} arrived only in part; the connection broke")]
    Truncated {
        /// What was asked for.
        what: String,
    },
    /// It is too large.
    #[error("{what} has more than {limit} bytes; a repository this large is not read")]
    TooLarge {
        /// What was asked for.
        what: String,
        /// How many there may be.
        limit: u64,
    },
    /// What came cannot be understood.
    #[error("{what} cannot be understood: {why}; check the address of the repository or tell its publisher")]
    Malformed {
        /// What was asked for.
        what: String,
        /// Why.
        why: String,
    },
    /// There is no such chart.
    #[error("the repository has no chart of this name; check the name")]
    NoChart,
    /// There is no such version.
    #[error("no version fits {wanted}: there are {offered}; ask for one of them")]
    NoVersion {
        /// What was wanted.
        wanted: String,
        /// What there is.
        offered: String,
    },
    /// The version wanted is none.
    #[error("{text:?} is no version and no range: {why}; correct it")]
    Range {
        /// What was wanted.
        text: String,
        /// Why it is none.
        why: String,
    },
    /// The index names no archive.
    #[error("the index has no address for version {0}; tell its publisher")]
    NoArchive(String),
    /// The archive is not what its publisher says it is.
    #[error("{what} has the digest {found}, and the repository says {said}; do not use it, and tell its publisher")]
    Lying {
        /// What was fetched.
        what: String,
        /// What the repository says.
        said: String,
        /// What it is.
        found: Digest,
    },
    /// The archive is another than the one that is wanted.
    #[error(
        "version {version} has the digest {found}, and {wanted} is wanted: what was published has changed; find out why, \
         and ask for the new digest if that is right"
    )]
    Changed {
        /// The version.
        version: String,
        /// What is wanted.
        wanted: Digest,
        /// What is published.
        found: Digest,
    },
    /// What is there is no chart.
    #[error("{what} is no chart: {why}; check the names of the repository and the chart")]
    NotAChart {
        /// What was fetched.
        what: String,
        /// Why.
        why: String,
    },
}

impl Cause {
    /// Whether the same may succeed later, with nobody changing anything.
    pub(crate) fn passing(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Silent { .. }
                | Self::Busy { .. }
                | Self::Failed { .. }
                | Self::Truncated { .. }
        )
    }
}
