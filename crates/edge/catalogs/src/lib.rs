//! Reads the extensions of a catalog from a directory, built into the program or on disk.
//!
//! A catalog has `EXTENSION/VERSION/definition.yaml` and, next to each definition, the files that it names. A problem
//! with one version is reported for that version and does not affect the others. `states.yaml` beside the extensions
//! says which versions are deprecated, yanked or withdrawn.

mod archive;
mod chart;
mod directory;
mod extension;

use fitout_model::{FileMap, Packages, read_packages};
use rust_embed::RustEmbed;

pub use archive::{ARCHIVE_LIMITS, unpack, unpacked_size};
pub use chart::{LocalChart, package as chart_package};
pub use directory::{Directory, fingerprint};
pub use extension::{RawExtension, SourceExtension, VERSIONS, keep_newest, split};

#[derive(RustEmbed)]
#[folder = "../../../catalog"]
struct BuiltIn;

/// The files of the built-in catalog of this name; none if there is no such catalog.
pub fn embedded_files(name: &str) -> FileMap {
    let prefix = format!("{name}/");
    let files = BuiltIn::iter().filter_map(|path| {
        let content = BuiltIn::get(&path)?.data.into_owned();
        Some((path.strip_prefix(&prefix)?.to_owned(), content))
    });
    files.collect()
}

/// The names of the built-in catalogs.
pub fn embedded_names() -> Vec<String> {
    let mut names: Vec<String> = BuiltIn::iter().filter_map(|path| Some(path.split_once('/')?.0.to_owned())).collect();
    names.sort();
    names.dedup();
    names
}

/// Reads the built-in catalog of this name.
pub fn embedded(name: &str) -> Packages {
    read_packages(embedded_files(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_catalog_has_no_problems() {
        let packages = embedded("community");
        assert!(packages.problems.is_empty(), "{:?}", packages.problems);
        assert!(packages.packages.len() >= 2);
        assert!(embedded_names().contains(&"community".to_owned()));
    }
}
