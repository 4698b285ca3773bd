//! What `Chart.yaml` and `Chart.lock` say.

mod check;
mod draft;
mod json;
mod present;
mod target;
mod yaml;

use std::collections::BTreeMap;

use fitout_go_template::Value;

pub(crate) use draft::{Draft, detect_api_version, lock};

/// What `Chart.yaml` says.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// The chart's name, or its alias where another chart depends on it by one.
    pub name: String,
    /// The address of a page.
    pub home: String,
    /// Where its source is.
    pub sources: Vec<String>,
    /// Its version.
    pub version: String,
    /// A sentence about it.
    pub description: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Who keeps it.
    pub maintainers: Vec<Maintainer>,
    /// The address of a picture.
    pub icon: String,
    /// `v1` or `v2`.
    pub api_version: String,
    /// Says nothing any more.
    pub condition: String,
    /// Says nothing any more.
    pub tags: String,
    /// The version of what it installs.
    pub app_version: String,
    /// Whether it should not be used any more.
    pub deprecated: bool,
    /// Whatever other programs want to know.
    pub annotations: Option<BTreeMap<String, String>>,
    /// The range of Kubernetes' versions that it is for.
    pub kube_version: String,
    /// What it depends on. Nothing is not the same as an empty list.
    pub dependencies: Option<Vec<Dependency>>,
    /// `application`, `library` or nothing.
    pub kind: String,
}

/// Who keeps a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maintainer {
    /// A name.
    pub name: String,
    /// An address.
    pub email: String,
    /// The address of a page.
    pub url: String,
}

/// A chart that another depends on.
#[derive(Clone, Debug, Default)]
pub struct Dependency {
    /// The name; once dependencies have been processed, the alias where there is one.
    pub name: String,
    /// The range of versions.
    pub version: String,
    /// Where it comes from.
    pub repository: String,
    /// Paths of values, with commas: the first that is a boolean decides whether it is there.
    pub condition: String,
    /// Tags that decide where no condition does.
    pub tags: Vec<String>,
    /// Whether it is there.
    pub enabled: bool,
    /// Which of its values the chart above takes over.
    pub import_values: Vec<Import>,
    /// The name that it goes by.
    pub alias: String,
}

/// Which values of a dependency the chart above takes over.
#[derive(Clone, Debug)]
pub enum Import {
    /// As `Chart.yaml` says it: a text, or a table with `child` and `parent`. Anything else imports nothing.
    Written(Value),
    /// Once imports have been processed: from this path of the dependency to this path of the chart.
    Processed {
        /// The path in the dependency.
        child: String,
        /// The path in the chart above.
        parent: String,
    },
}

/// What `Chart.lock` says.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    /// When it was made, as it is written.
    pub generated: String,
    /// The digest of what was locked.
    pub digest: String,
    /// The dependencies, each with one version.
    pub dependencies: Vec<Dependency>,
}

impl Metadata {
    /// What templates see as `.Chart`.
    pub fn to_value(&self) -> Value {
        present::metadata(self)
    }
}
