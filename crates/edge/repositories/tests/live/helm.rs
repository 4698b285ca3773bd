//! Compares with the real Helm, on the same repository and the same registry.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result};
use fitout_model::Digest;
use fitout_repositories::{Access, Cause, Error, Fetched, Sources, Wanted};
use fitout_testkit::Registry;
use fitout_testkit::http_server::{Server, ok, reply};
use serde_json::json;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

const VERSIONS: [&str; 9] =
    ["1.0.0", "1.2.0", "1.2.9", "1.10.0", "v1.5.0", "2.0.0-rc.1", "2.0.0+build.5", "2.1.0-alpha", "0.9.0"];

/// Requested versions; the first is none.
const REQUESTS: [&str; 21] = [
    "",
    "1.2.0",
    "1.2",
    "1",
    "^1",
    "~1.2",
    ">1.2 <2",
    "2.x",
    ">0-0",
    "2.0.0+build.5",
    "2.0.0",
    "1.5.0",
    "v1.5.0",
    "3.x",
    "*",
    "1.2.0 || 1.0.0",
    "1.0 - 1.2",
    "2.1.0-alpha",
    "~2.1.0-0",
    "nonsense",
    "<1.0.0",
];

/// Packages a chart in a version; another description makes another archive.
fn package(registry: &Registry, version: &str, description: &str, into: &Path) -> Result<PathBuf> {
    let source = registry.dir().join("chart");
    fs::create_dir_all(&source)?;
    let text = format!("apiVersion: v2\nname: tiny\nversion: 0.0.1\ndescription: {description}\n");
    fs::write(source.join("Chart.yaml"), text)?;
    let (source, into) = (source.to_str().unwrap(), into.to_str().unwrap());
    let printed = registry.helm().run(&["package", source, "--version", version, "--destination", into])?;
    Ok(PathBuf::from(printed.rsplit(": ").next().context("no path in the output of Helm")?.trim()))
}

/// A folder with all versions and an index.
fn repository(registry: &Registry) -> Result<PathBuf> {
    let folder = registry.dir().join("repository");
    fs::create_dir_all(&folder)?;
    for version in VERSIONS {
        package(registry, version, version, &folder)?;
    }
    registry.helm().run(&["repo", "index", folder.to_str().unwrap()])?;
    Ok(folder)
}

fn push(registry: &Registry, archive: &Path) -> Result<String> {
    let to = format!("oci://{}/charts", registry.address());
    let output = registry.helm().output(&["push", archive.to_str().unwrap(), &to, "--plain-http"], "")?;
    let printed = String::from_utf8([output.stdout, output.stderr].concat())?;
    let digest = printed.split("Digest: ").nth(1).with_context(|| printed.clone())?;
    Ok(digest.split_whitespace().next().unwrap_or_default().to_owned())
}

/// The digest of the chart that Helm pulls; none if it pulls none.
fn pulled(registry: &Registry, args: &[&str], requested: &str) -> Result<Option<Digest>> {
    let into = registry.dir().join("pulled");
    fs::create_dir_all(&into)?;
    let version = ["--version", requested];
    let version = if requested.is_empty() { &[] } else { &version[..] };
    let args = [&["pull"], args, version, &["--destination", into.to_str().unwrap()]].concat();
    let output = registry.helm().output(&args, "")?;
    let files: Vec<PathBuf> = fs::read_dir(&into)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let found = files.first().filter(|_| output.status.success()).map(fs::read).transpose()?.map(Digest::of);
    fs::remove_dir_all(&into)?;
    Ok(found)
}

fn fetch(repository: &str, chart: &str, version: &str, access: &Access) -> Result<Fetched, Error> {
    let request = Wanted { repository, chart, version: Some(version), digest: None };
    RUNTIME.block_on(Sources::default().fetch(&request, access))
}

