//! Errors of reading a repository, and whether a retry can succeed.

use std::io;
use std::time::Duration;

use fitout_repositories::redacted;

/// The reason why a repository cannot be read, as one sentence without secrets.
#[derive(Debug, thiserror::Error)]
#[error("git repository {repository}: {cause}")]
pub struct Error {
    /// The address of the repository, without secrets.
    repository: String,
    /// The cause.
    #[source]
    pub cause: Cause,
}

impl Error {
    pub(crate) fn new(url: &str, cause: Cause) -> Self {
        Self { repository: redacted(url), cause }
    }

    /// Whether the same request may succeed later without any change by a user.
    pub fn passing(&self) -> bool {
        self.cause.passing()
    }

    /// The delay that the server asks for before a retry, an hour at most.
    pub fn retry_after(&self) -> Option<Duration> {
        match &self.cause {
            Cause::Http(cause) => cause.retry_after(),
            _ => None,
        }
    }
}

/// The cause of an error.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The address is invalid.
    #[error("the address {0}")]
    Address(AddressError),
    /// The name of the branch or tag, or the commit, is invalid.
    #[error("{0:?} is no {1}; correct it")]
    InvalidReference(String, ReferenceKind),
    /// The path is invalid.
    #[error("the path {0:?} is invalid; give a folder below the root, such as charts/web")]
    InvalidPath(String),
    /// The server cannot be reached, is not trusted, refuses the request or fails.
    #[error("{0}")]
    Http(fitout_repositories::Cause),
    /// The URL exists and is no repository, or does not exist.
    #[error("{what} is not a git repository; check the address, and that the credentials may read it")]
    NotARepository {
        /// The requested resource.
        what: String,
    },
    /// The server cannot be reached over SSH.
    #[error("{host} cannot be reached: {reason}; check the address and the network")]
    Unreachable {
        /// The server.
        host: String,
        /// The message of `ssh`.
        reason: String,
    },
    /// An address with `ssh://`, and no key.
    #[error("the address requires SSH, but there is no key; give a private key and the known hosts")]
    NoSshKey,
    /// The machine has no `ssh` program.
    #[error("no ssh program is installed here, which ssh:// requires; use https://, or install OpenSSH's client")]
    NoSshProgram,
    /// The server refuses the key.
    #[error("{host} refuses the key of user {user}; check the user and the key, and what it may read")]
    KeyRefused {
        /// The server.
        host: String,
        /// The user.
        user: String,
    },
    /// The server has another host key than the known one, or none is known.
    #[error("the host key of {host} is not among the known hosts; make sure that it is right, and add it to them")]
    UnknownHostKey {
        /// The server.
        host: String,
    },
    /// The `ssh` program failed for another reason.
    #[error("ssh to {host} failed: {reason}")]
    Ssh {
        /// The server.
        host: String,
        /// The message of `ssh`.
        reason: String,
    },
    /// The server sent nothing for too long.
    #[error("{host} sent nothing for {} s; it may be overloaded", .limit.as_secs())]
    Silent {
        /// The server.
        host: String,
        /// The longest silence that is allowed.
        limit: Duration,
    },
    /// Reading took longer than the limit.
    #[error("it was not read within {} s, which is the limit; the server is slow or sends too much", .0.as_secs())]
    Deadline(Duration),
    /// The server closed the connection within its answer.
    #[error("the answer arrived only in part; the connection broke")]
    Truncated,
    /// The server reports an error.
    #[error("the server reports {0:?}; check the address, and that the credentials may read it")]
    Reported(String),
    /// The server's answer cannot be understood.
    #[error("the answer of the server is malformed: {0}; check the address, or ask the operator of the server")]
    Malformed(String),
    /// The repository has no commit.
    #[error("it has no commit yet; push one")]
    Empty,
    /// The branch, the tag or the commit does not exist.
    #[error("{kind} {name} does not exist; {}", remedy(*.kind, .existing))]
    Unknown {
        /// Branch, tag or commit.
        kind: ReferenceKind,
        /// The name.
        name: String,
        /// At most five that exist, the nearest first.
        existing: Vec<String>,
    },
    /// The branch or the tag names another object than a commit.
    #[error("{0} is not a commit; name a branch or a tag of a commit")]
    NotACommit(String),
    /// The branch does not contain the commit that was read last.
    #[error(
        "the history was rewritten: {branch} is at {found}, which does not contain {known}, the commit that was read \
         last; {known} stays in use until the revision {found} is accepted"
    )]
    Rewritten {
        /// The branch.
        branch: String,
        /// The commit that was read last.
        known: String,
        /// The commit that the branch is at.
        found: String,
    },
    /// The tag names another commit than the one that was read last.
    #[error(
        "tag {tag} was moved from {known}, the commit that was read last, to {found}; {known} stays in use until the \
         revision {found} is accepted"
    )]
    TagMoved {
        /// The tag.
        tag: String,
        /// The commit that was read last.
        known: String,
        /// The commit that the tag names now.
        found: String,
    },
    /// The path does not exist in the commit, or is no folder.
    #[error("commit {commit} has no folder {path}; correct the path")]
    PathMissing {
        /// The path.
        path: String,
        /// The commit.
        commit: String,
    },
    /// A name that no file system should be given.
    #[error("it has a file with the name {0:?}; rename it")]
    FileName(String),
    /// A limit is exceeded.
    #[error("{what} is over the limit of {limit}{unit}; {remedy}")]
    TooLarge {
        /// The part that is too large.
        what: String,
        /// The limit.
        limit: u64,
        /// The unit of the limit, such as ` bytes`; empty for a number of files.
        unit: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// The directory for temporary files cannot be used.
    #[error("temporary files cannot be written: {0}; check the space and the permissions")]
    Disk(io::Error),
}

/// A kind of reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// A branch.
    Branch,
    /// A tag.
    Tag,
    /// A commit.
    Commit,
}

impl std::fmt::Display for ReferenceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Branch => "branch",
            Self::Tag => "tag",
            Self::Commit => "commit",
        })
    }
}

fn remedy(kind: ReferenceKind, names: &[String]) -> String {
    match (kind, names) {
        (ReferenceKind::Commit, _) => "make sure that it is pushed".to_owned(),
        (ReferenceKind::Branch, []) => "the repository has no branch".to_owned(),
        (ReferenceKind::Tag, []) => "the repository has no tag".to_owned(),
        (ReferenceKind::Branch | ReferenceKind::Tag, names) => format!("correct it; there is {}", names.join(", ")),
    }
}

impl Cause {
    /// Whether the same request may succeed later without any change by a user.
    pub fn passing(&self) -> bool {
        match self {
            Self::Http(cause) => cause.passing(),
            Self::Unreachable { .. }
            | Self::Silent { .. }
            | Self::Deadline(_)
            | Self::Truncated
            | Self::Ssh { .. }
            | Self::Disk(_) => true,
            _ => false,
        }
    }
}

/// The reason why a repository's address is invalid; the message continues "the address".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The scheme is missing or not supported.
    #[error("has no supported scheme; begin it with https://, http:// or ssh://")]
    Scheme,
    /// The address is not a URL.
    #[error("is not a URL: {0}; correct it")]
    Url(<reqwest::Url as std::str::FromStr>::Err),
    /// The address contains credentials.
    #[error("contains a user or a password; give them as credentials of the repository")]
    Credentials,
    /// The host or the path could be taken for something else by `ssh` or the server's shell.
    #[error("has an invalid host or path; correct it")]
    Invalid,
}
