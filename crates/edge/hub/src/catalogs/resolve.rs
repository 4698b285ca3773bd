//! The version of an instance, chosen from what its catalog offers and what is installed.

use std::sync::Arc;

use fitout_api::ExtensionInstance;
use fitout_model::{Digest, Package};
use fitout_plan::{Offer, RenderError, Request, ResolvedPackage, resolve};
use fitout_reconcile::Revision;
use fitout_snapshot::VersionEntry;
use serde_json::{Value, json};

use super::Offered;
use crate::reconcile::convert;
use crate::reconcile::worker::Worker;

/// The versions that an instance can have.
pub(crate) struct Versions {
    offered: Offered,
    /// The installed version, if the catalog has lost it, with its package.
    lost: Option<Lost>,
}

/// An installed version that the catalog has lost.
struct Lost {
    entry: VersionEntry,
    package: Arc<Package>,
    /// The content that has the package.
    pack: Digest,
}

impl Versions {
    /// A value that differs for different versions.
    pub(crate) fn fingerprint(&self) -> Value {
        let state = |version: &VersionEntry| json!([version.digest, version.state, version.note, version.kubernetes]);
        let versions = self.offered.entry.iter().flat_map(|entry| &entry.versions).map(state);
        json!([versions.collect::<Vec<_>>(), self.lost.as_ref().map(|lost| state(&lost.entry)), self.offered.problem])
    }
}

impl Worker {
    /// The versions that the catalog of an instance offers to its cluster. Waits until the catalog was read.
    pub(crate) async fn versions(&self, instance: &ExtensionInstance) -> Versions {
        let catalog = convert::catalog_key(instance);
        self.hub.catalogs.known(&catalog).await;
        let kubernetes = &self.target.info().version;
        let offered = self.hub.catalogs.offered(&catalog, &instance.spec.extension.name, kubernetes);
        let lost = match self.recorded.deployed() {
            Some(deployed) if !offered.has(&deployed.version) => self.lost(deployed).await,
            _ => None,
        };
        Versions { offered, lost }
    }

    /// The package that a revision has installed. A revision of an older hub does not say where it is stored.
    async fn lost(&self, deployed: &Revision) -> Option<Lost> {
        let pack = deployed.pack.clone()?;
        let package = self.hub.package(&deployed.definition, &pack).await;
        let package = package
            .inspect_err(|error| tracing::warn!(instance = self.name, %error, "failed to read installed definition"))
            .ok()?;
        Some(Lost { entry: VersionEntry::of(&package), package, pack })
    }

    /// Chooses the version of an instance and reads its package.
    pub(crate) async fn resolve(
        &self,
        request: &Request<'_>,
        versions: &Versions,
    ) -> Result<ResolvedPackage, RenderError> {
        let Versions { offered, lost } = versions;
        let offer = Offer {
            versions: offered.entry.as_ref().map_or(&[], |entry| &entry.versions),
            lost: lost.as_ref().map(|lost| &lost.entry),
            problem: offered.problem.as_deref(),
        };
        let resolution = resolve(request, &offer)?;
        let digest = &resolution.version.digest;
        let (package, pack) = match (lost, &offered.entry) {
            (Some(lost), _) if lost.entry.digest == *digest => (Arc::clone(&lost.package), &lost.pack),
            (_, Some(entry)) => {
                let read = self.hub.package(digest, &entry.pack).await;
                (read.map_err(|error| RenderError::Unavailable(error.to_string()))?, &entry.pack)
            }
            // A version is either offered or lost.
            (_, None) => return Err(RenderError::Unresolved(resolution.why)),
        };
        Ok(ResolvedPackage { package, archive: None, pack: Some(pack.clone()), why: resolution.why })
    }
}

impl Offered {
    fn has(&self, version: &str) -> bool {
        self.entry.iter().flat_map(|entry| &entry.versions).any(|entry| entry.version.to_string() == version)
    }
}
