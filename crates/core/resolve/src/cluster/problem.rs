//! The input of a resolution: a cluster and its instances.

use fitout_model::Digest;

use super::index::ExtensionVersion;

/// A cluster with all its instances.
///
/// It does not have the cluster's name, so that equal clusters are the same problem and are solved once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Problem<'a> {
    /// The cluster's Kubernetes version, as the cluster reports it.
    pub kubernetes: &'a str,
    /// The version of the platform, where it is known.
    pub platform: Option<&'a str>,
    /// The capabilities that were looked for on the cluster. Of any other one it is unknown whether the cluster has it.
    pub capabilities: Vec<(&'a str, Capability)>,
    /// The catalogs that dependencies are installed from, the preferred one first.
    pub catalogs: Vec<&'a str>,
    /// The instances, the oldest one first.
    pub instances: Vec<Instance<'a>>,
}

/// Whether a cluster has a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capability {
    /// It has the capability.
    Present,
    /// It does not have it.
    Absent,
}

/// An extension that is wanted on the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Instance<'a> {
    /// The name in explanations, such as that of the release. It is unique on the cluster.
    pub name: &'a str,
    /// The catalog of the extension.
    pub catalog: &'a str,
    /// The extension.
    pub extension: &'a str,
    /// The requested version range; one version is a pin.
    pub version: Option<&'a str>,
    /// The installed version.
    pub installed: Option<&'a str>,
    /// The installed version, if the catalog no longer offers it.
    pub lost: Option<ExtensionVersion<'a>>,
    /// When it moves to another version.
    pub policy: Policy,
    /// Whether it stays as it is.
    pub suspended: bool,
    /// The treatment of dependencies that the cluster does not have.
    pub dependencies: Dependencies,
    /// Whether it was added for others, and not by a user.
    pub is_dependency: bool,
}

/// When an instance moves to another version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// When the installed version no longer fits Kubernetes or a dependency, or is withdrawn.
    #[default]
    Follow,
    /// As `Follow`, and to each new version that fits.
    Latest,
    /// When a user changes the requested version so that it excludes the installed one.
    Manual,
}

/// The treatment of dependencies that the cluster does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dependencies {
    /// They are installed as instances of their own.
    #[default]
    Install,
    /// They have to be instances of the cluster already.
    Require,
    /// They may be missing: the extension becomes healthy once they are there.
    Ignore,
}

impl Problem<'_> {
    /// The digest of the problem. Problems with the same digest have the same resolution against one index.
    pub fn digest(&self) -> Digest {
        // Every text is quoted, so that no two problems are written alike.
        Digest::of(format!("{self:?}"))
    }

    /// Whether the cluster has a capability; none if it is unknown.
    pub(super) fn capability(&self, name: &str) -> Option<Capability> {
        self.capabilities.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
    }
}
