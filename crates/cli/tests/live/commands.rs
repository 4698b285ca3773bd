//! The real program against a real API server that has our kinds, and no hub: what it writes, what it refuses, how it ends.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use base64::Engine;
use fitout_testkit::{Cluster, Controllers, Spec, until};
use serde_json::{Value, json};

use crate::command::{Ended, fitout};

/// For all tests here: each has an organization of its own.
static HUB: LazyLock<Cluster> = LazyLock::new(|| hub().unwrap());

/// An API server that serves our kinds, with a shared catalog of two extensions.
fn hub() -> Result<Cluster> {
    let cluster = Cluster::start(Spec { controllers: Controllers::None, ..Spec::default() })?;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let crds = fitout_api::crds();
    for crd in &crds {
        cluster.client().create(path, &serde_json::to_value(crd)?)?;
    }
    for crd in &crds {
        let name = crd.metadata.name.as_deref().context("a name")?;
        until(&format!("{name} is established"), Duration::from_secs(30), || {
            let found = cluster.client().get(&format!("{path}/{name}"))?;
            let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let established = conditions.iter().any(|one| one["type"] == "Established" && one["status"] == "True");
            if established { Ok(()) } else { Err(anyhow!("{conditions:?}")) }
        })?;
    }
    cluster.client().create("/api/v1/namespaces", &json!({ "metadata": { "name": "fitout-system" } }))?;
    for name in ["cert-manager", "podinfo"] {
        offer(&cluster, "fitout-system", "community", name)?;
    }
    catalog(&cluster, "fitout-system", "community")?;
    has_read(&cluster, "fitout-system", "community")?;
    Ok(cluster)
}

fn catalog(cluster: &Cluster, namespace: &str, name: &str) -> Result<()> {
    let catalog = ours("Catalog", name, &json!({ "source": { "directory": { "embedded": "community" } } }));
    cluster.client().create(&ours_in(namespace, "catalogs"), &catalog)?;
    Ok(())
}

/// Says of a catalog what the hub says once it has read it.
fn has_read(cluster: &Cluster, namespace: &str, catalog: &str) -> Result<()> {
    let path = format!("{}/{catalog}", ours_in(namespace, "catalogs"));
    let mut object = cluster.client().get(&path)?;
    object["status"] = json!({ "observedGeneration": 1 });
    cluster.client().replace(&format!("{path}/status"), &object)?;
    Ok(())
}

fn ours(kind: &str, name: &str, spec: &Value) -> Value {
    json!({ "apiVersion": "fitout.dev/v1alpha1", "kind": kind, "metadata": { "name": name }, "spec": spec })
}

fn ours_in(namespace: &str, resource: &str) -> String {
    format!("/apis/fitout.dev/v1alpha1/namespaces/{namespace}/{resource}")
}

fn offer(cluster: &Cluster, namespace: &str, catalog: &str, name: &str) -> Result<()> {
    let version = json!({
        "version": "1.0.0", "kubernetes": ">=1.33 <1.37", "digest": format!("sha256:{}", "0".repeat(64)),
    });
    let spec =
        json!({ "catalog": catalog, "extension": name, "summary": format!("{name} for tests"), "versions": [version] });
    let extension = ours("Extension", &format!("{catalog}.{name}"), &spec);
    cluster.client().create(&ours_in(namespace, "extensions"), &extension)?;
    Ok(())
}

/// An organization for one test.
struct Organization {
    name: String,
}

impl Organization {
    fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let name = format!("acme-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let organization = ours("Organization", &name, &json!({}));
        HUB.client().create("/apis/fitout.dev/v1alpha1/organizations", &organization)?;
        HUB.client().create("/api/v1/namespaces", &json!({ "metadata": { "name": format!("org-{name}") } }))?;
        Ok(Self { name })
    }

    fn namespace(&self) -> String {
        format!("org-{}", self.name)
    }

    /// One with a cluster, made without the command.
    fn with_cluster(cluster: &str) -> Result<Self> {
        let organization = Self::new()?;
        let cluster = ours("Cluster", cluster, &json!({ "kubeconfigSecret": "somewhere" }));
        HUB.client().create(&ours_in(&organization.namespace(), "clusters"), &cluster)?;
        Ok(organization)
    }

    /// Runs the command for this organization.
    fn run(&self, words: &[&str]) -> Result<Ended> {
        fitout(&HUB.kubeconfig(), Some(&self.name), words)
    }

