//! Registries that want tokens, send elsewhere and lie.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::LazyLock;

use fitout_model::Digest;
use fitout_repositories::{Access, Cause, Error, Fetched, Limits, Sources, Wanted};
use fitout_testkit::http_server::{Reply, Request, Server, TestAuthority, ok, redirect, reply};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// What begins as archives do.
const ARCHIVE: &[u8] = b"\x1f\x8b of podinfo";
const SECRET: &str = "hunter2";
const MANIFEST: &str = "/v2/charts/podinfo/manifests/6.0.0";
const TAGS: &str = "/v2/charts/podinfo/tags/list";

fn fetch(repository: &str, version: &str, access: &Access) -> Result<Fetched, Error> {
    let wanted = Wanted { repository, chart: "podinfo", version: Some(version), digest: None };
    let sources = Sources::new(Limits { archive: 1000, ..Limits::default() });
    let fetched = RUNTIME.block_on(sources.fetch(&wanted, access));
    if let Err(error) = &fetched {
        let said = format!("{error} {error:?}");
        assert!(!said.contains(SECRET) && !said.contains("a-token"), "{said}");
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

/// What an honest registry answers.
fn honest(request: &Request) -> Reply {
    match request.path.as_str() {
        MANIFEST => ok(manifest().to_string()),
        path if path == blob() => ok(ARCHIVE),
        _ => reply(404, &[], ""),
    }
}

/// A registry that answers honestly, but for one path.
fn honest_but(path: String, lie: impl Fn() -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request| if request.path == path { lie() } else { honest(request) })
}

fn place(server: &Server) -> String {
    format!("oci+http://{}/charts", server.host())
}

#[test]
fn a_token_is_asked_for_once_and_the_password_is_shown_only_to_whoever_gives_it_out() {
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
            (Some("Bearer a-token"), _) => honest(request),
            _ => reply(401, &[&challenge], ""),
        }
    });
    let fetched = fetch(&place(&registry), ">=5", &basic()).unwrap();
    assert_eq!((fetched.version.as_str(), fetched.archive.as_slice()), ("6.0.0", ARCHIVE));
    let asked: Vec<String> = tokens.asked().into_iter().map(|request| request.path).collect();
    assert_eq!(asked, ["/token?service=here&scope=repository%3Acharts%2Fpodinfo%3Apull"]);
    assert!(registry.asked().iter().all(|request| !request.head.contains("dXNlcjpodW50ZXIy")));
    assert!(storage.asked().iter().all(|request| request.header("authorization").is_none()));

    let wrong = Access { basic: Some(("user".to_owned(), "wrong".to_owned())), ..Access::default() };
    for (access, seen) in [(wrong, true), (Access::default(), false)] {
        let error = fetch(&place(&registry), "6.0.0", &access).unwrap_err();
        assert!(matches!(error.cause, Cause::Refused { status: 401, shown, .. } if shown == seen), "{error}");
    }
}

#[test]
fn where_a_redirect_leads_nobody_gets_to_see_credentials_by_asking_for_them() {
    let thief = Server::start(|_| reply(401, &["WWW-Authenticate: Basic realm=\"give me\""], ""));
    let away = thief.url.clone();
    let registry = honest_but(blob(), move || redirect(&format!("{away}/blob")));
    let error = fetch(&place(&registry), "6.0.0", &basic()).unwrap_err();
    let refused =
        format!("is refused with 401 by {}, to which the repository's credentials are not shown", thief.host());
    assert!(error.to_string().contains(&refused) && !error.passing(), "{error}");
    assert!(thief.asked().iter().all(|request| request.header("authorization").is_none()), "{:?}", thief.asked());
    assert_eq!(thief.asked().len(), 1);
}

