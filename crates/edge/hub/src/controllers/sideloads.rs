//! Sideloads: the `ExtensionDefinition` objects of an organization are a catalog of that organization alone.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use fitout_api::conditions::{self, ConditionStatus, ConditionUpdate};
use fitout_api::{Extension, ExtensionDefinition, FILES_SECRET, SIDELOADED, reasons};
use fitout_content::Error as ContentError;
use fitout_model::{ArchiveLimits, Digest, FileMap, Package, Problem, pack_files, unpack_files};
use fitout_snapshot::{ExtensionEntry, Pack, Snapshot, SourceSnapshot, VersionEntry};
use flate2::read::GzDecoder;
use kube::api::ListParams;
use kube::runtime::reflector::ObjectRef;
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use crate::Hub;
use crate::blocking::run_blocking;
use crate::cache::indexes::Key;
use crate::catalogs::PackageError;
use crate::controllers::catalogs::extensions::{self, Owner};
use crate::storage::api_writes;

/// The limits of the files beside a definition. They are in a Secret, which holds 1 MiB of them compressed.
const FILES: ArchiveLimits = ArchiveLimits { files: 2000, file: 4 << 20, total: 16 << 20 };

/// The key of the files in their Secret.
const FILES_KEY: &str = "files";

/// The name of the catalog of a namespace.
pub(crate) fn catalog(namespace: &str) -> Key {
    (namespace.to_owned(), SIDELOADED.to_owned())
}

/// The state of the sideloaded catalogs between two syncs.
#[derive(Default)]
pub(crate) struct Sideloads {
    /// By namespace.
    synced: BTreeMap<String, Synced>,
    /// Whether the Extensions of definitions that were deleted while no hub ran are deleted.
    is_clean: bool,
}

/// A namespace whose snapshot is made and written.
struct Synced {
    inputs: BTreeSet<Input>,
    /// The digests of the files that were accepted, by the UID of their definition.
    accepted: BTreeMap<String, Digest>,
}

/// A definition or a Secret with files, and its state. Writing the status of a definition does not change its generation.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Input {
    uid: String,
    state: String,
}

/// A definition and its package.
struct ReadDefinition {
    definition: Arc<ExtensionDefinition>,
    /// The package to offer, if there is one.
    package: Option<Arc<Package>>,
    /// The digest of the files beside the definition, as they were accepted.
    files: Option<Digest>,
    problem: Option<Problem>,
}

impl Sideloads {
    /// The namespaces that have definitions, or had them when their snapshot was made.
    pub(crate) async fn namespaces(&mut self, hub: &Hub) -> BTreeSet<String> {
        let definitions = hub.cache.definitions.state();
        let mut namespaces: BTreeSet<String> =
            definitions.iter().filter_map(|definition| definition.namespace()).collect();
        let organizations = hub.cache.organizations.state();
        let names = organizations.iter().filter_map(|organization| organization.status.as_ref()?.namespace.clone());
        namespaces.extend(names.filter(|namespace| hub.catalogs.snapshot(&catalog(namespace)).is_some()));
        if !self.is_clean {
            match listed(hub).await {
                Ok(listed) => {
                    namespaces.extend(listed);
                    self.is_clean = true;
                }
                Err(error) => tracing::warn!(%error, "failed to list sideloaded extensions"),
            }
        }
        namespaces
    }

    /// Makes a snapshot of the definitions of each namespace that has changed, and writes an Extension for each extension.
    /// Returns whether something has failed.
    pub(crate) async fn sync(&mut self, hub: &Hub, namespaces: &BTreeSet<String>) -> bool {
        let mut failed = !self.is_clean;
        self.synced.retain(|namespace, _| namespaces.contains(namespace));
        for namespace in namespaces {
            let inputs = inputs(hub, namespace);
            let before = self.synced.get(namespace);
            if before.is_some_and(|before| before.inputs == inputs) {
                continue;
            }
            let accepted = before.map(|before| before.accepted.clone()).unwrap_or_default();
            match sync_namespace(hub, namespace, &accepted).await {
                Ok(accepted) => drop(self.synced.insert(namespace.clone(), Synced { inputs, accepted })),
                Err(error) => {
                    tracing::warn!(namespace, %error, "failed to sync sideloaded definitions");
                    failed = true;
                }
            }
        }
        failed
    }
}

