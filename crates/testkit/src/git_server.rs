//! A git server: Debian's git behind HTTP, and behind SSH where OpenSSH's server is installed.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustls::ServerConfig;

use crate::http_server::{Reply, Request, Server, reply};
use crate::sandbox::environment;
use crate::{Process, Sandbox};

/// Debian's server for SSH, which has to be started by its full path.
const SSHD: &str = "/usr/sbin/sshd";

/// The directory that `sshd` requires of its user root.
const SSHD_DIRECTORY: &str = "/run/sshd";

/// The reason why no git server can run here; none if one can.
pub fn no_git() -> Option<&'static str> {
    let found = Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success());
    (!found).then_some("git is not installed")
}

/// The reason why no SSH server can run here; none if one can.
pub fn no_sshd() -> Option<&'static str> {
    (!Path::new(SSHD).exists()).then_some("OpenSSH's server is not installed")
}

/// Answers a request as git does.
pub type Git<'a> = &'a dyn Fn(&Request) -> Reply;

/// A git server on a loopback address, with repositories that are created by a push.
#[derive(Debug)]
pub struct GitServer {
    http: Server,
    sandbox: Sandbox,
}

impl GitServer {
    /// Starts a server that answers as git does.
    pub fn start() -> Result<Self> {
        Self::start_with(None, |request, git| git(request))
    }

    /// Starts a server, with or without TLS, whose answers the test decides.
    pub fn start_with(
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&Request, Git<'_>) -> Reply + Send + Sync + 'static,
    ) -> Result<Self> {
        let sandbox = Sandbox::claim()?;
        fs::create_dir_all(sandbox.dir().join("repositories"))?;
        let home = sandbox.dir().to_owned();
        let git =
            move |request: &Request| serve(&home, request).unwrap_or_else(|error| reply(500, &[], error.to_string()));
        let http = Server::serve(tls, move |request| answer(request, &git));
        Ok(Self { http, sandbox })
    }

    /// The HTTP server, with the requests that it received.
    pub fn http(&self) -> &Server {
        &self.http
    }

    /// The address of a repository over HTTP.
    pub fn url(&self, repository: &str) -> String {
        format!("{}/{repository}", self.http.url)
    }

    /// A directory that is removed with the server.
    pub fn dir(&self) -> &Path {
        self.sandbox.dir()
    }

    /// Creates an empty repository, and a working copy of it.
    pub fn create(&self, repository: &str) -> Result<WorkingCopy> {
        let (home, bare) = (self.sandbox.dir().to_owned(), self.bare(repository));
        let dir = home.join("copies").join(repository);
        fs::create_dir_all(&dir)?;
        let copy = WorkingCopy { home, dir };
        let bare = bare.to_string_lossy();
        copy.git(&["init", "--quiet", "--bare", "--initial-branch=main", &bare])?;
        copy.git(&["-C", &bare, "config", "http.receivepack", "true"])?;
        copy.git(&["init", "--quiet", "--initial-branch=main"])?;
        copy.git(&["remote", "add", "origin", &bare])?;
        Ok(copy)
    }

    /// Sets an option of a repository on the server.
    pub fn configure(&self, repository: &str, option: &str, value: &str) -> Result<()> {
        let bare = self.bare(repository);
        git(self.dir(), &bare, &["config", option, value]).map(drop)
    }

    fn bare(&self, repository: &str) -> PathBuf {
        self.sandbox.dir().join("repositories").join(repository)
    }

    /// Starts an SSH server for the same repositories. It accepts one key, and the variables of the client's environment
    /// that are named, such as `GIT_PROTOCOL`.
    pub fn start_ssh(&self, accepted_variables: &str) -> Result<SshServer> {
        let address = self.sandbox.address_block().loopback().to_string();
        let port = std::net::TcpListener::bind((address.as_str(), 0))?.local_addr()?.port();
        let name = format!("sshd-{port}");
        let path = |file: &str| self.sandbox.path(&format!("{name}/{file}"));
        fs::create_dir_all(path(""))?;
        for file in ["host", "client"] {
            let args = ["-q", "-t", "ed25519", "-N", "", "-f", &path(file)].map(str::to_owned);
            run(Command::new("ssh-keygen").args(args).env_clear().envs(environment(self.dir())), b"")?;
        }
        fs::copy(path("client.pub"), path("authorized_keys"))?;
        let accepted =
            if accepted_variables.is_empty() { String::new() } else { format!("AcceptEnv {accepted_variables}\n") };
        let config = format!(
            "ListenAddress {address}:{port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n{accepted}",
            path("host"),
            path("authorized_keys"),
        );
        fs::write(path("config"), config)?;
        if rustix::process::geteuid().is_root() {
            fs::DirBuilder::new().recursive(true).mode(0o755).create(SSHD_DIRECTORY)?;
        }
        let command = [SSHD, "-D", "-e", "-f", &path("config")].map(str::to_owned);
        let mut process = Process::start(&self.sandbox, &name, &command)?;
        process.until_ready(Duration::from_secs(20), || {
            std::net::TcpStream::connect((address.as_str(), port)).map(drop).map_err(Into::into)
        })?;
        let host_key = fs::read_to_string(path("host.pub"))?;
        let host_key = host_key.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let user = run(Command::new("id").arg("-un"), b"")?;
        Ok(SshServer {
            user: String::from_utf8(user)?.trim().to_owned(),
            key: fs::read_to_string(path("client"))?,
            known_hosts: format!("[{address}]:{port} {host_key}\n"),
            url: format!("ssh://{address}:{port}{}/repositories", self.dir().display()),
            process,
        })
    }
}

