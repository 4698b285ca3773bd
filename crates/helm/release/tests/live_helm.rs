//! Real Helm reads what we write, and we read what it writes.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::Read;
use std::sync::LazyLock;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fitout_helm_release::{
    ApplyMethod, Chart, Info, Metadata, Release, Stamp, Status, decode, encode, from_secret, history,
};
use fitout_helm_release::{secret, secret_name};
use fitout_testkit::{Cluster, Spec, differences};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::datetime;

/// Each test has a namespace of its own in it.
static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(Spec::default()).unwrap());

fn secrets(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/secrets")
}

fn record(namespace: &str, release: &str, revision: u64) -> Result<Value> {
    CLUSTER.client().get(&format!("{}/{}", secrets(namespace), secret_name(release, revision)))
}

/// The record's text, without the base64 that Kubernetes adds.
fn inner(secret: &Value) -> Result<String> {
    let outer = secret["data"]["release"].as_str().context("the Secret has no record")?;
    Ok(String::from_utf8(STANDARD.decode(outer)?)?)
}

/// The record's JSON, read without any of the code under test.
fn plain(text: &str) -> Result<Value> {
    let mut json = String::new();
    flate2::read::GzDecoder::new(STANDARD.decode(text)?.as_slice()).read_to_string(&mut json)?;
    Ok(serde_json::from_str(&json)?)
}

fn helm(namespace: &str, args: &[&str]) -> Result<String> {
    CLUSTER.helm().run(&[args, &["--namespace", namespace]].concat())
}

/// All that Helm says about a release from its records alone.
fn all_views(namespace: &str) -> Result<Vec<String>> {
    let views: [&[&str]; 9] = [
        &["list", "--output=json"],
        &["history", "podinfo", "--output=json"],
        &["history", "podinfo"],
        &["get", "manifest", "podinfo"],
        &["get", "values", "podinfo", "--all", "--output=json"],
        &["get", "notes", "podinfo"],
        &["get", "hooks", "podinfo"],
        &["get", "metadata", "podinfo", "--output=json"],
        &["get", "all", "podinfo"],
    ];
    views.iter().map(|args| helm(namespace, args)).collect()
}

fn install_podinfo(namespace: &str) -> Result<()> {
    let chart = CLUSTER.sandbox().programs().chart("podinfo");
    let chart = chart.to_str().unwrap();
    let values = "--set=replicaCount=2,ui.message=a <b> & c,hpa.cpu=0.1";
    helm(namespace, &["install", "podinfo", chart, values, "--labels=team=a"])?;
    helm(namespace, &["upgrade", "podinfo", chart, "--set=replicaCount=3", "--description=three of them"])?;
    Ok(())
}

