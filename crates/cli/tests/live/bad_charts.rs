//! Charts and repositories with something wrong: each is a sentence that names the object and the remedy; a server is asked
//! again only where that can help, and never sees what is for another; what is mended where it is published becomes Ready
//! without anybody touching the instance. The hub is the real program, with its real log; the repositories are real servers.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use fitout_model::Digest;
use fitout_testkit::http_server::{Reply, Request, Server, ok, redirect, reply};
use fitout_testkit::{INSTANCES, apply, condition, object, until};
use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::command::fitout;
use crate::faults::Faults;

/// Long enough for a busy machine, and for what waits twice until it is asked for again.
const LIMIT: Duration = Duration::from_secs(90);

/// How long a repository is left alone whose answer only its publisher can mend.
const REVISIT: Duration = Duration::from_secs(15);

/// How long the busy registry wants to be left alone.
const BUSY: Duration = Duration::from_secs(3);

const PASSWORD: &str = "hunter2-is-right";
const WRONG_PASSWORD: &str = "hunter1-is-wrong";
/// `user:PASSWORD` and `user:WRONG_PASSWORD`, as they are shown to servers.
const SHOWN: &str = "dXNlcjpodW50ZXIyLWlzLXJpZ2h0";
const SHOWN_WRONG: &str = "dXNlcjpodW50ZXIxLWlzLXdyb25n";

/// The parts of a chart: paths, and what is there.
type Files<'a> = &'a [(&'a str, &'a str)];

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: map }\ndata: { color: {{ .Values.color }} }\n";

