//! The hub is killed after every write of a chart's change: no hook runs twice, and the end is the same.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use fitout_helm_release::from_secret;
use fitout_testkit::{Client, Fault, INSTANCES, sample, until};
use serde_json::{Value, json};

use crate::faults::{Faults, LIMIT};

const BEFORE: &str = "pre-install,pre-upgrade,pre-rollback,pre-delete";
const AFTER: &str = "post-install,post-upgrade,post-rollback,post-delete";

const JOBS: &str = "/apis/batch/v1/namespaces/thing/jobs";

/// A chart with hooks at all moments: one that stays until it runs again, one that is always written over, one that goes when
/// it has succeeded, and one that takes its time.
fn write_chart(catalog: &Path) -> Result<()> {
    let folder = catalog.join("hooked/1.0.0");
    fs::create_dir_all(folder.join("chart/templates"))?;
    let map = |name: &str, annotations: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, annotations: {{ {annotations} }} }}\n\
             data: {{ round: {{{{ .Values.round | quote }}}} }}\n"
        )
    };
    let hook = |events: &str, weight: i32, policy: &str| {
        format!(
            r#""helm.sh/hook": "{events}", "helm.sh/hook-weight": "{weight}", "helm.sh/hook-delete-policy": "{policy}""#
        )
    };
    let job = format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{ name: job, annotations: {{ {} }} }}\nspec: {{ template: {{ spec: {{ \
         restartPolicy: Never, containers: [{{ name: c, image: none }}] }} }} }}\n",
        hook(BEFORE, 2, "before-hook-creation,hook-succeeded")
    );
    let files = [
        (
            "definition.yaml",
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: { name: hooked-1 }\n\
             spec: { extension: hooked, version: 1.0.0, helm: { chart: chart } }\n"
                .to_owned(),
        ),
        ("chart/Chart.yaml", "apiVersion: v2\nname: hooked\nversion: 1.0.0\n".to_owned()),
        ("chart/values.yaml", "round: 1\n".to_owned()),
        ("chart/templates/object.yaml", map("object", "")),
        ("chart/templates/again.yaml", map("again", &hook(&format!("{BEFORE},{AFTER}"), 0, "before-hook-creation"))),
        ("chart/templates/over.yaml", map("over", &hook(BEFORE, 1, "hook-failed"))),
        ("chart/templates/brief.yaml", map("brief", &hook(AFTER, -1, "hook-succeeded"))),
        ("chart/templates/job.yaml", job),
    ];
    for (path, text) in files {
        fs::write(folder.join(path), text)?;
    }
    Ok(())
}

/// Does what nobody does on a cluster without controllers: says of every Job that it has done its work.
fn complete_jobs(target: &Client) -> Result<()> {
    let jobs = target.get(JOBS)?;
    for job in jobs["items"].as_array().unwrap() {
        if job["status"]["succeeded"] == 1 {
            continue;
        }
        let mut job = job.clone();
        let now = job["metadata"]["creationTimestamp"].clone();
        let condition = |type_: &str| json!({ "type": type_, "status": "True", "lastTransitionTime": now });
        job["status"] = json!({
            "startTime": now, "completionTime": now, "succeeded": 1,
            "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
        });
        // The hub may have removed it in the meantime.
        let path = format!("{JOBS}/job");
        if target.find(&path)?.is_some_and(|found| found["metadata"]["uid"] == job["metadata"]["uid"]) {
            target.replace(&format!("{path}/status"), &job)?;
        }
    }
    Ok(())
}

/// What the config maps hold.
fn rounds(target: &Client) -> Result<BTreeMap<String, String>> {
    let maps = target.get("/api/v1/namespaces/thing/configmaps")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = maps["items"].as_array().unwrap().iter();
    Ok(all.map(|map| (text(&map["metadata"]["name"]), text(&map["data"]["round"]))).collect())
}

