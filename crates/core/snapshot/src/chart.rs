//! Charts as extensions.

mod annotations;
mod definition;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use fitout_model::Digest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use definition::{
    CHANGELOG, ChartDefinition, ChartLocation, chart_definition, chart_definitions, clashing_charts, extension_of,
};

/// A version of a chart, as the index of its repository or its `Chart.yaml` describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChartVersion {
    /// The name of the chart.
    pub name: String,
    /// The version of the chart.
    pub version: String,
    /// The version of the application.
    pub app_version: Option<String>,
    /// The range of Kubernetes versions.
    pub kube_version: Option<String>,
    /// The purpose of the chart in one line.
    pub description: Option<String>,
    /// The URL of the project.
    pub home: Option<String>,
    /// The URL of an icon.
    pub icon: Option<String>,
    /// Words to find the chart by.
    pub keywords: Vec<String>,
    /// The names of its maintainers.
    pub maintainers: Vec<String>,
    /// Whether the chart is deprecated.
    pub deprecated: bool,
    /// Whether it is a library chart, which cannot be installed.
    pub library: bool,
    /// The annotations below `fitout.dev/` and `artifacthub.io/`.
    pub annotations: BTreeMap<String, String>,
    /// The digest of its archive, with or without the prefix `sha256:`.
    pub digest: Option<String>,
}

impl ChartVersion {
    /// A digest that is another one only if the publisher has published something else: the digest of the archive, or that
    /// of the metadata where a repository states none. How definitions are made of charts does not change it.
    pub fn published(&self) -> Digest {
        if let Some(text) = &self.digest {
            return Digest::of(text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase());
        }
        // A deprecation is a state of the version, and no change of it.
        let mut metadata = json!(Self { deprecated: false, ..self.clone() });
        if let Value::Object(fields) = &mut metadata {
            // So that a field that a later version of the hub reads changes the digest only where a chart has it.
            let empty = [json!(null), json!(""), json!(false), json!([]), json!({})];
            fields.retain(|_, value| !empty.contains(value));
        }
        Digest::of_value(&metadata)
    }
}
