//! git's protocol over SSH, with the machine's `ssh` program.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gix_transport::Protocol;
use gix_transport::client::git::ConnectMode;
use gix_transport::client::git::blocking_io::Connection;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::address::SshAddress;
use crate::guard::Guard;
use crate::{Cause, Limits, SshAccess};

const DEFAULT_USER: &str = "git";

/// How much of what `ssh` prints is kept for messages.
const MAX_MESSAGE: usize = 4096;

/// A running `ssh`, killed when dropped.
pub(crate) struct Process {
    child: Child,
    messages: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    host: String,
    user: String,
}

/// The stream from the server.
pub(crate) struct Output {
    process: Process,
    stdout: ChildStdout,
    guard: Guard,
    silence: Duration,
}

/// The stream to the server.
pub(crate) struct Input {
    stdin: ChildStdin,
    guard: Guard,
    host: String,
    silence: Duration,
}

/// Starts `ssh`. Its key and its known hosts are in the directory, which only this user can read.
pub(crate) fn connect(
    address: &SshAddress,
    access: Option<&SshAccess>,
    directory: &Path,
    guard: &Guard,
    limits: &Limits,
) -> Result<Connection<Output, Input>, Cause> {
    let access = access.ok_or(Cause::NoSshKey)?;
    let user = access.user.clone().unwrap_or_else(|| DEFAULT_USER.to_owned());
    let key = write(directory, "key", &access.key).map_err(Cause::Disk)?;
    let known_hosts = write(directory, "known_hosts", &access.known_hosts).map_err(Cause::Disk)?;
    let mut command = Command::new("ssh");
    command.args(arguments(address, &user, &key, &known_hosts, limits.connect));
    command.env_clear().env("GIT_PROTOCOL", "version=2").env("HOME", directory);
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let _entered = guard.runtime().enter();
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Cause::NoSshProgram,
        _ => Cause::Ssh { host: address.host.clone(), reason: error.to_string() },
    })?;
    let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Cause::Ssh { host: address.host.clone(), reason: "it has no pipes".to_owned() });
    };
    let messages = Arc::new(Mutex::new(Vec::new()));
    let reader = guard.runtime().spawn(collect(stderr, Arc::clone(&messages)));
    let host = address.host.clone();
    let process = Process { child, messages, reader, host: host.clone(), user };
    let output = Output { process, stdout, guard: guard.clone(), silence: limits.silence };
    let input = Input { stdin, guard: guard.clone(), host, silence: limits.silence };
    let (path, no_host) = (address.path.as_str(), None::<(String, Option<u16>)>);
    Ok(Connection::new(output, input, Protocol::V2, path, no_host, ConnectMode::Process, false))
}

/// Options that leave nothing to the configuration of the user or the machine: no agent, no other key, no forwarding, no
/// command, and no server whose key is not known.
fn arguments(address: &SshAddress, user: &str, key: &Path, known_hosts: &Path, connect: Duration) -> Vec<String> {
    let options = [
        "BatchMode=yes".to_owned(),
        "StrictHostKeyChecking=yes".to_owned(),
        format!("UserKnownHostsFile=\"{}\"", known_hosts.display()),
        "GlobalKnownHostsFile=none".to_owned(),
        "UpdateHostKeys=no".to_owned(),
        "CheckHostIP=no".to_owned(),
        format!("IdentityFile=\"{}\"", key.display()),
        "IdentitiesOnly=yes".to_owned(),
        "IdentityAgent=none".to_owned(),
        "PreferredAuthentications=publickey".to_owned(),
        "ClearAllForwardings=yes".to_owned(),
        "ControlPath=none".to_owned(),
        "RequestTTY=no".to_owned(),
        "SendEnv=GIT_PROTOCOL".to_owned(),
        format!("ConnectTimeout={}", connect.as_secs().max(1)),
        "LogLevel=ERROR".to_owned(),
    ];
    let mut all = vec!["-F".to_owned(), "none".to_owned()];
    all.extend(options.into_iter().flat_map(|option| ["-o".to_owned(), option]));
    if let Some(port) = address.port {
        all.extend(["-p".to_owned(), port.to_string()]);
    }
    // The address has no quote in its path and no hyphen before its host.
    let command = format!("git-upload-pack '{}'", address.path);
    all.extend(["-l".to_owned(), user.to_owned(), "--".to_owned(), address.host.clone(), command]);
    all
}

fn write(directory: &Path, name: &str, content: &str) -> io::Result<PathBuf> {
    let path = directory.join(name);
    if !fs::exists(&path)? {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        // OpenSSH rejects a key whose last line does not end.
        writeln!(file, "{}", content.trim_end())?;
    }
    Ok(path)
}

