//! Published versions: their content never changes, whatever their source says later.

use std::collections::BTreeMap;
use std::sync::Arc;

use fitout_model::{Digest, Package};
use semver::Version;

use crate::{ExtensionEntry, VersionEntry};

/// A published version that the source offers with another package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The version as the source has it now, which may have other build metadata.
    pub version: Version,
    /// The version as it was published.
    pub published: VersionEntry,
    /// Whether its publisher has changed it. Otherwise the hub makes another package of the same.
    pub by_publisher: bool,
}

impl Changed {
    /// Says what the source has changed, where the digest is that of its package now.
    pub fn sentence(&self, extension: &str, now: &Digest) -> String {
        let Self { version, published, .. } = self;
        let what = if published.version == *version {
            format!("its content from {} to {}", published.digest.short(), now.short())
        } else {
            format!("it to {version}, which differs in build metadata alone")
        };
        format!("{extension} {}: the source has changed {what}; the published content stays", published.version)
    }
}

/// The versions among these packages that were published as another package. A version with other build metadata is the
/// same version: neither is newer than the other.
///
/// `digests` has the digest of what a publisher has published, by version, where the hub makes the package of it.
pub fn changed_versions(
    published: &ExtensionEntry,
    packages: &[Arc<Package>],
    digests: &BTreeMap<Version, Digest>,
) -> Vec<Changed> {
    let changed = packages.iter().filter_map(|package| {
        let version = &package.definition.version;
        let before = published.versions.iter().find(|entry| entry.version.cmp_precedence(version).is_eq())?;
        let by_publisher = before.published.is_none() || before.published.as_ref() != digests.get(version);
        let change = || Changed { version: version.clone(), published: before.clone(), by_publisher };
        (before.digest != package.digest).then(change)
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
        let (version, published) = (Version::new(1, 0, 0), VersionEntry::of(&published[0]));
        let expected = Changed { version, published, by_publisher: true };
        assert_eq!(changed_versions(&entry, &now, &BTreeMap::new()), [expected]);
    }

    #[test]
    fn other_build_metadata_is_a_change() {
        let published = [package("1.0.0+5", "a"), package("1.1.0+5", "a")];
        let entry = ExtensionEntry::of(&published, Digest::of("")).unwrap();
        let now = [package("1.0.0+6", "a"), package("1.1.0+5", "a")];
        let changed = changed_versions(&entry, &now, &BTreeMap::new());
        let version = Version::parse("1.0.0+6").unwrap();
        assert_eq!(changed, [Changed { version, published: VersionEntry::of(&published[0]), by_publisher: true }]);
        assert_eq!(
            changed[0].sentence("web", &now[0].digest),
            "web 1.0.0+5: the source has changed it to 1.0.0+6, which differs in build metadata alone; the published content \
             stays"
        );
    }

    #[test]
    fn another_package_of_the_same_chart_is_no_change_of_its_publisher() {
        let published = ["1.0.0", "1.1.0", "1.2.0"].map(|version| package(version, "a"));
        let mut entry = ExtensionEntry::of(&published, Digest::of("")).unwrap();
        // The last was read by a hub that did not note what was published.
        entry.versions[1].published = Some(Digest::of("1.1.0"));
        entry.versions[2].published = Some(Digest::of("1.0.0"));
        let now = ["1.0.0", "1.1.0", "1.2.0"].map(|version| package(version, "b"));
        let digests = [("1.0.0", "1.0.0"), ("1.1.0", "another"), ("1.2.0", "1.2.0")];
        let digests = digests.map(|(version, text)| (Version::parse(version).unwrap(), Digest::of(text))).into();
        let changed = changed_versions(&entry, &now, &digests);
        let by_publisher: Vec<bool> = changed.iter().map(|changed| changed.by_publisher).collect();
        assert_eq!(by_publisher, [false, true, true]);
        // The same package is no change, however its digest was made.
        assert_eq!(changed_versions(&entry, &published, &digests), []);
    }
}
