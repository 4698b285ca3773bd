//! A catalog's definition is read as strictly as the API server takes one: the same fixtures pass and fail.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

use fitout_api::ExtensionDefinition;
use fitout_model::{Definition, Problem, parse_definition};
use serde_json::Value;

/// The definitions among the fixtures of a folder, each with its file's name.
fn definitions(folder: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let documents = files.filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let named = documents.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path));
    let ours = named.filter(|(name, _)| name.starts_with("definition-"));
    let read = |path: &Path| fitout_go_yaml::from_yaml_strict(&fs::read_to_string(path).unwrap()).unwrap();
    let found: Vec<_> = ours.map(|(name, path)| (name, read(&path))).collect();
    assert!(!found.is_empty());
    found
}

fn read((name, document): &(String, Value)) -> Result<Definition, (String, Problem)> {
    parse_definition(document).map_err(|problem| (name.clone(), problem))
}

#[test]
fn what_the_api_server_accepts_is_read_the_same_from_a_catalog_and_from_an_object() {
    for fixture in definitions("valid") {
        let definition = read(&fixture).unwrap();
        let object: ExtensionDefinition = serde_json::from_value(fixture.1).unwrap();
        assert_eq!(object.spec.0, definition, "{}", fixture.0);
    }
}

#[test]
fn what_the_api_server_refuses_is_refused_in_a_catalog() {
    let accepted: Vec<_> = definitions("invalid").iter().filter_map(|fixture| read(fixture).ok()).collect();
    assert!(accepted.is_empty(), "{accepted:#?}");
}

/// The API server may know more fields than this program does: those of a newer version's kinds.
#[test]
fn an_object_with_an_unknown_field_is_still_read() {
    let (_, mut document) = definitions("valid").swap_remove(0);
    document["spec"]["novelty"] = true.into();
    assert!(parse_definition(&document).is_err());
    let object: ExtensionDefinition = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(document["spec"]["extension"], object.spec.0.extension);
}
