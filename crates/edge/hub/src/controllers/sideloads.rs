//! Sideloads: the `ExtensionDefinition` objects of an organization are a catalog of that organization alone.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use fitout_api::conditions::{self, ConditionStatus, ConditionUpdate};
use fitout_api::{ExtensionDefinition, FILES_SECRET, SIDELOADED, reasons};
use fitout_model::{ArchiveLimits, FileMap, Package, Problem, unpack_files};
use fitout_snapshot::{ExtensionEntry, Pack, Snapshot, SourceSnapshot};
use flate2::read::GzDecoder;
use kube::runtime::reflector::ObjectRef;
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use crate::Hub;
use crate::cache::indexes::Key;
use crate::controllers::catalogs::extensions::{self, Owner};
use crate::storage::api_writes;

/// The limits of the files beside a definition. They are in a Secret, which holds 1 MiB of them compressed.
const FILES: ArchiveLimits = ArchiveLimits { files: 2000, file: 4 << 20, total: 16 << 20 };

/// The key of the files in their Secret.
const FILES_KEY: &str = "files";

/// The name of the catalog of a namespace.
pub(crate) fn catalog(namespace: &String) -> Key {
    (namespace.clone(), SIDELOADED.to_owned())
}

/// The namespaces that have definitions, or had them when their snapshot was made.
pub(crate) fn namespaces(hub: &Hub) -> BTreeSet<String> {
    let definitions = hub.cache.definitions.state();
    let mut namespaces: BTreeSet<String> = definitions.iter().filter_map(|definition| definition.namespace()).collect();
    let organizations = hub.cache.organizations.state();
    let names = organizations.iter().filter_map(|organization| organization.status.as_ref()?.namespace.clone());
    namespaces.extend(names.filter(|namespace| hub.catalogs.snapshot(&catalog(namespace)).is_some()));
    namespaces
}

/// Makes a snapshot of the definitions of each namespace, and writes an Extension for each extension. Returns whether a
/// write failed.
pub(crate) async fn sync(hub: &Hub, namespaces: &BTreeSet<String>) -> bool {
    let mut failed = false;
    for namespace in namespaces {
        if let Err(error) = sync_namespace(hub, namespace).await {
            tracing::warn!(namespace, %error, "failed to sync sideloaded definitions");
            failed = true;
        }
    }
    failed
}

async fn sync_namespace(hub: &Hub, namespace: &String) -> anyhow::Result<()> {
    let read = read_all(hub, namespace);
    let key = catalog(namespace);
    let (snapshot, packs) = snapshot(&read);
    let is_current = hub.catalogs.snapshot(&key).is_some_and(|before| *before == snapshot);
    let mut guards = vec![];
    if !is_current {
        for pack in &packs {
            guards.push(hub.store_pack(pack).await?);
        }
        let owner = Owner { namespace, name: SIDELOADED, object: None, builtin: false };
        let unwritten = extensions::write(hub, &owner, &snapshot, true).await?;
        if let Some(first) = unwritten.first() {
            anyhow::bail!("{first}");
        }
        hub.catalogs.put(&key, Arc::new(snapshot));
    }
    for (definition, package) in &read {
        write_status(hub, definition, package.as_ref().err()).await?;
    }
    Ok(())
}

/// The snapshot of a namespace's definitions, for a replica that does not lead.
pub(crate) fn read(hub: &Hub, namespace: &str) -> Snapshot {
    snapshot(&read_all(hub, namespace)).0
}

type ReadDefinition = (Arc<ExtensionDefinition>, Result<Arc<Package>, Problem>);

fn read_all(hub: &Hub, namespace: &str) -> Vec<ReadDefinition> {
    let mut definitions = hub.cache.definitions.state();
    definitions.retain(|definition| definition.namespace().as_deref() == Some(namespace));
    // The older of two definitions of one version counts.
    definitions.sort_by_key(|definition| (definition.creation_timestamp(), definition.name_any()));
    let mut seen = BTreeSet::new();
    let read = definitions.into_iter().map(|definition| {
        let package = package(hub, &definition).and_then(|package| {
            let of = &package.definition;
            if seen.insert((of.extension.clone(), of.version.clone())) {
                return Ok(Arc::new(package));
            }
            Err(Problem {
                field: format!("ExtensionDefinition/{}", definition.name_any()),
                message: format!("an older ExtensionDefinition defines {} {} already", of.extension, of.version),
                hint: Some("delete one of them, or change the version".to_owned()),
            })
        });
        (definition, package)
    });
    read.collect()
}

