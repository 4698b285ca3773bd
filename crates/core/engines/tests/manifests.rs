//! The manifests engine: rendered objects, and the problems of invalid definitions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::rc::Rc;

use fitout_engines::{Environment, Files, Input, Release, RenderOutcome};
use fitout_model::{Apis, Problem, parse_definition};
use serde_json::{Value, json};

const SCHEMA: &str = r#"{
  "type": "object",
  "required": ["host"],
  "properties": {
    "host": { "type": "string" },
    "replicas": { "type": "integer", "default": 2 },
    "labels": { "type": "object", "default": { "team": "web" }, "additionalProperties": { "type": "string" } },
    "image": { "type": "object", "properties": { "tag": { "type": "string", "default": "1.0" } } }
  }
}"#;

fn render(manifest: &str, values: &Value) -> Result<Vec<Value>, Problem> {
    render_files(&[("m/a.yaml", manifest), ("schema.json", SCHEMA)], values)
}

fn render_files(files: &[(&str, &str)], values: &Value) -> Result<Vec<Value>, Problem> {
    let spec =
        json!({ "extension": "web", "version": "1.0.0", "parameters": "schema.json", "manifests": { "path": "m" } });
    render_definition(&spec, files, values)
}

fn render_definition(spec: &Value, files: &[(&str, &str)], values: &Value) -> Result<Vec<Value>, Problem> {
    let definition = parse_definition(&json!({
        "apiVersion": "fitout.dev/v1alpha1",
        "kind": "ExtensionDefinition",
        "spec": spec,
    }))
    .unwrap();
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let world: Rc<dyn Environment> = Rc::new(fitout_environment::HostEnvironment);
    let input = Input {
        definition: &definition,
        files: Files { beside: &files, archive: None, digest: None },
        values,
        release: Release { name: "web", namespace: "shop", revision: 1 },
        kubernetes: "v1.36.3",
        apis: &Apis::default(),
        answers: &BTreeMap::new(),
        world: &world,
    };
    match fitout_engines::render(&input)? {
        RenderOutcome::Rendered(rendered) => Ok(rendered.objects),
        RenderOutcome::NeedLookups(lookups) => panic!("{lookups:?}"),
    }
}

fn config_map(data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {data}\n")
}

#[test]
fn a_scalar_that_is_only_a_parameter_takes_its_type() {
    let objects =
        render(&config_map("{ count: '${replicas}', l: '${labels}', s: '${host}' }"), &json!({ "host": "h" })).unwrap();
    assert_eq!(objects[0]["data"], json!({ "count": 2, "l": { "team": "web" }, "s": "h" }));
}

#[test]
fn a_parameter_in_a_text_is_text_and_an_escape_is_kept() {
    let data = r#"{ a: "http://${host}:${replicas}/${image.tag}", b: "$${host}", "${host}": c }"#;
    let objects = render(&config_map(data), &json!({ "host": "h" })).unwrap();
    assert_eq!(objects[0]["data"], json!({ "a": "http://h:2/1.0", "b": "${host}", "h": "c" }));
}

#[test]
fn a_value_cannot_break_out_of_its_place() {
    let host = "x\"\nkind: Secret\n# {{";
    let objects = render(&config_map("{ a: '${host}' }"), &json!({ "host": host })).unwrap();
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["data"]["a"], host);
}

#[test]
fn documents_and_lists_keep_their_order() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n";
    let text = format!("{}---\n# nothing\n---\n{list}", config_map("{}"));
    let objects = render(&text, &json!({ "host": "h" })).unwrap();
    let kinds: Vec<&str> = objects.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ConfigMap", "Secret"]);
}

#[test]
fn problems_name_the_place_and_the_remedy() {
    let host = json!({ "host": "h" });
    let rows: Vec<(String, Value, &str)> = vec![
        (
            config_map("{ a: '${hots}' }"),
            host.clone(),
            "m/a.yaml:1: no parameter `hots` is declared; did you mean `host`?",
        ),
        (config_map("{}"), json!({}), "values.host: required value is missing; set it in the instance's values"),
        (config_map("{}"), json!({ "host": 1 }), "values.host: it is not of type \"string\"; change the value"),
        (
            config_map("{}"),
            json!({ "host": "h", "replica": 1 }),
            "values.replica: unknown parameter; did you mean `replicas`?",
        ),
        (
            config_map("{ a: 'x ${labels}' }"),
            host.clone(),
            "m/a.yaml:1: the parameter `labels` is not a scalar and cannot be part of a string; use it as the whole value",
        ),
        (
            config_map("{ a: 'x ${host' }"),
            host.clone(),
            "m/a.yaml:1: `x ${host` has no closing brace; close it, or write `$${`",
        ),
        (
            "kind: ConfigMap\nmetadata: {name: a}\n".into(),
            host.clone(),
            "m/a.yaml:1: an object needs `apiVersion`; add it, or remove the document",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\n".into(),
            host.clone(),
            "m/a.yaml:1: an object needs `metadata.name`; add it, or remove the document",
        ),
        ("# nothing\n".into(), host, "m/: it contains no object; add a file that ends in .yaml or .yml"),
    ];
    for (manifest, values, expected) in rows {
        assert_eq!(render(&manifest, &values).unwrap_err().to_string(), expected);
    }
}

#[test]
fn malformed_yaml_is_named_by_file_and_line() {
    let error = render("apiVersion: v1\nkind: [\n", &json!({ "host": "h" })).unwrap_err().to_string();
    assert!(error.starts_with("m/a.yaml: ") && error.ends_with("; fix the YAML at that line"), "{error}");
}

#[test]
fn an_oversized_definition_is_rejected() {
    let large = "x".repeat(5 << 20);
    let error = render_files(&[("m/a.yaml", &large), ("schema.json", SCHEMA)], &json!({})).unwrap_err().to_string();
    assert_eq!(
        error,
        "web: its files are 5.0 MB, and 4 MB is the limit; leave out what is not applied, or ship it as a chart"
    );
}

#[test]
fn unsupported_packagings_are_named() {
    let image = format!("quay.io/web@sha256:{}", "0".repeat(64));
    let rows = [
        ("olm", json!({ "package": "web" }), "packages of the Operator Lifecycle Manager"),
        ("runtime", json!({ "image": image }), "extensions with a runtime"),
    ];
    for (engine, content, what) in rows {
        let spec = json!({ "extension": "web", "version": "1.0.0", engine: content });
        let message = "are not supported by this version of fitout; package it as plain manifests";
        let problem = render_definition(&spec, &[], &json!({})).unwrap_err().to_string();
        assert_eq!(problem, format!("spec.{engine}: {what} {message}"));
    }
}
