//! Values: what an instance is made with, be it there or only proposed, and whose each of them is.
//!
//! The version is chosen as the session chooses it; nothing is rendered, so that it can be said whose a value is that is
//! wrong.

use std::sync::Arc;

use fitout_api::ExtensionInstance;
use fitout_plan::{Chosen, Obstacle, Provenance, Unprepared, resolve};

use crate::session::{Session, catalog_namespace};
use crate::{Hub, Unplanned, layers};

impl Hub {
    /// Every value of this instance, with the layer that set it. Values are only for who may see them, and secrets for
    /// nobody.
    pub async fn values(self: &Arc<Self>, instance: &ExtensionInstance, values: bool) -> Result<Provenance, Unplanned> {
        let session = self.session(instance).await?;
        Ok(session.provenance(instance, values).await.unwrap_or_else(|unprepared| {
            Provenance::without(match unprepared {
                Unprepared::Unresolved(message) => Obstacle::Unresolved(message),
                Unprepared::Wrong(message) | Unprepared::Waiting(message) => Obstacle::Wrong(message),
            })
        }))
    }
}

impl Session {
    async fn provenance(&self, instance: &ExtensionInstance, shown: bool) -> Result<Provenance, Unprepared> {
        if let Some(number) = instance.spec.rollback_to {
            return Err(Unprepared::Wrong(format!(
                "it is rolled back to revision {number}, with the values of then, which are on record as one; on the \
                 cluster, `helm get values` shows them"
            )));
        }
        let layers = layers::layers(&self.hub.index, instance).map_err(Unprepared::Wrong)?;
        let values = layers::values(&self.hub.index, instance).map_err(Unprepared::Wrong)?;
        let (of, catalog) = (catalog_namespace(instance), &instance.spec.extension.catalog);
        self.hub.catalogs.known(&of, catalog).await;
        let packages = self.hub.catalogs.get(&of, catalog).ok_or_else(|| no_catalog(catalog))?;
        let chosen = resolve(&self.request(instance, &values, &self.target.facts()), &packages)?;
        let archive = self.hub.archive(&of, &chosen.package).await.map_err(|absent| absent.why)?;
        let chosen = Chosen { archive, ..chosen };
        Ok(Provenance::of(&chosen, &layers, shown))
    }
}

/// Why nothing can be chosen from a catalog that is not there.
pub(crate) fn no_catalog(catalog: &str) -> Unprepared {
    let sentence = format!("there is no catalog {catalog}; `fitout catalog list` shows those there are");
    Unprepared::Unresolved(sentence)
}