    fn get(&self, resource: &str, name: &str) -> Result<Option<Value>> {
        HUB.client().find(&format!("{}/{name}", ours_in(&self.namespace(), resource)))
    }

    /// What was written to this organization's namespace since then, and not only tried.
    fn writes(&self, log: &fitout_testkit::AuditLog) -> Result<Vec<String>> {
        let namespace = self.namespace();
        let here = |call: &fitout_testkit::Call| call.object_ref.as_ref().is_some_and(|o| o.namespace == namespace);
        let calls = log.calls()?.writes().only(|call| here(call) && !tried(call));
        Ok(calls.summary())
    }
}

/// Whether a call only asked what would happen. A plan is an answer, and not kept.
fn tried(call: &fitout_testkit::Call) -> bool {
    if call.object_ref.as_ref().is_some_and(|object| object.resource == "plans") {
        return true;
    }
    let asked = call.request_object.as_ref().is_some_and(|body| body["dryRun"] == json!(["All"]));
    call.uri.contains("dryRun=All") || asked
}

/// A file of this test's own.
fn file(organization: &Organization, name: &str, content: &str) -> Result<PathBuf> {
    let path = HUB.sandbox().dir().join(format!("{}-{name}", organization.name));
    fs::write(&path, content)?;
    Ok(path)
}

#[test]
fn clusters_are_added_listed_shown_and_removed() -> Result<()> {
    let acme = Organization::new()?;
    let kubeconfig = HUB.kubeconfig();
    let kubeconfig = kubeconfig.to_str().context("a path")?;
    let log = HUB.audit().from_now()?;
    let said = acme.run(&["cluster", "add", "prod", "--kubeconfig", kubeconfig])?.well();
    assert_eq!(said, "registered cluster prod: the hub connects to it\n");
    let namespace = acme.namespace();
    let writes = acme.writes(&log)?;
    assert_eq!(
        writes,
        [format!("create secrets {namespace}/prod-kubeconfig"), format!("create clusters {namespace}/prod")]
    );

    assert_eq!(acme.get("clusters", "prod")?.unwrap()["spec"], json!({ "kubeconfigSecret": "prod-kubeconfig" }));
    let secret = HUB.client().get(&format!("/api/v1/namespaces/{namespace}/secrets/prod-kubeconfig"))?;
    assert_eq!(secret["type"], "fitout.dev/kubeconfig");
    let stored = base64::engine::general_purpose::STANDARD.decode(secret["data"]["kubeconfig"].as_str().unwrap())?;
    let stored_path = file(&acme, "stored.kubeconfig", &String::from_utf8(stored)?)?;
    HUB.kubectl().with_kubeconfig(&stored_path).run(&["get", "namespaces"])?;

    assert!(acme.run(&["cluster", "list"])?.well().contains("\nprod   -"));
    let list: Value = serde_json::from_str(&acme.run(&["cluster", "list", "-o", "json"])?.well())?;
    assert_eq!(list["items"][0]["metadata"]["name"], "prod");
    assert!(acme.run(&["cluster", "show", "prod"])?.well().starts_with("prod\n  Version    not known yet\n"));
    let again = acme.run(&["cluster", "add", "prod", "--kubeconfig", kubeconfig])?;
    again.refused(
        1,
        &format!(
            "error: cluster prod already exists in organization {}\nhint: choose another name, or remove the existing cluster \
             first\n",
            acme.name
        ),
    );

    assert_eq!(acme.run(&["cluster", "remove", "prod"])?.well(), "removed cluster prod\n");
    assert_eq!(acme.get("clusters", "prod")?, None);
    assert_eq!(HUB.client().find(&format!("/api/v1/namespaces/{namespace}/secrets/prod-kubeconfig"))?, None);
    Ok(())
}

