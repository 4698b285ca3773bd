//! Charts as extensions.

mod annotations;
mod definition;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use definition::{CHANGELOG, ChartDefinition, ChartLocation, chart_definitions};

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
