//! Compares the entries of an index with those of Helm's loader.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use anyhow::Result;
use fitout_repositories::{Access, Answer, IndexedChart, Sources};
use fitout_testkit::Programs;
use fitout_testkit::http_server::{Server, ok};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// The entries of the chart `a`, each as the index of one version.
const ENTRIES: [&str; 27] = [
    "name: a\n    version: 1.0.0",
    "name: a\n    version: v1.2",
    "name: a\n    version: \"1.20\"",
    "name: a\n    version: 01.2.3",
    "name: a\n    version: 1.2.3-rc.1+build",
    "name: a\n    version: latest",
    "name: a\n    version: ''",
    "name: a",
    "version: 1.0.0",
    "name: ''\n    version: 1.0.0",
    "name: ..\n    version: 1.0.0",
    "name: b/a\n    version: 1.0.0",
    "name: a\n    version: 1.0.0\n    appVersion: 2001-01-01",
    "name: a\n    version: 1.0.0\n    appVersion: null",
    "name: a\n    version: 1.0.0\n    type: application",
    "name: a\n    version: 1.0.0\n    type: library",
    "name: a\n    version: 1.0.0\n    type: other",
    "name: a\n    version: 1.0.0\n    deprecated: true",
    "name: a\n    version: 1.0.0\n    maintainers:\n    - name: x\n    - email: y@z",
    "name: a\n    version: 1.0.0\n    maintainers:\n    - null",
    "name: a\n    version: 1.0.0\n    dependencies:\n    - null",
    "name: a\n    version: 1.0.0\n    dependencies:\n    - name: b\n      alias: c d",
    "name: a\n    version: 1.0.0\n    dependencies:\n    - name: b\n      alias: c-d\n    - name: c-d",
    "name: a\n    version: 1.0.0\n    description: |\n      two\n      lines\n    kubeVersion: '>=1.2'\n    icon: x\n    home: z",
    "name: a\n    version: 1.0.0\n    keywords: [one, \"two\"]\n    digest: 0123456789ea12",
    "null",
    "name: a\n    version: 1.0.0\n    annotations:\n      artifacthub.io/a: '1.50'\n      fitout.dev/b: text\n      c: d",
];

/// Entries for which Helm refuses the whole index. We skip the entry or the field.
const REFUSED: [&str; 11] = [
    "name: a\n    version: 1",
    "name: a\n    version: 1.2",
    "name: a\n    version: 1.20",
    "name: 12\n    version: 1.0.0",
    "name: true\n    version: 1.0.0",
    "name: a\n    version: 1.0.0\n    appVersion: 1.10",
    "name: a\n    version: 1.0.0\n    appVersion: 12345678901",
    "name: a\n    version: 1.0.0\n    appVersion: 1e3",
    "name: a\n    version: 1.0.0\n    appVersion: yes",
    "name: a\n    version: 1.0.0\n    annotations:\n      artifacthub.io/a: 1.50\n      fitout.dev/b: text\n      c: d",
    "name: a\n    version: 1.0.0\n    unknown: x",
];

fn helm(program: &Path, path: &Path) -> Result<Option<Value>> {
    let output = Command::new(program).arg(path).arg("entries").output()?;
    if !output.status.success() {
        return Ok(None);
    }
    let found: Value = serde_json::from_slice(&output.stdout)?;
    Ok(Some(found["entries"]["a"].clone()))
}

fn ours(server: &Server) -> Option<Vec<IndexedChart>> {
    let collect = |charts: &mut Vec<IndexedChart>, chart| charts.push(chart);
    match RUNTIME.block_on(Sources::default().index(&server.url, None, &Access::default(), collect)) {
        Ok(Answer::Changed(index)) => Some(index.charts),
        _ => None,
    }
}

/// The fields of an entry that both have, without those that are empty.
fn of_helm(entry: &Value) -> Value {
    let mut fields = serde_json::Map::new();
    for key in ["name", "version", "appVersion", "kubeVersion", "home", "icon", "digest", "deprecated", "keywords"] {
        fields.extend(entry.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    let maintainers: Vec<&Value> =
        entry["maintainers"].as_array().into_iter().flatten().filter_map(|maintainer| maintainer.get("name")).collect();
    if !maintainers.is_empty() {
        fields.insert("maintainers".to_owned(), json!(maintainers));
    }
    if let Some(annotations) = entry["annotations"].as_object() {
        let kept: BTreeMap<&String, &Value> = annotations
            .iter()
            .filter(|(key, _)| key.starts_with("artifacthub.io/") || key.starts_with("fitout.dev/"))
            .collect();
        fields.insert("annotations".to_owned(), json!(kept));
    }
    if entry["type"] == "library" {
        fields.insert("library".to_owned(), json!(true));
    }
    // Helm replaces line feeds by spaces where a text is read, we where it becomes a summary.
    fields.extend(entry.get("description").map(|text| ("description".to_owned(), text.clone())));
    Value::Object(fields)
}

fn of_ours(chart: &IndexedChart) -> Vec<Value> {
    let entries = chart.versions.iter().map(|version| {
        let mut value = serde_json::to_value(version).unwrap();
        let fields = value.as_object_mut().unwrap();
        fields.retain(|_, value| {
            !matches!(value, Value::Null | Value::Bool(false)) && *value != json!([]) && *value != json!({})
        });
        if let Some(text) = fields.get("description").and_then(Value::as_str).map(|text| text.replace('\n', " ")) {
            fields.insert("description".to_owned(), json!(text));
        }
        value
    });
    entries.collect()
}

#[test]
fn entries_are_those_of_the_loader_of_helm() -> Result<()> {
    let program = Programs::get()?.oracle("oracle-index")?;
    let path = std::env::temp_dir().join(format!("fitout-index-{}.yaml", std::process::id()));
    for entry in ENTRIES.iter().chain(&REFUSED) {
        let text = format!("apiVersion: v1\nentries:\n  a:\n  - {entry}\n");
        fs::write(&path, &text)?;
        let expected: Option<Vec<Value>> =
            helm(&program, &path)?.map(|entries| entries.as_array().into_iter().flatten().map(of_helm).collect());
        let server = Server::start(move |_| ok(&text));
        let found: Option<Vec<Value>> = ours(&server).map(|charts| charts.iter().flat_map(of_ours).collect());
        fs::remove_file(&path)?;
        match expected {
            Some(_) => assert_eq!(found, expected, "{entry}"),
            None => assert!(REFUSED.contains(entry) && found.is_some(), "{entry}"),
        }
    }
    Ok(())
}
