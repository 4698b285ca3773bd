//! Credentials, TLS and redirects.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Mutex};

use fitout_git::{Cause, Credentials, Limits};
use fitout_repositories::{Access, Identity};
use fitout_testkit::GitServer;
use fitout_testkit::http_server::{Request, Server, TestAuthority, redirect, reply};
use rcgen::ExtendedKeyUsagePurpose;

use crate::support::{REPOSITORY, SECRET, can_run, expected, files, message, read, read_with, request};

fn basic(password: &str) -> Credentials {
    Credentials {
        http: Access { basic: Some(("user".to_owned(), password.to_owned())), ..Access::default() },
        ssh: None,
    }
}

fn bearer() -> Credentials {
    Credentials { http: Access { bearer: Some(SECRET.to_owned()), ..Access::default() }, ssh: None }
}

/// `user:hunter2`.
const AUTHORIZATION: &str = "Basic dXNlcjpodW50ZXIy";

#[test]
fn credentials_are_required_where_the_server_requires_them() {
    if !can_run() {
        return;
    }
    let server = GitServer::start_with(None, |request, git| match request.header("authorization") {
        Some(AUTHORIZATION | "Bearer hunter2") => git(request),
        Some(_) if request.path.contains("secret") => reply(403, &[], ""),
        _ => reply(401, &["WWW-Authenticate: Basic realm=\"git\""], SECRET),
    })
    .unwrap();
    let commit = server.create(REPOSITORY).unwrap().push(&[("x", "x")]).unwrap();
    let (url, secret) = (server.url(REPOSITORY), server.url("secret"));
    for credentials in [basic(SECRET), bearer()] {
        let answer = read_with(Limits::default(), &request(&url), &credentials).unwrap();
        assert_eq!(files(answer), expected(&commit, &[("x", "x")]));
    }
    let rows = [
        (&url, Credentials::default(), "is refused with 401; give credentials that may read it"),
        (&url, basic("wrong"), "is refused with 401; check the credentials and what they may read"),
        (&secret, basic("wrong"), "is refused with 403; check the credentials and what they may read"),
    ];
    for (url, credentials, expected) in rows {
        let error = read_with(Limits::default(), &request(url), &credentials).unwrap_err();
        let message = message(&server, &error);
        assert!(message.ends_with(expected) && !error.passing(), "{message}");
    }
}

#[test]
fn tls_needs_a_known_authority_and_may_need_a_client_certificate() {
    if !can_run() {
        return;
    }
    let authority = TestAuthority::new();
    let server = GitServer::start_with(Some(authority.tls(true)), |request, git| git(request)).unwrap();
    let commit = server.create(REPOSITORY).unwrap().push(&[("x", "x")]).unwrap();
    let url = server.url(REPOSITORY);
    let (certificate, key) = authority.sign(ExtendedKeyUsagePurpose::ClientAuth);
    let trusted = Access { authority: Some(authority.pem()), ..Access::default() };
    let known = Access { identity: Some(Identity { certificate, key }), ..trusted.clone() };
    let read = |http| read_with(Limits::default(), &request(&url), &Credentials { http, ssh: None });
    assert_eq!(files(read(known).unwrap()).0, commit);
    for access in [Access::default(), trusted] {
        let error = read(access).unwrap_err();
        assert!(error.to_string().contains("the TLS handshake with 127.0.0.1:"), "{error}");
        assert!(!error.passing());
    }
}

#[test]
fn credentials_are_not_sent_to_another_server() {
    if !can_run() {
        return;
    }
    let other = GitServer::start().unwrap();
    let commit = other.create(REPOSITORY).unwrap().push(&[("x", "x")]).unwrap();
    let target = other.http().url.clone();
    let home = Server::start(move |request| redirect(&format!("{target}{}", request.path)));
    let authorizations = |requests: Vec<Request>| -> Vec<bool> {
        requests.iter().map(|request| request.header("authorization").is_some()).collect()
    };
    for credentials in [basic(SECRET), bearer()] {
        let url = format!("{}/{REPOSITORY}", home.url);
        let answer = read_with(Limits::default(), &request(&url), &credentials).unwrap();
        assert_eq!(files(answer), expected(&commit, &[("x", "x")]));
    }
    // Only the first request goes to the server of the address.
    assert_eq!(authorizations(home.requests()), [true, true]);
    assert_eq!(authorizations(other.http().requests()), [false; 6]);
}

#[test]
fn redirect_on_the_same_server_keeps_the_credentials() {
    if !can_run() {
        return;
    }
    let server = GitServer::start_with(None, |request, git| match request.path.strip_prefix("/old") {
        _ if request.header("authorization") != Some(AUTHORIZATION) => reply(401, &[], ""),
        Some(rest) => redirect(&format!("/team/catalog{rest}")),
        None => git(request),
    })
    .unwrap();
    let commit = server.create(REPOSITORY).unwrap().push(&[("x", "x")]).unwrap();
    let url = format!("{}/old.git", server.http().url);
    assert_eq!(files(read_with(Limits::default(), &request(&url), &basic(SECRET)).unwrap()).0, commit);
}

#[test]
fn redirects_that_could_be_abused_are_refused() {
    let authority = TestAuthority::new();
    let target = Arc::new(Mutex::new(String::new()));
    let shared = Arc::clone(&target);
    let server = Server::serve(Some(authority.tls(false)), move |request| {
        redirect(&shared.lock().unwrap().replace("PATH", &request.path))
    });
    let http = Access { authority: Some(authority.pem()), ..basic(SECRET).http };
    for (to, expected) in [
        ("http://127.0.0.1:1PATH", "is redirected from https to http; check the address of the repository"),
        ("file:///etc/passwd", "is redirected to a URL that is not HTTP; check the address of the repository"),
        ("PATH", "is redirected more than 5 times; check the address of the repository"),
    ] {
        to.clone_into(&mut target.lock().unwrap());
        let url = format!("{}/x.git", server.url);
        let credentials = Credentials { http: http.clone(), ssh: None };
        let error = read_with(Limits::default(), &request(&url), &credentials).unwrap_err();
        assert!(error.to_string().ends_with(expected) && !error.passing(), "{error}");
    }
}

#[test]
fn redirected_post_has_no_credentials() {
    if !can_run() {
        return;
    }
    for (status, expected) in [(302, "returned 302"), (307, "is refused with 401 by 127.0.0.1:")] {
        let other = Server::start(|_| reply(401, &[], ""));
        let target = other.url.clone();
        let server = GitServer::start_with(None, move |request, git| match request.method.as_str() {
            "POST" => reply(status, &[&format!("Location: {target}/x")], ""),
            _ => git(request),
        })
        .unwrap();
        server.create(REPOSITORY).unwrap().push(&[("x", "x")]).unwrap();
        let error = read_with(Limits::default(), &request(&server.url(REPOSITORY)), &basic(SECRET)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(other.requests().iter().all(|request| request.header("authorization").is_none()));
    }
}

#[test]
fn address_with_credentials_is_refused_without_printing_them() {
    for url in ["https://user:hunter2@a.example/x", "ssh://hunter2@a.example/x"] {
        let error = read(&request(url)).unwrap_err();
        assert!(matches!(error.cause, Cause::Address(_)) && !error.passing(), "{error}");
    }
}
