//! Lists of charts in registries, correct and malicious.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use fitout_model::Digest;
use fitout_repositories::{Access, ChartListing, Error, ListedCharts, RegistryChart, Sources};
use fitout_testkit::http_server::{Reply, Request, Server, ok, reply};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

const ARCHIVE: &[u8] = b"\x1f\x8b of a chart";

fn list(server: &Server, charts: &[&str], known: &[RegistryChart], check_known: bool) -> Result<ListedCharts, Error> {
    let repository = format!("oci+http://{}/charts", server.host());
    let charts: Vec<String> = charts.iter().map(|&name| name.to_owned()).collect();
    let listing = ChartListing { repository: &repository, charts: &charts, known, check_known };
    RUNTIME.block_on(Sources::default().list_charts(&listing, &Access::default()))
}

/// The versions by chart.
fn versions(listed: &ListedCharts) -> Vec<(String, Vec<String>)> {
    let versions = |chart: &RegistryChart| chart.versions.iter().map(|version| version.chart.version.clone()).collect();
    listed.charts.iter().map(|chart| (chart.name.clone(), versions(chart))).collect()
}

fn config(name: &str, version: &str, description: &str) -> String {
    json!({ "name": name, "version": version, "apiVersion": "v2", "description": description }).to_string()
}

fn manifest(config: &str) -> Value {
    json!({
        "schemaVersion": 2,
        "config": {
            "mediaType": "application/vnd.cncf.helm.config.v1+json",
            "digest": Digest::of(config),
            "size": config.len(),
        },
        "layers": [{
            "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
            "digest": Digest::of(ARCHIVE),
            "size": ARCHIVE.len(),
        }],
    })
}

/// The answer of a registry with these charts, each with tags and the config at each.
fn answer(request: &Request, charts: &[(&str, Vec<(&str, String)>)]) -> Reply {
    for (name, tags) in charts {
        let Some(path) = request.path.strip_prefix(&format!("/v2/charts/{name}/")) else { continue };
        if path == "tags/list" {
            return ok(json!({ "tags": tags.iter().map(|(tag, _)| tag).collect::<Vec<_>>() }).to_string());
        }
        for (tag, config) in tags {
            if path == format!("manifests/{tag}") {
                return ok(manifest(config).to_string());
            }
            if path == format!("blobs/{}", Digest::of(config)) {
                return ok(config);
            }
        }
    }
    reply(404, &[], "")
}

#[test]
fn only_new_tags_are_read_and_gone_ones_forgotten() {
    let later = Arc::new(AtomicBool::new(false));
    let is_later = Arc::clone(&later);
    let server = Server::start(move |request| {
        let mut tags = vec![("2.0.0", config("web", "2.0.0", "two")), ("latest", config("web", "2.0.0", "two"))];
        if is_later.load(Ordering::SeqCst) {
            tags.push(("2.1.0_build", config("web", "2.1.0+build", "new")));
        } else {
            tags.push(("1.0.0", config("web", "1.0.0", "one")));
        }
        answer(request, &[("web", tags)])
    });
    let first = list(&server, &["web"], &[], false).unwrap();
    assert_eq!(versions(&first), [("web".to_owned(), vec!["2.0.0".to_owned(), "1.0.0".to_owned()])]);
    assert_eq!(first.charts[0].versions[0].chart.digest.as_deref(), Some(Digest::of(ARCHIVE).as_str()));
    assert_eq!(first.charts[0].versions[0].chart.description.as_deref(), Some("two"));
    assert_eq!(server.requests().len(), 5, "the tags, two manifests and two configs");

    let again = list(&server, &["web"], &first.charts, false).unwrap();
    assert_eq!((&again.charts, &again.revision), (&first.charts, &first.revision));
    assert_eq!(server.requests().len(), 6, "the tags");

    later.store(true, Ordering::SeqCst);
    let second = list(&server, &["web"], &first.charts, false).unwrap();
    assert_eq!(versions(&second), [("web".to_owned(), vec!["2.1.0+build".to_owned(), "2.0.0".to_owned()])]);
    assert_eq!(second.charts[0].versions[0].tag, "2.1.0_build");
    assert_ne!(second.revision, first.revision);
    assert_eq!(server.requests().len(), 9, "the tags, a manifest and a config");
}

