//! HTTP repositories, honest and not.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::LazyLock;
use std::time::Duration;

use fitout_model::Digest;
use fitout_repositories::{Access, Cause, Error, Fetched, Identity, Limits, Sources, Wanted};
use fitout_testkit::http_server::{Reply, Server, TestAuthority, ok, redirect, reply};
use rcgen::ExtendedKeyUsagePurpose;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// What begins as archives do.
const ARCHIVE: &[u8] = b"\x1f\x8b of podinfo";

const SECRET: &str = "hunter2";

fn sources() -> Sources {
    // Long enough for an honest server on a busy machine.
    let silence = Duration::from_secs(3);
    Sources::new(Limits { archive: 1000, held: 5000, index: 100_000, silence, ..Limits::default() })
}

fn wanted(repository: &str) -> Wanted<'_> {
    Wanted { repository, chart: "podinfo", version: None, digest: None }
}

fn fetch(repository: &str, access: &Access) -> Result<Fetched, Error> {
    RUNTIME.block_on(sources().fetch(&wanted(repository), access))
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

/// A repository that answers honestly, but for one path.
fn honest_but(path: &'static str, lie: impl Fn() -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request| match request.path.as_str() {
        asked if asked == path => lie(),
        "/index.yaml" => ok(index("podinfo-6.0.0.tgz")),
        "/podinfo-6.0.0.tgz" => ok(ARCHIVE),
        _ => reply(404, &[], ""),
    })
}

/// The sentence, without the address of the server, which is another each time. Nothing secret is in it.
fn sentence(server: &Server, error: &Error) -> String {
    let said = format!("{error} {error:?}");
    assert!(!said.contains(SECRET), "{said}");
    error.to_string().replace(server.host(), "HOST")
}

#[test]
fn a_chart_comes_with_its_digest_and_version() {
    let server = honest_but("", || unreachable!());
    let fetched = fetch(&server.url, &Access::default()).unwrap();
    let wanted = Fetched { archive: ARCHIVE.to_vec(), digest: Digest::of(ARCHIVE), version: "6.0.0".to_owned() };
    assert_eq!(fetched, wanted);
    assert!(server.asked().iter().all(|request| request.header("authorization").is_none()));
}

/// What is said of a repository that answers one path so; `INDEX` and `FILE` are the addresses it has.
fn said(path: &'static str, lie: impl Fn() -> Reply + Send + Sync + 'static) -> (String, Error) {
    let server = honest_but(path, lie);
    let error = fetch(&server.url, &basic()).unwrap_err();
    let sentence = sentence(&server, &error).replace("http://HOST/index.yaml", "INDEX");
    let sentence = sentence.replace("http://HOST/podinfo-6.0.0.tgz", "FILE");
    (sentence.strip_prefix("chart podinfo of http://HOST: ").unwrap().to_owned(), error)
}

const INDEX: &str = "/index.yaml";
const FILE: &str = "/podinfo-6.0.0.tgz";

#[test]
fn a_refusal_is_a_sentence_that_says_whether_to_try_again() {
    let rows = [
        (INDEX, 401, "INDEX is refused with 401; check the credentials and what they may read", false),
        (FILE, 403, "FILE is refused with 403; check the credentials and what they may read", false),
        (INDEX, 404, "INDEX is not there; check the names of the repository and the chart", false),
        (INDEX, 418, "INDEX is answered with 418; check the address of the repository", false),
        (INDEX, 429, "HOST has been asked too often; it wants to be left alone for a while", true),
        (FILE, 500, "FILE is answered with 500; the server has a problem of its own", true),
        (FILE, 503, "FILE is answered with 503; the server has a problem of its own", true),
    ];
    for (path, status, wanted, passing) in rows {
        // Some servers repeat what they were shown.
        let (sentence, error) = said(path, move || reply(status, &["Retry-After: 7"], SECRET));
        let wait = passing.then_some(Duration::from_secs(7));
        assert_eq!((sentence.as_str(), error.passing(), error.retry_after()), (wanted, passing, wait));
    }
    let wait = |text: &'static str| {
        let (_, error) = said(INDEX, move || reply(503, &[&format!("Retry-After: {text}")], ""));
        error.retry_after()
    };
    assert_eq!(wait("99999"), Some(Duration::from_hours(1)));
    assert_eq!(wait("Fri, 31 Dec 2100 23:59:59 GMT"), Some(Duration::from_hours(1)));
    assert_eq!(wait("Fri, 31 Dec 1999 23:59:59 GMT"), None);
    assert_eq!(wait("soon"), None);
}

