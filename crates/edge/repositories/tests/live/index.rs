//! Whole indexes, of correct and malicious servers.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fitout_model::Digest;
use fitout_repositories::{Access, Answer, Cause, Error, Index, IndexedChart, Limits, Sources, Validators};
use fitout_testkit::http_server::{Reply, Server, ok, redirect, reply};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

const SECRET: &str = "hunter2";

const INDEX: &str = r#"apiVersion: v1
entries:
  podinfo:
  - annotations:
      artifacthub.io/license: Apache-2.0
      category: other
      fitout.dev/kubernetes: ">=1.30"
    apiVersion: v2
    appVersion: "6"
    deprecated: true
    description: A chart with a text that is
      folded
    digest: 5b6cf8b8d5a3b1fae0a3b5ba2fd4b3d4b9c2b7f6c2f3f41ef8e9b9d2a6e5d0c1
    home: https://example.com
    keywords:
    - one
    kubeVersion: '>=1.23.0-0'
    maintainers:
    - email: a@example.com
      name: Some One
    name: podinfo
    type: library
    urls:
    - podinfo-6.0.0.tgz
    version: 6.0.0
  - name: podinfo
    version: "5.1"
    appVersion: 1.10
  - name: podinfo
    version: 5.0
  - name: podinfo
    version: none
  - null
  - name: podinfo
    version: 1.0.0
    type: other
  - name: podinfo
    version: 1.0.0
    maintainers: [null]
  empty: []
generated: "2026-01-01T00:00:00Z"
"#;

type Charts = Vec<IndexedChart>;

fn limits() -> Limits {
    Limits { held: 5000, index: 100_000, versions: 50, silence: Duration::from_secs(3), ..Limits::default() }
}

fn read(repository: &str, validators: Option<&Validators>) -> Result<Answer<Index<Charts>>, Error> {
    let access = Access { basic: Some(("user".to_owned(), SECRET.to_owned())), ..Access::default() };
    let sources = Sources::new(limits());
    let answer = RUNTIME
        .block_on(sources.index(repository, validators, &access, |charts: &mut Charts, chart| charts.push(chart)));
    if let Err(error) = &answer {
        let printed = format!("{error} {error:?}");
        assert!(!printed.contains(SECRET), "{printed}");
    }
    answer
}

fn changed(answer: Result<Answer<Index<Charts>>, Error>) -> Index<Charts> {
    match answer.unwrap() {
        Answer::Changed(index) => index,
        Answer::Unchanged => panic!("unchanged"),
    }
}

#[test]
fn entries_are_read_as_helm_reads_them() {
    let server = Server::start(|_| reply(200, &["ETag: \"one\"", "Last-Modified: yesterday"], INDEX));
    let index = changed(read(&server.url, None));
    let names: Vec<&str> = index.charts.iter().map(|chart| chart.name.as_str()).collect();
    assert_eq!(names, ["podinfo", "empty"]);
    let [first, second] = &index.charts[0].versions[..] else { panic!("{:?}", index.charts[0].versions) };
    assert_eq!((first.version.as_str(), first.app_version.as_deref()), ("6.0.0", Some("6")));
    assert_eq!(first.description.as_deref(), Some("A chart with a text that is folded"));
    assert_eq!(first.maintainers, ["Some One"]);
    assert_eq!(first.annotations.keys().collect::<Vec<_>>(), ["artifacthub.io/license", "fitout.dev/kubernetes"]);
    assert!(first.library && first.deprecated && first.digest.is_some());
    // For a number without quotes, Helm refuses the whole index.
    assert_eq!((second.version.as_str(), second.app_version.as_deref()), ("5.1", None));
    assert_eq!(index.revision, Digest::of(INDEX));
    assert_eq!(index.generated.as_deref(), Some("2026-01-01T00:00:00Z"));
    let validators = Validators { etag: Some("\"one\"".to_owned()), last_modified: Some("yesterday".to_owned()) };
    assert_eq!(index.validators, validators);
}