#[test]
fn chosen_version_is_that_of_helm() -> Result<()> {
    let registry = Registry::start()?;
    let folder = repository(&registry)?;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "tgz") {
            push(&registry, &path)?;
        }
    }
    let server = Server::start(move |request| match fs::read(folder.join(request.path.trim_start_matches('/'))) {
        Ok(content) => ok(content),
        Err(_) => reply(404, &[], ""),
    });
    let (plain, oci) =
        (format!("oci+http://{}/charts", registry.address()), format!("oci://{}/charts/tiny", registry.address()));
    let mut found = 0;
    for requested in REQUESTS {
        let expected = [
            pulled(&registry, &["tiny", "--repo", &server.url], requested)?,
            pulled(&registry, &[&oci, "--plain-http"], requested)?,
        ];
        let actual = [&server.url, &plain].map(|repository| fetch(repository, "tiny", requested, &Access::default()));
        for (expected, actual) in expected.into_iter().zip(actual) {
            found += usize::from(expected.is_some());
            let actual = actual.map(|fetched| fetched.digest);
            assert_eq!(actual.as_ref().ok(), expected.as_ref(), "{requested:?}: {actual:?}");
        }
    }
    assert!(found > 24, "Helm found {found}");
    Ok(())
}

#[test]
fn chart_is_pinned_by_manifest_digest_and_moved_tag_is_detected() -> Result<()> {
    let registry = Registry::start()?;
    let first = package(&registry, "1.0.0+a", "the first", registry.dir())?;
    let (manifest, digest) = (push(&registry, &first)?, Digest::of(fs::read(&first)?));
    let plain = format!("oci+http://{}/charts", registry.address());
    assert_eq!(fetch(&plain, "tiny", "1.0.0+a", &Access::default())?.digest, digest);

    let second = package(&registry, "1.0.0+a", "the second", registry.dir())?;
    assert_ne!(push(&registry, &second)?, manifest);
    let request = Wanted { repository: &plain, chart: "tiny", version: Some("1.0.0+a"), digest: Some(&digest) };
    let error = RUNTIME.block_on(Sources::default().fetch(&request, &Access::default())).unwrap_err();
    assert!(matches!(error.cause, Cause::Changed { .. }) && !error.passing(), "{error}");

    let pinned = fetch(&plain, &format!("tiny@{manifest}"), "", &Access::default())?;
    assert_eq!((pinned.digest, pinned.version.as_str()), (digest, "1.0.0+a"));
    assert!(fetch(&format!("{plain}/tiny@{manifest}"), "", "1.x", &Access::default()).is_ok());
    let error = fetch(&plain, &format!("tiny@{manifest}"), "2.x", &Access::default()).unwrap_err();
    assert!(matches!(error.cause, Cause::NoVersion { .. }), "{error}");
    let error = fetch(&plain, "other", "1.0.0", &Access::default()).unwrap_err();
    assert!(matches!(error.cause, Cause::Missing { .. }), "{error}");
    Ok(())
}

#[test]
fn docker_config_authenticates_at_a_registry() -> Result<()> {
    let (registry, (user, password)) = Registry::start_guarded()?;
    registry.helm().run(&["registry", "login", registry.address(), "-u", user, "-p", password, "--plain-http"])?;
    push(&registry, &package(&registry, "1.0.0", "kept", registry.dir())?)?;
    let plain = format!("oci+http://{}/charts", registry.address());
    let docker = |password: &str| {
        let config = json!({ "auths": { registry.address(): { "username": user, "password": password } } });
        Access { docker_config: Some(config.to_string()), ..Access::default() }
    };
    let basic = Access { basic: Some((user.to_owned(), password.to_owned())), ..Access::default() };
    for access in [docker(password), basic] {
        // A tag, and a range that requires the list of tags.
        for version in ["1.0.0", "1.x"] {
            assert_eq!(fetch(&plain, "tiny", version, &access)?.version, "1.0.0");
        }
    }
    for (access, expected) in [(Access::default(), false), (docker("hunter2"), true)] {
        let error = fetch(&plain, "tiny", "1.0.0", &access).unwrap_err();
        assert!(
            matches!(error.cause, Cause::Refused { status: 401, with_credentials, .. } if with_credentials == expected),
            "{error}"
        );
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
    Ok(())
}
