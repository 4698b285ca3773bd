//! A connection to a repository: its capabilities, its references and its packs.

use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use gix_error::ErrorExt;
use gix_hash::ObjectId;
use gix_protocol::fetch::{Arguments, Response};
use gix_protocol::handshake::Ref;
use gix_protocol::ls_refs::RefPrefixes;
use gix_protocol::{Command, Handshake, LsRefsCommand};
use gix_transport::client::blocking_io::http::Transport as HttpTransport;
use gix_transport::client::blocking_io::{ExtendedBufRead, Transport, TransportV2Ext};
use gix_transport::packetline::read::Error as ReportedError;
use gix_transport::{Protocol, Service};
use gix_utils::progress::Discard;

use crate::Cause;
use crate::address::Address;
use crate::guard::Guard;
use crate::pack::Pack;
use crate::session::Job;
use crate::{http, ssh};

const AGENT: &str = concat!("git/fitout-", env!("CARGO_PKG_VERSION"));

const SMALLER_REPOSITORY: &str = "publish the folder in a smaller repository, or as an archive";

/// A connection to a repository.
pub(crate) struct Connection<'a> {
    job: &'a Job,
    guard: &'a Guard,
    directory: &'a Path,
    transport: Box<dyn Transport>,
    handshake: Handshake,
    /// Whether it can fetch no more: a server without protocol 2 closes the connection after a pack.
    is_spent: bool,
}

/// A request for objects.
#[derive(Clone, Copy)]
pub(crate) struct Fetch<'a> {
    /// The objects.
    pub(crate) wants: &'a [ObjectId],
    /// A commit that the objects are to follow; it and what it contains is not sent.
    pub(crate) have: Option<ObjectId>,
    /// Whether commits come without their parents.
    pub(crate) is_shallow: bool,
    /// The objects to leave out, where the server can.
    pub(crate) filter: Option<&'static str>,
}

impl<'a> Connection<'a> {
    /// Connects, and reads the capabilities of the server; before protocol 2 also all references.
    pub(crate) fn open(job: &'a Job, guard: &'a Guard, directory: &'a Path) -> Result<Self, Cause> {
        let (transport, handshake) = connect(job, guard, directory)?;
        Ok(Self { job, guard, directory, transport, handshake, is_spent: false })
    }

    /// Whether the server can leave out objects.
    pub(crate) fn can_filter(&self) -> bool {
        match self.handshake.server_protocol_version {
            Protocol::V2 => self.supports("fetch", "filter"),
            _ => self.handshake.capabilities.contains("filter"),
        }
    }

    /// Whether a tag's commit can be fetched by itself. Before protocol 2, only what a reference names can.
    pub(crate) fn can_want_any(&self) -> bool {
        self.handshake.server_protocol_version == Protocol::V2
    }

    fn supports(&self, command: &str, feature: &str) -> bool {
        let found = self.handshake.capabilities.capability(command);
        found.and_then(|found| found.supports(feature)).unwrap_or_default()
    }

    /// The references whose names begin so. Others may be among them.
    pub(crate) fn references(&mut self, prefixes: &[String]) -> Result<Vec<Ref>, Cause> {
        if let Some(references) = &self.handshake.refs {
            return Ok(references.clone());
        }
        self.allow_references();
        let mut wanted = RefPrefixes::new();
        wanted.extend(prefixes.iter().map(|prefix| prefix.as_str().into()));
        let command = LsRefsCommand::new(Some(wanted), &self.handshake.capabilities, agent());
        let listed = command.invoke_blocking(&mut self.transport, &mut Discard, false);
        listed.map_err(|error| cause(self.guard, &error))
    }

    /// Fetches objects. None if the server does not know the commit that they are to follow.
    pub(crate) fn fetch(&mut self, fetch: Fetch<'_>) -> Result<Option<Pack>, Cause> {
        if self.is_spent {
            (self.transport, self.handshake) = connect(self.job, self.guard, self.directory)?;
        }
        let version = self.handshake.server_protocol_version;
        self.is_spent = version != Protocol::V2 && self.transport.connection_persists_across_multiple_requests();
        self.guard.allow("its pack", self.job.limits.pack, SMALLER_REPOSITORY);
        let fetched = if version == Protocol::V2 { self.fetch_v2(fetch) } else { self.fetch_v1(fetch) };
        fetched.map_err(|error| cause(self.guard, &error))
    }

