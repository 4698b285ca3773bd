//! Reading over SSH, from OpenSSH's server.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::{Duration, Instant};

use fitout_git::{Answer, Cause, Client, Credentials, Limits, Reference, Request, SshAccess};
use fitout_testkit::{GitServer, SshServer, WorkingCopy, no_sshd, skip};

use crate::support::{REPOSITORY, RUNTIME, expected, files, read_with, request, server};

/// A server with the protocol that it lets clients ask for.
fn start(variables: &str) -> Option<(GitServer, SshServer, WorkingCopy, Credentials)> {
    if no_sshd().inspect(skip).is_some() {
        return None;
    }
    let server = server()?;
    let copy = server.create(REPOSITORY).unwrap();
    let ssh = server.start_ssh(variables).unwrap();
    let access = SshAccess { user: Some(ssh.user.clone()), key: ssh.key.clone(), known_hosts: ssh.known_hosts.clone() };
    Some((server, ssh, copy, Credentials { ssh: Some(access), ..Credentials::default() }))
}

#[test]
fn branches_tags_and_commits_are_read_over_ssh() {
    // Without GIT_PROTOCOL, as Debian configures it, the server speaks the first version of the protocol.
    for variables in ["GIT_PROTOCOL", ""] {
        let Some((server, ssh, copy, credentials)) = start(variables) else { return };
        let url = format!("{}/{REPOSITORY}", ssh.url);
        let read = |request: &Request<'_>| read_with(Limits::default(), request, &credentials);
        let one = copy.push(&[("a/x", "one"), ("b", "b")]).unwrap();
        copy.git(&["tag", "--annotate", "--message=x", "v1"]).unwrap();
        copy.git(&["push", "--quiet", "origin", "v1"]).unwrap();
        let all = request(&url);
        assert_eq!(files(read(&all).unwrap()), expected(&one, &[("a/x", "one"), ("b", "b")]));
        assert_eq!(read(&Request { known: Some(&one), ..all }).unwrap(), Answer::Unchanged);
        let two = copy.push(&[("a/x", "two")]).unwrap();
        for filter in ["false", "true"] {
            server.configure(REPOSITORY, "uploadpack.allowFilter", filter).unwrap();
            let below = Request { path: Some("a"), ..all };
            for (reference, commit, text) in [
                (Reference::Branch("main"), &two, "two"),
                (Reference::Tag("v1"), &one, "one"),
                (Reference::Commit(&two), &two, "two"),
            ] {
                let answer = read(&Request { reference, ..below }).unwrap();
                assert_eq!(files(answer), expected(commit, &[("x", text)]), "{reference:?} {variables:?} {filter}");
            }
            assert_eq!(files(read(&Request { known: Some(&one), ..all }).unwrap()).0, two);
        }
        let error = read(&Request { reference: Reference::Branch("mian"), ..all }).unwrap_err();
        assert!(error.to_string().ends_with("branch mian does not exist; correct it; there is main"), "{error}");
        copy.git(&["reset", "--quiet", "--hard", &one]).unwrap();
        let other = copy.push(&[("a/x", "other")]).unwrap();
        let rewritten = Request { known: Some(&two), ..all };
        assert!(matches!(read(&rewritten).unwrap_err().cause, Cause::Rewritten { .. }));
        assert_eq!(files(read(&Request { accept: true, ..rewritten }).unwrap()).0, other);
        let unknown = Request { known: Some("0123456789012345678901234567890123456789"), ..all };
        assert!(matches!(read(&unknown).unwrap_err().cause, Cause::Rewritten { .. }));
        let commit = Reference::Commit("0123456789012345678901234567890123456789");
        let error = read(&Request { reference: commit, ..all }).unwrap_err();
        assert!(matches!(error.cause, Cause::Unknown { .. }), "{error}");
    }
}

#[test]
fn errors_of_ssh_name_the_cause() {
    let Some((server, ssh, copy, credentials)) = start("GIT_PROTOCOL") else { return };
    copy.push(&[("x", "x")]).unwrap();
    let url = format!("{}/{REPOSITORY}", ssh.url);
    let access = credentials.ssh.clone().unwrap();
    let fails = |url: &str, ssh: Option<SshAccess>| {
        let credentials = Credentials { ssh, ..Credentials::default() };
        read_with(Limits::default(), &request(url), &credentials).unwrap_err().cause
    };
    let other_key = std::fs::read_to_string(ssh_host_key(&server)).unwrap();
    let cause = fails(&url, Some(SshAccess { key: other_key, ..access.clone() }));
    assert!(matches!(cause, Cause::KeyRefused { .. }), "{cause}");
    let cause = fails(&url, Some(SshAccess { key: "no key".to_owned(), ..access.clone() }));
    assert!(matches!(cause, Cause::KeyRefused { .. }), "{cause}");
    let cause = fails(&url, Some(SshAccess { known_hosts: String::new(), ..access.clone() }));
    assert!(matches!(cause, Cause::UnknownHostKey { .. }), "{cause}");
    let cause = fails(&url, None);
    assert!(matches!(cause, Cause::NoSshKey), "{cause}");
    let cause = fails(&format!("{}/other.git", ssh.url), Some(access.clone()));
    assert!(matches!(cause, Cause::NotARepository { .. }), "{cause}");
    let cause = fails("ssh://127.0.0.1:1/x", Some(access));
    assert!(matches!(cause, Cause::Unreachable { .. }) && cause.passing(), "{cause}");
}

fn ssh_host_key(server: &GitServer) -> std::path::PathBuf {
    let mut entries = std::fs::read_dir(server.dir()).unwrap().flatten().map(|entry| entry.path());
    entries.find(|path| path.is_dir() && path.join("host").exists()).unwrap().join("host")
}

#[test]
fn frozen_ssh_server_ends_with_the_silence() {
    let Some((_server, ssh, copy, credentials)) = start("GIT_PROTOCOL") else { return };
    copy.push(&[("x", "x")]).unwrap();
    ssh.process.freeze().unwrap();
    let url = format!("{}/{REPOSITORY}", ssh.url);
    let limits = Limits { silence: Duration::from_secs(2), connect: Duration::from_mins(1), ..Limits::default() };
    let begin = Instant::now();
    let error = read_with(limits, &request(&url), &credentials).unwrap_err();
    assert!(matches!(error.cause, Cause::Silent { .. }) && error.passing(), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(20));
    let directory = tempfile::tempdir().unwrap();
    let client =
        Client::new(Limits { deadline: Duration::from_secs(1), ..Limits::default() }, directory.path().to_owned());
    let error = RUNTIME.block_on(client.read(&request(&url), &credentials)).unwrap_err();
    assert!(matches!(error.cause, Cause::Deadline(_)), "{error}");
    ssh.process.thaw().unwrap();
}

#[test]
fn missing_ssh_program_is_named() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["ssh::runner", "--exact", "--ignored", "--nocapture"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let expected = "RESULT git repository ssh://127.0.0.1/x: no ssh program is installed here, which ssh:// requires; use \
                    https://, or install OpenSSH's client";
    assert!(text.lines().any(|line| line == expected), "{text}");
}

#[test]
#[ignore = "the process of the test above"]
fn runner() {
    if std::env::var_os("PATH").is_none_or(|path| path != "/nonexistent") {
        return;
    }
    let ssh = SshAccess { user: None, key: "key".to_owned(), known_hosts: String::new() };
    let credentials = Credentials { ssh: Some(ssh), ..Credentials::default() };
    let error = read_with(Limits::default(), &request("ssh://127.0.0.1/x"), &credentials).unwrap_err();
    println!("\nRESULT {error}");
}
