//! The definition: all that one version of an extension declares.

use std::fmt;

use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::nearest;

/// One version of an extension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Definition {
    /// The extension's name.
    pub extension: String,
    /// This version.
    pub version: Version,
    /// Versions this one may replace in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade_from: Option<String>,
    /// The version of what is inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_version: Option<String>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What it is, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Who publishes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// A file with its picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// The Kubernetes versions it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<String>,
    /// At most one instance a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub singleton: Option<bool>,
    /// May be installed before the cluster has a Ready node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bootstrap: bool,
    /// A file with the JSON Schema of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<String>,
    /// Values of the definition's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Value>,
    /// Plain manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifests: Option<Manifests>,
}

/// A directory of YAML files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifests {
    /// Where it is, beside the definition.
    pub path: String,
}

/// What is wrong with a document: where, what, and perhaps what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path of the field.
    pub field: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Problem {}

const API_VERSION: &str = "fitout.dev/v1alpha1";
const KIND: &str = "ExtensionDefinition";

/// Reads a definition from its document, strictly: an unknown field is a problem, with a suggestion.
pub fn parse_definition(document: &Value) -> Result<Definition, Problem> {
    let problem = |field: &str, message: String, hint: &str| {
        Err(Problem { field: field.to_owned(), message, hint: Some(hint.to_owned()) })
    };
    if document["apiVersion"] != API_VERSION {
        return problem("apiVersion", format!("{} is not {API_VERSION}", document["apiVersion"]), "write that instead");
    }
    if document["kind"] != KIND {
        return problem("kind", format!("{} is not {KIND}", document["kind"]), "write that instead");
    }
    let definition: Definition =
        serde_path_to_error::deserialize(&document["spec"]).map_err(|error| from_serde(&error))?;
    if definition.manifests.is_none() {
        return problem("spec", "no engine is named".to_owned(), "add `manifests: { path: … }`");
    }
    Ok(definition)
}

/// Says in our words what serde says in its own.
fn from_serde(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let path = error.path().to_string();
    let mut field = if path == "." { "spec".to_owned() } else { format!("spec.{path}") };
    let said = error.inner().to_string();
    let words: Vec<&str> = said.split('`').collect();
    match words[..] {
        ["unknown field ", unknown, ", expected one of " | ", expected ", ref rest @ ..] => {
            let known = rest.iter().copied().step_by(2);
            if !field.ends_with(unknown) {
                field = format!("{field}.{unknown}");
            }
            let hint = nearest(unknown, known).map(|name| format!("did you mean `{name}`?"));
            Problem {
                field,
                message: "there is no such field".to_owned(),
                hint: hint.or(Some("take it out".to_owned())),
            }
        }
        ["missing field ", name, ..] => Problem {
            field: format!("{field}.{name}"),
            message: "it is missing".to_owned(),
            hint: Some("add it".to_owned()),
        },
        _ => Problem { field, message: said, hint: None },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(spec: &Value) -> Result<Definition, String> {
        let document = json!({ "apiVersion": API_VERSION, "kind": KIND, "metadata": { "name": "x" }, "spec": spec });
        parse_definition(&document).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_small_definition_is_read() {
        let definition =
            parse(&json!({ "extension": "web", "version": "1.2.0", "manifests": { "path": "m" } })).unwrap();
        assert_eq!(definition.version, Version::new(1, 2, 0));
        assert!(!definition.bootstrap);
    }

    #[test]
    fn problems_name_the_field_and_the_remedy() {
        let rows = [
            (
                json!({ "extension": "web", "version": "1.2.0", "kubernets": ">=1.33", "manifests": { "path": "m" } }),
                "spec.kubernets: there is no such field; did you mean `kubernetes`?",
            ),
            (
                json!({ "extension": "web", "version": "1.2.0", "manifests": { "pth": "m" } }),
                "spec.manifests.pth: there is no such field; did you mean `path`?",
            ),
            (json!({ "version": "1.2.0", "manifests": { "path": "m" } }), "spec.extension: it is missing; add it"),
            (
                json!({ "extension": "web", "version": "1.2", "manifests": { "path": "m" } }),
                "spec.version: unexpected end of input while parsing minor version number",
            ),
            (
                json!({ "extension": "web", "version": "1.2.0" }),
                "spec: no engine is named; add `manifests: { path: … }`",
            ),
        ];
        for (spec, expected) in rows {
            assert_eq!(parse(&spec).unwrap_err(), expected);
        }
    }

    #[test]
    fn another_kind_is_refused() {
        let problem = parse_definition(&json!({ "apiVersion": "v1", "kind": "ConfigMap" })).unwrap_err();
        assert_eq!(problem.to_string(), "apiVersion: \"v1\" is not fitout.dev/v1alpha1; write that instead");
    }
}
