//! Registries with tokens, redirects and malicious answers.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::LazyLock;

use fitout_model::Digest;
use fitout_repositories::{Access, Cause, Error, Fetched, Limits, Sources, Wanted};
use fitout_testkit::http_server::{Reply, Request, Server, TestAuthority, ok, redirect, reply};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// Bytes that start like a gzip archive.
const ARCHIVE: &[u8] = b"\x1f\x8b of podinfo";
const SECRET: &str = "hunter2";
const MANIFEST: &str = "/v2/charts/podinfo/manifests/6.0.0";
const TAGS: &str = "/v2/charts/podinfo/tags/list";

fn fetch(repository: &str, version: &str, access: &Access) -> Result<Fetched, Error> {
    let request = Wanted { repository, chart: "podinfo", version: Some(version), digest: None };
    let sources = Sources::new(Limits { archive: 1000, ..Limits::default() });
    let fetched = RUNTIME.block_on(sources.fetch(&request, access));
    if let Err(error) = &fetched {
        let printed = format!("{error} {error:?}");
        assert!(!printed.contains(SECRET) && !printed.contains("a-token"), "{printed}");
    }
    fetched
}

fn basic() -> Access {
    Access { basic: Some(("user".to_owned(), SECRET.to_owned())), ..Access::default() }
}

fn manifest() -> Value {
    json!({
        "schemaVersion": 2,
        "config": { "mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": Digest::of("{}"), "size": 2 },
        "layers": [{
            "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
            "digest": Digest::of(ARCHIVE),
            "size": ARCHIVE.len(),
        }],
    })
}

fn blob() -> String {
    format!("/v2/charts/podinfo/blobs/{}", Digest::of(ARCHIVE))
}

/// The answer of a correct registry.
fn correct_answer(request: &Request) -> Reply {
    match request.path.as_str() {
        MANIFEST => ok(manifest().to_string()),
        path if path == blob() => ok(ARCHIVE),
        _ => reply(404, &[], ""),
    }
}

/// A registry that answers correctly, except for one path.
fn registry_except(path: String, answer: impl Fn() -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request| if request.path == path { answer() } else { correct_answer(request) })
}

fn repository(server: &Server) -> String {
    format!("oci+http://{}/charts", server.host())
}