/// The namespaces with Extensions of sideloaded definitions.
async fn listed(hub: &Hub) -> kube::Result<Vec<String>> {
    let sideloaded = ListParams::default().fields(&format!("spec.catalog={SIDELOADED}"));
    let list = Api::<Extension>::all(hub.client.clone()).list_metadata(&sideloaded).await?;
    Ok(list.items.iter().filter_map(ResourceExt::namespace).collect())
}

fn inputs(hub: &Hub, namespace: &str) -> BTreeSet<Input> {
    let input = |uid: Option<String>, state: Option<String>| Input {
        uid: uid.unwrap_or_default(),
        state: state.unwrap_or_default(),
    };
    let definitions = hub.cache.definitions.state();
    let definitions = definitions.iter().filter(|definition| definition.namespace().as_deref() == Some(namespace));
    let secrets = hub.cache.definition_files.state();
    let secrets = secrets.iter().filter(|secret| secret.namespace().as_deref() == Some(namespace));
    definitions
        .map(|it| input(it.uid(), it.metadata.generation.map(|generation| generation.to_string())))
        .chain(secrets.map(|secret| input(secret.uid(), secret.resource_version())))
        .collect()
}

/// Returns the digests of the files that were accepted.
async fn sync_namespace(
    hub: &Hub,
    namespace: &String,
    accepted: &BTreeMap<String, Digest>,
) -> anyhow::Result<BTreeMap<String, Digest>> {
    let read = read_all(hub, namespace, accepted).await?;
    let key = catalog(namespace);
    let (snapshot, packs) = run_blocking(size(hub, namespace), || snapshot(&read));
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
    for read in &read {
        write_status(hub, read).await?;
    }
    let files = |read: ReadDefinition| Some((read.definition.uid()?, read.files?));
    Ok(read.into_iter().filter_map(files).collect())
}

/// The snapshot of a namespace's definitions, for a replica that does not lead.
pub(crate) async fn read(hub: &Hub, namespace: &str) -> Result<Snapshot, ContentError> {
    let read = read_all(hub, namespace, &BTreeMap::new()).await?;
    Ok(run_blocking(size(hub, namespace), || snapshot(&read)).0)
}

/// The bytes of a namespace's files, roughly. They are compressed in their Secrets.
fn size(hub: &Hub, namespace: &str) -> usize {
    let secrets = hub.cache.definition_files.state();
    let files = secrets.iter().filter(|secret| secret.namespace().as_deref() == Some(namespace));
    let bytes = files.filter_map(|secret| Some(secret.data.as_ref()?.get(FILES_KEY)?.0.len())).sum::<usize>();
    bytes.saturating_mul(8)
}

/// Reads the definitions of a namespace. `accepted` has what this hub has accepted lately, by the UID of the definition.
/// Fails only if the accepted content cannot be read for now.
async fn read_all(
    hub: &Hub,
    namespace: &str,
    accepted: &BTreeMap<String, Digest>,
) -> Result<Vec<ReadDefinition>, ContentError> {
    let mut definitions = hub.cache.definitions.state();
    definitions.retain(|definition| definition.namespace().as_deref() == Some(namespace));
    // The older of two definitions of one version counts.
    definitions.sort_by_key(|definition| (definition.creation_timestamp(), definition.name_any()));
    let packages: Vec<_> =
        run_blocking(size(hub, namespace), || definitions.iter().map(|definition| package(hub, definition)).collect());
    let (mut seen, mut read) = (BTreeSet::new(), vec![]);
    for (definition, package) in definitions.into_iter().zip(packages) {
        let known = definition.uid().and_then(|uid| accepted.get(&uid).cloned());
        let known = known.or_else(|| definition.status.as_ref()?.digest.clone().map(Digest::from));
        let mut result = ReadDefinition { definition, package: None, files: known, problem: None };
        match package {
            Ok((package, files)) => {
                let of = &package.definition;
                if !seen.insert((of.extension.clone(), of.version.clone())) {
                    result.problem = Some(Problem {
                        field: format!("ExtensionDefinition/{}", result.definition.name_any()),
                        message: format!(
                            "an older ExtensionDefinition defines {} {} already",
                            of.extension, of.version
                        ),
                        hint: Some("delete one of them, or change the version".to_owned()),
                    });
                } else if result.files.as_ref().is_none_or(|accepted| *accepted == files) {
                    (result.package, result.files) = (Some(Arc::new(package)), Some(files));
                } else {
                    result.package = accepted_package(hub, namespace, &package, result.files.as_ref()).await?;
                    result.problem = Some(changed(&result));
                }
            }
            Err(problem) => result.problem = Some(problem),
        }
        read.push(result);
    }
    Ok(read)
}