#[test]
fn moved_tag_is_noticed_when_known_tags_are_checked() {
    let moved = Arc::new(AtomicBool::new(false));
    let is_moved = Arc::clone(&moved);
    let server = Server::start(move |request| {
        let description = if is_moved.load(Ordering::SeqCst) { "another" } else { "first" };
        let config = config("web", "1.0.0", description);
        let digest = format!("Docker-Content-Digest: {}", Digest::of(manifest(&config).to_string()));
        match request.path.as_str() {
            "/v2/charts/web/manifests/1.0.0" => reply(200, &[&digest], manifest(&config).to_string()),
            _ => answer(request, &[("web", vec![("1.0.0", config)])]),
        }
    });
    let first = list(&server, &["web"], &[], false).unwrap();
    let count = server.requests().len();
    assert_eq!(list(&server, &["web"], &first.charts, true).unwrap().charts, first.charts);
    assert_eq!(server.requests().len(), count + 2, "the tags and the digest of the manifest");
    moved.store(true, Ordering::SeqCst);
    assert_eq!(list(&server, &["web"], &first.charts, false).unwrap().charts, first.charts);
    let checked = list(&server, &["web"], &first.charts, true).unwrap();
    assert_eq!(checked.charts[0].versions[0].chart.description.as_deref(), Some("another"));
    assert_ne!(checked.revision, first.revision);
}

