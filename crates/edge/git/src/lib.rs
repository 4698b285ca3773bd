//! Reads a folder of a git repository at a branch, a tag or a commit.
//!
//! The address is `https://…` or `http://…` (smart HTTP; the proxy of the environment is used) or `ssh://…` (with the
//! machine's `ssh` program). A server may be slow, broken or malicious:
//!
//! - Time, bytes on the wire, bytes on disk and memory have limits ([`Limits`]).
//! - Credentials are sent to the server of the address and to no other. A redirect from `https` to `http` is refused.
//! - Every object is identified by its hash, so a server cannot send other content for a known commit.
//! - Nothing of the user's is read: no git configuration, credential helper, hook, SSH configuration or agent, and no
//!   `GIT_…` variable. Symbolic links and submodules are skipped.
//!
//! A commit that was read stays what users see until the next one is proven to follow it. A branch that no longer contains
//! the commit that was read last, and a tag that moved, are errors ([`Cause::Rewritten`], [`Cause::TagMoved`]) until the
//! caller accepts the new commit.
//!
//! # Cost
//!
//! | what | requests over HTTP |
//! |---|---|
//! | an unchanged branch or tag | 2: the capabilities and one reference |
//! | an unchanged commit | 0 |
//! | the first read | 3; 4 with a path, where the server can filter |
//! | a branch with new commits | 1 or 2 more, for the commits since the known one |
//!
//! Only the newest commit is fetched, without history. With a path, a server that can filter (`uploadpack.allowFilter`; all
//! large hosts) sends the folders first and then only the files below the path. The check that a branch still contains the
//! known commit fetches what is between both: commits alone from a server that can filter, else also the files that changed.

mod address;
mod connection;
mod error;
mod guard;
mod history;
mod http;
mod incoming;
mod pack;
mod references;
mod session;
mod ssh;
mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fitout_repositories::{Access, Http};

pub use error::{AddressError, Cause, Error, ReferenceKind};

use address::Address;
use guard::Guard;
use session::Job;

/// A folder of a repository, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The address: `https://…`, `http://…` or `ssh://…`, without credentials.
    pub url: &'a str,
    /// The branch, tag or commit.
    pub reference: Reference<'a>,
    /// The folder, with `/` between its parts; none for the root.
    pub path: Option<&'a str>,
    /// The commit that was read last from this address and reference; none for a first read.
    pub known: Option<&'a str>,
    /// Whether a rewritten history or a moved tag is accepted.
    pub accept: bool,
}

/// A branch, a tag or a commit of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference<'a> {
    /// The default branch of the server.
    Default,
    /// A branch, by its name below `refs/heads/`.
    Branch(&'a str),
    /// A tag, by its name below `refs/tags/`.
    Tag(&'a str),
    /// A commit, with all of its digits.
    Commit(&'a str),
}

/// The answer to a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The reference still names the known commit.
    Unchanged,
    /// The reference names another commit.
    Read {
        /// The commit.
        commit: String,
        /// The files below the path, by their path from there.
        files: BTreeMap<String, Vec<u8>>,
    },
}

/// Credentials for a repository.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// For `https://` and `http://`. Of a user and a token, the token is sent.
    pub http: Access,
    /// For `ssh://`.
    pub ssh: Option<SshAccess>,
}

/// A key for `ssh://`, and the host keys to trust.
#[derive(Clone)]
pub struct SshAccess {
    /// The user on the server. Defaults to `git`.
    pub user: Option<String>,
    /// The private key, without a passphrase, as OpenSSH writes it.
    pub key: String,
    /// The host keys to trust, as in a `known_hosts` file. No other server is sent anything.
    pub known_hosts: String,
}

