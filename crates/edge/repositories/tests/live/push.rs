//! Pushes to a real registry, compared with the real Helm.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result};
use fitout_model::Digest;
use fitout_repositories::{Access, ChartListing, ChartPush, Error, Limits, Pushed, Sources, Wanted};
use fitout_testkit::Registry;
use fitout_testkit::http_server::{Reply, Server, redirect, reply};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// A chart with every field that Helm knows.
const CHART: &str = r#"apiVersion: v2
name: full
version: 1.2.3-rc.1+build.5
appVersion: 1.10
kubeVersion: ">=1.22.0-0 <2"
description: "With <brackets>, & and a \"quote\", and ü"
type: application
home: https://example.com/?a=1&b=2
icon: https://example.com/icon.svg
deprecated: true
condition: full.enabled
tags: a,b
keywords: [one, two]
sources: [https://example.com/source, https://example.com/other]
maintainers:
- name: Some One
  email: someone@example.com
  url: https://example.com
- email: other@example.com
- name: Third
annotations:
  artifacthub.io/changes: |
    - kind: fixed
      description: a <mistake>
  org.opencontainers.image.title: not this
  org.opencontainers.image.url: https://example.com/replaced
  number: "1"
dependencies:
- name: common
  repository: https://example.com/charts
  version: 2.x.x
  alias: shared
  condition: common.enabled
  tags: [x]
  import-values:
  - data
  - child: a.b
    parent: c
"#;

const SMALL: &str = "apiVersion: v1\nname: small\nversion: 0.1.0\n";

/// Packages a chart.
fn package(registry: &Registry, chart: &str) -> Result<PathBuf> {
    let source = registry.dir().join("source");
    fs::create_dir_all(source.join("charts/common"))?;
    fs::write(source.join("Chart.yaml"), chart)?;
    fs::write(source.join("charts/common/Chart.yaml"), "apiVersion: v2\nname: common\nversion: 2.0.0\n")?;
    let (from, to) = (source.to_str().unwrap(), registry.dir().to_str().unwrap());
    let printed = registry.helm().run(&["package", from, "--destination", to])?;
    fs::remove_dir_all(&source)?;
    Ok(PathBuf::from(printed.rsplit(": ").next().context("no path in the output of Helm")?.trim()))
}

fn helm_push(registry: &Registry, archive: &Path, to: &str) -> Result<String> {
    let to = format!("oci://{}/{to}", registry.address());
    let output = registry.helm().output(&["push", archive.to_str().unwrap(), &to, "--plain-http"], "")?;
    let printed = String::from_utf8([output.stdout, output.stderr].concat())?;
    let digest = printed.split("Digest: ").nth(1).with_context(|| printed.clone())?;
    Ok(digest.split_whitespace().next().unwrap_or_default().to_owned())
}

fn get(url: &str) -> Result<String> {
    let accept = "application/vnd.oci.image.manifest.v1+json";
    Ok(ureq::get(url).header("Accept", accept).call()?.body_mut().read_to_string()?)
}

fn push(repository: &str, archive: &Path, created: &str, provenance: Option<&[u8]>) -> Result<Pushed, Error> {
    let archive = fs::read(archive).unwrap();
    let push = ChartPush { repository, archive: &archive, provenance, created };
    RUNTIME.block_on(Sources::default().push_chart(&push, &Access::default()))
}

#[test]
fn pushed_chart_has_the_digest_of_helm() -> Result<()> {
    let registry = Registry::start()?;
    for (chart, provenance) in [(CHART, None), (SMALL, None), (CHART, Some("of the chart"))] {
        let archive = package(&registry, chart)?;
        if let Some(text) = provenance {
            fs::write(format!("{}.prov", archive.display()), text)?;
        }
        let expected = helm_push(&registry, &archive, "helm")?;
        let name = if chart == CHART { "full" } else { "small" };
        let manifest = get(&format!("http://{}/v2/helm/{name}/manifests/{expected}", registry.address()))?;
        let manifest: Value = serde_json::from_str(&manifest)?;
        let created = manifest["annotations"]["org.opencontainers.image.created"].as_str().context("no time")?;
        let ours = format!("oci+http://{}/ours", registry.address());
        let pushed = push(&ours, &archive, created, provenance.map(str::as_bytes))?;
        let url = format!("http://{}/v2/ours/{name}/manifests/{}", registry.address(), pushed.tag);
        assert_eq!(serde_json::from_str::<Value>(&get(&url)?)?, manifest);
        assert_eq!(pushed.manifest.as_str(), expected);
        assert_eq!(pushed.archive, Digest::of(fs::read(&archive)?));
        assert!(pushed.uploaded > 0 || provenance.is_some(), "{pushed:?}");
        assert_eq!(push(&ours, &archive, created, provenance.map(str::as_bytes))?.uploaded, 0);
    }
    Ok(())
}

#[test]
fn helm_pulls_what_is_pushed() -> Result<()> {
    let registry = Registry::start()?;
    let archive = package(&registry, CHART)?;
    let ours = format!("oci+http://{}/team/charts", registry.address());
    let pushed = push(&ours, &archive, "2026-01-01T00:00:00Z", None)?;
    assert_eq!((pushed.name.as_str(), pushed.tag.as_str()), ("team/charts/full", "1.2.3-rc.1_build.5"));
    let into = registry.dir().join("pulled");
    fs::create_dir_all(&into)?;
    let from = format!("oci://{}/team/charts/full", registry.address());
    let words = ["pull", &from, "--version", "1.2.3-rc.1+build.5", "--plain-http", "--destination"];
    registry.helm().run(&[&words[..], &[into.to_str().unwrap()]].concat())?;
    let file = fs::read_dir(&into)?.next().context("nothing is pulled")??.path();
    assert_eq!(fs::read(file)?, fs::read(&archive)?);
    Ok(())
}

#[test]
fn pushes_of_helm_are_listed_and_fetched() -> Result<()> {
    let registry = Registry::start()?;
    for chart in [CHART, SMALL, &SMALL.replace("0.1.0", "0.2.0")] {
        helm_push(&registry, &package(&registry, chart)?, "charts")?;
    }
    let repository = format!("oci+http://{}/charts", registry.address());
    let list = |charts: &[String]| {
        let listing = ChartListing { repository: &repository, charts, known: &[], check_known: false };
        RUNTIME.block_on(Sources::default().list_charts(&listing, &Access::default()))
    };
    let all = list(&[])?;
    assert!(all.unread.is_empty(), "{:?}", all.unread);
    let found: Vec<_> = all.charts.iter().map(|chart| (chart.name.as_str(), chart.versions.len())).collect();
    assert_eq!(found, [("full", 1), ("small", 2)]);
    let full = &all.charts[0].versions[0].chart;
    assert_eq!((full.version.as_str(), full.app_version.as_deref()), ("1.2.3-rc.1+build.5", Some("1.1")));
    assert_eq!((full.kube_version.as_deref(), full.deprecated), (Some(">=1.22.0-0 <2"), true));
    assert_eq!(full.annotations.keys().collect::<Vec<_>>(), ["artifacthub.io/changes"]);
    assert_eq!(list(&["small".to_owned()])?.charts, all.charts[1..]);
    for chart in &all.charts {
        for version in &chart.versions {
            let digest = Digest::from(version.chart.digest.clone().unwrap());
            let wanted = Wanted {
                repository: &repository,
                chart: &chart.name,
                version: Some(&version.chart.version),
                digest: Some(&digest),
            };
            RUNTIME.block_on(Sources::default().fetch(&wanted, &Access::default()))?;
        }
    }
    Ok(())
}

#[test]
fn failed_push_says_what_to_do() -> Result<()> {
    let registry = Registry::start()?;
    let archive = package(&registry, SMALL)?;
    let refuse = |path: &'static str, answer: Reply| {
        let server = Server::start(move |request| match request.path.as_str() {
            asked if asked.contains(path) => answer.clone(),
            asked if asked.contains("/blobs/sha256:") => reply(404, &[], ""),
            asked if asked.ends_with("/uploads/") => reply(202, &["Location: /v2/x/small/blobs/uploads/1?state=2"], ""),
            _ => reply(201, &[], ""),
        });
        let error = push(&format!("oci+http://{}/x", server.host()), &archive, "", None).map(drop).err();
        let message = error.map_or_else(String::new, |error| format!("{} {error}", error.passing()));
        message.replace(server.host(), "HOST").replace("registry oci+http://HOST/x: ", "")
    };
    let secret = json!({ "errors": [{ "code": "TAG_INVALID", "message": "hunter2" }] }).to_string();
    let rows = [
        ("none", reply(200, &[], ""), ""),
        (
            "/uploads/",
            reply(403, &[], "hunter2"),
            "false the push to http://HOST/v2/x/small/blobs/uploads/ is refused with 403; give credentials that may write it",
        ),
        (
            "/uploads/",
            reply(404, &[], ""),
            "false the push to http://HOST/v2/x/small/blobs/uploads/ failed with 404; check the address, and create the repository if the registry requires that",
        ),
        (
            "/uploads/",
            reply(202, &["Location: ftp://example.com"], ""),
            "false http://HOST/v2/x/small/blobs/uploads/ is redirected to a URL that is not HTTP; check the address of the repository",
        ),
        (
            "/uploads/",
            redirect("/elsewhere"),
            "false the push to http://HOST/v2/x/small/blobs/uploads/ failed with 302; check the address",
        ),
        (
            "/uploads/1",
            reply(413, &[], ""),
            "false the push to http://HOST/v2/x/small/blobs/uploads/1 failed with 413; the registry limits the size of an archive",
        ),
        (
            "/manifests/",
            reply(400, &[], &secret),
            "false the push to http://HOST/v2/x/small/manifests/0.1.0 failed with 400 (TAG_INVALID); the tag may be immutable: push a new version",
        ),
        (
            "/manifests/",
            reply(429, &[], ""),
            "true HOST returned 429 (too many requests); wait until its rate limit resets",
        ),
        (
            "/blobs/sha256",
            reply(500, &[], ""),
            "true http://HOST/v2/x/small/blobs/DIGEST returned 500, an error of the server",
        ),
    ];
    let config = Digest::of(r#"{"name":"small","version":"0.1.0","apiVersion":"v1"}"#);
    for (path, answer, expected) in rows {
        assert_eq!(refuse(path, answer).replace(config.as_str(), "DIGEST"), expected);
    }
    fs::write(&archive, "not a chart")?;
    let error = push("oci://example.com/x", &archive, "", None).unwrap_err();
    assert!(
        error.to_string().starts_with("registry oci://example.com/x: the archive is not a chart that can be pushed: "),
        "{error}"
    );
    let error = push("https://example.com/x", &archive, "", None).unwrap_err();
    assert!(
        error.to_string().ends_with("the repository address is not that of a registry; begin it with oci://"),
        "{error}"
    );
    Ok(())
}

#[test]
fn upload_may_take_longer_than_the_read_timeout() -> Result<()> {
    let registry = Registry::start()?;
    let archive = fs::read(package(&registry, SMALL)?)?;
    let silence = Duration::from_millis(500);
    let server = Server::start(move |request| match request.path.as_str() {
        path if path.ends_with("/uploads/") => reply(202, &["Location: /upload"], ""),
        path if path.starts_with("/upload") => {
            std::thread::sleep(3 * silence);
            reply(201, &[], "")
        }
        path if path.contains("/blobs/") => reply(404, &[], ""),
        _ => reply(201, &[], ""),
    });
    let repository = format!("oci+http://{}/x", server.host());
    let push = ChartPush { repository: &repository, archive: &archive, provenance: None, created: "" };
    let sources = Sources::new(Limits { silence, ..Limits::default() });
    assert!(RUNTIME.block_on(sources.push_chart(&push, &Access::default()))?.uploaded > 0);
    Ok(())
}

#[test]
fn password_is_not_sent_to_the_server_of_the_upload() -> Result<()> {
    let registry = Registry::start()?;
    let archive = fs::read(package(&registry, SMALL)?)?;
    let storage = Server::start(|_| reply(201, &[], ""));
    let away = format!("Location: {}/upload", storage.url);
    let server = Server::start(move |request| match (request.header("authorization"), request.path.as_str()) {
        (None, _) => reply(401, &["WWW-Authenticate: Basic realm=\"x\""], ""),
        (_, path) if path.ends_with("/uploads/") => reply(202, &[&away], ""),
        (_, path) if path.contains("/blobs/") => reply(404, &[], ""),
        _ => reply(201, &[], ""),
    });
    let repository = format!("oci+http://{}/x", server.host());
    let push = ChartPush { repository: &repository, archive: &archive, provenance: None, created: "" };
    let access = Access { basic: Some(("user".to_owned(), "hunter2".to_owned())), ..Access::default() };
    RUNTIME.block_on(Sources::default().push_chart(&push, &access))?;
    assert_eq!(storage.requests().len(), 2);
    assert!(storage.requests().iter().all(|request| request.header("authorization").is_none()));
    Ok(())
}
