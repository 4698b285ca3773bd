//! Reads catalogs of extension definitions, from a directory or built into the program.
//!
//! A catalog has `EXTENSION/VERSION/definition.yaml` and, next to each definition, the files that it names. A problem
//! with one version is reported for that version and does not affect the others.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fitout_model::{Packages, read_packages};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../../catalog"]
struct BuiltIn;

/// Reads the built-in catalog of this name.
pub fn embedded(name: &str) -> Packages {
    let prefix = format!("{name}/");
    let files = BuiltIn::iter().filter_map(|path| {
        let content = BuiltIn::get(&path)?.data.into_owned();
        Some((path.strip_prefix(&prefix)?.to_owned(), content))
    });
    read_packages(files.collect())
}

/// Reads the catalog in a directory.
pub fn directory(path: &Path) -> std::io::Result<Packages> {
    let mut files = BTreeMap::new();
    walk(path, "", &mut files)?;
    Ok(read_packages(files))
}

fn walk(dir: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().display());
        // Symbolic links are skipped, because they may lead out of the directory.
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &format!("{name}/"), files)?;
        } else if entry.file_type()?.is_file() {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_catalog_has_no_problems() {
        let packages = embedded("community");
        assert!(packages.problems.is_empty(), "{:?}", packages.problems);
        assert!(packages.packages.len() >= 2);
    }
}