/// Prints the user, never the key.
impl fmt::Debug for SshAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SshAccess").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Limits on the size and duration of one read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a pack, the compressed form in which objects are sent. As many are written to disk.
    pub pack: u64,
    /// Bytes of any object in a pack, and of the table of its objects. Unpacking holds about three of that size in memory.
    pub object: usize,
    /// Bytes of the list of references.
    pub references: u64,
    /// Files below the path, and folders.
    pub files: usize,
    /// Bytes of a file below the path.
    pub file: usize,
    /// Bytes of all files below the path.
    pub total: usize,
    /// Timeout of a connection attempt.
    pub connect: Duration,
    /// Timeout between two reads.
    pub silence: Duration,
    /// Timeout of the whole.
    pub deadline: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pack: 200 << 20,
            object: 64 << 20,
            references: 16 << 20,
            files: 50_000,
            file: 20 << 20,
            total: 200 << 20,
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            deadline: Duration::from_mins(5),
        }
    }
}

/// Waits until there is room in memory for this many bytes.
pub type Admit = Arc<dyn Fn(usize) + Send + Sync>;

/// A client of git repositories, with its HTTP connections.
pub struct Client {
    http: Arc<Http>,
    limits: Limits,
    directory: PathBuf,
}

impl Default for Client {
    fn default() -> Self {
        Self::new(Limits::default(), std::env::temp_dir())
    }
}

impl Client {
    /// Creates a client with these limits, whose packs are in the directory while they are read. Each read has its own
    /// subdirectory, `fitout-git-…`, which it removes, also when it fails or is cancelled. A process that is killed leaves
    /// what it has received of one pack.
    pub fn new(limits: Limits, directory: PathBuf) -> Self {
        let http = fitout_repositories::Limits {
            connect: limits.connect,
            silence: limits.silence,
            answer: limits.deadline,
            ..fitout_repositories::Limits::default()
        };
        Self { http: Arc::new(Http::new(http)), limits, directory }
    }

    /// Reads a folder, unless the reference still names the known commit.
    ///
    /// Does not retry: [`Error::passing`] says whether a retry can succeed. The work is done on a thread for blocking work,
    /// which ends at the deadline, and at once when the returned future is dropped.
    pub async fn read(&self, request: &Request<'_>, credentials: &Credentials) -> Result<Answer, Error> {
        self.read_admitted(request, credentials, Arc::new(|_| ())).await
    }

    /// Reads as [`Client::read`] does, and calls a function once the server has sent all of it, before the files are
    /// unpacked into memory. The function gets the limit of their bytes, is called on a thread for blocking work, and may
    /// wait until there is room.
    pub async fn read_admitted(
        &self,
        request: &Request<'_>,
        credentials: &Credentials,
        admit: Admit,
    ) -> Result<Answer, Error> {
        self.try_read(request, credentials, admit).await.map_err(|cause| Error::new(request.url, cause))
    }

    async fn try_read(&self, request: &Request<'_>, credentials: &Credentials, admit: Admit) -> Result<Answer, Cause> {
        let address = Address::parse(request.url).map_err(Cause::Address)?;
        let reference = references::parse(request.reference)?;
        let known = request.known.map(references::parse_commit).transpose()?;
        let path = request.path.map(tree::parse_path).transpose()?.unwrap_or_default();
        if let references::Wanted::Commit(commit) = &reference
            && known == Some(*commit)
        {
            return Ok(Answer::Unchanged);
        }
        let job = Job {
            address,
            reference,
            path,
            known,
            accept: request.accept,
            credentials: credentials.clone(),
            http: Arc::clone(&self.http),
            limits: self.limits,
            directory: self.directory.clone(),
            admit,
        };
        let (guard, cancel) = Guard::new(self.limits.deadline);
        let mut work = tokio::task::spawn_blocking(move || session::run(&job, &guard));
        let result = tokio::select! {
            result = &mut work => result,
            () = tokio::time::sleep(self.limits.deadline) => {
                cancel.interrupt();
                work.await
            }
        };
        // A panic of the parser is an error like any other malformed answer.
        result.unwrap_or_else(|_| Err(Cause::Malformed("its parser failed".to_owned())))
    }
}
