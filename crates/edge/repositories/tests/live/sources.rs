//! HTTP repositories, correct and malicious.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::LazyLock;
use std::time::Duration;

use fitout_model::Digest;
use fitout_repositories::{Access, Cause, Error, Fetched, Identity, Limits, Sources, Wanted};
use fitout_testkit::http_server::{Reply, Server, TestAuthority, ok, redirect, reply};
use rcgen::ExtendedKeyUsagePurpose;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// Bytes that start like a gzip archive.
const ARCHIVE: &[u8] = b"\x1f\x8b of podinfo";

const SECRET: &str = "hunter2";

fn sources() -> Sources {
    // Long enough for a correct server on a busy machine.
    let silence = Duration::from_secs(3);
    Sources::new(Limits { archive: 1000, held: 5000, index: 100_000, silence, ..Limits::default() })
}

fn request(repository: &str) -> Wanted<'_> {
    Wanted { repository, chart: "podinfo", version: None, digest: None }
}

fn fetch(repository: &str, access: &Access) -> Result<Fetched, Error> {
    RUNTIME.block_on(sources().fetch(&request(repository), access))
}

fn basic() -> Access {
    Access { basic: Some(("user".to_owned(), SECRET.to_owned())), ..Access::default() }
}

/// An index of podinfo 6.0.0 at this address.
fn index(url: &str) -> String {
    let digest = Digest::of(ARCHIVE);
    let digest = &digest.as_str()[7..];
    format!(
        "apiVersion: v1\nentries:\n  podinfo:\n  - name: podinfo\n    version: 6.0.0\n    digest: {digest}\n    urls:\n    - {url}\n"
    )
}

/// A repository that answers correctly, except for one path.
fn repository_except(path: &'static str, answer: impl Fn() -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request| match request.path.as_str() {
        requested if requested == path => answer(),
        "/index.yaml" => ok(index("podinfo-6.0.0.tgz")),
        "/podinfo-6.0.0.tgz" => ok(ARCHIVE),
        _ => reply(404, &[], ""),
    })
}

/// The message, with `HOST` for the address of the server. Asserts that it contains no secret.
fn message_at(server: &Server, error: &Error) -> String {
    let printed = format!("{error} {error:?}");
    assert!(!printed.contains(SECRET), "{printed}");
    error.to_string().replace(server.host(), "HOST")
}

#[test]
fn fetched_chart_has_digest_and_version() {
    let server = repository_except("", || unreachable!());
    let fetched = fetch(&server.url, &Access::default()).unwrap();
    let expected = Fetched { archive: ARCHIVE.to_vec(), digest: Digest::of(ARCHIVE), version: "6.0.0".to_owned() };
    assert_eq!(fetched, expected);
    assert!(server.requests().iter().all(|request| request.header("authorization").is_none()));
}

/// The message of the error for a repository that answers one path so, with `INDEX` and `FILE` for its URLs.
fn failure(path: &'static str, answer: impl Fn() -> Reply + Send + Sync + 'static) -> (String, Error) {
    let server = repository_except(path, answer);
    let error = fetch(&server.url, &basic()).unwrap_err();
    let message = message_at(&server, &error).replace("http://HOST/index.yaml", "INDEX");
    let message = message.replace("http://HOST/podinfo-6.0.0.tgz", "FILE");
    (message.strip_prefix("chart podinfo of http://HOST: ").unwrap().to_owned(), error)
}

const INDEX: &str = "/index.yaml";
const FILE: &str = "/podinfo-6.0.0.tgz";