/// The package whose files were accepted, if it is still offered.
async fn accepted_package(
    hub: &Hub,
    namespace: &str,
    now: &Package,
    files: Option<&Digest>,
) -> Result<Option<Arc<Package>>, ContentError> {
    let key = (namespace.to_owned(), SIDELOADED.to_owned());
    let Some(snapshot) = hub.catalogs.snapshot(&key) else { return Ok(None) };
    let entry = snapshot.sources.get("").and_then(|source| source.extensions.get(&now.definition.extension));
    let Some(entry) = entry else { return Ok(None) };
    let is_accepted =
        |version: &&VersionEntry| version.version == now.definition.version && version.published.as_ref() == files;
    let Some(version) = entry.versions.iter().find(is_accepted) else { return Ok(None) };
    match hub.package(&version.digest, &entry.pack).await {
        Ok(package) => Ok(Some(package)),
        Err(PackageError::Content(error @ ContentError::Hub(_))) => Err(error),
        Err(error) => {
            tracing::warn!(namespace, %error, "lost a sideloaded definition");
            Ok(None)
        }
    }
}

/// A version is published once: its files do not change afterwards.
fn changed(read: &ReadDefinition) -> Problem {
    let stays = match read.package {
        Some(_) => "the accepted files stay in use",
        None => "the accepted files are lost, and the version is not offered",
    };
    Problem {
        field: format!("Secret/{} (type {FILES_SECRET})", read.definition.name_any()),
        message: format!("it has changed since the definition was accepted; {stays}"),
        hint: Some("raise the version, or delete the ExtensionDefinition and create it again".to_owned()),
    }
}

/// The package of a definition, with the files in the Secret of the same name, and the digest of those files.
fn package(hub: &Hub, definition: &ExtensionDefinition) -> Result<(Package, Digest), Problem> {
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
    let digest = Digest::of(pack_files(files.iter().map(|(path, content)| (path.as_str(), content.as_slice()))));
    let document = json!({
        "apiVersion": ExtensionDefinition::api_version(&()),
        "kind": ExtensionDefinition::kind(&()),
        "metadata": { "name": name },
        "spec": definition.spec,
    });
    files.insert("definition.yaml".to_owned(), format!("{document:#}\n").into_bytes());
    Ok((Package::read(&format!("ExtensionDefinition/{name}/"), files)?, digest))
}

fn snapshot(read: &[ReadDefinition]) -> (Snapshot, Vec<Pack>) {
    let (mut by_name, mut files): (BTreeMap<&str, Vec<Arc<Package>>>, BTreeMap<_, _>) = Default::default();
    for read in read {
        if let Some(package) = &read.package {
            let of = &package.definition;
            by_name.entry(&of.extension).or_default().push(Arc::clone(package));
            files.insert((of.extension.as_str(), &of.version), &read.files);
        }
    }
    let (mut source, mut packs) = (SourceSnapshot::default(), vec![]);
    for (name, packages) in by_name {
        let pack = Pack::of(&packages);
        if let Some(mut entry) = ExtensionEntry::of(&packages, pack.digest.clone()) {
            for version in &mut entry.versions {
                version.published = files.get(&(name, &version.version)).copied().cloned().flatten();
            }
            source.extensions.insert(name.to_owned(), Arc::new(entry));
        }
        packs.push(pack);
    }
    let problems = read.iter().filter_map(|read| {
        let problem = read.problem.as_ref()?;
        let spec = &read.definition.spec.0;
        Some(format!("{}/{}: {problem}", spec.extension, spec.version))
    });
    source.problems = problems.collect();
    (Snapshot { sources: [(String::new(), Arc::new(source))].into(), ..Snapshot::default() }, packs)
}

/// Says in the status of a definition whether it can be installed.
async fn write_status(hub: &Hub, read: &ReadDefinition) -> kube::Result<()> {
    let ReadDefinition { definition, files, problem, .. } = read;
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
    status.digest = files.as_ref().map(ToString::to_string);
    if definition.status.as_ref() == Some(&status) {
        return Ok(());
    }
    let api: Api<ExtensionDefinition> =
        Api::namespaced(hub.client.clone(), &definition.namespace().unwrap_or_default());
    api_writes::found(api_writes::patch_status(&api, &definition.name_any(), &status).await.map(drop))
}