#[test]
fn tag_without_a_chart_is_remembered_and_an_invalid_chart_is_told() {
    let server = Server::start(|request| {
        let image = request.path.ends_with("/manifests/3.0.0");
        if image {
            return ok(r#"{"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"x","size":1}}"#);
        }
        let tags = vec![
            ("1.0.0", config("web", "1.0.0", "right")),
            ("1.1.0", config("other", "1.1.0", "another name")),
            ("1.2.0", config("web", "1.0.0", "another version")),
            ("1.3.0", "{\"name\": 1".to_owned()),
            ("3.0.0", String::new()),
            ("4.0.0", String::new()),
        ];
        if request.path.ends_with("/manifests/4.0.0") { reply(404, &[], "") } else { answer(request, &[("web", tags)]) }
    });
    let listed = list(&server, &["web"], &[], false).unwrap();
    assert_eq!(versions(&listed), [("web".to_owned(), vec!["1.0.0".to_owned()])]);
    let url = format!("{}/v2/charts/web", server.url);
    let first = |text: &str| text.split(';').next().unwrap().replace(&url, "WEB");
    let skipped: Vec<String> =
        listed.charts[0].skipped.iter().map(|skipped| format!("{}: {}", skipped.tag, first(&skipped.reason))).collect();
    assert_eq!(skipped, ["3.0.0: WEB/manifests/3.0.0 is not a chart: its manifest is not a chart's"]);
    let invalid: Vec<String> = listed
        .invalid
        .iter()
        .map(|tag| format!("{} {}: {}", tag.chart, tag.version, first(&tag.error.to_string())))
        .collect();
    let config = Digest::of("{\"name\": 1");
    let chart = |tag: &str| format!("web {tag}: chart oci+{}/charts/web:{tag}", server.url);
    assert_eq!(
        invalid,
        [
            format!("{}: WEB/manifests/4.0.0 does not exist", chart("4.0.0")),
            format!("{}: WEB/blobs/{config} is malformed: it is not the expected JSON, at line 1", chart("1.3.0")),
            format!("{}: WEB/manifests/1.2.0 is not a chart: it is the chart web 1.0.0", chart("1.2.0")),
            format!("{}: WEB/manifests/1.1.0 is not a chart: it is the chart other 1.1.0", chart("1.1.0")),
        ]
    );
    let count = server.requests().len();
    let again = list(&server, &["web"], &listed.charts, false).unwrap();
    assert_eq!((&again.charts, &again.revision, again.invalid.len()), (&listed.charts, &listed.revision, 4));
    assert_eq!(server.requests().len(), count + 1 + 7, "the tags, and the four that may be mended");
}

#[test]
fn chart_that_cannot_be_read_stops_no_other() {
    let server = Server::start(|request| {
        if request.path.contains("/private/") {
            return reply(403, &[], "");
        }
        answer(request, &[("web", vec![("1.0.0", config("web", "1.0.0", ""))])])
    });
    let listed = list(&server, &["private", "gone", "web"], &[], false).unwrap();
    let names: Vec<usize> = listed.charts.iter().map(|chart| chart.versions.len()).collect();
    assert_eq!(names, [0, 0, 1]);
    let unread: Vec<String> =
        listed.unread.iter().map(|error| error.to_string().replace(server.host(), "HOST")).collect();
    assert_eq!(
        unread,
        [
            "chart oci+http://HOST/charts/private: http://HOST/v2/charts/private/tags/list is refused with 403; give \
             credentials that may read it",
            "chart oci+http://HOST/charts/gone: http://HOST/v2/charts/gone/tags/list does not exist; check the names of the \
             repository and the chart",
        ]
    );
}

#[test]
fn known_versions_are_kept_while_they_cannot_be_read() {
    let refused = Arc::new(AtomicBool::new(false));
    let is_refused = Arc::clone(&refused);
    let server = Server::start(move |request| {
        let is_head = request.path.contains("/web/manifests/") || request.path.contains("/private/");
        if is_refused.load(Ordering::SeqCst) && is_head {
            return reply(403, &[], "");
        }
        let charts = ["web", "private"].map(|name| (name, vec![("1.0.0", config(name, "1.0.0", ""))]));
        answer(request, &charts)
    });
    let first = list(&server, &["web", "private"], &[], false).unwrap();
    refused.store(true, Ordering::SeqCst);
    let second = list(&server, &["web", "private"], &first.charts, true).unwrap();
    assert_eq!((&second.charts, &second.revision), (&first.charts, &first.revision));
    assert_eq!(second.unread.len(), 2, "{:?}", second.unread);
    // Nothing is known, and nothing can be read.
    let error = list(&server, &["private"], &[], false).unwrap_err();
    assert!(error.to_string().contains("is refused with 403"), "{error}");
}

#[test]
fn overloaded_registry_stops_a_listing_which_continues_later() {
    let overloaded = Arc::new(AtomicBool::new(true));
    let is_overloaded = Arc::clone(&overloaded);
    let server = Server::start(move |request| {
        let tags: Vec<String> = (0..40).map(|minor| format!("1.{minor}.0")).collect();
        let tags = tags.iter().map(|tag| (tag.as_str(), config("web", tag, ""))).collect();
        if is_overloaded.load(Ordering::SeqCst) && request.path.ends_with("/manifests/1.20.0") {
            return reply(429, &["Retry-After: 7"], "");
        }
        answer(request, &[("web", tags)])
    });
    let listed = list(&server, &["web"], &[], false).unwrap();
    assert!((1..40).contains(&listed.charts[0].versions.len()), "{}", listed.charts[0].versions.len());
    let [error] = &listed.unread[..] else { panic!("{:?}", listed.unread) };
    assert!(error.passing() && error.retry_after().is_some_and(|delay| delay.as_secs() == 7), "{error}");
    assert!(error.to_string().contains("/charts/web:1.20.0: "), "{error}");
    overloaded.store(false, Ordering::SeqCst);
    let count = server.requests().len();
    let complete = list(&server, &["web"], &listed.charts, false).unwrap();
    assert_eq!((complete.charts[0].versions.len(), complete.unread.len()), (40, 0));
    let missing = 40 - listed.charts[0].versions.len();
    assert_eq!(server.requests().len(), count + 1 + 2 * missing);

    let down = Server::start(|_| reply(503, &[], ""));
    let error = list(&down, &["web"], &[], false).unwrap_err();
    assert!(error.passing() && error.to_string().starts_with("registry oci+http://"), "{error}");
}

#[test]
fn repositories_are_listed_where_the_registry_allows_it() {
    let server = Server::start(|request| {
        let page = |names: &[&str], link: &str| reply(200, &[link], json!({ "repositories": names }).to_string());
        match request.path.as_str() {
            "/v2/_catalog?n=1000" => {
                page(&["charts/web", "chart", "charts"], "Link: </v2/_catalog?last=x>; rel=\"next\"")
            }
            "/v2/_catalog?last=x" => page(&["charts/team/db", "images/web"], "X: y"),
            _ => answer(
                request,
                &[
                    ("web", vec![("1.0.0", config("web", "1.0.0", ""))]),
                    ("team/db", vec![("2.0.0", config("db", "2.0.0", ""))]),
                ],
            ),
        }
    });
    let listed = list(&server, &[], &[], false).unwrap();
    let expected = [("team/db", "2.0.0"), ("web", "1.0.0")];
    assert_eq!(versions(&listed), expected.map(|(name, version)| (name.to_owned(), vec![version.to_owned()])));
    for status in [401, 403, 404, 405] {
        let server = Server::start(move |_| reply(status, &[], ""));
        let error = list(&server, &[], &[], false).unwrap_err();
        let expected = format!(
            "registry oci+http://{0}/charts: {0} does not list its repositories ({status}); list the charts by name",
            server.host()
        );
        assert_eq!((error.to_string(), error.passing()), (expected, false));
    }
}

#[test]
fn token_is_shared_and_requested_again_when_it_expires() {
    let tokens = Server::start({
        let count = std::sync::atomic::AtomicUsize::new(0);
        move |_| ok(json!({ "token": format!("token-{}", count.fetch_add(1, Ordering::SeqCst)) }).to_string())
    });
    let realm = tokens.url.clone();
    let server = Server::start(move |request| {
        let challenge = format!("WWW-Authenticate: Bearer realm=\"{realm}\",service=\"here\"");
        let expected = if request.path.contains("tags") { "Bearer token-0" } else { "Bearer token-1" };
        if request.header("authorization") != Some(expected) {
            return reply(401, &[&challenge], "");
        }
        answer(request, &[("web", vec![("1.0.0", config("web", "1.0.0", ""))])])
    });
    assert_eq!(list(&server, &["web"], &[], false).unwrap().charts[0].versions.len(), 1);
    assert_eq!(tokens.requests().len(), 2);
}
