//! `Chart.yaml`, as Helm would write it.

use fitout_go_template::Value;
use serde_json::{Map, Value as Json, json};

use super::{Dependency, Import, Maintainer, Metadata};

impl Metadata {
    /// What it says, in YAML: what is empty is left out.
    pub fn to_yaml(&self) -> String {
        let maintainers: Vec<_> = self.maintainers.iter().map(maintainer).collect();
        let dependencies: Vec<_> = self.dependencies.iter().flatten().map(dependency).collect();
        let fields = [
            ("annotations", json!(self.annotations)),
            ("apiVersion", json!(self.api_version)),
            ("appVersion", json!(self.app_version)),
            ("condition", json!(self.condition)),
            ("dependencies", json!(dependencies)),
            ("deprecated", json!(self.deprecated)),
            ("description", json!(self.description)),
            ("home", json!(self.home)),
            ("icon", json!(self.icon)),
            ("keywords", json!(self.keywords)),
            ("kubeVersion", json!(self.kube_version)),
            ("maintainers", json!(maintainers)),
            ("name", json!(self.name)),
            ("sources", json!(self.sources)),
            ("tags", json!(self.tags)),
            ("type", json!(self.kind)),
            ("version", json!(self.version)),
        ];
        fitout_go_yaml::to_yaml(&object(fields))
    }
}

fn as_json(value: &Value) -> Json {
    let text = fitout_helm_functions::to_yaml(value).unwrap_or_default();
    fitout_go_yaml::from_yaml(&text).unwrap_or_default()
}

/// Without what is empty.
fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    let there = |value: &Json| match value {
        Json::Null | Json::Bool(false) => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(entries) => !entries.is_empty(),
        _ => true,
    };
    let fields = fields.into_iter().filter(|(_, value)| there(value));
    Json::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

fn maintainer(maintainer: &Maintainer) -> Json {
    let Maintainer { name, email, url } = maintainer;
    object([("name", json!(name)), ("email", json!(email)), ("url", json!(url))])
}

fn dependency(dependency: &Dependency) -> Json {
    let imports: Vec<_> = dependency
        .import_values
        .iter()
        .map(|import| match import {
            Import::Written(written) => as_json(written),
            Import::Processed { child, parent } => json!({ "child": child, "parent": parent }),
        })
        .collect();
    let mut written = object([
        ("name", json!(dependency.name)),
        ("version", json!(dependency.version)),
        ("condition", json!(dependency.condition)),
        ("tags", json!(dependency.tags)),
        ("enabled", json!(dependency.enabled)),
        ("import-values", json!(imports)),
        ("alias", json!(dependency.alias)),
    ]);
    // This one is always written.
    written["repository"] = json!(dependency.repository);
    written
}