/// A running SSH server.
#[derive(Debug)]
pub struct SshServer {
    /// The user that it accepts.
    pub user: String,
    /// The private key that it accepts.
    pub key: String,
    /// Its host key, as a line of `known_hosts`.
    pub known_hosts: String,
    /// The address of the folder of its repositories.
    pub url: String,
    /// The server's process.
    pub process: Process,
}

/// A working copy of a repository of a [`GitServer`].
#[derive(Clone, Debug)]
pub struct WorkingCopy {
    home: PathBuf,
    dir: PathBuf,
}

impl WorkingCopy {
    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Runs git in it, without the user's configuration, and returns its output.
    pub fn git(&self, args: &[&str]) -> Result<String> {
        git(&self.home, &self.dir, args)
    }

    /// Writes files and commits all changes. Returns the commit.
    pub fn commit(&self, files: &[(&str, &str)]) -> Result<String> {
        for (name, content) in files {
            let path = self.dir.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, content)?;
        }
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--allow-empty", "--message=a change"])?;
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits, and pushes the branch.
    pub fn push(&self, files: &[(&str, &str)]) -> Result<String> {
        let commit = self.commit(files)?;
        self.git(&["push", "--quiet", "--force", "origin", "HEAD"])?;
        Ok(commit)
    }
}

fn git(home: &Path, dir: &Path, args: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.args(args).current_dir(dir).env_clear().envs(environment(home)).envs(isolated(home));
    Ok(String::from_utf8(run(&mut command, b"")?)?.trim().to_owned())
}

/// Variables that keep git from the user's configuration.
fn isolated(home: &Path) -> Vec<(&'static str, String)> {
    let person = [("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example"), ("GIT_COMMITTER_NAME", "a")];
    let more = [("GIT_COMMITTER_EMAIL", "a@example"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_TERMINAL_PROMPT", "0")];
    let all = person.into_iter().chain(more).map(|(name, value)| (name, value.to_owned()));
    all.chain([("GIT_CONFIG_GLOBAL", home.join("no-gitconfig").to_string_lossy().into_owned())]).collect()
}

fn run(command: &mut Command, input: &[u8]) -> Result<Vec<u8>> {
    let output = output(command, input)?;
    if !output.status.success() {
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy()).collect();
        let program = command.get_program().to_string_lossy();
        bail!("{program} {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

fn output(command: &mut Command, input: &[u8]) -> Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("run {}", command.get_program().display()))?;
    let mut stdin = child.stdin.take().context("it has a standard input")?;
    let input = input.to_vec();
    // On its own thread: the program may write before it has read everything.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    Ok(output)
}

/// Answers a request with `git http-backend`, a CGI program.
fn serve(home: &Path, request: &Request) -> Result<Reply> {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let header = |name| request.header(name).unwrap_or_default().to_owned();
    let mut command = Command::new("git");
    command.arg("http-backend").env_clear().envs(environment(home)).envs(isolated(home)).envs([
        ("GIT_PROJECT_ROOT", home.join("repositories").to_string_lossy().into_owned()),
        ("GIT_HTTP_EXPORT_ALL", "1".to_owned()),
        ("REQUEST_METHOD", request.method.clone()),
        ("PATH_INFO", path.to_owned()),
        ("QUERY_STRING", query.to_owned()),
        ("CONTENT_TYPE", header("content-type")),
        ("CONTENT_LENGTH", request.body.len().to_string()),
        ("HTTP_CONTENT_ENCODING", header("content-encoding")),
        ("HTTP_GIT_PROTOCOL", header("git-protocol")),
    ]);
    // It fails where it answers with an error of the protocol.
    let output = output(&mut command, &request.body)?.stdout;
    let end = output.windows(4).position(|part| part == b"\r\n\r\n").context("no end of the headers")?;
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let body = &output[end + 4..];
    let (mut status, mut headers) = ("200".to_owned(), String::new());
    for line in head.lines() {
        match line.split_once(": ") {
            Some(("Status", text)) => text.clone_into(&mut status),
            _ => writeln!(headers, "{line}\r")?,
        }
    }
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    Ok(Reply([head.as_bytes(), body].concat(), false))
}
