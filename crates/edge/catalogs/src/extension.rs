//! Extensions as their source has them, before and after they are parsed.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_helm_ranges::Version;
use fitout_model::{FileMap, Package, Problem, VersionState, VersionStateRule, read_packages};
use fitout_snapshot::{ChartDefinition, ChartLocation, ChartVersion, chart_definitions};

/// An extension that was read and not parsed yet. Parsing takes most of the time, so it is left to the caller's threads.
#[derive(Debug)]
pub enum RawExtension {
    /// The files of all its versions, by `EXTENSION/VERSION/…`.
    Files(FileMap),
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
        match self {
            Self::Files(files) => files.values().map(Vec::len).sum(),
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
            Self::Charts { repository, name, versions } => charts(&repository, &name, &versions),
        }
    }
}

/// The bytes that the metadata of a chart's version takes, roughly.
const CHART_VERSION: usize = 500;

/// The definitions of a chart. The newest version that is no pre-release says how to find it.
fn charts(repository: &str, name: &str, versions: &[ChartVersion]) -> SourceExtension {
    let (definitions, found) = chart_definitions(versions, &ChartLocation { repository, chart: name });
    let mut extension = SourceExtension::default();
    for ChartDefinition { document, definition, deprecated } in definitions {
        if deprecated {
            extension.states.push(VersionStateRule {
                extension: definition.extension.clone(),
                version: Some(definition.version.to_string()),
                state: VersionState::Deprecated,
                note: Some("its publisher has deprecated the chart".to_owned()),
            });
        }
        extension.packages.push(Arc::new(Package::of_document(definition, &document)));
    }
    extension.packages.sort_by(|a, b| a.definition.version.cmp(&b.definition.version));
    extension.problems = found.into_iter().map(|problem| (format!("{name}/"), problem)).collect();
    let newest = versions.iter().filter_map(|version| Some((Version::parse(&version.version).ok()?, version)));
    let newest = newest.max_by(|(a, _), (b, _)| a.prerelease().is_empty().cmp(&b.prerelease().is_empty()).then(a.cmp(b)));
    if let Some((_, newest)) = newest {
        let short = |word: &&String| !word.is_empty() && word.chars().count() <= 64;
        extension.keywords = newest.keywords.iter().filter(short).take(64).cloned().collect();
        extension.icon = newest.icon.clone().filter(|icon| icon.len() <= 1024);
    }
    extension
}

/// Splits the files of a catalog by extension.
pub fn split(files: FileMap) -> Vec<RawExtension> {
    let mut extensions: BTreeMap<String, FileMap> = BTreeMap::new();
    for (path, content) in files {
        if let Some((extension, _)) = path.split_once('/') {
            extensions.entry(extension.to_owned()).or_default().insert(path, content);
        }
    }
    extensions.into_values().map(RawExtension::Files).collect()
}
