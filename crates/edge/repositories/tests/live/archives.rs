//! Archives of definitions over HTTP and in registries.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fitout_model::Digest;
use fitout_repositories::{Access, Answer, CatalogPush, Cause, Downloaded, Error, Sources, Validators};
use fitout_testkit::Registry;
use fitout_testkit::http_server::{Server, ok, redirect, reply};
use serde_json::json;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

const ARCHIVE: &[u8] = b"\x1f\x8b of definitions";

fn download(address: &str, validators: Option<&Validators>, access: &Access) -> Result<Answer<Downloaded>, Error> {
    RUNTIME.block_on(Sources::default().download(address, validators, 1000, access))
}

fn changed(answer: Result<Answer<Downloaded>, Error>) -> Downloaded {
    match answer.unwrap() {
        Answer::Changed(downloaded) => downloaded,
        Answer::Unchanged => panic!("unchanged"),
    }
}

#[test]
fn archive_is_downloaded_once_and_then_conditionally() {
    let other = Server::start(|_| ok(ARCHIVE));
    let away = other.url.clone();
    let server = Server::start(move |request| match (request.path.as_str(), request.header("if-none-match")) {
        ("/catalog.tgz?key=1", Some("\"one\"")) | ("/lie", _) => reply(304, &[], ""),
        ("/catalog.tgz?key=1", _) => reply(200, &["ETag: \"one\""], ARCHIVE),
        ("/large", _) => ok([0; 1001]),
        ("/away", _) => redirect(&away),
        _ => reply(404, &[], ""),
    });
    let access = Access { bearer: Some("hunter2".to_owned()), ..Access::default() };
    let url = |path: &str| format!("{}{path}", server.url);
    let first = changed(download(&url("/catalog.tgz?key=1"), None, &access));
    assert_eq!((first.content.as_slice(), &first.revision), (ARCHIVE, &Digest::of(ARCHIVE)));
    assert_eq!(download(&url("/catalog.tgz?key=1"), Some(&first.validators), &access).unwrap(), Answer::Unchanged);
    assert_eq!(changed(download(&url("/away"), None, &access)).content, ARCHIVE);
    assert!(other.requests()[0].header("authorization").is_none());
    let rows = [
        ("/gone", "does not exist; check the address"),
        ("/large", "is larger than the limit of 1000 bytes"),
        ("/lie", "returned 304 (not modified) to an unconditional request; check the proxy before the server"),
    ];
    for (path, expected) in rows {
        let error = download(&url(path), None, &access).unwrap_err();
        assert_eq!(error.to_string(), format!("catalog {0}: {0} {expected}", url(path)));
    }
}

#[test]
fn catalog_is_pushed_and_downloaded_by_tag_and_digest() {
    let (registry, (user, password)) = Registry::start_guarded().unwrap();
    let access = Access { basic: Some((user.to_owned(), password.to_owned())), ..Access::default() };
    let address = format!("oci+http://{}/catalogs/web:1.0.0", registry.address());
    let annotations = BTreeMap::from([("org.opencontainers.image.title".to_owned(), "<web>".to_owned())]);
    let push = |archive: &[u8], access: &Access| {
        let push = CatalogPush { address: &address, archive, annotations: &annotations };
        RUNTIME.block_on(Sources::default().push_catalog(&push, access))
    };
    let pushed = push(ARCHIVE, &access).unwrap();
    assert_eq!((pushed.name.as_str(), pushed.tag.as_str()), ("catalogs/web", "1.0.0"));
    assert_eq!(pushed.uploaded, ARCHIVE.len() as u64 + 2);
    let again = push(ARCHIVE, &access).unwrap();
    assert_eq!((again.uploaded, &again.manifest), (0, &pushed.manifest));

    let first = changed(download(&address, None, &access));
    assert_eq!((first.content.as_slice(), &first.revision), (ARCHIVE, &pushed.archive));
    assert_eq!(first.validators.etag.as_deref(), Some(pushed.manifest.as_str()));
    assert_eq!(download(&address, Some(&first.validators), &access).unwrap(), Answer::Unchanged);
    let pinned = format!("oci+http://{}/catalogs/web@{}", registry.address(), pushed.manifest);
    assert_eq!(changed(download(&pinned, None, &access)), first);

    // The tag moves.
    push(b"\x1f\x8b others", &access).unwrap();
    let second = changed(download(&address, Some(&first.validators), &access));
    assert_eq!(second.content, b"\x1f\x8b others");
    assert_eq!(changed(download(&pinned, None, &access)), first);

    let wrong = Access { basic: Some(("user".to_owned(), "hunter2".to_owned())), ..Access::default() };
    for (access, with) in [(Access::default(), false), (wrong, true)] {
        let error = push(ARCHIVE, &access).unwrap_err();
        let matches =
            matches!(error.cause, Cause::PushRefused { status: 401, with_credentials, .. } if with_credentials == with);
        assert!(matches && !error.passing() && !format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}

#[test]
fn artifact_that_is_no_catalog_is_rejected() {
    let manifest = |media_type: &str, digest: &str| {
        json!({ "layers": [{ "mediaType": media_type, "digest": digest, "size": ARCHIVE.len() }] }).to_string()
    };
    let catalog = "application/vnd.fitout.catalog.v1.tar+gzip";
    let of_archive = Digest::of(ARCHIVE);
    let rows = [
        (
            "{}".to_owned(),
            "is not a catalog: its manifest has no layer of the type application/vnd.fitout.catalog.v1.tar+gzip; check the address",
        ),
        (
            manifest("application/tar", "x"),
            "is not a catalog: its manifest has no layer of the type application/vnd.fitout.catalog.v1.tar+gzip; check the address",
        ),
        (
            manifest(catalog, "x"),
            "is not a catalog: its manifest has the digest \"x\", which is not a SHA-256; check the address",
        ),
        (
            manifest(catalog, of_archive.as_str()).replace(&ARCHIVE.len().to_string(), "2000"),
            "is larger than the limit of 1000 bytes",
        ),
        (manifest(catalog, of_archive.as_str()), "does not exist; check the address"),
    ];
    for (text, expected) in rows {
        let server = Server::start(move |request| match request.path.as_str() {
            "/v2/web/manifests/1" => ok(&text),
            _ => reply(404, &[], ""),
        });
        let error = download(&format!("oci+http://{}/web:1", server.host()), None, &Access::default()).unwrap_err();
        assert!(error.to_string().ends_with(expected), "{error}");
    }
    for (address, reason) in [
        (
            "oci://example.com/web",
            "the repository address has no tag; add one, such as :1.0.0, or the digest of the manifest as @sha256:…",
        ),
        (
            "oci://example.com:5000/web",
            "the repository address has no tag; add one, such as :1.0.0, or the digest of the manifest as @sha256:…",
        ),
        (
            "oci://example.com/web@sha256:1",
            "the repository address has a digest that is not a SHA-256; write it as sha256:…",
        ),
    ] {
        let error = download(address, None, &Access::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("catalog {address}: {reason}"));
    }
}