    fn fetch_v2(&mut self, fetch: Fetch<'_>) -> gix_error::Result<Option<Pack>> {
        let capabilities = &self.handshake.capabilities;
        let mut features = Command::Fetch.default_features(Protocol::V2, capabilities);
        features.retain(|(_, value)| value.is_some());
        features.push(agent());
        let hash = self.hash();
        let filter = fetch.filter.filter(|_| self.can_filter());
        // Without "thin-pack": nothing is here that a pack could refer to.
        let mut arguments = vec!["no-progress".to_owned(), "ofs-delta".to_owned()];
        arguments.extend(filter.map(|filter| format!("filter {filter}")));
        arguments.extend(fetch.is_shallow.then(|| "deepen 1".to_owned()));
        arguments.extend(fetch.wants.iter().map(|want| format!("want {want}")));
        arguments.extend(fetch.have.map(|have| format!("have {have}")));
        let mut is_done = fetch.have.is_none();
        loop {
            let lines = arguments.iter().cloned().chain(is_done.then(|| "done".to_owned()));
            let (features, lines) = (features.iter().cloned(), lines.map(Into::into));
            let mut reader = self.transport.invoke(Command::Fetch.as_str(), features, Some(lines), false)?;
            check_error(&mut reader, self.guard)?;
            let response = Response::from_line_reader(Protocol::V2, &mut reader, is_done, !is_done)?;
            if response.has_pack() {
                return receive(reader, self.job, self.guard, self.directory, hash).map(Some);
            }
            if is_done || response.acknowledgements().iter().all(|ack| ack.id().is_none()) {
                return Ok(None);
            }
            // The server knows the commit, and does not say that the wanted ones follow it. The pack shows it.
            is_done = true;
        }
    }

    fn fetch_v1(&mut self, fetch: Fetch<'_>) -> gix_error::Result<Option<Pack>> {
        let used =
            ["multi_ack_detailed", "side-band", "side-band-64k", "ofs-delta", "shallow", "filter", "no-progress"];
        let version = self.handshake.server_protocol_version;
        let mut features = Command::Fetch.default_features(version, &self.handshake.capabilities);
        features.retain(|(name, _)| used.contains(name));
        Response::check_required_features(version, &features)?;
        features.push(agent());
        let hash = self.hash();
        let mut arguments = Arguments::new(version, features, false);
        fetch.wants.iter().for_each(|want| arguments.want(want));
        if let Some(filter) = fetch.filter.filter(|_| arguments.can_use_filter()) {
            arguments.filter(filter);
        }
        if fetch.is_shallow && arguments.can_use_shallow() {
            arguments.deepen(1);
        }
        let is_stateless = !self.transport.connection_persists_across_multiple_requests();
        let mut is_done = fetch.have.is_none();
        let mut is_sent = false;
        loop {
            if let Some(have) = fetch.have.filter(|_| is_stateless || !is_sent) {
                arguments.have(have);
            }
            is_sent = true;
            let mut reader = arguments.send(&mut self.transport, is_done)?;
            check_error(&mut reader, self.guard)?;
            let response = Response::from_line_reader(version, &mut reader, is_done, !is_done)?;
            if response.has_pack() {
                return receive(reader, self.job, self.guard, self.directory, hash).map(Some);
            }
            if is_done || response.acknowledgements().iter().all(|ack| ack.id().is_none()) {
                return Ok(None);
            }
            is_done = true;
        }
    }

    /// The hash function of the repository.
    fn hash(&self) -> gix_hash::Kind {
        let format = self.handshake.capabilities.capability("object-format");
        let is_sha256 = format.is_some_and(|format| format.value().is_some_and(|value| value == "sha256"));
        if is_sha256 { gix_hash::Kind::Sha256 } else { gix_hash::Kind::Sha1 }
    }

