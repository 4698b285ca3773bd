//! Values: the values of an existing or a proposed instance, and the layers that set them.
//!
//! The version is resolved as the instance's worker does it. Nothing is rendered, so that the layer of an invalid value
//! can be reported.

use std::sync::Arc;

use fitout_api::{ExtensionInstance, ValuesStatus};
use fitout_plan::{Obstacle, Provenance, RenderError, ResolvedPackage};

use crate::compute::{convert, layers};
use crate::reconcile::convert::catalog_namespace;
use crate::reconcile::worker::Worker;
use crate::{Hub, PlanError};

impl Hub {
    /// Every value of an instance, with the layer that set it. Without `values`, every value is hidden; secret values
    /// always are.
    pub async fn values(
        self: &Arc<Self>,
        instance: &ExtensionInstance,
        values: bool,
    ) -> Result<ValuesStatus, PlanError> {
        let worker = self.open_worker(instance).await?;
        let provenance = worker.provenance(instance, values).await.unwrap_or_else(|error| {
            Provenance::without(match error {
                RenderError::Unresolved(message) => Obstacle::Unresolved(message),
                RenderError::Invalid(message) | RenderError::Unavailable(message) => Obstacle::InvalidSpec(message),
            })
        });
        Ok(convert::values_status(provenance))
    }
}

impl Worker {
    async fn provenance(&self, instance: &ExtensionInstance, shown: bool) -> Result<Provenance, RenderError> {
        if let Some(number) = instance.spec.rollback_to {
            return Err(RenderError::Invalid(format!(
                "it is rolled back to revision {number}, whose values are recorded without their layers; run `helm get \
                 values` on the cluster to show them"
            )));
        }
        let layers = layers::layers(&self.hub.cache, instance)?;
        let values = layers::values(&self.hub.cache, instance)?;
        let versions = self.versions(instance).await;
        let chosen = self.resolve(&self.request(instance, &values, &self.target.info()), &versions).await?;
        let archive =
            self.hub.archive(&catalog_namespace(instance), &chosen.package).await.map_err(|absent| absent.why)?;
        let chosen = ResolvedPackage { archive, ..chosen };
        Ok(Provenance::of(&chosen, &layers, shown))
    }
}
