//! Extensions as their source has them, before and after they are parsed.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_model::{Digest, FileMap, Package, Problem, VersionStateRule, read_packages};
use fitout_snapshot::ChartVersion;
use semver::Version;

use crate::chart::{self, LocalChart};

/// The bytes that the metadata of a chart's version takes, roughly.
const CHART_VERSION: usize = 500;

/// An extension that was read and not parsed yet. Parsing takes most of the time, so it is left to the caller's threads.
#[derive(Debug)]
pub enum RawExtension {
    /// The files of all its versions, by `EXTENSION/VERSION/…`.
    Files(FileMap),
    /// The versions of a chart that the source contains.
    LocalCharts {
        /// The name of the chart.
        name: String,
        /// Its versions, in any order.
        charts: Vec<LocalChart>,
    },
    /// The versions of a chart in a repository.
    Charts {
        /// The address of the repository.
        repository: String,
        /// The name by which the repository lists the chart.
        name: String,
        /// Its versions, in any order.
        versions: Vec<ChartVersion>,
    },
}

/// An extension of a source.
#[derive(Debug, Default)]
pub struct SourceExtension {
    /// The packages that could be read, ordered by version.
    pub packages: Vec<Arc<Package>>,
    /// The problems of the others, each with its place.
    pub problems: Vec<(String, Problem)>,
    /// The digests of what the publisher has published, by version, where a package is made of it.
    pub published: BTreeMap<Version, Digest>,
    /// The states that the source declares for versions.
    pub states: Vec<VersionStateRule>,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// The URL of an icon.
    pub icon: Option<String>,
}

impl RawExtension {
    /// The size of the input in bytes.
    pub fn size(&self) -> usize {
        let bytes = |files: &FileMap| files.values().map(Vec::len).sum::<usize>();
        match self {
            Self::Files(files) => bytes(files),
            Self::LocalCharts { charts, .. } => charts.iter().map(|chart| bytes(&chart.files)).sum(),
            Self::Charts { versions, .. } => versions.len() * CHART_VERSION,
        }
    }

    /// Parses the definitions.
    pub fn parse(self) -> SourceExtension {
        match self {
            Self::Files(files) => {
                let read = read_packages(files);
                SourceExtension { packages: read.packages, problems: read.problems, ..SourceExtension::default() }
            }
            Self::LocalCharts { name, charts } => chart::local(&name, charts),
            Self::Charts { repository, name, versions } => chart::remote(&repository, &name, &versions),
        }
    }
}

/// Splits the files of a source by extension: definitions at `EXTENSION/VERSION/definition.yaml`, and plain charts
/// anywhere else. A name that has both is a chart and an extension of definitions; the definitions count.
pub fn split(files: FileMap) -> Vec<RawExtension> {
    let (mut charts, rest) = chart::take_charts(files);
    let mut extensions: BTreeMap<String, FileMap> = BTreeMap::new();
    for (path, content) in rest {
        if let Some((extension, _)) = path.split_once('/') {
            extensions.entry(extension.to_owned()).or_default().insert(path, content);
        }
    }
    // Other folders of a repository, such as its documentation.
    extensions.retain(|_, files| files.keys().any(|path| path.ends_with("/definition.yaml")));
    charts.retain(|name, _| !extensions.contains_key(name));
    let charts = charts.into_iter().map(|(name, charts)| RawExtension::LocalCharts { name, charts });
    extensions.into_values().map(RawExtension::Files).chain(charts).collect()
}
