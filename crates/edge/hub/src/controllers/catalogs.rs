//! The controller of catalogs: reads each catalog, and writes an Extension for everything it offers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use fitout_api::conditions::{self, ConditionStatus, ConditionUpdate};
use fitout_api::{Catalog, Extension, ExtensionInstance, ExtensionSpec, ExtensionVersion, VersionState, reasons};
use fitout_model::{Package, Packages};
use kube::api::{DeleteParams, ListParams};
use kube::runtime::reflector::ObjectRef;
use kube::{Api, Resource, ResourceExt};
use serde_json::json;
use tokio::sync::watch;

use crate::reconcile::convert;
use crate::storage::api_writes;
use crate::{Hub, SYSTEM};

/// The packages of all catalogs.
pub(crate) struct Catalogs(watch::Sender<Offers>);

/// The packages that were read so far.
#[derive(Default)]
pub(crate) struct Offers {
    /// By namespace and name.
    packages: BTreeMap<(String, String), Arc<Packages>>,
    /// Every catalog that existed when the hub acquired the lease was read, or failed to be read.
    complete: bool,
}

impl Default for Catalogs {
    fn default() -> Self {
        Self(watch::channel(Offers::default()).0)
    }
}

impl Catalogs {
    /// The packages of a catalog, or none before it was read.
    pub(crate) fn get(&self, namespace: &str, name: &str) -> Option<Arc<Packages>> {
        self.0.borrow().packages.get(&(namespace.to_owned(), name.to_owned())).cloned()
    }

    /// Waits until it is known whether a catalog exists. A new leader has to read the catalogs first.
    pub(crate) async fn known(&self, namespace: &str, name: &str) {
        let key = (namespace.to_owned(), name.to_owned());
        let _ = self.0.subscribe().wait_for(|offers| offers.complete || offers.packages.contains_key(&key)).await;
    }

    /// Notifies of every catalog that is read from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<Offers> {
        self.0.subscribe()
    }

    /// Forgets all catalogs but these.
    fn retain(&self, existing: &BTreeSet<(String, String)>) {
        self.0.send_if_modified(|offers| {
            let before = offers.packages.len();
            offers.packages.retain(|key, _| existing.contains(key));
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
        let existing: BTreeSet<(String, String)> = catalogs.iter().map(|catalog| key(catalog)).collect();
        done.retain(|key, _| existing.contains(key));
        hub.catalogs.retain(&existing);
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
                    tracing::warn!(catalog = key.1, %error, "failed to sync catalog");
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
        Err(error) => {
            (ConditionStatus::False, reasons::synced::UNREACHABLE, format!("{error}; what is installed stays"))
        }
    };
    // A catalog that cannot be read keeps its Extensions.
    if let Ok(packages) = read {
        let packages = Arc::new(packages);
        let extensions = extensions(&name, &packages.packages);
        let offered: BTreeSet<String> = extensions.iter().map(object_name).collect();
        for spec in extensions {
            write_extension(hub, catalog, &namespace, spec).await?;
        }
        delete_withdrawn(hub, &namespace, &name, &offered).await?;
        hub.catalogs.put(&namespace, &name, packages);
    }
    let mut status = catalog.status.clone().unwrap_or_default();
    let generation = catalog.metadata.generation;
    let update = |type_| ConditionUpdate { type_, status: synced, reason, message: message.clone(), generation };
    conditions::set(&mut status.conditions, update(conditions::SYNCED), &api_writes::now());
    conditions::set(&mut status.conditions, update(conditions::READY), &api_writes::now());
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

/// Why a catalog cannot be read.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("a path on the hub's disk is only for catalogs in {SYSTEM}: ask the platform team to offer it there")]
    PathNotAllowed,
    #[error("{path}: {error}")]
    Directory { path: String, error: std::io::Error },
}

/// Reads all packages of a catalog.
fn read(catalog: &Catalog) -> Result<Packages, ReadError> {
    let directory = catalog.spec.source.clone().unwrap_or_default().directory.unwrap_or_default();
    match (&directory.embedded, &directory.path) {
        (Some(name), _) => Ok(fitout_catalogs::embedded(name)),
        // The hub's disk belongs to the platform team: an organization must not read it through its own catalog.
        (None, Some(_)) if catalog.namespace().as_deref() != Some(SYSTEM) => Err(ReadError::PathNotAllowed),
        (None, path) => {
            let path = path.clone().unwrap_or_default();
            fitout_catalogs::directory(Path::new(&path)).map_err(|error| ReadError::Directory { path, error })
        }
    }
}

/// Reads the catalog of an instance on a replica that does not lead. Only the leader keeps all catalogs up to date.
pub(crate) fn catch_up(hub: &Hub, instance: &ExtensionInstance) {
    let (namespace, name) = (convert::catalog_namespace(instance), &instance.spec.extension.catalog);
    let is_leader = hub.fence.allows_writes();
    let catalog = hub.cache.catalogs.get(&ObjectRef::new(name).within(&namespace));
    if let Some(packages) = catalog.filter(|_| !is_leader).and_then(|catalog| read(&catalog).ok()) {
        hub.catalogs.put(&namespace, name, Arc::new(packages));
    }
}

/// The Extensions of a catalog, each with its versions, the newest first.
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
            keywords: vec![],
            icon: None,
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
        key: None,
        state: VersionState::Listed,
        note: None,
    }
}

fn object_name(spec: &ExtensionSpec) -> String {
    format!("{}.{}", spec.catalog, spec.extension)
}

/// Deletes the Extensions that a catalog no longer offers. Their instances stay installed.
async fn delete_withdrawn(hub: &Hub, namespace: &str, catalog: &str, offered: &BTreeSet<String>) -> Result<()> {
    let api: Api<Extension> = Api::namespaced(hub.client.clone(), namespace);
    let of_catalog = ListParams::default().fields(&format!("spec.catalog={catalog}"));
    for found in api.list_metadata(&of_catalog).await?.items {
        if !offered.contains(&found.name_any()) {
            api.delete(&found.name_any(), &DeleteParams::default()).await?;
        }
    }
    Ok(())
}

async fn write_extension(hub: &Hub, catalog: &Catalog, namespace: &str, spec: ExtensionSpec) -> Result<()> {
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
    fn a_missing_catalog_is_known_once_all_are_read() {
        let catalogs = Catalogs::default();
        let known = |name: &str| catalogs.known(SYSTEM, name).now_or_never().is_some();
        assert!(!known("first") && !known("second"));
        catalogs.put(SYSTEM, "first", Arc::default());
        assert!(known("first") && !known("second"));
        catalogs.complete();
        assert!(known("second") && catalogs.get(SYSTEM, "second").is_none());
    }
}
