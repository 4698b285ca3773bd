//! Extensions as their source has them, before and after they are parsed.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_model::{FileMap, Package, Problem, VersionStateRule, read_packages};

/// An extension that was read and not parsed yet. Parsing takes most of the time, so it is left to the caller's threads.
#[derive(Debug)]
pub enum RawExtension {
    /// The files of all its versions, by `EXTENSION/VERSION/…`.
    Files(FileMap),
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
        }
    }

    /// Parses the definitions.
    pub fn parse(self) -> SourceExtension {
        match self {
            Self::Files(files) => {
                let read = read_packages(files);
                SourceExtension { packages: read.packages, problems: read.problems, ..SourceExtension::default() }
            }
        }
    }
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
