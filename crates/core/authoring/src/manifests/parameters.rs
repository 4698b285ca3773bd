//! The parameters of a folder of manifests: their defaults, and what `addon.yaml` says about the addon.

use std::collections::BTreeMap;

use fitout_model::Problem;
use serde_json::{Value, json};

use super::problem;

/// The files with defaults, the first of which counts.
const SOURCES: [&str; 6] =
    ["parameters.yaml", "parameters.yml", "values.yaml", "values.yml", "addon.yaml", "addon.yml"];

/// The fields of `addon.yaml` that may have the parameters.
const FIELDS: [&str; 5] = ["parameters", "variables", "values", "defaults", "params"];

/// The parameters of a folder.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    /// The defaults, by name.
    pub(super) values: Value,
    /// The file with the defaults, where it has nothing else.
    pub(super) text: Option<String>,
    pub(super) version: Option<String>,
    pub(super) description: Option<String>,
    sources: Vec<String>,
}

impl Parameters {
    /// Reads the defaults.
    pub(super) fn read(files: &BTreeMap<String, Vec<u8>>) -> Result<Self, Problem> {
        let mut parameters = Self { values: json!({}), ..Self::default() };
        for path in SOURCES {
            let Some(content) = files.get(path) else { continue };
            let text = String::from_utf8_lossy(content);
            // An index that is a template itself has no defaults.
            let document = match fitout_go_yaml::from_yaml(&text) {
                Ok(document) => document,
                Err(_) if path.starts_with("addon.") && text.contains("{{") => continue,
                Err(error) => return Err(problem(path, &error.to_string(), "fix the YAML")),
            };
            if path.starts_with("addon.") {
                parameters.read_addon(path, &document);
            } else if parameters.sources.is_empty() && (document.is_object() || document.is_null()) {
                parameters.sources.push(path.to_owned());
                parameters.text = Some(text.into_owned());
                if document.is_object() {
                    parameters.values = document;
                }
            }
        }
        Ok(parameters)
    }

    /// Reads an `addon.yaml`, unless it is an object of Kubernetes.
    fn read_addon(&mut self, path: &str, document: &Value) {
        let is_object =
            document["apiVersion"].is_string() && document["kind"] != "Addons" && document["kind"] != "Addon";
        if is_object || !document.is_object() {
            return;
        }
        let text = |field: &str| {
            let found = [&document[field], &document["spec"][field], &document["metadata"][field]];
            found.into_iter().find_map(Value::as_str).map(str::to_owned)
        };
        self.version = text("version").filter(|version| fitout_helm_ranges::Version::parse(version).is_ok());
        self.description = text("description");
        let mut found = FIELDS.into_iter().flat_map(|field| [&document[field], &document["spec"][field]]);
        let found = found.find_map(defaults);
        if let (true, Some(found)) = (self.sources.is_empty(), found) {
            self.values = found;
        }
        self.sources.push(path.to_owned());
    }

    /// Whether a file has parameters, and so is no manifest.
    pub(super) fn is_source(&self, path: &str) -> bool {
        self.sources.iter().any(|source| source == path)
    }
}

/// Defaults by name, from a map or from a list with entries such as `{ name: replicas, default: 1 }`.
fn defaults(value: &Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value.clone()),
        Value::Array(entries) => {
            let mut all = json!({});
            for entry in entries {
                let default = if entry["default"].is_null() { &entry["value"] } else { &entry["default"] };
                all[entry["name"].as_str()?] = default.clone();
            }
            Some(all)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Parameters {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        Parameters::read(&files.collect()).unwrap()
    }

    #[test]
    fn defaults_are_found_in_each_form() {
        let expected = json!({ "replicas": 2, "image": "a" });
        let rows: [(&str, &str); 3] = [
            ("parameters.yaml", "replicas: 2\nimage: a\n"),
            ("addon.yaml", "name: x\nversion: 1.2.0\nparameters: { replicas: 2, image: a }\n"),
            ("addon.yml", "spec: { variables: [{ name: replicas, default: 2 }, { name: image, value: a }] }\n"),
        ];
        for (path, text) in rows {
            let found = read(&[(path, text)]);
            assert_eq!(found.values, expected, "{path}");
            assert!(found.is_source(path));
        }
    }

    #[test]
    fn an_addon_may_describe_itself_beside_its_parameters() {
        let files = [("addon.yaml", "version: 1.2.0\ndescription: DNS\n"), ("values.yaml", "# One\na: 1\n")];
        let found = read(&files);
        assert_eq!((found.version.as_deref(), found.description.as_deref()), (Some("1.2.0"), Some("DNS")));
        assert_eq!((found.values, found.text.as_deref()), (json!({ "a": 1 }), Some("# One\na: 1\n")));
    }

    #[test]
    fn a_manifest_with_that_name_stays_a_manifest() {
        let found = read(&[("addon.yaml", "apiVersion: v1\nkind: ConfigMap\n")]);
        assert!(!found.is_source("addon.yaml"));
    }
}
