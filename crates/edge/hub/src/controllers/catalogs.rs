//! Catalogs fill Extensions with what they offer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use fitout_api::conditions::{self, ConditionStatus, ConditionUpdate};
use fitout_api::{Catalog, Extension, ExtensionInstance, ExtensionSpec, ExtensionVersion, reasons};
use fitout_model::{Package, Packages};
use kube::api::{DeleteParams, ListParams};
use kube::runtime::reflector::ObjectRef;
use kube::{Api, Resource, ResourceExt};
use serde_json::json;
use tokio::sync::watch;

use crate::reconcile::state;
use crate::storage::api_writes;
use crate::{Hub, SYSTEM};

/// What every catalog offers.
pub(crate) struct Catalogs(watch::Sender<Offers>);

/// What was read so far.
#[derive(Default)]
pub(crate) struct Offers {
    /// By namespace and name.
    packages: BTreeMap<(String, String), Arc<Packages>>,
    /// Every catalog there was when the hub began to lead was read, or could not be.
    complete: bool,
}

impl Default for Catalogs {
    fn default() -> Self {
        Self(watch::channel(Offers::default()).0)
    }
}

impl Catalogs {
    /// What a catalog offers; none before it was read.
    pub(crate) fn get(&self, namespace: &str, name: &str) -> Option<Arc<Packages>> {
        self.0.borrow().packages.get(&(namespace.to_owned(), name.to_owned())).cloned()
    }

    /// Waits until it can be said of a catalog whether it is there: a hub that has only just begun to lead cannot.
    pub(crate) async fn known(&self, namespace: &str, name: &str) {
        let key = (namespace.to_owned(), name.to_owned());
        let _ = self.0.subscribe().wait_for(|offers| offers.complete || offers.packages.contains_key(&key)).await;
    }

    /// Tells of whatever is read from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<Offers> {
        self.0.subscribe()
    }

    /// Forgets all but these.
    fn retain(&self, there: &BTreeSet<(String, String)>) {
        self.0.send_if_modified(|offers| {
            let before = offers.packages.len();
            offers.packages.retain(|key, _| there.contains(key));
            offers.packages.len() != before
        });
    }

    fn put(&self, namespace: &str, name: &str, packages: Arc<Packages>) {
        let key = (namespace.to_owned(), name.to_owned());
        self.0.send_modify(|offers| drop(offers.packages.insert(key, packages)));
    }

    fn complete(&self) {
        self.0.send_if_modified(|offers| !std::mem::replace(&mut offers.complete, true));
    }
}

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    let mut changes = hub.cache.others();
    let mut done: BTreeMap<(String, String), i64> = BTreeMap::new();
    loop {
        changes.mark_unchanged();
        let catalogs = hub.cache.catalogs.state();
        let key = |catalog: &Catalog| (catalog.namespace().unwrap_or_default(), catalog.name_any());
        let there: BTreeSet<(String, String)> = catalogs.iter().map(|catalog| key(catalog)).collect();
        done.retain(|key, _| there.contains(key));
        hub.catalogs.retain(&there);
        let mut failed = false;
        for catalog in catalogs {
            let key = key(&catalog);
            let generation = catalog.metadata.generation.unwrap_or_default();
            if done.get(&key) == Some(&generation) {
                continue;
            }
            match sync(&hub, &catalog).await {
                Ok(()) => drop(done.insert(key, generation)),
                Err(error) => {
                    tracing::warn!(catalog = key.1, %error, "catalog");
                    failed = true;
                }
            }
        }
        hub.catalogs.complete();
        api_writes::next_change(&mut changes, failed).await?;
    }
}

async fn sync(hub: &Hub, catalog: &Catalog) -> Result<()> {
    let (namespace, name) = (catalog.namespace().unwrap_or_default(), catalog.name_any());
    let read = read(catalog);
    let (synced, reason, message) = match &read {
        Ok(packages) => match packages.problems.first() {
            None => (
                ConditionStatus::True,
                reasons::synced::SYNCED,
                format!("{} versions were read", packages.packages.len()),
            ),
            Some((_, problem)) => {
                let message = format!("{problem} (and {} more)", packages.problems.len() - 1);
                (ConditionStatus::False, reasons::synced::PARTIALLY_SYNCED, message.replace(" (and 0 more)", ""))
            }
        },
        Err(message) => {
            (ConditionStatus::False, reasons::synced::UNREACHABLE, format!("{message}; what is installed stays"))
        }
    };
    // A source that is down takes nothing away.
    if let Ok(packages) = read {
        let packages = Arc::new(packages);
        let extensions = extensions(&name, &packages.packages);
        let offered: BTreeSet<String> = extensions.iter().map(object_name).collect();
        for spec in extensions {
            write(hub, catalog, &namespace, spec).await?;
        }
        withdraw(hub, &namespace, &name, &offered).await?;
        hub.catalogs.put(&namespace, &name, packages);
    }
    let mut status = catalog.status.clone().unwrap_or_default();
    let generation = catalog.metadata.generation;
    let finding = |type_| ConditionUpdate { type_, status: synced, reason, message: message.clone(), generation };
    conditions::set(&mut status.conditions, finding(conditions::SYNCED), &api_writes::now());
    conditions::set(&mut status.conditions, finding(conditions::READY), &api_writes::now());
    status.observed_generation = generation;
    if let Some(packages) = hub.catalogs.get(&namespace, &name) {
        status.versions = u32::try_from(packages.packages.len()).ok();
        status.extensions = u32::try_from(extensions(&name, &packages.packages).len()).ok();
    }
    if catalog.status.as_ref() != Some(&status) {
        api_writes::patch_status(&Api::<Catalog>::namespaced(hub.client.clone(), &namespace), &name, &status).await?;
    }
    Ok(())
}

