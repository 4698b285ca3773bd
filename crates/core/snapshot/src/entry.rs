//! Extensions and versions as a snapshot lists them.

use std::sync::Arc;

use fitout_model::{Definition, Digest, Package, VersionState};
use semver::Version;
use serde::{Deserialize, Serialize};

/// An extension and its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionEntry {
    /// The name that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Its purpose in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Its publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// The categories under which it is listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// The URL of an icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The digest of the pack with the definitions of all versions.
    pub pack: Digest,
    /// The versions, newest first.
    pub versions: Vec<VersionEntry>,
}

/// One version, with what choosing a version needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionEntry {
    /// The version.
    pub version: Version,
    /// The Kubernetes versions that it supports; none: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<String>,
    /// The versions that can be upgraded to it in place; none: those of the same major version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade_from: Option<String>,
    /// The version of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_version: Option<String>,
    /// Its state in the catalog.
    #[serde(default, skip_serializing_if = "VersionState::is_listed")]
    pub state: VersionState,
    /// The reason of the state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The digest of its package.
    pub digest: Digest,
    /// The digest of what its publisher has published, where the hub makes the package of it; none: that of the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Digest>,
}

impl ExtensionEntry {
    /// The entry of an extension with these packages, in any order. None without a package.
    pub fn of(packages: &[Arc<Package>], pack: Digest) -> Option<Self> {
        let mut newest_first: Vec<&Arc<Package>> = packages.iter().collect();
        newest_first.sort_by(|a, b| b.definition.version.cmp(&a.definition.version));
        // A pre-release describes the extension only where nothing else does.
        let is_release = |package: &&&Arc<Package>| package.definition.version.pre.is_empty();
        let Definition { display_name, summary, publisher, categories, .. } =
            &newest_first.iter().find(is_release).or(newest_first.first())?.definition;
        Some(Self {
            display_name: display_name.clone(),
            summary: summary.clone(),
            publisher: publisher.clone(),
            categories: categories.clone(),
            keywords: vec![],
            icon: None,
            pack,
            versions: newest_first.into_iter().map(|package| VersionEntry::of(package)).collect(),
        })
    }
}

impl VersionEntry {
    /// The entry of a package, listed.
    pub fn of(package: &Package) -> Self {
        let Definition { version, kubernetes, upgrade_from, app_version, .. } = &package.definition;
        Self {
            version: version.clone(),
            kubernetes: kubernetes.clone(),
            upgrade_from: upgrade_from.clone(),
            app_version: app_version.clone(),
            state: VersionState::Listed,
            note: None,
            digest: package.digest.clone(),
            published: None,
        }
    }
}
