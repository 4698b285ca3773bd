//! Catalogs of real servers: a Helm repository, an OCI registry and a git server; and servers that lie.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use fitout_testkit::http_server::{Reply, Server, ok, redirect, reply};
use fitout_testkit::{
    Cluster, Fault, GitServer, KubeVersion, Proxy, Registry, Spec, add_fake_node, apply, condition, object, until,
};
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::world::{LIMIT, World};

const CATALOGS: &str = "/apis/fitout.dev/v1alpha1/namespaces/fitout-system/catalogs";
const EXTENSIONS: &str = "/apis/fitout.dev/v1alpha1/namespaces/fitout-system/extensions";

fn add(world: &World, name: &str, source: &Value) -> Result<()> {
    let spec = json!({ "spec": { "source": source, "intervalSeconds": 600 } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", name, &spec))
}

/// Requests a sync, as `fitout catalog sync` does, and returns the status once the hub has handled it.
fn sync(world: &World, name: &str, request: &str, accept: Option<&str>) -> Result<Value> {
    let mut annotations = json!({ "fitout.dev/requestedAt": request });
    if let Some(revision) = accept {
        annotations["fitout.dev/acceptRevision"] = json!(revision);
    }
    let patch = json!({ "metadata": { "annotations": annotations } }).to_string();
    let words = ["patch", "catalog", name, "--namespace=fitout-system", "--type=merge", "--patch", &patch];
    world.hub.kubectl().run(&words)?;
    until(&format!("{name} is synced"), LIMIT, || {
        let catalog = world.hub.client().get(&format!("{CATALOGS}/{name}"))?;
        ensure!(catalog["status"]["lastHandledRequest"] == request, "{}", catalog["status"]);
        Ok(catalog)
    })
}

/// The versions of an extension, newest first, and the digest of each.
fn versions(world: &World, name: &str) -> Result<Vec<(String, String)>> {
    let extension = world.hub.client().find(&format!("{EXTENSIONS}/{name}"))?.unwrap_or_default();
    let versions = extension["spec"]["versions"].as_array().cloned().unwrap_or_default();
    let text = |version: &Value, field: &str| version[field].as_str().unwrap_or_default().to_owned();
    Ok(versions.iter().map(|version| (text(version, "version"), text(version, "digest"))).collect())
}

fn offers(world: &World, name: &str, expected: &[&str]) -> Result<()> {
    until(&format!("{name} has {expected:?}"), LIMIT, || {
        let found: Vec<String> = versions(world, name)?.into_iter().map(|(version, _)| version).collect();
        ensure!(found == expected, "{found:?}");
        Ok(())
    })
}

fn message(catalog: &Value) -> String {
    condition(catalog, "Synced")["message"].as_str().unwrap_or_default().to_owned()
}

fn reason(catalog: &Value) -> String {
    condition(catalog, "Synced")["reason"].as_str().unwrap_or_default().to_owned()
}

/// Writes a chart with a config map.
fn write_chart(folder: &Path, version: &str, data: &str) -> Result<()> {
    fs::create_dir_all(folder.join("templates"))?;
    let chart = format!(
        "apiVersion: v2\nname: web\nversion: {version}\nkubeVersion: \">=1.30-0\"\ndescription: A page\nkeywords: [http]\n"
    );
    fs::write(folder.join("Chart.yaml"), chart)?;
    let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: web }}\ndata: {{ text: {data:?} }}\n");
    fs::write(folder.join("templates/map.yaml"), map)?;
    Ok(())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn install(world: &World, catalog: &str) -> Result<()> {
    let spec = json!({ "spec": {
        "cluster": "foo", "namespace": catalog, "extension": { "name": "web", "catalog": catalog }, "version": "1.0.0",
    } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", catalog, &spec))?;
    until(&format!("web of {catalog} is installed"), LIMIT, || {
        let path = format!("/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensioninstances/{catalog}");
        let instance = world.hub.client().get(&path)?;
        ensure!(condition(&instance, "Ready")["status"] == "True", "{}", instance["status"]);
        world.target.client().get(&format!("/api/v1/namespaces/{catalog}/configmaps/web")).map(drop)
    })
}

#[test]
fn charts_of_real_servers_are_listed_and_installed() -> Result<()> {
    let world = World::start_with(false)?;
    helm_repository(&world)?;
    registry(&world)?;
    git(&world)
}

/// A catalog with a repository for each Kubernetes version: clusters choose from different ones, also the same version.
#[test]
fn clusters_choose_from_the_repository_of_their_kubernetes_version() -> Result<()> {
    let world = World::start_with(false)?;
    let dir = world.hub.sandbox().dir();
    let helm = world.hub.helm();
    let mut repositories = vec![];
    for key in ["1.35", "1.36"] {
        let (source, folder) = (dir.join(format!("source-{key}")), dir.join(format!("repository-{key}")));
        fs::create_dir_all(&folder)?;
        write_chart(&source, "1.0.0", &format!("for {key}"))?;
        helm.run(&["package", &text(&source), "--destination", &text(&folder)])?;
        helm.run(&["repo", "index", &text(&folder)])?;
        repositories.push(Repository::start(folder));
    }
    let source = |index: usize| json!({ "helmRepository": { "url": repositories[index].address } });
    let spec = json!({ "spec": { "sources": { "1.35": source(0), "1.36": source(1) } } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "Catalog", "fitout-system", "keyed", &spec))?;
    offers(&world, "keyed.web", &["1.0.0", "1.0.0"])?;
    let digests: Vec<String> = versions(&world, "keyed.web")?.into_iter().map(|(_, digest)| digest).collect();
    assert_ne!(digests[0], digests[1], "the same version has another content for each");

    let mut old = Cluster::start(Spec { version: KubeVersion::V1_35, ..Spec::default() })?;
    add_fake_node(&old)?;
    world.register_as(&old, "old")?;
    for cluster in ["foo", "old"] {
        let spec = json!({ "spec": {
            "cluster": cluster, "namespace": "keyed", "extension": { "name": "web", "catalog": "keyed" },
        } });
        apply(&world.hub, &object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", cluster, &spec))?;
    }
    let has = |cluster: &Cluster, expected: &str| {
        until(&format!("{expected} is installed"), LIMIT, || {
            let map = cluster.client().find("/api/v1/namespaces/keyed/configmaps/web")?.unwrap_or_default();
            ensure!(map["data"]["text"] == expected, "{}", map["data"]);
            Ok(())
        })
    };
    has(&world.target, "for 1.36")?;
    has(&old, "for 1.35")?;

    // The cluster is upgraded: its instance follows to the repository of the new version.
    old.switch(KubeVersion::V1_36)?;
    has(&old, "for 1.36")
}

/// A repository with a user: what `helm repo index` adds is listed at the next sync.
fn helm_repository(world: &World) -> Result<()> {
    let dir = world.hub.sandbox().dir();
    let (source, folder) = (dir.join("helm-source"), dir.join("helm-repository"));
    fs::create_dir_all(&folder)?;
    let helm = world.hub.helm();
    let publish = |version: &str| -> Result<()> {
        write_chart(&source, version, version)?;
        helm.run(&["package", &text(&source), "--destination", &text(&folder)])?;
        helm.run(&["repo", "index", &text(&folder)]).map(drop)
    };
    publish("1.0.0")?;
    let repository = Repository::start_guarded(folder.clone());
    add(world, "helm", &json!({ "helmRepository": { "url": repository.address } }))?;
    until("the missing credentials are reported", LIMIT, || {
        let catalog = world.hub.client().get(&format!("{CATALOGS}/helm"))?;
        ensure!(reason(&catalog) == "Unauthorized", "{}", catalog["status"]);
        ensure!(message(&catalog).contains("a Secret of type fitout.dev/repository"), "{}", message(&catalog));
        Ok(())
    })?;
    // The Secret is enough: the hub reads the catalog at once.
    let secret = json!({
        "type": "fitout.dev/repository",
        "stringData": { "repository": repository.address, "username": "charts", "password": "secret" },
    });
    apply(&world.hub, &object("v1", "Secret", "fitout-system", "helm", &secret))?;
    offers(world, "helm.web", &["1.0.0"])?;
    let extension = world.hub.client().get(&format!("{EXTENSIONS}/helm.web"))?;
    assert_eq!((&extension["spec"]["summary"], &extension["spec"]["keywords"]), (&json!("A page"), &json!(["http"])));
    assert_eq!(extension["spec"]["versions"][0]["kubernetes"], ">=1.30-0");
    install(world, "helm")?;
    publish("1.1.0")?;
    sync(world, "helm", "1", None)?;
    offers(world, "helm.web", &["1.1.0", "1.0.0"])
}

/// What `helm push` pushes to a registry is listed.
fn registry(world: &World) -> Result<()> {
    let (registry, (user, password)) = Registry::start_guarded()?;
    let helm = registry.helm();
    let source = registry.dir().join("oci-source");
    let push = |version: &str| -> Result<()> {
        write_chart(&source, version, version)?;
        helm.run(&["package", &text(&source), "--destination", &text(registry.dir())])?;
        let archive = registry.dir().join(format!("web-{version}.tgz"));
        let to = format!("oci://{}/charts", registry.address());
        let words = ["push", &text(&archive), &to, "--plain-http", "--username", user, "--password", password];
        helm.run(&words).map(drop)
    };
    push("1.0.0")?;
    let url = format!("oci+http://{}/charts", registry.address());
    let secret = json!({
        "type": "fitout.dev/repository",
        "stringData": { "repository": url, "username": user, "password": password },
    });
    apply(&world.hub, &object("v1", "Secret", "fitout-system", "oci", &secret))?;
    add(world, "oci", &json!({ "helmRepository": { "url": url, "charts": ["web"] } }))?;
    offers(world, "oci.web", &["1.0.0"])?;
    // The registry lists its repositories as well.
    add(world, "oci-all", &json!({ "helmRepository": { "url": url } }))?;
    offers(world, "oci-all.web", &["1.0.0"])?;
    install(world, "oci")?;
    push("1.1.0")?;
    sync(world, "oci", "1", None)?;
    offers(world, "oci.web", &["1.1.0", "1.0.0"])
}

/// What `git push` pushes is listed; a rewritten history is not, until a user accepts it.
fn git(world: &World) -> Result<()> {
    if let Some(why) = fitout_testkit::no_git() {
        fitout_testkit::skip(&why);
        return Ok(());
    }
    let server = GitServer::start()?;
    let copy = server.create("charts")?;
    write_chart(&copy.dir().join("charts/web"), "1.0.0", "first")?;
    copy.push(&[])?;
    add(world, "git", &json!({ "git": { "url": server.url("charts"), "path": "charts" } }))?;
    offers(world, "git.web", &["1.0.0"])?;
    install(world, "git")?;
    write_chart(&copy.dir().join("charts/web"), "1.1.0", "second")?;
    copy.push(&[])?;
    sync(world, "git", "1", None)?;
    offers(world, "git.web", &["1.1.0"])?;

    // Another content of a version that was published, in a commit that follows: what was published stays.
    let published = versions(world, "git.web")?;
    write_chart(&copy.dir().join("charts/web"), "1.1.0", "changed")?;
    copy.push(&[])?;
    let changed = sync(world, "git", "2", None)?;
    assert_eq!(reason(&changed), "Inconsistent", "{}", changed["status"]);
    assert!(
        message(&changed).starts_with("web 1.1.0: the source has changed its content from"),
        "{}",
        message(&changed)
    );
    assert_eq!(versions(world, "git.web")?, published);
    let revision = changed["status"]["sources"][0]["revision"].as_str().context("a revision")?.to_owned();
    let accepted = sync(world, "git", "3", Some(&revision))?;
    assert_eq!(reason(&accepted), "Synced", "{}", accepted["status"]);
    let now = versions(world, "git.web")?;
    assert_ne!(now, published);

    // A history without the commit that was read last.
    copy.git(&["reset", "--hard", "HEAD~2"])?;
    write_chart(&copy.dir().join("charts/web"), "1.2.0", "rewritten")?;
    copy.push(&[])?;
    let rewritten = sync(world, "git", "4", None)?;
    assert_eq!(reason(&rewritten), "Inconsistent", "{}", rewritten["status"]);
    assert!(message(&rewritten).contains("the history was rewritten"), "{}", message(&rewritten));
    assert_eq!(versions(world, "git.web")?, now);
    let found = copy.git(&["rev-parse", "HEAD"])?.trim().to_owned();
    sync(world, "git", "5", Some(&found))?;
    offers(world, "git.web", &["1.2.0"])
}

/// A server that sends another `ETag` with the same content is asked with the newer one.
fn newer_etag_is_sent(world: &World) -> Result<()> {
    let count = Arc::new(Mutex::new(0));
    let server = Server::start(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        let etag = format!("ETag: \"{count}\"");
        reply(200, &[&etag], index("2030-01-02T00:00:00Z", &[("1.0.0", "a")]))
    });
    add(world, "etag", &json!({ "helmRepository": { "url": server.url } }))?;
    offers(world, "etag.web", &["1.0.0"])?;
    for (number, expected) in [("1", "\"1\""), ("2", "\"2\"")] {
        // It wakes the hub and, unlike a request, does not read everything.
        let patch = json!({ "metadata": { "annotations": { "fitout.dev/acceptRevision": number } } }).to_string();
        let words = ["patch", "catalog", "etag", "--namespace=fitout-system", "--type=merge", "--patch", &patch];
        world.hub.kubectl().run(&words)?;
        until(&format!("a request has the ETag {expected}"), LIMIT, || {
            let sent: Vec<_> =
                server.requests().iter().map(|it| it.header("if-none-match").map(str::to_owned)).collect();
            ensure!(sent.last().is_some_and(|sent| sent.as_deref() == Some(expected)), "{sent:?}");
            Ok(())
        })?;
    }
    Ok(())
}

/// An archive that unpacks to more than the catalog of an organization may take.
fn large_archive_of_an_organization_is_refused(world: &World) -> Result<()> {
    let zeros = vec![0; 24 << 20];
    let tar = fitout_model::pack_files(["web/a", "web/b", "web/c"].map(|path| (path, zeros.as_slice())));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &tar)?;
    let archive = encoder.finish()?;
    let server = Server::start(move |_| ok(&archive));
    let spec = json!({ "spec": { "source": { "archive": { "url": format!("{}/all.tgz", server.url) } } } });
    apply(&world.hub, &object("fitout.dev/v1alpha1", "Catalog", "org-acme", "large", &spec))?;
    until("the archive is refused", LIMIT, || {
        let catalog = world.hub.client().get("/apis/fitout.dev/v1alpha1/namespaces/org-acme/catalogs/large")?;
        ensure!(message(&catalog).contains("its files have more than 64 MiB"), "{}", catalog["status"]);
        Ok(())
    })
}

/// A lie: its name, the reason and a part of the message that the catalog reports, and the answers of the server.
type Lie = (&'static str, &'static str, &'static str, Box<dyn Fn() -> Reply + Send>);

/// The answer of a server to a request for its index.
type Answer = Arc<Mutex<Box<dyn Fn() -> Reply + Send>>>;

fn index(generated: &str, versions: &[(&str, &str)]) -> String {
    let entries = versions.iter().map(|(version, digest)| {
        format!(
            "  - {{ name: web, version: {version}, digest: \"{}\", urls: [web-{version}.tgz] }}\n",
            digest.repeat(64)
        )
    });
    let entries: String = entries.collect();
    format!("apiVersion: v1\ngenerated: \"{generated}\"\nentries:\n  web:\n{entries}")
}

#[test]
fn a_source_that_lies_changes_nothing_and_delays_no_other() -> Result<()> {
    let world = World::start_with(false)?;
    let (proxy, token) = (Proxy::start(&world.hub)?, world.hub.admin_token()?);
    let world = world.restart_hub_behind(&proxy, &token)?;
    let answer: Answer = Arc::new(Mutex::new(Box::new(|| ok(index("2030-01-02T00:00:00Z", &[("1.0.0", "a")])))));
    let now = Arc::clone(&answer);
    let elsewhere = Server::start(|_| ok(index("2031-01-02T00:00:00Z", &[("6.6.6", "a")])));
    let server = Server::start(move |_| (now.lock().unwrap())());
    let answers = |reply: Box<dyn Fn() -> Reply + Send>| *answer.lock().unwrap() = reply;
    add(&world, "liar", &json!({ "helmRepository": { "url": server.url } }))?;
    offers(&world, "liar.web", &["1.0.0"])?;
    let published = versions(&world, "liar.web")?;
    // What was published cannot be read to be kept: nothing of the source is.
    proxy.decide(|request| {
        let reads_content = request.method == "GET" && request.path.contains("/secrets/content-");
        if reads_content { Fault::Refuse } else { Fault::Pass }
    });
    answers(Box::new(|| ok(index("2030-01-02T00:00:01Z", &[("1.0.0", "b")]))));
    let catalog = sync(&world, "liar", "unreadable", None)?;
    assert_eq!(reason(&catalog), "Unreachable", "{}", catalog["status"]);
    assert!(message(&catalog).starts_with("the hub cannot access its stored content"), "{}", message(&catalog));
    assert_eq!(versions(&world, "liar.web")?, published);
    proxy.decide(|_| Fault::Pass);

    let stolen = elsewhere.url.clone();
    let rows: Vec<Lie> = vec![
        (
            "changed",
            "Inconsistent",
            "web 1.0.0: the source has changed its content",
            Box::new(|| ok(index("2030-01-02T00:00:01Z", &[("1.0.0", "b")]))),
        ),
        (
            "old",
            "Inconsistent",
            "the source offers an older index (of 2029-01-02T00:00:00Z)",
            Box::new(|| ok(index("2029-01-02T00:00:00Z", &[("0.9.0", "a")]))),
        ),
        ("not-modified", "Unreachable", "304", Box::new(|| reply(304, &[], ""))),
        (
            "truncated",
            "Unreachable",
            "",
            Box::new(|| Reply(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\napiVersion: v1\n".to_vec(), false)),
        ),
        ("not-an-index", "Unreachable", "", Box::new(|| ok("<html>busy</html>"))),
        ("unauthorized", "Unauthorized", "401", Box::new(|| reply(401, &[], ""))),
        ("rate-limited", "Unreachable", "", Box::new(|| reply(429, &["Retry-After: 1"], ""))),
        ("broken", "Unreachable", "500", Box::new(|| reply(500, &[], ""))),
        (
            "huge",
            "Unreachable",
            "",
            Box::new(|| {
                Reply(b"HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\napiVersion: v1\n".to_vec(), false)
            }),
        ),
    ];
    for (number, (name, expected, part, reply)) in rows.into_iter().enumerate() {
        answers(reply);
        let catalog = sync(&world, "liar", &number.to_string(), None)?;
        assert_eq!(reason(&catalog), expected, "{name}: {}", catalog["status"]);
        assert!(message(&catalog).contains(part), "{name}: {}", message(&catalog));
        assert_eq!(versions(&world, "liar.web")?, published, "{name}");
    }
    // A redirect is followed without credentials: what it leads to is another content of the same source.
    answers(Box::new(move || redirect(&format!("{stolen}/index.yaml"))));
    let secret = json!({
        "type": "fitout.dev/repository", "stringData": { "repository": server.url, "token": "hunter2" },
    });
    apply(&world.hub, &object("v1", "Secret", "fitout-system", "liar", &secret))?;
    sync(&world, "liar", "redirect", None)?;
    assert!(elsewhere.requests().iter().all(|request| request.header("authorization").is_none()));
    assert!(!elsewhere.requests().is_empty());

    newer_etag_is_sent(&world)?;
    large_archive_of_an_organization_is_refused(&world)?;

    // A server that never answers delays no other catalog.
    answers(Box::new(|| {
        std::thread::sleep(LIMIT * 2);
        Reply(vec![], false)
    }));
    add(&world, "local", &json!({ "directory": { "path": world.catalog } }))?;
    let again = json!({ "metadata": { "annotations": { "fitout.dev/requestedAt": "hang" } } }).to_string();
    let words = ["patch", "catalog", "liar", "--namespace=fitout-system", "--type=merge", "--patch", &again];
    world.hub.kubectl().run(&words)?;
    offers(&world, "local.thing", &["2.0.0", "1.0.0"])?;
    world.want(&json!({}))?;
    world.ready(1)?;
    let waiting = world.hub.client().get(&format!("{CATALOGS}/liar"))?;
    assert_ne!(waiting["status"]["lastHandledRequest"], "hang", "it still waits");
    Ok(())
}