/// The package of a definition, with the files in the Secret of the same name.
fn package(hub: &Hub, definition: &ExtensionDefinition) -> Result<Package, Problem> {
    let (namespace, name) = (definition.namespace().unwrap_or_default(), definition.name_any());
    let mut files = FileMap::new();
    let secret = hub.cache.definition_files.get(&ObjectRef::new(&name).within(&namespace));
    if let Some(content) = secret.as_ref().and_then(|secret| secret.data.as_ref()?.get(FILES_KEY)) {
        // The compressed bytes are bounded by the size of a Secret, the files by the limits.
        files = unpack_files(GzDecoder::new(content.0.as_slice()).take(64 << 20), &FILES).map_err(|error| Problem {
            field: format!("Secret/{name} (type {FILES_SECRET})"),
            message: error.to_string(),
            hint: Some("write it with `fitout extension sideload`".to_owned()),
        })?;
    }
    let document = json!({
        "apiVersion": ExtensionDefinition::api_version(&()),
        "kind": ExtensionDefinition::kind(&()),
        "metadata": { "name": name },
        "spec": definition.spec,
    });
    files.insert("definition.yaml".to_owned(), format!("{document:#}\n").into_bytes());
    Package::read(&format!("ExtensionDefinition/{name}/"), files)
}

fn snapshot(read: &[ReadDefinition]) -> (Snapshot, Vec<Pack>) {
    let mut by_name: BTreeMap<&str, Vec<Arc<Package>>> = BTreeMap::new();
    for package in read.iter().filter_map(|(_, package)| package.as_ref().ok()) {
        by_name.entry(&package.definition.extension).or_default().push(Arc::clone(package));
    }
    let (mut source, mut packs) = (SourceSnapshot::default(), vec![]);
    for (name, packages) in by_name {
        let pack = Pack::of(&packages);
        let entry = ExtensionEntry::of(&packages, pack.digest.clone());
        source.extensions.extend(entry.map(|entry| (name.to_owned(), Arc::new(entry))));
        packs.push(pack);
    }
    let problems = read.iter().filter_map(|(definition, package)| {
        let problem = package.as_ref().err()?;
        let spec = &definition.spec.0;
        Some(format!("{}/{}: {problem}", spec.extension, spec.version))
    });
    source.problems = problems.collect();
    (Snapshot { sources: [(String::new(), Arc::new(source))].into(), ..Snapshot::default() }, packs)
}

/// Says in the status of a definition whether it can be installed.
async fn write_status(hub: &Hub, definition: &ExtensionDefinition, problem: Option<&Problem>) -> kube::Result<()> {
    let mut status = definition.status.clone().unwrap_or_default();
    let generation = definition.metadata.generation;
    let update = match problem {
        None => ConditionUpdate {
            type_: conditions::READY,
            status: ConditionStatus::True,
            reason: reasons::ready::ACCEPTED,
            message: format!("this organization can install it from the catalog {SIDELOADED}"),
            generation,
        },
        Some(problem) => ConditionUpdate {
            type_: conditions::READY,
            status: ConditionStatus::False,
            reason: reasons::ready::FAILED,
            message: problem.to_string(),
            generation,
        },
    };
    conditions::set(&mut status.conditions, update, &api_writes::now());
    status.observed_generation = generation;
    if definition.status.as_ref() == Some(&status) {
        return Ok(());
    }
    let api: Api<ExtensionDefinition> =
        Api::namespaced(hub.client.clone(), &definition.namespace().unwrap_or_default());
    api_writes::found(api_writes::patch_status(&api, &definition.name_any(), &status).await.map(drop))
}