#[test]
fn index_is_the_same_gzipped_as_json_and_as_unusual_yaml() {
    let expected = changed(read(&Server::start(|_| ok(INDEX)).url, None));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(INDEX.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let gzipped = Server::start(move |_| reply(200, &["Content-Encoding: gzip"], &packed));
    assert_eq!(changed(read(&gzipped.url, None)), expected);
    // The scan cannot read an anchor, of which it hears after the first chart.
    let unusual = INDEX.replace("  empty: []", "  empty: &none []");
    let text = unusual.clone();
    let server = Server::start(move |_| ok(&text));
    let found = changed(read(&server.url, None));
    let sorted: Vec<_> = found.charts.iter().map(|chart| chart.name.as_str()).collect();
    assert_eq!(sorted, ["empty", "podinfo"]);
    assert_eq!(found.charts[1], expected.charts[0]);
    assert_eq!((found.revision, found.generated), (Digest::of(&unusual), expected.generated.clone()));
    assert_eq!(server.requests().len(), 2, "the index is requested again to parse it as a whole");
    let json = r#"{"apiVersion":"v1","generated":"x","entries":{"a":[{"name":"a","version":"1.0.0"}],"b":null}}"#;
    let found = changed(read(&Server::start(move |_| ok(json)).url, None));
    let counts: Vec<_> = found.charts.iter().map(|chart| (chart.name.as_str(), chart.versions.len())).collect();
    assert_eq!((counts, found.revision), (vec![("a", 1), ("b", 0)], Digest::of(json)));
}

#[test]
fn unchanged_index_costs_one_conditional_request() {
    let server =
        Server::start(|request| match (request.header("if-none-match"), request.header("if-modified-since")) {
            (Some("\"one\""), None) | (None, Some("yesterday")) => reply(304, &[], ""),
            _ => ok(INDEX),
        });
    let known = |etag: Option<&str>, date: Option<&str>| {
        let validators = Validators { etag: etag.map(str::to_owned), last_modified: date.map(str::to_owned) };
        read(&server.url, Some(&validators)).unwrap()
    };
    assert_eq!(known(Some("\"one\""), Some("yesterday")), Answer::Unchanged);
    assert_eq!(known(None, Some("yesterday")), Answer::Unchanged);
    assert_eq!(server.requests().len(), 2);
    assert!(matches!(known(Some("\"two\""), None), Answer::Changed(_)));
    assert!(matches!(known(None, None), Answer::Changed(_)));
}

#[test]
fn lies_of_a_server_are_told_and_say_whether_to_retry() {
    let cut = {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", INDEX.len());
        [head.as_bytes(), &INDEX.as_bytes()[..200]].concat()
    };
    let many = format!("apiVersion: v1\nentries:\n  a:\n{}", "  - {name: a, version: 1.0.0}\n".repeat(60));
    let twice = "apiVersion: v1\nentries:\n  a: []\n  b: []\n  a: []\n";
    let duplicate = "apiVersion: v1\nentries:\n  a:\n  - name: a\n    name: b\n    version: 1.0.0\n";
    let rows: Vec<(Reply, &str, bool)> = vec![
        (
            reply(304, &[], ""),
            "INDEX returned 304 (not modified) to an unconditional request; check the proxy before the server",
            false,
        ),
        (reply(401, &[], SECRET), "INDEX is refused with 401; check the credentials and what they may read", false),
        (reply(403, &[], SECRET), "INDEX is refused with 403; check the credentials and what they may read", false),
        (reply(404, &[], ""), "INDEX does not exist; check the names of the repository and the chart", false),
        (
            reply(429, &["Retry-After: 7"], ""),
            "HOST returned 429 (too many requests); wait until its rate limit resets",
            true,
        ),
        (reply(500, &[], ""), "INDEX returned 500, an error of the server", true),
        (Reply(cut.clone(), false), "INDEX arrived only in part; the connection broke", true),
        (Reply(cut, true), "HOST did not answer in time; it may be overloaded", true),
        (ok(vec![b'\n'; 100_001]), "INDEX is larger than the limit of 100000 bytes", false),
        (ok(vec![b'{'; 5001]), "INDEX is larger than the limit of 5000 bytes", false),
        (
            redirect("ftp://example.com"),
            "INDEX is redirected to a URL that is not HTTP; check the address of the repository",
            false,
        ),
        (
            ok("<!DOCTYPE html>"),
            "INDEX is malformed: it is not a mapping; check the address of the repository or tell its publisher",
            false,
        ),
        (
            ok("entries: {}"),
            "INDEX is malformed: it has no apiVersion; check the address of the repository or tell its publisher",
            false,
        ),
        (
            ok(many),
            "INDEX is malformed: its charts have more than 50 versions; check the address of the repository or tell its publisher",
            false,
        ),
        (
            ok(twice),
            "INDEX is malformed: it lists the chart a twice; check the address of the repository or tell its publisher",
            false,
        ),
        (
            ok(duplicate),
            "INDEX is malformed: yaml: unmarshal errors: line 5: key \"name\" already set in map; check the address of the repository or tell its publisher",
            false,
        ),
    ];
    for (answer, expected, passing) in rows {
        let server = Server::start(move |_| answer.clone());
        let error = read(&server.url, None).unwrap_err();
        let message = error.to_string().replace(server.host(), "HOST").replace("http://HOST/index.yaml", "INDEX");
        assert_eq!(message, format!("repository http://HOST: {expected}"));
        assert_eq!(error.passing(), passing, "{message}");
        let wait = expected.contains("429").then(|| Duration::from_secs(7));
        assert_eq!(error.retry_after(), wait);
    }
}

#[test]
fn credentials_do_not_follow_a_redirect_to_another_host() {
    let other = Server::start(|_| ok(INDEX));
    let away = format!("{}/moved.yaml", other.url);
    let home = Server::start(move |_| redirect(&away));
    assert_eq!(changed(read(&home.url, None)).charts.len(), 2);
    assert!(home.requests()[0].header("authorization").is_some());
    assert!(other.requests().iter().all(|request| request.header("authorization").is_none()));
    let refusing = Server::start(|_| reply(401, &[], ""));
    let away = refusing.url.clone();
    let home = Server::start(move |_| redirect(&away));
    let error = read(&home.url, None).unwrap_err();
    assert!(matches!(error.cause, Cause::RefusedElsewhere { .. }), "{error}");
}

#[test]
fn chart_is_collected_anew_when_the_index_is_parsed_as_a_whole() {
    // The second answer has no more than one chart.
    let count = AtomicUsize::new(0);
    let server = Server::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => ok(INDEX.replace("  empty: []", "  empty: &none []")),
        _ => ok("apiVersion: v1\nentries:\n  new: []\n"),
    });
    let charts = changed(read(&server.url, None)).charts;
    assert_eq!(charts.iter().map(|chart| chart.name.as_str()).collect::<Vec<_>>(), ["new"]);
}

#[test]
fn registry_has_no_index() {
    let error = read("oci://example.com/charts", None).unwrap_err();
    let expected = "repository oci://example.com/charts: the repository address is that of a registry, which has no index; \
                    list its charts instead";
    assert_eq!(error.to_string(), expected);
}

/// Compiles only if the futures can be moved between threads.
#[test]
fn requests_can_be_spawned() {
    let sources: &'static Sources = Box::leak(Box::new(Sources::new(limits())));
    let server = Server::start(|_| ok(INDEX));
    let url = server.url.clone();
    let task = RUNTIME.spawn(async move {
        let access = Access::default();
        let index = sources.index(&url, None, &access, |count: &mut usize, _| *count += 1).await;
        let listing =
            fitout_repositories::ChartListing { repository: "oci://", charts: &[], known: &[], check_known: false };
        let listed = sources.list_charts(&listing, &access).await;
        assert!(listed.is_err() && sources.download("", None, 1, &access).await.is_err());
        index
    });
    assert!(matches!(RUNTIME.block_on(task).unwrap().unwrap(), Answer::Changed(index) if index.charts == 2));
}
