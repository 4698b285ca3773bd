//! The case tables in `tests/cases`: one row a fact.
//!
//! A row is an object (of the file's kind, unless it names another), an optional time, and the expected health. Where
//! kstatus gives another result, the row has it as `kstatus`.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::path::Path;

use fitout_health::{health, health_at};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

fn tables() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let read = |path: &Path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    files.iter().map(|path| (name(path), read(path))).collect()
}

fn object(table: &Value, case: &Value) -> Value {
    let mut object = case["object"].clone();
    for field in ["apiVersion", "kind"] {
        if object[field].is_null() {
            object[field] = table[field].clone();
        }
    }
    object
}

fn seen(object: &Value, now: &Value) -> Value {
    let now = now.as_str().map(|now| OffsetDateTime::parse(now, &Rfc3339).unwrap());
    let found = now.map_or_else(|| health(object), |now| health_at(object, now));
    match found.cause() {
        None => json!({ "health": found.as_str() }),
        Some(cause) => json!({ "health": found.as_str(), "reason": cause.reason, "message": cause.message }),
    }
}

#[test]
fn every_row_holds() {
    let mut wrong = vec![];
    for (file, table) in tables() {
        for case in table["cases"].as_array().unwrap() {
            let mut expected = case.clone();
            expected.as_object_mut().unwrap().retain(|key, _| ["health", "reason", "message"].contains(&key.as_str()));
            let seen = seen(&object(&table, case), &case["now"]);
            if seen != expected {
                wrong.push(format!("{file}: {}\n  expected {expected}\n  seen     {seen}", case["fact"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_is_a_fact_of_its_own() {
    let mut facts = BTreeSet::new();
    for (file, table) in tables() {
        for case in table["cases"].as_array().unwrap() {
            assert!(facts.insert((file.clone(), case["fact"].to_string())), "{file}: {} occurs twice", case["fact"]);
            let current = case["health"] == "Current";
            assert_eq!(case["message"].is_null(), current, "{file}: {}", case["fact"]);
        }
    }
    assert!(facts.len() >= 80, "{} rows", facts.len());
}

#[test]
fn sentences_are_one_line_and_begin_with_no_capital() {
    for (file, table) in tables() {
        for case in table["cases"].as_array().unwrap() {
            let seen = seen(&object(&table, case), &case["now"]);
            let Some(message) = seen["message"].as_str() else { continue };
            assert!(!message.contains('\n'), "{file}: {message}");
            assert!(!message.starts_with(char::is_uppercase), "{file}: {message}");
        }
    }
}

#[test]
fn invalid_objects_have_a_health() {
    for odd in
        [json!(null), json!([]), json!("text"), json!({ "status": 3 }), json!({ "status": { "conditions": {} } })]
    {
        assert!(health(&odd).is_current(), "{odd}");
    }
    let odd = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "spec": { "replicas": "three" }, "status": [] });
    assert_eq!(health(&odd).to_string(), "InProgress: 0 of 1 replica is created");
}