#[test]
fn a_hub_that_is_killed_after_every_write_runs_no_hook_twice() -> Result<()> {
    let faults = Faults::start(1)?;
    write_chart(&faults.hub.sandbox().dir().join("catalog"))?;
    let target = faults.targets[0].client();
    let log = faults.targets[0].audit().from_now()?;
    let mut written = Vec::new();
    // Which of the four changes it is killed in; the others are done in peace.
    let killed = sample(vec!["install", "upgrade", "rollback", "uninstall"], 1);
    let mut change = |name: &str, done: &dyn Fn() -> Result<bool>| {
        let done = || {
            complete_jobs(target)?;
            done()
        };
        if killed.contains(&name) { faults.drive(&mut written, done) } else { faults.run_until(done) }
    };
    for (revision, name, round, back) in [(1, "install", 1, None), (2, "upgrade", 2, None), (3, "rollback", 2, Some(1))]
    {
        let extension = json!({ "name": "hooked", "catalog": "local" });
        let mut spec = json!({ "extension": extension, "version": "1.x", "values": { "round": round } });
        if let Some(back) = back {
            spec["rollbackTo"] = back.into();
        }
        faults.want("thing", 0, &spec)?;
        change(name, &|| faults.is_ready("thing", revision))?;
        let expected = if revision == 2 { "2" } else { "1" };
        let expected = ["again", "object", "over"].map(|name| (name.to_owned(), expected.to_owned()));
        assert_eq!(rounds(target)?, expected.into(), "{name}");
        assert_eq!(target.get(JOBS)?["items"], json!([]), "{name}");
        let history = faults.targets[0].helm().run(&["history", "thing", "--namespace=thing", "--output=json"])?;
        let history: Vec<Value> = serde_json::from_str(&history)?;
        let statuses: Vec<&str> = history.iter().filter_map(|entry| entry["status"].as_str()).collect();
        assert_eq!(statuses.len(), revision as usize);
        assert_eq!(statuses.last(), Some(&"deployed"));
        assert!(statuses[..statuses.len() - 1].iter().all(|status| *status == "superseded"), "{statuses:?}");
        // The files of a chart are left out of a record that is on its way: whoever ends it has to put them in.
        let record = target.get(&format!("/api/v1/namespaces/thing/secrets/sh.helm.release.v1.thing.v{revision}"))?;
        let chart = from_secret(&record)?.chart.unwrap();
        let templates = chart.rest.get("templates").and_then(Value::as_array);
        assert_eq!(templates.map(Vec::len), Some(5), "{name}");
    }
    faults.hub.client().delete(&format!("{INSTANCES}/thing"))?;
    change("uninstall", &|| Ok(faults.instance("thing")?.is_none()))?;
    assert_eq!(rounds(target)?, BTreeMap::new());
    assert_eq!(target.get(JOBS)?["items"], json!([]));
    assert_eq!(target.get("/api/v1/namespaces/thing/secrets")?["items"], json!([]));

    // An object that is made again takes another creation: one for each event, and one for what is written over.
    let applied = |call: &fitout_testkit::Call| call.verb == "patch" || call.is_of("namespaces");
    let created = log.calls()?.writes().only(|call| call.response_status.code == 201 && applied(call));
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for line in created.summary() {
        *times.entry(line).or_default() += 1;
    }
    let expected = [
        ("create namespaces thing", 1),
        ("patch configmaps thing/again", 8),
        ("patch configmaps thing/brief", 4),
        ("patch configmaps thing/object", 1),
        ("patch configmaps thing/over", 1),
        ("patch jobs thing/job", 4),
    ];
    assert_eq!(times, expected.map(|(line, count)| (line.to_owned(), count)).into());
    eprintln!("  crash: {} hubs were killed, each after a write of {}", written.len(), killed.join(", "));
    assert!(written.len() >= 20 * killed.len(), "{written:#?}");
    Ok(())
}

const CONTENT: &str = "/api/v1/namespaces/fitout-system/secrets";
const REVISIONS: &str = "/apis/fitout.dev/v1alpha1/namespaces/org-acme/extensionrevisions";

/// A chart that makes a word by chance, and tells it to a hook that only an install has.
fn write_chance(catalog: &Path) -> Result<()> {
    let folder = catalog.join("chance/1.0.0");
    fs::create_dir_all(folder.join("chart/templates"))?;
    let files = [
        (
            "definition.yaml",
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: { name: chance-1 }\n\
             spec: { extension: chance, version: 1.0.0, helm: { chart: chart } }\n",
        ),
        ("chart/Chart.yaml", "apiVersion: v2\nname: chance\nversion: 1.0.0\n"),
        (
            "chart/templates/word.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: word }\ndata: { word: {{ randAlphaNum 12 | quote }} }\n",
        ),
        (
            "chart/templates/first.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: first, annotations: { \"helm.sh/hook\": pre-install } }\n\
             data: { install: {{ .Release.IsInstall | quote }}, revision: {{ .Release.Revision | quote }} }\n",
        ),
    ];
    for (path, text) in files {
        fs::write(folder.join(path), text)?;
    }
    Ok(())
}

