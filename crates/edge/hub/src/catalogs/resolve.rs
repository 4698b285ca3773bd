//! The version of an instance, chosen from what its catalog offers and what is installed.

use std::sync::Arc;

use fitout_api::ExtensionInstance;
use fitout_content::Error as ContentError;
use fitout_model::{Digest, Package};
use fitout_plan::{Offer, RenderError, Request, ResolvedPackage, resolve};
use fitout_reconcile::Revision;
use fitout_snapshot::VersionEntry;
use serde_json::{Value, json};

use super::Offered;
use super::packages::PackageError;
use crate::reconcile::convert;
use crate::reconcile::worker::Worker;

/// The versions that an instance can have.
pub(crate) struct Versions {
    offered: Offered,
    /// The installed version, if the catalog has lost it, with its package; or why it cannot be read for now.
    lost: Result<Option<Lost>, String>,
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
        json!([
            versions.collect::<Vec<_>>(),
            self.lost.as_ref().ok().and_then(Option::as_ref).map(|lost| state(&lost.entry)),
            self.offered.problem
        ])
    }
}

impl Worker {
    /// The versions that the catalog of an instance offers to its cluster. Waits until the catalog was read.
    pub(crate) async fn versions(&self, instance: &ExtensionInstance) -> Versions {
        let catalog = convert::catalog_key(instance);
        self.hub.catalogs.known(&catalog).await;
        let kubernetes = &self.target.info().version;
        let offered = self.hub.catalogs.offered(&catalog, &instance.spec.extension.name, kubernetes);
        let mut lost = match self.recorded.deployed() {
            Some(deployed) if !offered.has(&deployed.version) => self.lost(deployed).await,
            _ => Ok(None),
        };
        if let (Ok(Some(lost)), Some(snapshot)) = (&mut lost, self.hub.catalogs.snapshot(&catalog))
            && let Err(error) = snapshot.set_lost_state(kubernetes, &instance.spec.extension.name, &mut lost.entry)
        {
            tracing::warn!(instance = self.name, %error, "a state of the installed version is invalid");
        }
        Versions { offered, lost }
    }

    /// The package that a revision has installed; none if it is not stored, as by an older hub.
    async fn lost(&self, deployed: &Revision) -> Result<Option<Lost>, String> {
        let Some(pack) = deployed.pack.clone() else { return Ok(None) };
        match self.hub.package(&deployed.definition, &pack).await {
            Ok(package) => Ok(Some(Lost { entry: VersionEntry::of(&package), package, pack })),
            // Without it another version could be chosen, so the instance waits.
            Err(PackageError::Content(error @ ContentError::Hub(_))) => Err(error.to_string()),
            Err(error) => {
                tracing::warn!(instance = self.name, %error, "lost the installed definition");
                Ok(None)
            }
        }
    }

    /// Chooses the version of an instance and reads its package.
    pub(crate) async fn resolve(
        &self,
        request: &Request<'_>,
        versions: &Versions,
    ) -> Result<ResolvedPackage, RenderError> {
        let Versions { offered, lost } = versions;
        let lost = lost.as_ref().map_err(|error| RenderError::Unavailable(error.clone()))?;
        let offer = Offer {
            versions: offered.entry.as_ref().map_or(&[], |entry| &entry.versions),
            lost: lost.as_ref().map(|lost| &lost.entry),
            problem: offered.problem.as_deref(),
        };
        let resolution = resolve(request, &offer)?;
        let digest = &resolution.version.digest;
        let (package, pack) = match (lost, &offered.entry) {
            (Some(lost), _) if lost.entry.digest == *digest => (Arc::clone(&lost.package), lost.pack.clone()),
            (_, Some(entry)) => self.offered_package(digest, &entry.pack).await?,
            // A version is either offered or lost.
            (_, None) => return Err(RenderError::Unresolved(resolution.why)),
        };
        Ok(ResolvedPackage { package, archive: None, pack: Some(pack), why: resolution.why })
    }

    /// An offered package, from the pack of the catalog. One that is installed is read from the pack of its revision if
    /// that fails.
    async fn offered_package(&self, digest: &Digest, pack: &Digest) -> Result<(Arc<Package>, Digest), RenderError> {
        let error = match self.hub.package(digest, pack).await {
            Ok(package) => return Ok((package, pack.clone())),
            Err(error) => error,
        };
        let deployed = self.recorded.deployed().filter(|deployed| deployed.definition == *digest);
        if let Some(own) = deployed.and_then(|deployed| deployed.pack.clone())
            && let Ok(package) = self.hub.package(digest, &own).await
        {
            tracing::warn!(instance = self.name, %error, "lost the offered definition, which is installed");
            return Ok((package, own));
        }
        Err(RenderError::Unavailable(error.to_string()))
    }
}

impl Offered {
    fn has(&self, version: &str) -> bool {
        self.entry.iter().flat_map(|entry| &entry.versions).any(|entry| entry.version.to_string() == version)
    }
}