/// A chart of one config map, with these files more or instead.
fn archive(name: &str, files: Files) -> Vec<u8> {
    let metadata = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
    let usual = [("Chart.yaml", metadata.as_str()), ("values.yaml", "color: red\n"), ("templates/map.yaml", MAP)];
    let usual = usual.iter().filter(|(path, _)| files.iter().all(|(other, _)| other != path));
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in usual.chain(files) {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, format!("{name}/{path}"), text.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// What an honest repository answers, and an honest registry.
fn publish(name: &str, archive: &[u8], request: &Request) -> Reply {
    let digest = Digest::of(archive);
    let blob = format!("/v2/charts/{name}/blobs/{digest}");
    match request.path.as_str() {
        "/index.yaml" => ok(format!(
            "apiVersion: v1\nentries:\n  {name}:\n  - name: {name}\n    version: 1.0.0\n    digest: {}\n    urls: [{name}.tgz]\n",
            &digest.as_str()[7..]
        )),
        path if path == format!("/{name}.tgz") || path == blob => ok(archive),
        path if path == format!("/v2/charts/{name}/manifests/1.0.0") => ok(json!({
            "schemaVersion": 2,
            "config": { "mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": Digest::of("{}"), "size": 2 },
            "layers": [{
                "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
                "digest": digest, "size": archive.len(),
            }],
        })
        .to_string()),
        _ => reply(404, &[], ""),
    }
}

/// A chart of a repository of its own, and whether what is wrong with it was mended.
struct Case {
    name: &'static str,
    address: String,
    server: Option<Server>,
    mended: Arc<AtomicBool>,
}

impl Case {
    /// A chart that is wrong in these files.
    fn chart(name: &'static str, files: Files) -> Self {
        let wrong = archive(name, files);
        Self::lie(name, move |request| publish(name, &wrong, request))
    }

    /// A repository that answers so.
    fn lie(name: &'static str, lie: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let (mended, right) = (Arc::<AtomicBool>::default(), archive(name, &[]));
        let is_mended = Arc::clone(&mended);
        let server = Server::start(move |request| {
            if is_mended.load(Ordering::Relaxed) { publish(name, &right, request) } else { lie(request) }
        });
        Self { name, address: server.url.clone(), server: Some(server), mended }
    }

    /// A registry that answers so.
    fn registry(name: &'static str, lie: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let case = Self::lie(name, lie);
        Self { address: case.address.replace("http://", "oci+http://") + "/charts", ..case }
    }

    /// Times between what began a visit and what began the next.
    fn pauses(&self) -> Vec<Duration> {
        let asked = self.server.as_ref().map(Server::requests).unwrap_or_default();
        let begins = asked.iter().filter(|one| one.path == "/index.yaml" || one.path.contains("/manifests/"));
        let begins: Vec<_> = begins.map(|request| request.at).collect();
        begins.windows(2).map(|two| two[1] - two[0]).collect()
    }
}

/// All that is wrong with charts themselves: only who publishes them can mend that.
fn charts() -> Vec<Case> {
    let schema = r#"{ "properties": { "color": { "type": "integer" } } }"#;
    let modern = "apiVersion: v2\nname: modern\nversion: 1.0.0\nkubeVersion: '>=1.99'\n";
    let absent = MAP.replace("name: map", "name: map, namespace: absent");
    vec![
        Case::chart("unparsed", &[("templates/map.yaml", &MAP.replace(".Values.color", ".Values.color | quoted"))]),
        Case::chart("unnamed", &[("Chart.yaml", "apiVersion: v2\nname: [unnamed\n")]),
        Case::chart("schema", &[("values.schema.json", schema)]),
        Case::chart("modern", &[("Chart.yaml", modern)]),
        Case::chart("invalid", &[("templates/map.yaml", &MAP.replace(" }}", " }} : {"))]),
        Case::chart("twice", &[("templates/again.yaml", MAP)]),
        Case::chart("homeless", &[("templates/map.yaml", &absent)]),
    ]
}

/// The connection breaks before the end.
fn broken(reply: &Reply) -> Reply {
    Reply(reply.0[..reply.0.len() - 9].to_vec(), false)
}

/// All that is wrong with repositories, the last of which is not there yet; and the server that one of them sends to.
fn repositories(free: &str) -> (Vec<Case>, Server) {
    let public = Arc::<AtomicBool>::default();
    let is_public = Arc::clone(&public);
    let other = Server::start(move |_| {
        let wanted = reply(401, &["WWW-Authenticate: Basic realm=\"give me\""], "");
        if is_public.load(Ordering::Relaxed) { ok(archive("sent", &[])) } else { wanted }
    });
    let away = format!("{}/sent.tgz", other.url);
    let sent = Case::lie("sent", move |request| match request.path.as_str() {
        "/sent.tgz" => redirect(&away),
        _ => publish("sent", &archive("sent", &[]), request),
    });
    let sent = Case { mended: public, ..sent };
    let busy = format!("Retry-After: {}", BUSY.as_secs());
    let cases = vec![
        Case::lie("lying", |request| match request.path.as_str() {
            "/lying.tgz" => ok(archive("another", &[])),
            _ => publish("lying", &archive("lying", &[]), request),
        }),
        sent,
        Case::lie("cut", |request| match publish("cut", &archive("cut", &[]), request) {
            reply if request.path == "/cut.tgz" => broken(&reply),
            reply => reply,
        }),
        Case::registry("busy", move |_| reply(429, &[&busy], "")),
        Case::registry("failing", |_| reply(500, &[], "")),
        Case { name: "gone", address: format!("http://{free}"), server: None, mended: Arc::default() },
    ];
    (cases, other)
}

/// A registry that lets in nobody without the right password.
fn guarded() -> Case {
    Case::registry("guarded", |request| match request.header("authorization") {
        Some(shown) if shown == format!("Basic {SHOWN}") => publish("guarded", &archive("guarded", &[]), request),
        _ => reply(401, &["WWW-Authenticate: Basic realm=\"charts\""], ""),
    })
}

/// Offers each as an extension, and wants each.
fn definition(case: &Case) -> String {
    let Case { name, address, .. } = case;
    format!(
        "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: {name} }}\n\
         spec: {{ extension: {name}, version: 1.0.0, bootstrap: true, helm: {{ chart: {name}, version: 1.0.0, repository: '{address}' }} }}\n"
    )
}

fn instance(name: &str) -> Value {
    let spec = json!({ "cluster": "c0", "namespace": name, "extension": { "name": name, "catalog": "local" } });
    object("fitout.dev/v1alpha1", "ExtensionInstance", "org-acme", name, &json!({ "spec": spec }))
}

/// What a repository wants to see.
fn secret(case: &Case, password: &str) -> Value {
    let data = json!({ "repository": case.address, "username": "user", "password": password });
    let rest = json!({ "type": "fitout.dev/repository", "stringData": data });
    object("v1", "Secret", "fitout-system", case.name, &rest)
}

/// Waits until the hub says of an instance that it failed, with this word, and tells the instance.
fn failed(faults: &Faults, name: &str, word: &str) -> Result<Value> {
    until(&format!("{name} has failed"), LIMIT, || {
        let instance = faults.instance(name)?.context("an instance")?;
        let ready = condition(&instance, "Ready");
        let said = ready["message"].as_str().is_some_and(|message| message.contains(word));
        if said && ready["reason"] == "Failed" { Ok(instance) } else { Err(anyhow!("{ready}")) }
    })
}

/// What a person sees, but for the steps of others, and without addresses that are others each time.
fn typed(faults: &Faults, case: &Case, line: &str) -> Result<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let seen = fitout(&faults.hub.kubeconfig(), Some("acme"), &words)?.shown();
    let host = case.address.split("//").nth(1).and_then(|rest| rest.split('/').next()).context("a host")?;
    Ok(format!("$ fitout {line}\n{}", seen.replace(host, "HOST")))
}

/// The line of `fitout status` that says why it is not Ready, and whether the hub tries again by itself.
fn sentence(faults: &Faults, case: &Case, word: &str) -> Result<String> {
    let instance = failed(faults, case.name, word)?;
    let seen = typed(faults, case, &format!("status {}", case.name))?;
    let line = seen.lines().find_map(|line| line.trim().strip_prefix("✗ Ready")).context("a line")?;
    let waits = condition(&instance, "Stalled")["status"] == "True";
    let goes_on = condition(&instance, "Reconciling")["status"] == "True";
    ensure!(waits != goes_on, "{}", instance["status"]);
    let what = if waits { "waits for a change" } else { "is tried again" };
    Ok(format!("{}: {}\n  ({what})\n", case.name, line.trim()))
}

#[test]
fn bad_charts_and_repositories() -> Result<()> {
    let faults = Faults::start(1)?;
    let free = format!("{}:8099", faults.hub.sandbox().address_block().loopback());
    let (charts, guarded, (mut repositories, other)) = (charts(), guarded(), repositories(&free));
    for case in charts.iter().chain(&repositories).chain([&guarded]) {
        let folder = faults.hub.sandbox().dir().join("catalog").join(case.name).join("1.0.0");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("definition.yaml"), definition(case))?;
    }
    let sent = repositories.iter().find(|case| case.name == "sent").context("sent")?;
    apply(&faults.hub, &secret(sent, PASSWORD))?;
    let revisit = format!("--fetch-retry-interval={}s", REVISIT.as_secs());
    let flags = ["--lease=15s", "--content-gc-grace=1s", "--log-level=debug", &revisit];
    let hub = faults.run_hub_with("hub", &flags)?;
    apply(&faults.hub, &instance(guarded.name))?;
    credentials_are_awaited(&faults, &guarded)?;
    let all: Vec<Value> = charts.iter().chain(&repositories).map(|case| instance(case.name)).collect();
    apply(&faults.hub, &json!({ "apiVersion": "v1", "kind": "List", "items": all }))?;

    what_is_said(&faults, &charts, &repositories, &other)?;
    for round in 0..3 {
        // All sessions are woken by what is none of their business.
        let rest = json!({ "type": "fitout.dev/values", "stringData": { "v": format!("round: {round}") } });
        apply(&faults.hub, &object("v1", "Secret", "org-acme", "others", &rest))?;
    }
    for (name, times) in [("cut", 4), ("failing", 4), ("busy", 2)] {
        let case = repositories.iter().find(|case| case.name == name).context(name)?;
        until(&format!("{name} is tried again"), LIMIT, || {
            let pauses = case.pauses();
            if pauses.len() >= times { Ok(()) } else { Err(anyhow!("{pauses:?}")) }
        })?;
    }

    // Everything is mended where it is wrong, and nobody touches an instance.
    for case in charts.iter().chain(&repositories) {
        case.mended.store(true, Ordering::Relaxed);
    }
    faults.targets[0].client().create("/api/v1/namespaces", &json!({ "metadata": { "name": "absent" } }))?;
    let right = archive("gone", &[]);
    let late = Server::serve_on(TcpListener::bind(&free)?, None, move |request| publish("gone", &right, request));
    repositories.last_mut().context("gone")?.server = Some(late);
    for case in charts.iter().chain(&repositories) {
        faults.until_ready(case.name, 1, LIMIT)?;
        let generation = faults.instance(case.name)?.context(case.name)?["metadata"]["generation"].clone();
        assert_eq!(generation, 1, "{}", case.name);
    }
    drop(hub);
    only_what_can_help_was_tried_again(&charts, &repositories)?;
    nobody_learnt_a_password(&faults, &repositories, &other)
}