async fn collect(mut stderr: ChildStderr, messages: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_MESSAGE.saturating_sub(messages.len()).min(read);
        messages.extend_from_slice(&buffer[..room]);
    }
}

impl Process {
    /// Why the connection has ended: no answer of ours ends by closing it.
    async fn cause(&mut self) -> Cause {
        // Both end with the connection.
        let _ = self.child.wait().await;
        let _ = (&mut self.reader).await;
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        classify(&String::from_utf8_lossy(&messages), &self.host, &self.user)
    }
}

/// The cause behind what `ssh` and the server's `git-upload-pack` print.
fn classify(messages: &str, host: &str, user: &str) -> Cause {
    let host = host.to_owned();
    let has = |text: &str| messages.contains(text);
    if has("Host key verification failed") {
        return Cause::UnknownHostKey { host };
    }
    if has("Permission denied") || has("invalid format") || has("error in libcrypto") {
        return Cause::KeyRefused { host, user: user.to_owned() };
    }
    let line = |text: &str| messages.lines().find(|line| line.contains(text)).map(plain);
    let unreachable = [
        "Could not resolve",
        "Connection refused",
        "timed out",
        "No route to host",
        "unreachable",
        "Connection closed",
    ];
    if let Some(reason) = unreachable.into_iter().find_map(line) {
        return Cause::Unreachable { host, reason };
    }
    if has("does not appear to be a git repository") || has("not found") || has("does not exist") {
        return Cause::NotARepository { what: host };
    }
    match messages.lines().map(plain).rfind(|line| !line.is_empty()) {
        Some(reason) => Cause::Ssh { host, reason },
        None => Cause::Truncated,
    }
}

/// A line of a server, shortened and without control characters.
pub(crate) fn plain(line: &str) -> String {
    let plain: String = line.chars().filter(|character| !character.is_control()).take(200).collect();
    plain.trim().trim_start_matches("ssh: ").to_owned()
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { process, stdout, guard, silence } = self;
        let host = process.host.clone();
        let read = guard.wait(async {
            match tokio::time::timeout(*silence, stdout.read(buffer)).await {
                Ok(Ok(read @ 1..)) => Ok(read),
                Ok(Ok(0) | Err(_)) => Err(process.cause().await),
                Err(_) => Err(Cause::Silent { host, limit: *silence }),
            }
        })?;
        guard.count(read)?;
        Ok(read)
    }
}

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { stdin, guard, host, silence } = self;
        let written = guard.wait(async {
            match tokio::time::timeout(*silence, stdin.write(bytes)).await {
                Ok(written) => Ok(written),
                Err(_) => Err(Cause::Silent { host: host.clone(), limit: *silence }),
            }
        })?;
        // The cause of a closed pipe is found where the answer is read.
        Ok(written.unwrap_or(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        let stdin = &mut self.stdin;
        self.guard.wait(async {
            let _ = stdin.flush().await;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_ssh_are_classified() {
        let rows = [
            (
                "Host key verification failed.\r\n",
                "the host key of h is not among the known hosts; make sure that it is right, and add it to them",
            ),
            (
                "git@h: Permission denied (publickey).\r\n",
                "h refuses the key of user git; check the user and the key, and what it may read",
            ),
            (
                "Load key \"/x/key\": error in libcrypto\n",
                "h refuses the key of user git; check the user and the key, and what it may read",
            ),
            (
                "ssh: Could not resolve hostname h: Name or service not known\n",
                "h cannot be reached: Could not resolve hostname h: Name or service not known; check the address and the network",
            ),
            (
                "ssh: connect to host h port 22: Connection refused\n",
                "h cannot be reached: connect to host h port 22: Connection refused; check the address and the network",
            ),
            (
                "fatal: '/x' does not appear to be a git repository\n",
                "h is not a git repository; check the address, and that the credentials may read it",
            ),
            ("No user exists for uid 1000\n", "ssh to h failed: No user exists for uid 1000"),
            ("", "the answer arrived only in part; the connection broke"),
        ];
        for (messages, expected) in rows {
            assert_eq!(classify(messages, "h", "git").to_string(), expected);
        }
    }

    #[test]
    fn ssh_reads_no_configuration_and_trusts_known_hosts_alone() {
        let address = SshAddress { host: "h".to_owned(), port: Some(22), path: "/a b".to_owned() };
        let all = arguments(&address, "git", Path::new("/k"), Path::new("/h"), Duration::from_secs(3)).join(" ");
        for part in ["-F none", "StrictHostKeyChecking=yes", "BatchMode=yes", "IdentityAgent=none", "-p 22 -l git -- h"]
        {
            assert!(all.contains(part), "{part} in {all}");
        }
        assert!(all.ends_with("git-upload-pack '/a b'"), "{all}");
    }
}