    fn allow_references(&self) {
        allow_references(self.job, self.guard);
    }
}

fn allow_references(job: &Job, guard: &Guard) {
    guard.allow("the list of its references", job.limits.references, "delete old branches and tags");
}

fn connect(job: &Job, guard: &Guard, directory: &Path) -> Result<(Box<dyn Transport>, Handshake), Cause> {
    allow_references(job, guard);
    let mut transport: Box<dyn Transport> = match &job.address {
        Address::Http(url) => {
            let client = http::Client::new(Arc::clone(&job.http), job.credentials.http.clone(), guard.clone());
            let url = gix_url::parse(url.as_str()).map_err(|error| cause(guard, &error))?;
            Box::new(HttpTransport::new_http(client, url, Protocol::V2, false))
        }
        Address::Ssh(address) => {
            let access = job.credentials.ssh.as_ref();
            Box::new(ssh::connect(address, access, directory, guard, &job.limits)?)
        }
    };
    // Credentials are sent without being asked for, so that nobody has to be asked for them.
    let authenticate = |_| Ok(None);
    let handshake =
        gix_protocol::handshake(&mut transport, Service::UploadPack, authenticate, Vec::new(), &mut Discard);
    let handshake = handshake.map_err(|error| cause(guard, &error))?;
    Ok((transport, handshake))
}

fn agent() -> gix_protocol::command::Feature {
    ("agent", Some(AGENT.to_owned()))
}

/// Fails if the answer is an error of the server. gix finds these over SSH, and not over HTTP.
fn check_error<'r>(reader: &mut (impl ExtendedBufRead<'r> + ?Sized), guard: &Guard) -> gix_error::Result<()> {
    let message = match reader.peek_data_line() {
        Some(Ok(Ok(line))) => line.strip_prefix(b"ERR ").map(|message| String::from_utf8_lossy(message).into_owned()),
        Some(Err(error)) => match error.get_ref().and_then(|inner| inner.downcast_ref::<ReportedError>()) {
            Some(reported) => Some(reported.message.to_string()),
            None => return Err(error.raise()),
        },
        _ => None,
    };
    let Some(message) = message else { return Ok(()) };
    Err(guard.fail(Cause::Reported(ssh::plain(&message))).raise())
}

/// Receives a pack up to its end, so that the connection can be used again.
fn receive<'r>(
    mut reader: Box<dyn ExtendedBufRead<'r> + Unpin + 'r>,
    job: &Job,
    guard: &'r Guard,
    directory: &Path,
    hash: gix_hash::Kind,
) -> gix_error::Result<Pack> {
    // Separates the pack from messages, of which only errors are of interest.
    reader.set_progress_handler(Some(Box::new(|is_error, message| {
        if is_error {
            guard.fail(Cause::Reported(ssh::plain(&String::from_utf8_lossy(message))));
        }
        ControlFlow::Continue(())
    })));
    let pack = Pack::receive(&mut reader, directory, guard, &job.limits, hash)?;
    loop {
        let rest = reader.fill_buf().map_err(ErrorExt::raise)?.len();
        if rest == 0 {
            return Ok(pack);
        }
        reader.consume(rest);
    }
}

/// The cause of a failure: the recorded one, or what the error shows.
pub(crate) fn cause(guard: &Guard, error: &gix_error::Error) -> Cause {
    // Records the deadline, where nothing else is.
    let _ = guard.check();
    if let Some(cause) = guard.failure() {
        return cause;
    }
    if let Some(reported) = error.downcast_any_ref::<ReportedError>() {
        return Cause::Reported(ssh::plain(&reported.message.to_string()));
    }
    let kind = |kind| move |error: &std::io::Error| error.kind() == kind;
    let io = error.downcast_any_ref::<std::io::Error>();
    if io.is_some_and(kind(std::io::ErrorKind::UnexpectedEof)) {
        return Cause::Truncated;
    }
    // The last is the root, without the steps that led to it.
    let root = error.iter_errors().last().map(ToString::to_string).unwrap_or_default();
    Cause::Malformed(ssh::plain(root.trim_end_matches('.')))
}
