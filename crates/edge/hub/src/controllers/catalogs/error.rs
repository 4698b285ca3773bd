//! The reasons why a source cannot be read.

use std::io;
use std::time::Duration;

use fitout_api::reasons;
use fitout_content::Error as ContentError;
use fitout_model::{ArchiveError, Problem, StatesProblem};
use fitout_repositories::Cause;

use crate::SYSTEM;

/// The reason why a source cannot be read. What was read before stays.
#[derive(Debug, thiserror::Error)]
pub(super) enum SourceError {
    #[error("a path on the hub's disk is only for catalogs in {SYSTEM}: ask the platform team to offer it there")]
    PathNotAllowed,
    #[error("no catalog named {name} is built in; the built-in catalogs are {known}")]
    NotBuiltIn { name: String, known: String },
    #[error("this kind of source is not supported by this version of the hub; upgrade the hub")]
    NotSupported,
    #[error("{path}: {error}")]
    Directory { path: String, error: io::Error },
    #[error("{field}: {error}")]
    Range { field: &'static str, error: fitout_helm_ranges::Error },
    #[error(transparent)]
    States(Problem),
    #[error("{0}")]
    Content(#[from] ContentError),
    #[error("the source was not read to its end: {0}")]
    Ended(String),
    #[error("{error}{}", secret_hint(.error, .secret))]
    Repository { error: Box<fitout_repositories::Error>, secret: String },
    #[error("{error}{}", git_hint(.error, .secret))]
    Git { error: Box<fitout_git::Error>, secret: String },
    #[error("{url}: {error}")]
    Archive { url: String, error: ArchiveError },
    #[error(
        "the source offers an older index (of {generated}) than the one that was read before (of {known}); if that is \
         right, accept it with `fitout catalog sync --accept {revision}`"
    )]
    OlderIndex { generated: String, known: String, revision: String },
}

impl From<StatesProblem> for SourceError {
    fn from(problem: StatesProblem) -> Self {
        Self::States(problem.into())
    }
}

impl SourceError {
    /// The reason of the condition `Synced`.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::PathNotAllowed | Self::NotBuiltIn { .. } | Self::NotSupported | Self::Range { .. } => {
                reasons::synced::INVALID_SPEC
            }
            Self::Repository { error, .. } if needs_credentials(error) => reasons::synced::UNAUTHORIZED,
            Self::Git { error, .. } if is_rewritten(error) => reasons::synced::INCONSISTENT,
            Self::Git { error, .. } if git_needs_credentials(error) => reasons::synced::UNAUTHORIZED,
            Self::OlderIndex { .. } => reasons::synced::INCONSISTENT,
            _ => reasons::synced::UNREACHABLE,
        }
    }

    /// Whether a retry may succeed before the next interval.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Directory { .. } | Self::Content(_) | Self::Ended(_) => true,
            Self::Repository { error, .. } => error.passing(),
            Self::Git { error, .. } => error.passing(),
            _ => false,
        }
    }

    /// The earliest time of the next attempt, if the source has stated one.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Repository { error, .. } => error.retry_after(),
            Self::Git { error, .. } => error.retry_after(),
            _ => None,
        }
    }
}

/// Whether the credentials may be the cause.
fn needs_credentials(error: &fitout_repositories::Error) -> bool {
    matches!(error.cause, Cause::Refused { .. } | Cause::Untrusted { .. } | Cause::Access(_))
}

fn is_rewritten(error: &fitout_git::Error) -> bool {
    matches!(error.cause, fitout_git::Cause::Rewritten { .. } | fitout_git::Cause::TagMoved { .. })
}

fn git_needs_credentials(error: &fitout_git::Error) -> bool {
    use fitout_git::Cause::{Http, KeyRefused, NoSshKey, UnknownHostKey};
    match &error.cause {
        Http(cause) => matches!(cause, Cause::Refused { .. } | Cause::Untrusted { .. } | Cause::Access(_)),
        cause => matches!(cause, NoSshKey | KeyRefused { .. } | UnknownHostKey { .. }),
    }
}

fn git_hint(error: &fitout_git::Error, secret: &str) -> String {
    match &error.cause {
        fitout_git::Cause::Rewritten { found, .. } | fitout_git::Cause::TagMoved { found, .. } => {
            format!("; accept it with `fitout catalog sync --accept {found}`")
        }
        _ if git_needs_credentials(error) => format!(": {secret}"),
        _ => String::new(),
    }
}

/// The Secret that has the credentials or should have them, where those may be the cause.
fn secret_hint(error: &fitout_repositories::Error, secret: &str) -> String {
    if needs_credentials(error) { format!(": {secret}") } else { String::new() }
}