#[test]
fn http_status_error_says_whether_to_retry() {
    let rows = [
        (INDEX, 401, "INDEX is refused with 401; check the credentials and what they may read", false),
        (FILE, 403, "FILE is refused with 403; check the credentials and what they may read", false),
        (INDEX, 404, "INDEX does not exist; check the names of the repository and the chart", false),
        (INDEX, 418, "INDEX returned 418; check the address of the repository", false),
        (INDEX, 429, "HOST returned 429 (too many requests); wait until its rate limit resets", true),
        (FILE, 500, "FILE returned 500, an error of the server", true),
        (FILE, 503, "FILE returned 503, an error of the server", true),
    ];
    for (path, status, expected, passing) in rows {
        // Some servers echo the credentials.
        let (message, error) = failure(path, move || reply(status, &["Retry-After: 7"], SECRET));
        let wait = passing.then_some(Duration::from_secs(7));
        assert_eq!((message.as_str(), error.passing(), error.retry_after()), (expected, passing, wait));
    }
    let wait = |text: &'static str| {
        let (_, error) = failure(INDEX, move || reply(503, &[&format!("Retry-After: {text}")], ""));
        error.retry_after()
    };
    assert_eq!(wait("99999"), Some(Duration::from_hours(1)));
    assert_eq!(wait("Fri, 31 Dec 2100 23:59:59 GMT"), Some(Duration::from_hours(1)));
    assert_eq!(wait("Fri, 31 Dec 1999 23:59:59 GMT"), None);
    assert_eq!(wait("soon"), None);
}

#[test]
fn truncated_response_is_retried() {
    let cut = |body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len() + 9);
        [head.as_bytes(), body].concat()
    };
    let (index, file) = (cut(b"apiVersion: v1\n"), cut(ARCHIVE));
    let rows = [
        (INDEX, index.clone(), false, "INDEX arrived only in part; the connection broke"),
        (FILE, file, false, "FILE arrived only in part; the connection broke"),
        (INDEX, Vec::new(), false, "INDEX arrived only in part; the connection broke"),
        (INDEX, index, true, "HOST did not answer in time; it may be overloaded"),
        (FILE, Vec::new(), true, "HOST did not answer in time; it may be overloaded"),
    ];
    for (path, bytes, hangs, expected) in rows {
        let (message, error) = failure(path, move || Reply(bytes.clone(), hangs));
        assert_eq!((message.as_str(), error.passing(), error.retry_after()), (expected, true, None));
    }
}

#[test]
fn too_large_response_and_invalid_redirect_are_not_retried() {
    let rows = [
        (INDEX, ok(vec![b'\n'; 100_001]), "INDEX is larger than the limit of 100000 bytes"),
        (INDEX, ok(vec![b'{'; 5001]), "INDEX is larger than the limit of 5000 bytes"),
        (FILE, ok([0x1f; 1001]), "FILE is larger than the limit of 1000 bytes"),
        (INDEX, redirect(INDEX), "INDEX is redirected more than 5 times; check the address of the repository"),
        (
            FILE,
            redirect("file:///etc/passwd"),
            "FILE is redirected to a URL that is not HTTP; check the address of the repository",
        ),
    ];
    for (path, Reply(bytes, hangs), expected) in rows {
        let (message, error) = failure(path, move || Reply(bytes.clone(), hangs));
        assert_eq!((message.as_str(), error.passing()), (expected, false));
    }
}

#[test]
fn invalid_index_is_not_retried() {
    let no_digest = "the index is malformed: the digest \"beef\" of version 6.0.0 is not a SHA-256; check the address \
                     of the repository or tell its publisher";
    let no_index = "INDEX is malformed: it is not a mapping; check the address of the repository or tell its publisher";
    let digest = &Digest::of(ARCHIVE).to_string()[7..];
    let rows = [
        ("<!DOCTYPE html>".to_owned(), no_index),
        ("apiVersion: v1\nentries: {}\n".to_owned(), "the repository has no chart of this name; check the name"),
        (index("x").replace("6.0.0", "6.0.0-a"), "no version matches *; available versions: 6.0.0-a"),
        (index("").replace("urls", "not"), "the index has no URL for version 6.0.0; tell its publisher"),
        (index("x").replace(digest, "beef"), no_digest),
    ];
    for (text, expected) in rows {
        let (message, error) = failure(INDEX, move || ok(&text));
        assert_eq!((message.as_str(), error.passing()), (expected, false));
    }
    let (message, error) = failure(FILE, || ok(b"\x1f\x8b of another"));
    let (found, stated) = (Digest::of(b"\x1f\x8b of another"), Digest::of(ARCHIVE));
    let expected = format!(
        "FILE has the digest {found}, but the repository states {stated}; do not use it, and tell its publisher"
    );
    assert_eq!((message, error.passing()), (expected, false));
}