#[test]
fn an_install_creates_one_object_and_it_is_the_right_one() -> Result<()> {
    let acme = Organization::with_cluster("prod")?;
    let values = file(&acme, "values.yaml", "replicas: 1\nui: { color: blue }\n")?;
    let log = HUB.audit().from_now()?;
    let words = ["install", "podinfo", "--cluster", "prod", "--version", "1.x", "--set", "replicas=2", "--no-wait"];
    let words: Vec<&str> = words.into_iter().chain(["--values", values.to_str().unwrap()]).collect();
    let said = acme.run(&words)?.well();
    assert_eq!(said, "created instance prod-podinfo: the hub installs podinfo on cluster prod\n");
    assert_eq!(acme.writes(&log)?, [format!("create extensioninstances {}/prod-podinfo", acme.namespace())]);
    let expected = json!({
        "cluster": "prod",
        "extension": { "name": "podinfo", "catalog": "community", "scope": "Shared" },
        "namespace": "podinfo",
        "version": "1.x",
        "values": { "replicas": 2, "ui": { "color": "blue" } },
        "upgrade": { "policy": "Follow" },
        "suspend": false,
    });
    assert_eq!(acme.get("extensioninstances", "prod-podinfo")?.unwrap()["spec"], expected);

    acme.run(&words)?.refused(
        1,
        &format!(
            "error: instance prod-podinfo already exists in organization {}\nhint: change it with `fitout upgrade \
             prod-podinfo`, or choose another name with --name\n",
            acme.name
        ),
    );
    let said = acme.run(&["cluster", "remove", "prod"])?;
    assert_eq!(
        (said.code, said.err.lines().next()),
        (1, Some("error: cluster prod still has instances: prod-podinfo"))
    );
    Ok(())
}