#[test]
fn token_is_requested_once_and_password_sent_to_the_token_server_only() {
    let tokens = Server::start(|request| match request.header("authorization") {
        // user:hunter2
        Some("Basic dXNlcjpodW50ZXIy") => ok(r#"{"token":"a-token"}"#),
        _ => reply(401, &[], ""),
    });
    let storage = Server::start(|_| ok(ARCHIVE));
    let (realm, away) = (format!("{}/token", tokens.url), storage.url.clone());
    let registry = Server::start(move |request| {
        let challenge = format!(
            "WWW-Authenticate: Bearer realm=\"{realm}\",service=\"here\",scope=\"repository:charts/podinfo:pull\""
        );
        match (request.header("authorization"), request.path.as_str()) {
            (Some("Bearer a-token"), path) if path == blob() => redirect(&format!("{away}/blob?signed")),
            (Some("Bearer a-token"), TAGS) => {
                reply(200, &[&format!("Link: <{TAGS}?last=x>; rel=\"next\"")], r#"{"tags":["5.0.0","latest"]}"#)
            }
            (Some("Bearer a-token"), path) if path.starts_with(TAGS) => ok(r#"{"tags":["6.0.0"]}"#),
            (Some("Bearer a-token"), _) => correct_answer(request),
            _ => reply(401, &[&challenge], ""),
        }
    });
    let fetched = fetch(&repository(&registry), ">=5", &basic()).unwrap();
    assert_eq!((fetched.version.as_str(), fetched.archive.as_slice()), ("6.0.0", ARCHIVE));
    let paths: Vec<String> = tokens.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/token?service=here&scope=repository%3Acharts%2Fpodinfo%3Apull"]);
    assert!(registry.requests().iter().all(|request| !request.head.contains("dXNlcjpodW50ZXIy")));
    assert!(storage.requests().iter().all(|request| request.header("authorization").is_none()));

    let wrong = Access { basic: Some(("user".to_owned(), "wrong".to_owned())), ..Access::default() };
    for (access, expected) in [(wrong, true), (Access::default(), false)] {
        let error = fetch(&repository(&registry), "6.0.0", &access).unwrap_err();
        assert!(
            matches!(error.cause, Cause::Refused { status: 401, with_credentials, .. } if with_credentials == expected),
            "{error}"
        );
    }
}

#[test]
fn challenge_after_a_redirect_gets_no_credentials() {
    let thief = Server::start(|_| reply(401, &["WWW-Authenticate: Basic realm=\"give me\""], ""));
    let away = thief.url.clone();
    let registry = registry_except(blob(), move || redirect(&format!("{away}/blob")));
    let error = fetch(&repository(&registry), "6.0.0", &basic()).unwrap_err();
    let refused =
        format!("is refused with 401 by {}, to which the repository's credentials are not sent", thief.host());
    assert!(error.to_string().contains(&refused) && !error.passing(), "{error}");
    assert!(thief.requests().iter().all(|request| request.header("authorization").is_none()), "{:?}", thief.requests());
    assert_eq!(thief.requests().len(), 1);
}

#[test]
fn password_is_not_sent_to_a_token_server_without_tls() {
    let authority = TestAuthority::new();
    let thief = Server::start(|_| ok(r#"{"token":"a-token"}"#));
    let realm = thief.url.clone();
    let registry = Server::serve(Some(authority.tls(false)), move |_| {
        reply(401, &[&format!("WWW-Authenticate: Bearer realm=\"{realm}\"")], "")
    });
    let access = Access { authority: Some(authority.pem()), ..basic() };
    let error = fetch(&format!("oci://{}/charts", registry.host()), "6.0.0", &access).unwrap_err();
    assert!(error.to_string().contains("it requires a token from a server without TLS"), "{error}");
    assert!(thief.requests().is_empty());
}

#[test]
fn index_may_refer_to_a_registry_which_gets_no_credentials() {
    let authority = TestAuthority::new();
    let registry = Server::serve(Some(authority.tls(false)), correct_answer);
    let url = format!("oci://{}/charts/podinfo:6.0.0", registry.host());
    let digest = Digest::of(ARCHIVE);
    let server = Server::serve(Some(authority.tls(false)), move |_| {
        ok(format!(
            "apiVersion: v1\nentries:\n  podinfo:\n  - name: podinfo\n    version: 6.0.0\n    digest: {digest}\n    urls: ['{url}']\n"
        ))
    });
    let access = Access { authority: Some(authority.pem()), ..basic() };
    assert_eq!(fetch(&server.url, "^6", &access).unwrap().archive, ARCHIVE);
    assert!(registry.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn invalid_answer_of_a_registry_says_whether_to_retry() {
    type Answer = Box<dyn Fn() -> Reply + Send + Sync>;
    let manifest_with = |pointer: &'static str, value: Value| -> Answer {
        Box::new(move || {
            let mut manifest = manifest();
            *manifest.pointer_mut(pointer).unwrap() = value.clone();
            ok(manifest.to_string())
        })
    };
    let status = |status: u16| -> Answer { Box::new(move || reply(status, &["Retry-After: 7"], SECRET)) };
    let manifest_path = || MANIFEST.to_owned();
    let other = format!("Docker-Content-Digest: {}", Digest::of("another"));
    let rows: Vec<(String, Answer, &str, bool, Option<u64>)> = vec![
        (
            manifest_path(),
            status(401),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 is refused with 401; give credentials that may read it",
            false,
            None,
        ),
        (
            manifest_path(),
            status(404),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 does not exist; check the names of the repository and the chart",
            false,
            None,
        ),
        (
            manifest_path(),
            status(429),
            "HOST returned 429 (too many requests); wait until its rate limit resets",
            true,
            Some(7),
        ),
        (blob(), status(500), "BLOB returned 500, an error of the server", true, Some(7)),
        (
            manifest_path(),
            Box::new(|| ok("{}")),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 is not a chart: its manifest is not a chart's; check the names of the repository and the chart",
            false,
            None,
        ),
        (
            manifest_path(),
            manifest_with("/layers", json!([])),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 is not a chart: its manifest has no archive; check the names of the repository and the chart",
            false,
            None,
        ),
        (
            manifest_path(),
            manifest_with("/layers/0/digest", json!("sha256:../../x")),
            "charts/podinfo is not a chart: its manifest has the digest \"sha256:../../x\", which is not a SHA-256; check the names of the repository and the chart",
            false,
            None,
        ),
        (
            manifest_path(),
            manifest_with("/layers/0/size", json!(1001)),
            "BLOB is larger than the limit of 1000 bytes",
            false,
            None,
        ),
        (blob(), Box::new(|| ok(&ARCHIVE[..5])), "BLOB arrived only in part; the connection broke", true, None),
        (
            blob(),
            Box::new(|| ok(b"\x1f\x8b of another")),
            "BLOB has the digest FOUND, but the repository states STATED; do not use it, and tell its publisher",
            false,
            None,
        ),
        (
            manifest_path(),
            Box::new(move || reply(200, &[&other], manifest().to_string())),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 has the digest MANIFEST, but the repository states OTHER; do not use it, and tell its publisher",
            false,
            None,
        ),
    ];
    for (path, answer, expected, passing, retry_after) in rows {
        let server = registry_except(path, answer);
        let error = fetch(&repository(&server), "6.0.0", &Access::default()).unwrap_err();
        let message = error.to_string().replace(server.host(), "HOST");
        let message = message.replace(&format!("http://HOST{}", blob()), "BLOB");
        let digests = [
            ("FOUND", Digest::of(b"\x1f\x8b of another")),
            ("STATED", Digest::of(ARCHIVE)),
            ("OTHER", Digest::of("another")),
            ("MANIFEST", Digest::of(manifest().to_string())),
        ];
        let message = digests.iter().fold(message, |message, (name, digest)| message.replace(digest.as_str(), name));
        assert_eq!(message, format!("chart podinfo of oci+http://HOST/charts: {expected}"));
        let retry = error.retry_after().map(|delay| delay.as_secs());
        assert_eq!((error.passing(), retry), (passing, retry_after), "{message}");
    }
}

#[test]
fn tags_that_are_no_versions_are_ignored() {
    let server = registry_except(TAGS.to_owned(), || ok(r#"{"tags":["latest","v7.0.0","6.0.0","6"]}"#));
    assert_eq!(fetch(&repository(&server), "*", &Access::default()).unwrap().version, "6.0.0");
    let endless = registry_except(TAGS.to_owned(), || reply(200, &[&format!("Link: <{TAGS}>; rel=\"next\"")], "{}"));
    let error = fetch(&repository(&endless), "*", &Access::default()).unwrap_err();
    assert!(matches!(error.cause, Cause::Malformed { .. } | Cause::TooLarge { .. }), "{error}");
    let error = fetch(&repository(&server), "^7", &Access::default()).unwrap_err();
    assert!(error.to_string().ends_with("no version matches ^7; available versions: 6.0.0"), "{error}");
}