#[test]
fn unreachable_server_is_named() {
    let error = fetch("http://127.0.0.1:1/charts", &basic()).unwrap_err();
    let expected = "chart podinfo of http://127.0.0.1:1/charts: 127.0.0.1:1 cannot be reached: Connection refused (os \
                    error 111); check the address and the network";
    assert_eq!((error.to_string().as_str(), error.passing()), (expected, true));
}

#[test]
fn address_with_password_is_rejected_without_printing_it() {
    for (repository, reason) in [
        (
            "https://user:hunter2@a.io/x?key=hunter2",
            "contains a user or a password; give them as credentials of the repository",
        ),
        ("ftp://a.io/x", "has no supported scheme; begin it with https://, http://, oci:// or oci+http://"),
        ("https://", "is not a URL: empty host; correct it"),
    ] {
        let error = fetch(repository, &basic()).unwrap_err();
        assert!(error.to_string().ends_with(&format!("the repository address {reason}")), "{error}");
        assert!(!format!("{error}{error:?}").contains(SECRET) && !error.passing(), "{error:?}");
    }
}

#[test]
fn changed_archive_is_rejected_before_it_is_fetched() {
    let server = repository_except("", || unreachable!());
    let pinned = Digest::of("another");
    let request = Wanted { digest: Some(&pinned), ..request(&server.url) };
    let error = RUNTIME.block_on(sources().fetch(&request, &Access::default())).unwrap_err();
    assert!(matches!(&error.cause, Cause::Changed { found, .. } if *found == Digest::of(ARCHIVE)), "{error}");
    assert!(!error.passing() && server.requests().len() == 1);
}

#[test]
fn required_digest_is_verified_without_one_in_the_index() {
    let server = Server::start(|request| match request.path.as_str() {
        "/index.yaml" => ok(index("x").lines().filter(|line| !line.contains("digest")).collect::<Vec<_>>().join("\n")),
        _ => ok(ARCHIVE),
    });
    let (right, wrong) = (Digest::of(ARCHIVE), Digest::of("another"));
    let fetch =
        |digest| RUNTIME.block_on(sources().fetch(&Wanted { digest: Some(digest), ..request(&server.url) }, &basic()));
    assert_eq!(fetch(&right).unwrap().digest, right);
    assert!(matches!(fetch(&wrong).unwrap_err().cause, Cause::Changed { .. }));
}

#[test]
fn credentials_are_sent_to_the_repository_only() {
    let secrets = [basic(), Access { bearer: Some(SECRET.to_owned()), ..Access::default() }];
    for access in secrets {
        // Another server has the archive: by the index, by a redirect, or by a redirect that leads back.
        let other = Server::start(|request| match request.path.split_once("/back/") {
            Some((_, to)) => redirect(&format!("http://{to}")),
            None => ok(ARCHIVE),
        });
        let elsewhere = other.url.clone();
        let home = Server::start(move |request| match request.path.as_str() {
            "/named/index.yaml" => ok(index(&format!("{elsewhere}/x.tgz"))),
            "/sent/index.yaml" | "/around/index.yaml" => ok(index("x.tgz")),
            "/sent/x.tgz" => redirect(&format!("{elsewhere}/x.tgz")),
            "/around/x.tgz" => redirect(&format!("{elsewhere}/back/{}/last.tgz", request.header("host").unwrap())),
            "/last.tgz" => ok(ARCHIVE),
            path => reply(404, &[], path),
        });
        for place in ["named", "sent", "around"] {
            assert_eq!(fetch(&format!("{}/{place}", home.url), &access).unwrap().archive, ARCHIVE);
        }
        for request in other.requests() {
            assert!(request.header("authorization").is_none() && !request.head.contains(SECRET), "{request:?}");
        }
        let paths: Vec<String> = home
            .requests()
            .into_iter()
            .filter(|request| request.header("authorization").is_some())
            .map(|request| request.path)
            .collect();
        let expected = ["/named/index.yaml", "/sent/index.yaml", "/sent/x.tgz", "/around/index.yaml", "/around/x.tgz"];
        assert_eq!(paths, expected, "and not /last.tgz, to which another server redirects");
        assert_eq!(other.requests().len(), 3);
    }
}