fn what_is_said(faults: &Faults, charts: &[Case], repositories: &[Case], other: &Server) -> Result<()> {
    let said = |cases: &[Case]| -> Result<String> {
        cases.iter().map(|case| sentence(faults, case, "")).collect::<Result<String>>()
    };
    assert_snapshot!(said(charts)?, @r#"
    unparsed: chart unparsed 1.0.0: parse error at (unparsed/templates/map.yaml:4): function "quoted" not defined; choose another version, or fix the chart
      (waits for a change)
    unnamed: chart unnamed: cannot load Chart.yaml: error converting YAML to JSON: yaml: line 2: did not find expected ',' or ']'; choose another version, or fix the chart
      (waits for a change)
    schema: chart schema 1.0.0: values don't meet the specifications of the schema(s) in the following chart(s): schema: - at '/color': got string, want integer; correct the values of the instance, or choose another version
      (waits for a change)
    modern: chart modern 1.0.0: chart requires kubeVersion: >=1.99 which is incompatible with Kubernetes v1.36.3; choose another version, or upgrade the cluster's Kubernetes
      (waits for a change)
    invalid: chart invalid 1.0.0: YAML parse error on invalid/templates/map.yaml: yaml: line 3: did not find expected ',' or '}'; correct the values of the instance, or fix the template
      (waits for a change)
    twice: ConfigMap/twice/map: it is defined twice; remove one of the two from the chart or the manifests, or choose another version
      (waits for a change)
    homeless: ConfigMap/absent/map: namespaces "absent" not found; create that namespace, or have the extension bring it
      (is tried again)
    "#);
    let digests = [(archive("another", &[]), "sha256:FOUND"), (archive("lying", &[]), "sha256:SAID")];
    let told = digests.iter().fold(said(repositories)?.replace(other.host(), "OTHER"), |told, (archive, word)| {
        told.replace(Digest::of(archive).as_str(), word)
    });
    assert_snapshot!(told, @r"
    lying: chart lying of http://HOST: http://HOST/lying.tgz has the digest sha256:FOUND, but the repository states sha256:SAID; do not use it, and tell its publisher
      (waits for a change)
    sent: chart sent of http://HOST: http://HOST/sent.tgz is refused with 401 by OTHER, to which the repository's credentials are not sent; have it served by the repository itself, or without credentials
      (waits for a change)
    cut: chart cut of http://HOST: http://HOST/cut.tgz arrived only in part; the connection broke; the hub retries by itself
      (is tried again)
    busy: chart busy of oci+http://HOST/charts: HOST returned 429 (too many requests); wait until its rate limit resets; the hub retries by itself
      (is tried again)
    failing: chart failing of oci+http://HOST/charts: http://HOST/v2/charts/failing/manifests/1.0.0 returned 500, an error of the server; the hub retries by itself
      (is tried again)
    gone: chart gone of http://HOST: HOST cannot be reached: Connection refused (os error 111); check the address and the network; the hub retries by itself
      (is tried again)
    ");
    let unparsed = &charts[0];
    assert_snapshot!(typed(faults, unparsed, "status unparsed --watch")?, @r#"
    $ fitout status unparsed --watch
    unparsed: chart unparsed 1.0.0: parse error at (unparsed/templates/map.yaml:4): function "quoted" not defined; choose another version, or fix the chart
    error: instance unparsed is stalled: chart unparsed 1.0.0: parse error at (unparsed/templates/map.yaml:4): function "quoted" not defined; choose another version, or fix the chart
    hint: change it with `fitout upgrade unparsed`, or remove it with `fitout uninstall unparsed`
    exit 1
    "#);
    let failing = repositories.iter().find(|case| case.name == "failing").context("failing")?;
    assert_snapshot!(typed(faults, failing, "status failing --watch --timeout 1s")?, @r"
    $ fitout status failing --watch --timeout 1s
    failing: chart failing of oci+http://HOST/charts: http://HOST/v2/charts/failing/manifests/1.0.0 returned 500, an error of the server; the hub retries by itself
    error: instance failing is not ready after 1s: chart failing of oci+http://HOST/charts: http://HOST/v2/charts/failing/manifests/1.0.0 returned 500, an error of the server; the hub retries by itself
    hint: the hub continues; follow it with `fitout status failing --watch`
    exit 1
    ");
    Ok(())
}

/// As long as the secret stays the same, the registry is not asked again; when it changes, it is, and at once.
fn credentials_are_awaited(faults: &Faults, case: &Case) -> Result<()> {
    assert_snapshot!(sentence(faults, case, "")?, @r"
    guarded: chart guarded of oci+http://HOST/charts: http://HOST/v2/charts/guarded/manifests/1.0.0 is refused with 401; give credentials that may read it: a Secret of type fitout.dev/repository in fitout-system
      (waits for a change)
    ");
    apply(&faults.hub, &secret(case, WRONG_PASSWORD))?;
    assert_snapshot!(sentence(faults, case, "check the credentials")?, @r"
    guarded: chart guarded of oci+http://HOST/charts: http://HOST/v2/charts/guarded/manifests/1.0.0 is refused with 401; check the credentials and what they may read: Secret/fitout-system/guarded
      (waits for a change)
    ");
    apply(&faults.hub, &secret(case, PASSWORD))?;
    faults.until_ready(case.name, 1, LIMIT)?;
    let asked = case.server.as_ref().context("a server")?.requests();
    let shown = |request: &Request| match request.header("authorization") {
        None => "nothing",
        Some(shown) if shown.ends_with(SHOWN_WRONG) => "the wrong password",
        Some(_) => "the right password",
    };
    let mut story: Vec<&str> = asked.iter().map(shown).collect();
    story.dedup();
    assert_eq!(story, ["nothing", "the wrong password", "nothing", "the right password"]);
    let [first, .., last] = asked.as_slice() else { return Err(anyhow!("{asked:?}")) };
    ensure!(last.at - first.at < REVISIT, "it was not asked at once");
    Ok(())
}

fn only_what_can_help_was_tried_again(charts: &[Case], repositories: &[Case]) -> Result<()> {
    let mut told = String::new();
    for case in charts.iter().chain(repositories) {
        let pauses = case.pauses();
        writeln!(told, "  {}: {pauses:.1?}", case.name)?;
        let least = |count: usize| match case.name {
            "gone" => Duration::ZERO,
            // A quarter less than half a second, and each twice as long as the one before.
            "cut" | "failing" => Duration::from_millis(375) * 2_u32.pow(u32::try_from(count).unwrap_or(0).min(6)),
            "busy" => BUSY,
            _ => REVISIT,
        };
        for (count, pause) in pauses.iter().enumerate() {
            ensure!(*pause >= least(count), "{} was asked too soon: {pauses:?}", case.name);
        }
    }
    eprintln!("pauses between visits:\n{told}");
    Ok(())
}

fn nobody_learnt_a_password(faults: &Faults, repositories: &[Case], other: &Server) -> Result<()> {
    let sent = repositories.iter().find(|case| case.name == "sent").context("sent")?;
    let home = sent.server.as_ref().context("a server")?.requests();
    ensure!(home.iter().all(|request| request.head.contains(SHOWN)), "the repository itself is shown the password");
    ensure!(other.requests().len() >= 2, "{:?}", other.requests());
    for request in other.requests() {
        ensure!(request.header("authorization").is_none() && !request.head.contains(SHOWN), "{request:?}");
    }
    let log = fs::read_to_string(faults.hub.sandbox().dir().join("hub.log"))?;
    ensure!(log.contains("returned 500"), "the log tells what happens: {log}");
    let client = faults.hub.client();
    let events = client.get("/apis/events.k8s.io/v1/namespaces/org-acme/events")?.to_string();
    ensure!(events.contains("is refused with 401"), "{events}");
    let told = [log, client.get(INSTANCES)?.to_string(), events];
    for password in [PASSWORD, WRONG_PASSWORD, SHOWN, SHOWN_WRONG] {
        ensure!(told.iter().all(|text| !text.contains(password)), "{password} was told");
    }
    Ok(())
}