#[test]
fn an_answer_that_breaks_off_may_come_later() {
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
    for (path, bytes, hangs, wanted) in rows {
        let (sentence, error) = said(path, move || Reply(bytes.clone(), hangs));
        assert_eq!((sentence.as_str(), error.passing(), error.retry_after()), (wanted, true, None));
    }
}

#[test]
fn what_is_too_large_or_leads_nowhere_is_not_tried_again() {
    let rows = [
        (INDEX, ok(vec![b'\n'; 100_001]), "INDEX has more than 100000 bytes; a repository this large is not read"),
        (INDEX, ok(vec![b'{'; 5001]), "INDEX has more than 5000 bytes; a repository this large is not read"),
        (FILE, ok([0x1f; 1001]), "FILE has more than 1000 bytes; a repository this large is not read"),
        (INDEX, redirect(INDEX), "INDEX is redirected more than 5 times; check the address of the repository"),
        (
            FILE,
            redirect("file:///etc/passwd"),
            "FILE is redirected to what is not the web; check the address of the repository",
        ),
    ];
    for (path, Reply(bytes, hangs), wanted) in rows {
        let (sentence, error) = said(path, move || Reply(bytes.clone(), hangs));
        assert_eq!((sentence.as_str(), error.passing()), (wanted, false));
    }
}

#[test]
fn an_index_that_is_none_or_lies_is_named_and_not_tried_again() {
    let no_digest = "the index cannot be understood: the digest \"beef\" of version 6.0.0 is no SHA-256; check the address \
                     of the repository or tell its publisher";
    let no_index =
        "INDEX cannot be understood: it is no mapping; check the address of the repository or tell its publisher";
    let digest = &Digest::of(ARCHIVE).to_string()[7..];
    let rows = [
        ("<!DOCTYPE html>".to_owned(), no_index),
        ("apiVersion: v1\nentries: {}\n".to_owned(), "the repository has no chart of this name; check the name"),
        (index("x").replace("6.0.0", "6.0.0-a"), "no version fits *: there are 6.0.0-a; ask for one of them"),
        (index("").replace("urls", "not"), "the index has no address for version 6.0.0; tell its publisher"),
        (index("x").replace(digest, "beef"), no_digest),
    ];
    for (text, wanted) in rows {
        let (sentence, error) = said(INDEX, move || ok(&text));
        assert_eq!((sentence.as_str(), error.passing()), (wanted, false));
    }
    let (sentence, error) = said(FILE, || ok(b"\x1f\x8b of another"));
    let (found, said) = (Digest::of(b"\x1f\x8b of another"), Digest::of(ARCHIVE));
    let wanted =
        format!("FILE has the digest {found}, and the repository says {said}; do not use it, and tell its publisher");
    assert_eq!((sentence, error.passing()), (wanted, false));
}

#[test]
fn a_server_that_is_not_there_is_said_to_be_so() {
    let error = fetch("http://127.0.0.1:1/charts", &basic()).unwrap_err();
    let said = "chart podinfo of http://127.0.0.1:1/charts: 127.0.0.1:1 cannot be reached: Connection refused (os error 111); \
                check the address and the network";
    assert_eq!((error.to_string().as_str(), error.passing()), (said, true));
}

#[test]
fn an_address_with_a_password_in_it_is_refused_without_showing_it() {
    for (repository, why) in [
        ("https://user:hunter2@a.io/x?key=hunter2", "has a user or a password in it; give them as its access"),
        ("ftp://a.io/x", "is none; begin it with https://, http://, oci:// or oci+http://"),
        ("https://", "is none: empty host; correct it"),
    ] {
        let error = fetch(repository, &basic()).unwrap_err();
        assert!(error.to_string().ends_with(&format!("the address of the repository {why}")), "{error}");
        assert!(!format!("{error}{error:?}").contains(SECRET) && !error.passing(), "{error:?}");
    }
}

#[test]
fn an_archive_that_was_changed_under_its_version_is_refused_before_it_is_fetched() {
    let server = honest_but("", || unreachable!());
    let pinned = Digest::of("another");
    let wanted = Wanted { digest: Some(&pinned), ..wanted(&server.url) };
    let error = RUNTIME.block_on(sources().fetch(&wanted, &Access::default())).unwrap_err();
    assert!(matches!(&error.cause, Cause::Changed { found, .. } if *found == Digest::of(ARCHIVE)), "{error}");
    assert!(!error.passing() && server.asked().len() == 1);
}