#[test]
fn next_url_is_tried_when_one_fails() {
    let server = Server::start(|request| match request.path.as_str() {
        "/index.yaml" => ok(index("gone.tgz\n    - wrong.tgz\n    - right.tgz")),
        "/gone.tgz" => reply(404, &[], ""),
        "/wrong.tgz" => ok(b"\x1f\x8b wrong"),
        _ => ok(ARCHIVE),
    });
    assert_eq!(fetch(&server.url, &basic()).unwrap().archive, ARCHIVE);
    let paths: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/index.yaml", "/gone.tgz", "/wrong.tgz", "/right.tgz"]);
}

#[test]
fn unchanged_index_is_cached_by_credentials() {
    let server = Server::start(|request| match (request.path.as_str(), request.header("if-none-match")) {
        ("/index.yaml", Some("\"one\"")) => reply(304, &[], ""),
        ("/index.yaml", _) => reply(200, &["ETag: \"one\""], index("x.tgz")),
        _ => ok(ARCHIVE),
    });
    let sources = sources();
    let fetch = |access: &Access| RUNTIME.block_on(sources.fetch(&request(&server.url), access)).unwrap().archive;
    for access in [basic(), basic(), Access::default()] {
        assert_eq!(fetch(&access), ARCHIVE);
    }
    let requests = server.requests().into_iter().filter(|request| request.path == "/index.yaml");
    let conditional: Vec<bool> = requests.map(|request| request.header("if-none-match").is_some()).collect();
    assert_eq!(conditional, [false, true, false]);
}

#[test]
fn json_index_is_parsed_as_a_whole() {
    let json = serde_json::json!({ "apiVersion": "v1", "entries": { "podinfo": [
        { "name": "podinfo", "version": "6.0.0", "urls": ["x.tgz"], "digest": Digest::of(ARCHIVE) },
    ]}});
    let server =
        Server::start(move |request| if request.path == "/index.yaml" { ok(json.to_string()) } else { ok(ARCHIVE) });
    assert_eq!(fetch(&server.url, &basic()).unwrap().version, "6.0.0");
}

#[test]
fn tls_is_verified_and_client_certificate_sent_to_the_repository_only() {
    let authority = TestAuthority::new();
    let (certificate, key) = authority.sign(ExtendedKeyUsagePurpose::ClientAuth);
    let other = Server::serve(Some(authority.tls(true)), |_| ok(ARCHIVE));
    let (elsewhere, plain) = (other.url.clone(), Server::start(|_| ok(ARCHIVE)));
    let down = plain.url.clone();
    let server = Server::serve(Some(authority.tls(true)), move |request| match request.path.as_str() {
        "/away/index.yaml" => ok(index(&format!("{elsewhere}/x.tgz"))),
        "/down/index.yaml" => redirect(&down),
        path if path.ends_with("index.yaml") => ok(index("x.tgz")),
        _ => ok(ARCHIVE),
    });
    let known = Access { authority: Some(authority.pem()), ..Access::default() };
    let trusted = Access { identity: Some(Identity { certificate, key: key.clone() }), ..known.clone() };
    let stranger = TestAuthority::new();
    let (other_certificate, _) = stranger.sign(ExtendedKeyUsagePurpose::ClientAuth);
    let broken = Access { identity: Some(Identity { certificate: other_certificate, key }), ..known.clone() };

    assert_eq!(fetch(&server.url, &trusted).unwrap().archive, ARCHIVE);
    let away = format!("{}/away", server.url);
    let refused = [(server.url.as_str(), &Access::default()), (server.url.as_str(), &known), (away.as_str(), &trusted)];
    for (repository, access) in refused {
        let error = fetch(repository, access).unwrap_err();
        assert!(matches!(error.cause, Cause::Untrusted { .. }) && !error.passing(), "{error} {error:?}");
    }
    assert!(other.requests().is_empty(), "it accepts no client without a certificate");
    let error = fetch(&server.url, &broken).unwrap_err();
    assert!(matches!(error.cause, Cause::Access(_)) && !format!("{error:?}").contains("PRIVATE"), "{error:?}");
    let error = fetch(&format!("{}/down", server.url), &trusted).unwrap_err();
    assert!(error.to_string().contains("is redirected from https to http"), "{error}");
    assert!(plain.requests().is_empty());
}