/// All that a catalog offers now, or why it cannot be read.
fn read(catalog: &Catalog) -> Result<Packages, String> {
    let directory = catalog.spec.source.directory.clone().unwrap_or_default();
    match (&directory.embedded, &directory.path) {
        (Some(name), _) => Ok(fitout_catalogs::embedded(name)),
        // The hub's disk is the platform's: an organization must not read it through a catalog of its own.
        (None, Some(_)) if catalog.namespace().as_deref() != Some(SYSTEM) => Err(format!(
            "a path on the hub's disk is only for catalogs in {SYSTEM}: ask the platform team to offer it there"
        )),
        (None, path) => {
            let path = path.clone().unwrap_or_default();
            fitout_catalogs::directory(Path::new(&path)).map_err(|error| format!("{path}: {error}"))
        }
    }
}

/// Reads the catalog of an instance where we do not lead: who leads keeps them up to date, and the others read one when
/// they are asked.
pub(crate) fn catch_up(hub: &Hub, instance: &ExtensionInstance) {
    let (namespace, name) = (state::catalog_namespace(instance), &instance.spec.extension.catalog);
    let leads = hub.fence.allows_writes();
    let catalog = hub.cache.catalogs.get(&ObjectRef::new(name).within(&namespace));
    if let Some(packages) = catalog.filter(|_| !leads).and_then(|catalog| read(&catalog).ok()) {
        hub.catalogs.put(&namespace, name, Arc::new(packages));
    }
}

/// One for each extension, with its versions, the newest first.
fn extensions(catalog: &str, packages: &[Arc<Package>]) -> Vec<ExtensionSpec> {
    let mut by_name: BTreeMap<&str, Vec<&Package>> = BTreeMap::new();
    for package in packages.iter().rev() {
        by_name.entry(&package.definition.extension).or_default().push(package);
    }
    let specs = by_name.into_iter().map(|(name, packages)| {
        let newest = &packages[0].definition;
        ExtensionSpec {
            catalog: catalog.to_owned(),
            extension: name.to_owned(),
            display_name: newest.display_name.clone(),
            summary: newest.summary.clone(),
            publisher: newest.publisher.clone(),
            categories: newest.categories.clone(),
            versions: packages.into_iter().map(version).collect(),
        }
    });
    specs.collect()
}

fn version(package: &Package) -> ExtensionVersion {
    ExtensionVersion {
        version: package.definition.version.to_string(),
        kubernetes: package.definition.kubernetes.clone(),
        digest: package.digest.to_string(),
        app_version: package.definition.app_version.clone(),
        deprecated: false,
    }
}

fn object_name(spec: &ExtensionSpec) -> String {
    format!("{}.{}", spec.catalog, spec.extension)
}

/// Takes back what a catalog no longer offers. What is installed of it stays.
async fn withdraw(hub: &Hub, namespace: &str, catalog: &str, offered: &BTreeSet<String>) -> Result<()> {
    let api: Api<Extension> = Api::namespaced(hub.client.clone(), namespace);
    let of_catalog = ListParams::default().fields(&format!("spec.catalog={catalog}"));
    for found in api.list_metadata(&of_catalog).await?.items {
        if !offered.contains(&found.name_any()) {
            api.delete(&found.name_any(), &DeleteParams::default()).await?;
        }
    }
    Ok(())
}

async fn write(hub: &Hub, catalog: &Catalog, namespace: &str, spec: ExtensionSpec) -> Result<()> {
    let name = object_name(&spec);
    let object = json!({
        "apiVersion": Extension::api_version(&()), "kind": Extension::kind(&()),
        "metadata": { "name": name, "ownerReferences": [catalog.controller_owner_ref(&())] },
        "spec": spec,
    });
    let api: Api<Extension> = Api::namespaced(hub.client.clone(), namespace);
    Ok(api_writes::ensure(&api, &name, &object).await?)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn nobody_is_told_that_there_is_no_catalog_before_that_is_known() {
        let catalogs = Catalogs::default();
        let known = |name: &str| catalogs.known(SYSTEM, name).now_or_never().is_some();
        assert!(!known("first") && !known("second"));
        catalogs.put(SYSTEM, "first", Arc::default());
        assert!(known("first") && !known("second"));
        catalogs.complete();
        assert!(known("second") && catalogs.get(SYSTEM, "second").is_none());
    }
}