#[test]
fn an_archive_without_a_digest_in_the_index_is_still_held_against_the_one_that_is_wanted() {
    let server = Server::start(|request| match request.path.as_str() {
        "/index.yaml" => ok(index("x").lines().filter(|line| !line.contains("digest")).collect::<Vec<_>>().join("\n")),
        _ => ok(ARCHIVE),
    });
    let (right, wrong) = (Digest::of(ARCHIVE), Digest::of("another"));
    let fetch =
        |digest| RUNTIME.block_on(sources().fetch(&Wanted { digest: Some(digest), ..wanted(&server.url) }, &basic()));
    assert_eq!(fetch(&right).unwrap().digest, right);
    assert!(matches!(fetch(&wrong).unwrap_err().cause, Cause::Changed { .. }));
}

#[test]
fn credentials_are_shown_to_the_repository_and_to_nobody_else() {
    let secrets = [basic(), Access { bearer: Some(SECRET.to_owned()), ..Access::default() }];
    for access in secrets {
        // Another server has the archive: the index says so, or a redirect does, or it even sends back.
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
        for request in other.asked() {
            assert!(request.header("authorization").is_none() && !request.head.contains(SECRET), "{request:?}");
        }
        let shown: Vec<String> = home
            .asked()
            .into_iter()
            .filter(|request| request.header("authorization").is_some())
            .map(|request| request.path)
            .collect();
        let wanted = ["/named/index.yaml", "/sent/index.yaml", "/sent/x.tgz", "/around/index.yaml", "/around/x.tgz"];
        assert_eq!(shown, wanted, "and not /last.tgz, to which another server has sent us");
        assert_eq!(other.asked().len(), 3);
    }
}

#[test]
fn the_next_address_is_tried_where_one_fails() {
    let server = Server::start(|request| match request.path.as_str() {
        "/index.yaml" => ok(index("gone.tgz\n    - wrong.tgz\n    - right.tgz")),
        "/gone.tgz" => reply(404, &[], ""),
        "/wrong.tgz" => ok(b"\x1f\x8b wrong"),
        _ => ok(ARCHIVE),
    });
    assert_eq!(fetch(&server.url, &basic()).unwrap().archive, ARCHIVE);
    let asked: Vec<String> = server.asked().into_iter().map(|request| request.path).collect();
    assert_eq!(asked, ["/index.yaml", "/gone.tgz", "/wrong.tgz", "/right.tgz"]);
}

#[test]
fn an_index_is_fetched_again_only_when_it_has_changed_and_by_whoever_shows_the_same() {
    let server = Server::start(|request| match (request.path.as_str(), request.header("if-none-match")) {
        ("/index.yaml", Some("\"one\"")) => reply(304, &[], ""),
        ("/index.yaml", _) => reply(200, &["ETag: \"one\""], index("x.tgz")),
        _ => ok(ARCHIVE),
    });
    let sources = sources();
    let fetch = |access: &Access| RUNTIME.block_on(sources.fetch(&wanted(&server.url), access)).unwrap().archive;
    for access in [basic(), basic(), Access::default()] {
        assert_eq!(fetch(&access), ARCHIVE);
    }
    let asked = server.asked().into_iter().filter(|request| request.path == "/index.yaml");
    let known: Vec<bool> = asked.map(|request| request.header("if-none-match").is_some()).collect();
    assert_eq!(known, [false, true, false]);
}

#[test]
fn an_index_as_json_is_read_as_a_whole() {
    let json = serde_json::json!({ "apiVersion": "v1", "entries": { "podinfo": [
        { "name": "podinfo", "version": "6.0.0", "urls": ["x.tgz"], "digest": Digest::of(ARCHIVE) },
    ]}});
    let server =
        Server::start(move |request| if request.path == "/index.yaml" { ok(json.to_string()) } else { ok(ARCHIVE) });
    assert_eq!(fetch(&server.url, &basic()).unwrap().version, "6.0.0");
}

#[test]
fn tls_is_always_verified_and_our_certificate_is_shown_to_the_repository_alone() {
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
    assert!(other.asked().is_empty(), "without a certificate, nobody is let in");
    let error = fetch(&server.url, &broken).unwrap_err();
    assert!(matches!(error.cause, Cause::Access(_)) && !format!("{error:?}").contains("PRIVATE"), "{error:?}");
    let error = fetch(&format!("{}/down", server.url), &trusted).unwrap_err();
    assert!(error.to_string().contains("is redirected from https to http"), "{error}");
    assert!(plain.asked().is_empty());
}