#[test]
fn helm_sees_no_difference_after_its_records_were_written_by_us() -> Result<()> {
    let namespace = CLUSTER.namespace("rewritten")?;
    install_podinfo(&namespace)?;
    let before = all_views(&namespace)?;
    for revision in [1, 2] {
        let found = record(&namespace, "podinfo", revision)?;
        let release = from_secret(&found)?;
        assert_eq!(release.revision, revision);
        assert_eq!(release.labels["team"], "a");
        let stamp = found["metadata"]["labels"]["modifiedAt"].as_str().context("Helm did not stamp it")?.parse()?;
        let written = secret(&release, Stamp::Modified(OffsetDateTime::from_unix_timestamp(stamp)?))?;
        let path = format!("{}/{}", secrets(&namespace), secret_name("podinfo", revision));
        let changed = differences(&found, &CLUSTER.client().replace(&path, &written)?);
        // The same record, compressed by somebody else.
        assert!(changed.iter().all(|line| line.starts_with(".data.release: ")), "{changed:#?}");
    }
    for (before, after) in before.iter().zip(all_views(&namespace)?) {
        assert_eq!(*before, after);
    }
    assert!(before[0].contains(r#""chart":"podinfo-"#), "{}", before[0]);

    // And Helm goes on from there.
    helm(&namespace, &["rollback", "podinfo", "1"])?;
    let records: Vec<Release> =
        [1, 2, 3].into_iter().map(|n| Ok(from_secret(&record(&namespace, "podinfo", n)?)?)).collect::<Result<_>>()?;
    assert_eq!(history::deployed(&records).map(|release| release.revision), Some(3));
    assert_eq!(records[2].info.rollback_revision, Some(1));
    assert_eq!(records[1].info.status, Status::Superseded);
    assert_eq!(history::next_revision(&records), 4);
    Ok(())
}

#[test]
fn no_field_of_helms_record_is_lost() -> Result<()> {
    let namespace = CLUSTER.namespace("lossless")?;
    install_podinfo(&namespace)?;
    for revision in [1, 2] {
        let text = inner(&record(&namespace, "podinfo", revision)?)?;
        let ours = encode(&decode(&text)?)?;
        assert_eq!(plain(&ours)?, plain(&text)?);
        let release = decode(&text)?;
        assert!(release.rest.is_empty() && release.info.rest.is_empty(), "a field of Helm's has no name here");
        assert!(release.hooks.iter().all(|hook| hook.rest.is_empty()), "a field of Helm's has no name here");
        assert_eq!(release.apply_method, Some(ApplyMethod::ServerSide));
        assert!(!release.hooks.is_empty());
        assert!(release.info.notes.contains("podinfo"), "{}", release.info.notes);
    }
    Ok(())
}

/// A release that never was a chart.
fn made_by_us(namespace: &str, revision: u64, status: Status, last_deployed: OffsetDateTime) -> Release {
    let manifest = format!(
        "---\n# Source: ours/templates/settings.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  \
         namespace: {namespace}\ndata:\n  revision: \"{revision}\"\n"
    );
    let metadata = Metadata {
        name: "ours".into(),
        version: "1.2.3".into(),
        app_version: "9.9".into(),
        api_version: "v2".into(),
        ..Metadata::default()
    };
    let values = json!({ "colour": "blue", "size": 1 });
    Release {
        name: "ours".into(),
        namespace: namespace.to_owned(),
        revision,
        info: Info {
            first_deployed: Some(datetime!(2026-01-02 03:04:05 UTC)),
            last_deployed: Some(last_deployed),
            description: format!("step {revision}"),
            status,
            notes: "Enjoy.".into(),
            ..Info::default()
        },
        chart: Some(Chart::new(metadata, values.as_object().unwrap().clone()).into()),
        config: json!({ "size": 2 }).as_object().unwrap().clone(),
        manifest,
        apply_method: Some(ApplyMethod::ServerSide),
        ..Release::default()
    }
}

#[test]
fn helm_takes_a_record_that_it_never_wrote_for_its_own() -> Result<()> {
    let namespace = CLUSTER.namespace("ours")?;
    let namespace = namespace.as_str();
    let first = made_by_us(namespace, 1, Status::Deployed, datetime!(2026-01-02 03:04:05 UTC));
    let second = made_by_us(namespace, 2, Status::Deployed, datetime!(2026-02-03 04:05:06.789 UTC));
    let create = |release: &Release| {
        let object = secret(release, Stamp::Created(datetime!(2026-02-03 04:05:06 UTC)))?;
        CLUSTER.client().create(&secrets(namespace), &object)
    };
    create(&first)?;
    create(&second)?;
    for former in history::superseded(&[first, second.clone()], 2, history::Operation::Upgrade) {
        let object = secret(&former, Stamp::Modified(datetime!(2026-02-03 04:05:07 UTC)))?;
        CLUSTER
            .client()
            .replace(&format!("{}/{}", secrets(namespace), secret_name("ours", former.revision)), &object)?;
    }
    // Helm only deletes what says that it belongs to the release.
    let metadata = json!({
        "name": "settings",
        "labels": { "app.kubernetes.io/managed-by": "Helm" },
        "annotations": { "meta.helm.sh/release-name": "ours", "meta.helm.sh/release-namespace": namespace },
    });
    CLUSTER.client().create(&format!("/api/v1/namespaces/{namespace}/configmaps"), &json!({ "metadata": metadata }))?;

    let listed: Value = serde_json::from_str(&helm(namespace, &["list", "--output=json"])?)?;
    let expected = json!([{
        "name": "ours", "namespace": namespace, "revision": "2", "updated": "2026-02-03 04:05:06.789 +0000 UTC",
        "status": "deployed", "chart": "ours-1.2.3", "app_version": "9.9",
    }]);
    assert_eq!(listed, expected);

    let told: Value = serde_json::from_str(&helm(namespace, &["history", "ours", "--output=json"])?)?;
    let lines: Vec<_> = told
        .as_array()
        .unwrap()
        .iter()
        .map(|line| format!("{} {} {}", line["revision"], line["status"], line["description"]))
        .collect();
    assert_eq!(lines, [r#"1 "superseded" "step 1""#, r#"2 "deployed" "step 2""#]);

    let all = helm(namespace, &["get", "all", "ours"])?;
    for part in
        ["STATUS: deployed", "REVISION: 2", "CHART: ours", "size: 2", "colour: blue", r#"revision: "2""#, "Enjoy."]
    {
        assert!(all.contains(part), "{part} is not in\n{all}");
    }
    let old: Value =
        serde_json::from_str(&helm(namespace, &["get", "values", "ours", "--output=json", "--revision=1"])?)?;
    assert_eq!(old, json!({ "size": 2 }));

    let said = helm(namespace, &["uninstall", "ours"])?;
    assert!(said.contains(r#"release "ours" uninstalled"#), "{said}");
    assert_eq!(CLUSTER.client().find(&format!("/api/v1/namespaces/{namespace}/configmaps/settings"))?, None);
    let left = CLUSTER.client().get(&format!("{}?labelSelector=owner=helm", secrets(namespace)))?;
    assert_eq!(left["items"], json!([]));
    Ok(())
}

#[test]
fn helm_rolls_back_upgrades_and_prunes_what_we_began() -> Result<()> {
    let namespace = CLUSTER.namespace("handed-over")?;
    let namespace = namespace.as_str();
    let mut records = vec![];
    for (revision, status) in [(1, Status::Superseded), (2, Status::Failed), (3, Status::Deployed)] {
        let release = made_by_us(namespace, revision, status, datetime!(2026-01-02 03:04:05 UTC));
        let object = secret(&release, Stamp::Created(datetime!(2026-01-02 03:04:05 UTC)))?;
        CLUSTER.client().create(&secrets(namespace), &object)?;
        records.push(release);
    }
    helm(namespace, &["rollback", "ours", "--history-max=3"])?;

    // What we foretell is what Helm does: the target, the number, the record that had to go, the one that was
    // superseded.
    let target = history::rollback_target(&records, None)?.revision;
    let next = history::next_revision(&records);
    let gone = history::surplus(&records, 3);
    let superseded = history::superseded(&records, next, history::Operation::Rollback);
    let left = CLUSTER.client().get(&format!("{}?labelSelector=owner=helm,name=ours", secrets(namespace)))?;
    let found: Vec<Release> = left["items"].as_array().unwrap().iter().map(from_secret).collect::<Result<_, _>>()?;
    let newest = history::deployed(&found).context("nothing is deployed")?;
    assert_eq!((newest.revision, newest.info.rollback_revision), (next, Some(target)));
    assert_eq!(newest.manifest, records[1].manifest);
    let mut expected: Vec<u64> = records.iter().map(|release| release.revision).filter(|n| !gone.contains(n)).collect();
    expected.push(next);
    assert_eq!(found.iter().map(|release| release.revision).collect::<Vec<_>>(), expected);
    for former in superseded {
        assert!(found.contains(&former), "{former:#?}\nis not among\n{found:#?}");
    }
    Ok(())
}

#[test]
fn what_is_too_large_for_us_is_too_large_for_kubernetes() -> Result<()> {
    let namespace = CLUSTER.namespace("large")?;
    let create = |length: usize| {
        let data = json!({ "release": STANDARD.encode("x".repeat(length)) });
        let object = json!({ "metadata": { "name": format!("of-{length}") }, "data": data });
        CLUSTER.client().create(&secrets(&namespace), &object)
    };
    create(1 << 20)?;
    let refused = create((1 << 20) + 1).unwrap_err().to_string();
    assert!(refused.contains("may not be more than 1048576 bytes"), "{refused}");
    Ok(())
}
