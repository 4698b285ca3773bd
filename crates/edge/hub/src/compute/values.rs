//! Values: what an instance is made with, be it there or only proposed, and whose each of them is.
//!
//! The version is chosen as the session chooses it; nothing is rendered, so that it can be said whose a value is that is
//! wrong.

use std::sync::Arc;

use fitout_api::ExtensionInstance;
use fitout_plan::{Obstacle, Provenance, RenderError, ResolvedPackage, resolve};

use crate::compute::layers;
use crate::reconcile::state::{Worker, catalog_namespace};
use crate::{Hub, PlanError};

impl Hub {
    /// Every value of this instance, with the layer that set it. Values are only for who may see them, and secrets for
    /// nobody.
    pub async fn values(self: &Arc<Self>, instance: &ExtensionInstance, values: bool) -> Result<Provenance, PlanError> {
        let session = self.session(instance).await?;
        Ok(session.provenance(instance, values).await.unwrap_or_else(|unprepared| {
            Provenance::without(match unprepared {
                RenderError::Unresolved(message) => Obstacle::Unresolved(message),
                RenderError::Invalid(message) | RenderError::Unavailable(message) => Obstacle::Wrong(message),
            })
        }))
    }
}

impl Worker {
    async fn provenance(&self, instance: &ExtensionInstance, shown: bool) -> Result<Provenance, RenderError> {
        if let Some(number) = instance.spec.rollback_to {
            return Err(RenderError::Invalid(format!(
                "it is rolled back to revision {number}, with the values of then, which are on record as one; on the \
                 cluster, `helm get values` shows them"
            )));
        }
        let layers = layers::layers(&self.hub.cache, instance).map_err(RenderError::Invalid)?;
        let values = layers::values(&self.hub.cache, instance).map_err(RenderError::Invalid)?;
        let (of, catalog) = (catalog_namespace(instance), &instance.spec.extension.catalog);
        self.hub.catalogs.known(&of, catalog).await;
        let packages = self.hub.catalogs.get(&of, catalog).ok_or_else(|| no_catalog(catalog))?;
        let chosen = resolve(&self.request(instance, &values, &self.target.info()), &packages)?;
        let archive = self.hub.archive(&of, &chosen.package).await.map_err(|absent| absent.why)?;
        let chosen = ResolvedPackage { archive, ..chosen };
        Ok(Provenance::of(&chosen, &layers, shown))
    }
}

/// Why nothing can be chosen from a catalog that is not there.
pub(crate) fn no_catalog(catalog: &str) -> RenderError {
    let sentence = format!("there is no catalog {catalog}; `fitout catalog list` shows those there are");
    RenderError::Unresolved(sentence)
}