#[test]
fn values_are_what_helm_makes_of_them() -> Result<()> {
    let acme = Organization::with_cluster("prod")?;
    let chart = HUB.sandbox().dir().join("values");
    fs::create_dir_all(chart.join("templates"))?;
    fs::write(chart.join("Chart.yaml"), "apiVersion: v2\nname: values\nversion: 1.0.0\n")?;
    fs::write(chart.join("templates/values.yaml"), "{{ omit .Values \"global\" | toJson }}")?;
    let content = file(&acme, "content", "two, {lines}\nof text\n")?;
    let content = content.to_str().context("a path")?;
    for options in [
        &["--set", "a=TRUE,b=-05,c=+5,d=01,e=1.5,f= x,g="][..],
        &["--set", r"a\.b=x\,y,c={x\,y,2},d={},e=x{y,f={x}g=1,"],
        &["--set", "a[1].b.c=x,a[0]=y,d=null"],
        &["--set-string", "a=1,b={2,true},c[0]=null"],
        &["--set-json", r#"a=[1,{"b":null}],c="x",d=1.5,e=,f=true g={"h":{}}"#],
        &["--set-json", r#" {"a":{"b":1,"c":2}}"#, "--set", "a.b=3"],
        &["--set-file", &format!("a={content},b={{{content}}}")],
        &["--set-string", "a=2", "--set", "a=1,b=1", "--set-json", "a=3,b=3,c=3"],
    ] {
        let install = ["install", "podinfo", "-c", "prod", "--dry-run", "-o", "json"];
        let ours: Value = serde_json::from_str(&acme.run(&[&install, options].concat())?.well())?;
        let helms = HUB.helm().run(&[&["template", chart.to_str().context("a path")?], options].concat())?;
        let helms = helms.lines().find(|line| line.starts_with('{')).context("values")?;
        assert_eq!(ours["spec"]["values"], serde_json::from_str::<Value>(helms)?, "{options:?}");
    }
    Ok(())
}

#[test]
fn an_extension_of_the_organizations_own_catalog_is_found_there() -> Result<()> {
    let acme = Organization::with_cluster("prod")?;
    offer(&HUB, &acme.namespace(), "own", "shop")?;
    let said = acme.run(&["install", "shop", "-c", "prod", "--no-wait"])?;
    said.refused(
        1,
        "error: extension shop not found in catalog community\nhint: catalog own has it: add --catalog own\n",
    );
    acme.run(&["install", "shop", "-c", "prod", "--catalog", "own", "--no-wait"])?.well();
    let spec = &acme.get("extensioninstances", "prod-shop")?.unwrap()["spec"];
    assert_eq!(spec["extension"], json!({ "name": "shop", "catalog": "own", "scope": "Organization" }));

    offer(&HUB, &acme.namespace(), "community", "podinfo")?;
    let said = acme.run(&["install", "podinfo", "-c", "prod", "--no-wait"])?;
    assert!(
        said.code == 1 && said.err.contains("hint: choose with --scope shared or --scope organization"),
        "{said:?}"
    );
    acme.run(&["install", "podinfo", "-c", "prod", "--scope", "shared", "--no-wait"])?.well();
    Ok(())
}

#[test]
fn a_catalog_that_was_made_just_now_is_waited_for() -> Result<()> {
    let acme = Organization::with_cluster("prod")?;
    catalog(&HUB, &acme.namespace(), "new")?;
    let log = HUB.audit().from_now()?;
    let said = thread::scope(|scope| {
        let install =
            scope.spawn(|| acme.run(&["install", "shop", "--cluster", "prod", "--catalog", "new", "--no-wait"]));
        until("its catalogs were looked at", Duration::from_secs(30), || {
            let looked = log.calls()?.only(|call| call.uri.contains(&ours_in(&acme.namespace(), "catalogs")));
            ensure!(!looked.as_slice().is_empty(), "nobody has");
            Ok(())
        })?;
        offer(&HUB, &acme.namespace(), "new", "shop")?;
        has_read(&HUB, &acme.namespace(), "new")?;
        install.join().unwrap()
    })?;
    assert_eq!(said.err, "waiting for the hub to read catalog new\n");
    said.well();
    assert!(acme.get("extensioninstances", "prod-shop")?.is_some());
    Ok(())
}

#[test]
fn an_instance_is_upgraded_rolled_back_and_uninstalled() -> Result<()> {
    let acme = Organization::with_cluster("prod")?;
    acme.run(&["install", "podinfo", "-c", "prod", "--set", "a=1,b=2", "--no-wait"])?.well();
    let said = acme.run(&["rollback", "prod-podinfo", "--no-wait"])?;
    said.refused(
        1,
        "error: instance prod-podinfo has no revision yet: nothing is installed\nhint: `fitout history prod-podinfo` shows \
         the revisions\n",
    );

    for (number, result) in [(1, "Superseded"), (2, "Succeeded")] {
        record(&acme, number, result)?;
    }
    set_status(&acme, &json!({ "revision": 2, "version": "1.0.0" }))?;
    let history = acme.run(&["history", "prod-podinfo"])?.well();
    assert!(history.starts_with("REVISION   ACTION    VERSION   RESULT       AGE\n2          Upgrade"), "{history}");

    acme.run(&["rollback", "prod-podinfo", "--no-wait"])?.well();
    let spec = || Ok::<_, anyhow::Error>(acme.get("extensioninstances", "prod-podinfo")?.unwrap()["spec"].clone());
    assert_eq!(spec()?["rollbackTo"], 1);
    acme.run(&["upgrade", "prod-podinfo", "--version", "2.x", "--set", "a=3", "--no-wait"])?.well();
    let changed = spec()?;
    assert_eq!((&changed["rollbackTo"], &changed["version"]), (&Value::Null, &json!("2.x")));
    assert_eq!(changed["values"], json!({ "a": 3, "b": 2 }));
    acme.run(&["upgrade", "prod-podinfo", "--reset-values", "--set", "c=null", "--no-wait"])?.well();
    assert_eq!(spec()?["values"], json!({ "c": null }));

    let said = acme.run(&["upgrade", "prod-podinfo", "--version", "new", "--no-wait"])?;
    assert!(
        said.code == 1 && said.err.contains("spec.version: ") && said.err.contains("a range of versions"),
        "{said:?}"
    );
    acme.run(&["uninstall", "prod-podinfo", "--no-wait"])?.well();
    let mut held = acme.get("extensioninstances", "prod-podinfo")?.context("it is held until the cluster is clean")?;
    // As the hub does then.
    held["metadata"]["finalizers"] = json!([]);
    HUB.client().replace(&format!("{}/prod-podinfo", ours_in(&acme.namespace(), "extensioninstances")), &held)?;
    assert_eq!(acme.get("extensioninstances", "prod-podinfo")?, None);
    Ok(())
}

/// A revision as the hub would write it.
fn record(acme: &Organization, number: u32, result: &str) -> Result<()> {
    let digest = format!("sha256:{}", "0".repeat(64));
    let spec = json!({
        "instance": "prod-podinfo", "number": number, "action": if number == 1 { "Install" } else { "Upgrade" },
        "version": "1.0.0", "definitionDigest": digest, "artifactDigest": digest, "valuesDigest": digest,
    });
    let path = ours_in(&acme.namespace(), "extensionrevisions");
    let mut object =
        HUB.client().create(&path, &ours("ExtensionRevision", &format!("prod-podinfo.{number}"), &spec))?;
    object["status"] = json!({ "result": result });
    HUB.client().replace(&format!("{path}/prod-podinfo.{number}/status"), &object)?;
    Ok(())
}

/// A status as the hub would write it.
fn set_status(acme: &Organization, status: &Value) -> Result<()> {
    let mut object = acme.get("extensioninstances", "prod-podinfo")?.context("an instance")?;
    object["status"] = status.clone();
    let path = format!("{}/prod-podinfo/status", ours_in(&acme.namespace(), "extensioninstances"));
    HUB.client().replace(&path, &object)?;
    Ok(())
}

#[test]
fn what_the_hub_says_decides_how_waiting_ends() -> Result<()> {
    let acme = Organization::with_cluster("prod")?;
    acme.run(&["install", "podinfo", "-c", "prod", "--no-wait"])?.well();
    let said = |type_: &str, status: &str, reason: &str| {
        let now = "2030-01-01T00:00:00Z";
        let condition = json!({ "type": type_, "status": status, "reason": reason, "message": "a sentence",
            "lastTransitionTime": now, "observedGeneration": 1 });
        set_status(&acme, &json!({ "observedGeneration": 1, "version": "1.0.0", "conditions": [condition] }))
    };
    let wait = || acme.run(&["status", "prod-podinfo", "--watch", "--timeout", "30s"]);
    said("Approved", "False", "NeedsApproval")?;
    let ended = wait()?;
    assert!(
        ended.code == 3 && ended.err.contains("error: instance prod-podinfo needs approval: a sentence"),
        "{ended:?}"
    );
    said("Resolved", "False", "NothingFits")?;
    assert_eq!(wait()?.code, 4);
    assert_eq!(acme.run(&["status", "prod-podinfo"])?.code, 4);
    said("Stalled", "True", "InvalidSpec")?;
    assert_eq!(wait()?.code, 1);
    said("Ready", "True", "Installed")?;
    assert!(wait()?.well().contains("✓ Ready       a sentence"));
    // An upgrade is a new wish, of which the hub has not said anything.
    let ended = acme.run(&["upgrade", "prod-podinfo", "--set", "a=1", "--wait", "--timeout", "1s"])?;
    assert!(ended.code == 1 && ended.err.contains("error: instance prod-podinfo is not ready after 1s"), "{ended:?}");
    Ok(())
}

#[test]
fn a_dry_run_shows_everything_and_writes_nothing() -> Result<()> {
    let acme = Organization::with_cluster("prod")?;
    acme.run(&["install", "podinfo", "-c", "prod", "--no-wait"])?.well();
    record(&acme, 1, "Superseded")?;
    set_status(&acme, &json!({ "revision": 2 }))?;
    let kubeconfig = HUB.kubeconfig();
    let kubeconfig = kubeconfig.to_str().context("a path")?;
    let log = HUB.audit().from_now()?;
    let run = |words: &[&str]| acme.run(&[words, &["--dry-run"]].concat());

    let shown = run(&["install", "cert-manager", "-c", "prod", "-o", "json"])?.well();
    let shown: Value = serde_json::from_str(&shown)?;
    assert_eq!((&shown["metadata"]["name"], &shown["metadata"]["uid"]), (&json!("prod-cert-manager"), &Value::Null));
    let shown = run(&["upgrade", "prod-podinfo", "--set", "a=1"])?;
    let unserved = "the hub serves no plans: cannot show what it would do on the cluster";
    assert_eq!(shown.err, format!("dry run: nothing was written\n{unserved}\n"));
    assert!(shown.out.contains("\n  values:\n    a: 1\n"), "{}", shown.out);
    assert!(run(&["rollback", "prod-podinfo"])?.well().contains("rollbackTo: 1"));
    assert!(run(&["uninstall", "prod-podinfo"])?.well().starts_with("would uninstall podinfo from cluster prod: "));
    let shown = run(&["cluster", "add", "new", "--kubeconfig", kubeconfig])?.well();
    assert!(shown.contains("kubeconfig: (not shown)") && shown.contains("kind: Cluster"), "{shown}");

    assert_eq!(acme.writes(&log)?, Vec::<String>::new());
    assert_eq!(acme.get("extensioninstances", "prod-cert-manager")?, None);
    assert!(acme.get("extensioninstances", "prod-podinfo")?.is_some());
    Ok(())
}

#[test]
fn names_that_are_not_there_are_refused_with_the_nearest() -> Result<()> {
    let acme = Organization::with_cluster("prod")?;
    let log = HUB.audit().from_now()?;
    let organization = format!("organization {}", acme.name);
    let refused = |words: &[&str], what: &str, place: &str, hint: &str| {
        let ended = acme.run(words)?;
        ended.refused(1, &format!("error: {what} not found in {place}\nhint: {hint}\n"));
        anyhow::Ok(())
    };
    let install = ["install", "podinf", "--cluster", "prod", "--no-wait"];
    refused(&install, "extension podinf", "catalog community", "did you mean podinfo?")?;
    let install = ["install", "podinfo", "--cluster", "prdo", "--no-wait"];
    refused(&install, "cluster prdo", &organization, "did you mean prod?")?;
    refused(
        &["cluster", "show", "staging"],
        "cluster staging",
        &organization,
        "`fitout cluster list` shows the existing ones",
    )?;
    refused(&["status", "nothing"], "instance nothing", &organization, "`fitout list` shows the existing ones")?;
    refused(&["upgrade", "nothing"], "instance nothing", &organization, "`fitout list` shows the existing ones")?;
    refused(
        &["extension", "show", "cert-manger"],
        "extension cert-manger",
        "any catalog",
        "did you mean cert-manager?",
    )?;
    assert_eq!(acme.writes(&log)?, Vec::<String>::new());

    let ended = fitout(&HUB.kubeconfig(), Some("nobody-at-all"), &["list"])?;
    ended.refused(
        1,
        "error: organization nobody-at-all not found in the hub\nhint: `kubectl get organizations` shows the existing \
         ones\n",
    );
    Ok(())
}

#[test]
fn wrong_usage_ends_with_2_and_asks_nobody() -> Result<()> {
    for words in [&["install"][..], &["install", "podinfo"], &["list", "-o", "xml"], &["frobnicate"], &[]] {
        let ended = fitout(Path::new("/nowhere"), None, words)?;
        assert_eq!(ended.code, 2, "{ended:?}");
    }
    let ended = fitout(Path::new("/nowhere"), None, &["version"])?.well();
    assert_eq!(ended, format!("fitout {}\n", env!("CARGO_PKG_VERSION")));
    assert!(fitout(Path::new("/nowhere"), None, &["completions", "bash"])?.well().contains("fitout"));
    let ended = fitout(Path::new("/nowhere"), None, &["list"])?;
    ended.refused(
        1,
        "error: cannot read your kubeconfig /nowhere: No such file or directory (os error 2)\nhint: set KUBECONFIG to a \
         kubeconfig for the hub\n",
    );
    Ok(())
}

#[test]
fn lists_are_read_by_programs() -> Result<()> {
    let acme = Organization::with_cluster("prod")?;
    let ended = acme.run(&["list"])?;
    assert_eq!((ended.out.as_str(), ended.err), ("", format!("organization {} has no instances\n", acme.name)));
    acme.run(&["install", "podinfo", "-c", "prod", "--no-wait"])?.well();
    for words in [&["list"][..], &["cluster", "list"], &["catalog", "list"], &["extension", "list"]] {
        let run = |format| acme.run(&[words, &["-o", format]].concat()).map(Ended::well);
        let json: Value = serde_json::from_str(&run("json")?)?;
        let yaml = fitout_go_yaml::from_yaml_strict(&run("yaml")?)?;
        assert_eq!(json, yaml, "{words:?}");
        assert_eq!((&json["kind"], json["items"].as_array().map(Vec::is_empty)), (&json!("List"), Some(false)));
        assert!(run("wide")?.lines().next().unwrap().len() > run("table")?.lines().next().unwrap().len());
    }
    let one: Value = serde_json::from_str(&acme.run(&["status", "prod-podinfo", "-o", "json"])?.well())?;
    assert_eq!(one["kind"], "ExtensionInstance");
    assert!(acme.run(&["extension", "show", "podinfo"])?.well().starts_with("podinfo: podinfo for tests\n"));
    Ok(())
}

#[test]
fn who_may_not_is_told_so() -> Result<()> {
    let acme = Organization::new()?;
    let kubeconfig = HUB.kubeconfig_for("jane", None)?;
    let ended = fitout(&kubeconfig, None, &["list"])?;
    ended.refused(
        1,
        "error: no organization is given, and you are not allowed to list organizations\nhint: name yours with \
         --organization NAME or the environment variable FITOUT_ORGANIZATION\n",
    );
    let ended = fitout(&kubeconfig, Some(&acme.name), &["list"])?;
    assert!(ended.code == 1 && ended.err.contains("User \"jane\" cannot list resource"), "{ended:?}");
    Ok(())
}
