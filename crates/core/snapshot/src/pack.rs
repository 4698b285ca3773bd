//! Packs: the packages of an extension in one content, which changes only when one of them does.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_model::{ArchiveError, ArchiveLimits, Digest, Package, pack_files, unpack_files};

/// The packages of an extension as one content.
#[derive(Debug)]
pub struct Pack {
    /// The content: a tar of the archive of each package, named by its digest.
    pub content: Vec<u8>,
    /// The digest of the content.
    pub digest: Digest,
}

/// The reason why a package cannot be read from a pack.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The content is no pack.
    #[error("the stored definitions are damaged: {0}; run `fitout catalog sync`")]
    Damaged(#[from] ArchiveError),
    /// The package is not in the pack, or has another digest.
    #[error("the stored definitions lack {0}; run `fitout catalog sync`")]
    Missing(Digest),
}

/// The hub wrote the pack itself, within the limits of the content store.
const LIMITS: ArchiveLimits = ArchiveLimits { files: 100_000, file: 1 << 30, total: 1 << 30 };

impl Pack {
    /// Packs packages. Equal packages in any order make equal bytes.
    pub fn of(packages: &[Arc<Package>]) -> Self {
        let mut archives: Vec<(&str, Vec<u8>)> =
            packages.iter().map(|package| (package.digest.as_str(), package.archive())).collect();
        archives.sort_unstable();
        archives.dedup();
        let content = pack_files(archives.iter().map(|(digest, archive)| (*digest, archive.as_slice())));
        Self { digest: Digest::of(&content), content }
    }

    /// Reads the package with this digest from the content of a pack.
    pub fn package(content: &[u8], digest: &Digest) -> Result<Package, PackError> {
        let missing = || PackError::Missing(digest.clone());
        Self::packages(content, [digest])?.remove(digest).ok_or_else(missing)
    }

    /// Reads the packages with these digests from the content of a pack, without those that it does not have.
    pub fn packages<'a>(
        content: &[u8],
        digests: impl IntoIterator<Item = &'a Digest>,
    ) -> Result<BTreeMap<Digest, Package>, PackError> {
        let archives = unpack_files(content, &LIMITS)?;
        let package = |digest: &Digest| {
            let package = Package::from_archive(archives.get(digest.as_str())?).ok()?;
            (package.digest == *digest).then(|| (digest.clone(), package))
        };
        Ok(digests.into_iter().filter_map(package).collect())
    }
}

#[cfg(test)]
mod tests {
    use fitout_model::FileMap;

    use super::*;

    fn package(version: &str) -> Arc<Package> {
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: x }}\n\
             spec: {{ extension: web, version: {version}, manifests: {{ path: m }} }}\n"
        );
        let files = FileMap::from([("definition.yaml".to_owned(), definition.into_bytes())]);
        Arc::new(Package::read("", files).unwrap())
    }

    #[test]
    fn a_package_is_read_from_its_pack() {
        let packages = [package("1.0.0"), package("2.0.0")];
        let pack = Pack::of(&packages);
        for packed in &packages {
            let read = Pack::package(&pack.content, &packed.digest).unwrap();
            assert_eq!((read.definition, read.files), (packed.definition.clone(), packed.files.clone()));
        }
        let both = Pack::packages(&pack.content, packages.iter().map(|package| &package.digest)).unwrap();
        assert_eq!(both.len(), 2);
        let [first, second] = packages;
        assert_eq!(Pack::of(&[second, first]).digest, pack.digest);
        let other = package("3.0.0").digest.clone();
        assert!(matches!(Pack::package(&pack.content, &other), Err(PackError::Missing(_))));
        assert!(matches!(Pack::package(&pack.content[..600], &other), Err(PackError::Damaged(_))));
    }
}
