//! Extensions as their source has them, before and after they are parsed.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_model::{Digest, FileMap, Package, Problem, VersionStateRule, read_packages};
use fitout_snapshot::{ChartVersion, extension_of};
use semver::Version;

use crate::chart::{self, LocalChart};

/// The bytes that the metadata of a chart's version takes, roughly.
const CHART_VERSION: usize = 500;

/// An extension that was read and not parsed yet. Parsing takes most of the time, so it is left to the caller's threads.
#[derive(Debug)]
pub enum RawExtension {
    /// The versions of an extension by definitions.
    Files {
        /// The name of the extension.
        name: String,
        /// The files of all its versions, by `EXTENSION/VERSION/…`.
        files: FileMap,
        /// The files that were not read, and why. Their versions are left out.
        unread: Vec<Problem>,
    },
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

/// The versions of an extension that are offered. An Extension lists no more.
pub const VERSIONS: usize = 1000;

/// The problem of an extension with more versions than are offered; none if there are not too many.
pub(crate) fn too_many_versions(extension: &str, count: usize) -> Option<Problem> {
    (count > VERSIONS).then(|| Problem {
        field: format!("{extension}/"),
        message: format!("it has {count} versions, and the newest {VERSIONS} are offered"),
        hint: Some("remove old ones from the source".to_owned()),
    })
}

/// Keeps the newest of an extension's packages, which are ordered by version. Leaving out others is a problem.
pub fn keep_newest(extension: &str, packages: &mut Vec<Arc<Package>>) -> Option<Problem> {
    let problem = too_many_versions(extension, packages.len());
    packages.drain(..packages.len().saturating_sub(VERSIONS));
    problem
}

impl RawExtension {
    /// The name of the extension.
    pub fn name(&self) -> &str {
        match self {
            Self::Files { name, .. } | Self::LocalCharts { name, .. } => name,
            Self::Charts { name, .. } => extension_of(name),
        }
    }

    /// Whether the extension is a chart without definitions.
    pub fn is_chart(&self) -> bool {
        !matches!(self, Self::Files { .. })
    }

    /// Leaves out the versions of a repository's chart that are not admitted. A repository may have many more than are
    /// offered.
    pub fn retain(&mut self, admits: impl Fn(&str, &str) -> bool) {
        let extension = self.name().to_owned();
        if let Self::Charts { versions, .. } = self {
            versions.retain(|version| admits(&extension, &version.version));
        }
    }

    /// The size of the input in bytes.
    pub fn size(&self) -> usize {
        let bytes = |files: &FileMap| files.values().map(Vec::len).sum::<usize>();
        match self {
            Self::Files { files, .. } => bytes(files),
            Self::LocalCharts { charts, .. } => charts.iter().map(|chart| bytes(&chart.files)).sum(),
            Self::Charts { versions, .. } => versions.len() * CHART_VERSION,
        }
    }

    /// Parses the definitions.
    pub fn parse(self) -> SourceExtension {
        match self {
            Self::Files { files, unread, .. } => definitions(files, unread),
            Self::LocalCharts { name, charts } => chart::local(&name, charts),
            Self::Charts { repository, name, versions } => chart::remote(&repository, &name, versions),
        }
    }
}

/// The extension of these files. A version without one of its files would be another version, so it is left out.
fn definitions(mut files: FileMap, unread: Vec<Problem>) -> SourceExtension {
    let mut incomplete: BTreeMap<String, Problem> = BTreeMap::new();
    for problem in unread {
        incomplete.entry(place(&problem.field).to_owned()).or_insert(problem);
    }
    files.retain(|path, _| !incomplete.contains_key(place(path)));
    let mut read = read_packages(files);
    read.problems.extend(incomplete);
    SourceExtension { packages: read.packages, problems: read.problems, ..SourceExtension::default() }
}

/// The `EXTENSION/VERSION` of a path.
fn place(path: &str) -> &str {
    path.match_indices('/').nth(1).map_or(path, |(at, _)| &path[..at])
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
    let files = |(name, files)| RawExtension::Files { name, files, unread: vec![] };
    extensions.into_iter().map(files).chain(charts).collect()
}