#[test]
fn a_registry_with_tls_cannot_have_the_password_sent_in_the_clear() {
    let authority = TestAuthority::new();
    let thief = Server::start(|_| ok(r#"{"token":"a-token"}"#));
    let realm = thief.url.clone();
    let registry = Server::serve(Some(authority.tls(false)), move |_| {
        reply(401, &[&format!("WWW-Authenticate: Bearer realm=\"{realm}\"")], "")
    });
    let access = Access { authority: Some(authority.pem()), ..basic() };
    let error = fetch(&format!("oci://{}/charts", registry.host()), "6.0.0", &access).unwrap_err();
    assert!(error.to_string().contains("it wants tokens from a server without TLS"), "{error}");
    assert!(thief.asked().is_empty());
}

#[test]
fn an_index_may_point_at_a_registry_which_does_not_see_the_credentials() {
    let authority = TestAuthority::new();
    let registry = Server::serve(Some(authority.tls(false)), honest);
    let url = format!("oci://{}/charts/podinfo:6.0.0", registry.host());
    let digest = Digest::of(ARCHIVE);
    let server = Server::serve(Some(authority.tls(false)), move |_| {
        ok(format!(
            "apiVersion: v1\nentries:\n  podinfo:\n  - name: podinfo\n    version: 6.0.0\n    digest: {digest}\n    urls: ['{url}']\n"
        ))
    });
    let access = Access { authority: Some(authority.pem()), ..basic() };
    assert_eq!(fetch(&server.url, "^6", &access).unwrap().archive, ARCHIVE);
    assert!(registry.asked().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn every_lie_of_a_registry_is_a_sentence_that_says_whether_to_try_again() {
    type Lie = Box<dyn Fn() -> Reply + Send + Sync>;
    let with = |pointer: &'static str, value: Value| -> Lie {
        Box::new(move || {
            let mut manifest = manifest();
            *manifest.pointer_mut(pointer).unwrap() = value.clone();
            ok(manifest.to_string())
        })
    };
    let said = |status: u16| -> Lie { Box::new(move || reply(status, &["Retry-After: 7"], SECRET)) };
    let manifest_path = || MANIFEST.to_owned();
    let other = format!("Docker-Content-Digest: {}", Digest::of("another"));
    let rows: Vec<(String, Lie, &str, bool, Option<u64>)> = vec![
        (
            manifest_path(),
            said(401),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 is refused with 401; give credentials that may read it",
            false,
            None,
        ),
        (
            manifest_path(),
            said(404),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 is not there; check the names of the repository and the chart",
            false,
            None,
        ),
        (
            manifest_path(),
            said(429),
            "HOST has been asked too often; it wants to be left alone for a while",
            true,
            Some(7),
        ),
        (blob(), said(500), "BLOB is answered with 500; the server has a problem of its own", true, Some(7)),
        (
            manifest_path(),
            Box::new(|| ok("{}")),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 is no chart: its manifest is not a chart's; check the names of the repository and the chart",
            false,
            None,
        ),
        (
            manifest_path(),
            with("/layers", json!([])),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 is no chart: its manifest has no archive; check the names of the repository and the chart",
            false,
            None,
        ),
        (
            manifest_path(),
            with("/layers/0/digest", json!("sha256:../../x")),
            "charts/podinfo is no chart: its manifest has the digest \"sha256:../../x\", which is no SHA-256; check the names of the repository and the chart",
            false,
            None,
        ),
        (
            manifest_path(),
            with("/layers/0/size", json!(1001)),
            "BLOB has more than 1000 bytes; a repository this large is not read",
            false,
            None,
        ),
        (blob(), Box::new(|| ok(&ARCHIVE[..5])), "BLOB arrived only in part; the connection broke", true, None),
        (
            blob(),
            Box::new(|| ok(b"\x1f\x8b of another")),
            "BLOB has the digest FOUND, and the repository says SAID; do not use it, and tell its publisher",
            false,
            None,
        ),
        (
            manifest_path(),
            Box::new(move || reply(200, &[&other], manifest().to_string())),
            "http://HOST/v2/charts/podinfo/manifests/6.0.0 has the digest MANIFEST, and the repository says OTHER; do not use it, and tell its publisher",
            false,
            None,
        ),
    ];
    for (path, lie, wanted, passing, retry_after) in rows {
        let server = honest_but(path, lie);
        let error = fetch(&place(&server), "6.0.0", &Access::default()).unwrap_err();
        let said = error.to_string().replace(server.host(), "HOST").replace(&format!("http://HOST{}", blob()), "BLOB");
        let digests = [
            ("FOUND", Digest::of(b"\x1f\x8b of another")),
            ("SAID", Digest::of(ARCHIVE)),
            ("OTHER", Digest::of("another")),
            ("MANIFEST", Digest::of(manifest().to_string())),
        ];
        let said = digests.iter().fold(said, |said, (name, digest)| said.replace(digest.as_str(), name));
        assert_eq!(said, format!("chart podinfo of oci+http://HOST/charts: {wanted}"));
        assert_eq!((error.passing(), error.retry_after().map(|wait| wait.as_secs())), (passing, retry_after), "{said}");
    }
}

#[test]
fn tags_that_are_no_versions_are_no_choice() {
    let server = honest_but(TAGS.to_owned(), || ok(r#"{"tags":["latest","v7.0.0","6.0.0","6"]}"#));
    assert_eq!(fetch(&place(&server), "*", &Access::default()).unwrap().version, "6.0.0");
    let endless = honest_but(TAGS.to_owned(), || reply(200, &[&format!("Link: <{TAGS}>; rel=\"next\"")], "{}"));
    let error = fetch(&place(&endless), "*", &Access::default()).unwrap_err();
    assert!(matches!(error.cause, Cause::Malformed { .. } | Cause::TooLarge { .. }), "{error}");
    let error = fetch(&place(&server), "^7", &Access::default()).unwrap_err();
    assert!(error.to_string().ends_with("no version fits ^7: there are 6.0.0; ask for one of them"), "{error}");
}