#[test]
fn what_chance_made_is_made_once_wherever_the_hub_ends() -> Result<()> {
    let faults = Faults::start(1)?;
    write_chance(&faults.hub.sandbox().dir().join("catalog"))?;
    let (hub, target) = (faults.hub.client(), faults.targets[0].client());
    let word =
        || Ok::<_, anyhow::Error>(target.get("/api/v1/namespaces/thing/configmaps/word")?["data"]["word"].clone());
    faults.want("thing", 0, &json!({ "extension": { "name": "chance", "catalog": "local" } }))?;

    // It ends with nothing but the revision on record: what it had made is lost, and nobody has seen it.
    faults.hub_proxy.decide(|asked| {
        if asked.path.contains("/extensionrevisions") && asked.writes() { Fault::DropResponse } else { Fault::Pass }
    });
    let first = faults.run_hub("hub")?;
    ensure!(faults.dropped(LIMIT).is_some(), "it was to write a revision");
    first.kill();
    let lost = hub.get(&format!("{REVISIONS}/thing.1"))?["spec"]["artifactDigest"].clone();

    // The next installs it, and ends before it has kept what it made.
    faults
        .hub_proxy
        .decide(|asked| if asked.path.contains(CONTENT) && asked.writes() { Fault::Refuse } else { Fault::Pass });
    let second = faults.run_hub("hub")?;
    faults.until_ready("thing", 1, LIMIT)?;
    second.kill();
    let told = target.get("/api/v1/namespaces/thing/configmaps/first")?["data"].clone();
    assert_eq!(told, json!({ "install": "true", "revision": "1" }), "it is still an install");
    let installed = hub.get(&format!("{REVISIONS}/thing.1"))?["spec"]["artifactDigest"].clone();
    assert_ne!(installed, lost, "what was lost was made again");
    assert_eq!(kept(hub)?, Vec::<String>::new(), "nothing is kept");
    let made = word()?;

    // The third finds it in the release's record, and keeps it.
    faults.let_pass();
    let log = faults.targets[0].audit().from_now()?;
    let third = faults.run_hub("hub")?;
    until("what was made is kept", LIMIT, || {
        let digest = installed.as_str().unwrap().trim_start_matches("sha256:").chars().take(40).collect::<String>();
        let kept = kept(hub)?;
        ensure!(kept == [digest], "{kept:?}");
        Ok(())
    })?;
    assert_eq!((word()?, log.calls()?.writes().summary()), (made.clone(), vec![]), "nothing is made again");
    third.kill();
    assert_eq!(hub.get(REVISIONS)?["items"].as_array().unwrap().len(), 1);
    Ok(())
}

#[test]
fn helm_goes_on_from_a_change_that_no_hub_ends() -> Result<()> {
    let faults = Faults::start(1)?;
    write_chance(&faults.hub.sandbox().dir().join("catalog"))?;
    let (target, helm) = (faults.targets[0].client(), faults.targets[0].helm());
    let map = "/api/v1/namespaces/thing/configmaps/word";
    let want = |values: Value| {
        faults.want("thing", 0, &json!({ "extension": { "name": "chance", "catalog": "local" }, "values": values }))
    };
    let told = || -> Result<Value> {
        Ok(serde_json::from_str(&helm.run(&["status", "thing", "--namespace=thing", "--output=json"])?)?)
    };
    want(json!({}))?;
    let hub = faults.run_hub("hub")?;
    faults.until_ready("thing", 1, LIMIT)?;
    let first = target.get(map)?["data"].clone();

    // It ends with the object written, and the record still on its way.
    faults.proxies[0].decide(|asked| {
        if asked.path.contains("/configmaps/word") && asked.writes() { Fault::DropResponse } else { Fault::Pass }
    });
    want(json!({ "other": true }))?;
    ensure!(faults.dropped(LIMIT).is_some(), "it was to write the object");
    hub.kill();
    let second = target.get(map)?["data"].clone();
    assert_ne!(second, first);
    let record = from_secret(&target.get("/api/v1/namespaces/thing/secrets/sh.helm.release.v1.thing.v2")?)?;
    assert!(record.chart.unwrap().is_brief(), "the files of the chart are not in it");
    let pending = told()?;
    assert_eq!((&pending["info"]["status"], &pending["version"]), (&json!("pending-upgrade"), &json!(2)), "{pending}");
    assert_eq!(pending["config"], json!({ "other": true }));
    let manifest = helm.run(&["get", "manifest", "thing", "--namespace=thing"])?;
    assert!(manifest.contains(second["word"].as_str().unwrap()), "{manifest}");
    let listed = helm.run(&["list", "--pending", "--namespace=thing", "--output=json"])?;
    assert_eq!(serde_json::from_str::<Value>(&listed)?[0]["chart"], "chance-1.0.0", "{listed}");

    helm.run(&["rollback", "thing", "1", "--namespace=thing"])?;
    assert_eq!(target.get(map)?["data"], first);
    let back = told()?;
    assert_eq!((&back["info"]["status"], &back["version"]), (&json!("deployed"), &json!(3)), "{back}");
    helm.run(&["uninstall", "thing", "--namespace=thing"])?;
    assert!(target.get(map).is_err(), "Helm has removed it");
    assert_eq!(target.get("/api/v1/namespaces/thing/secrets")?["items"], json!([]));
    Ok(())
}

/// Which content of charts and artifacts the hub keeps. The rest is the catalog's.
fn kept(hub: &Client) -> Result<Vec<String>> {
    let revisions = hub.get("/apis/fitout.dev/v1alpha1/extensionrevisions")?;
    let spec = |revision: &Value| {
        [&revision["spec"]["artifactDigest"], &revision["spec"]["chartDigest"]].map(Value::to_string)
    };
    let named: String = revisions["items"].as_array().unwrap().iter().flat_map(spec).collect();
    let all = hub.get(&format!("{CONTENT}?labelSelector=fitout.dev/content"))?;
    let label = |one: &Value| one["metadata"]["labels"]["fitout.dev/content"].as_str().unwrap_or_default().to_owned();
    Ok(all["items"].as_array().unwrap().iter().map(label).filter(|label| named.contains(label)).collect())
}
