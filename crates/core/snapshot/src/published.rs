//! Published versions: their content never changes, whatever their source says later.

use std::sync::Arc;

use fitout_model::{Digest, Package};
use semver::Version;

use crate::{ExtensionEntry, VersionEntry};

/// A published version whose content the source has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The version as the source has it now, which may have other build metadata.
    pub version: Version,
    /// The version as it was published.
    pub published: VersionEntry,
}

impl Changed {
    /// Says what the source has changed, where the digest is that of its package now.
    pub fn sentence(&self, extension: &str, now: &Digest) -> String {
        let Self { version, published } = self;
        let what = if published.version == *version {
            format!("its content from {} to {}", published.digest.short(), now.short())
        } else {
            format!("it to {version}, which differs in build metadata alone")
        };
        format!("{extension} {}: the source has changed {what}; the published content stays", published.version)
    }
}

/// The versions among these packages that were published with another content. A version with other build metadata is the
/// same version: neither is newer than the other.
pub fn changed_versions(published: &ExtensionEntry, packages: &[Arc<Package>]) -> Vec<Changed> {
    let changed = packages.iter().filter_map(|package| {
        let version = &package.definition.version;
        let before = published.versions.iter().find(|entry| entry.version.cmp_precedence(version).is_eq())?;
        (before.digest != package.digest).then(|| Changed { version: version.clone(), published: before.clone() })
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use fitout_model::FileMap;

    use super::*;

    fn package(version: &str, summary: &str) -> Arc<Package> {
        let definition = format!(
            "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: x }}\n\
             spec: {{ extension: web, version: {version}, summary: {summary}, manifests: {{ path: m }} }}\n"
        );
        let files = FileMap::from([("definition.yaml".to_owned(), definition.into_bytes())]);
        Arc::new(Package::read("", files).unwrap())
    }

    #[test]
    fn another_content_of_a_published_version_is_a_change() {
        let published = [package("1.0.0", "a"), package("1.1.0", "a")];
        let entry = ExtensionEntry::of(&published, Digest::of("")).unwrap();
        let now = [package("1.0.0", "b"), package("1.1.0", "a"), package("1.2.0", "b")];
        let expected = Changed { version: Version::new(1, 0, 0), published: VersionEntry::of(&published[0]) };
        assert_eq!(changed_versions(&entry, &now), [expected]);
    }

    #[test]
    fn other_build_metadata_is_a_change() {
        let published = [package("1.0.0+5", "a"), package("1.1.0+5", "a")];
        let entry = ExtensionEntry::of(&published, Digest::of("")).unwrap();
        let now = [package("1.0.0+6", "a"), package("1.1.0+5", "a")];
        let changed = changed_versions(&entry, &now);
        let version = Version::parse("1.0.0+6").unwrap();
        assert_eq!(changed, [Changed { version, published: VersionEntry::of(&published[0]) }]);
        assert_eq!(
            changed[0].sentence("web", &now[0].digest),
            "web 1.0.0+5: the source has changed it to 1.0.0+6, which differs in build metadata alone; the published content \
             stays"
        );
    }
}
