//! The Extension objects of a catalog.

use std::collections::BTreeMap;

use fitout_api::{BUILTIN, Catalog, Extension, ExtensionSpec, ExtensionVersion};
use fitout_snapshot::{ExtensionEntry, Snapshot, VersionEntry};
use futures::{StreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::{Api, Resource, ResourceExt};

use crate::storage::api_writes::found;
use crate::{Hub, SYSTEM};

/// The objects that are written at the same time.
const CONCURRENT: usize = 16;

/// The catalog of Extensions.
pub(crate) struct Owner<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// The catalog object; none for the definitions of an organization.
    pub(crate) object: Option<OwnerReference>,
    /// Whether the catalog is the platform's own.
    pub(crate) builtin: bool,
}

impl<'a> Owner<'a> {
    /// The catalog as the owner of its Extensions. Only the platform team can call a catalog the platform's own.
    pub(super) fn of(namespace: &'a str, name: &'a str, catalog: &Catalog) -> Self {
        let builtin = namespace == SYSTEM && catalog.labels().get(BUILTIN).is_some_and(|value| value == "true");
        Self { namespace, name, object: catalog.controller_owner_ref(&()), builtin }
    }
}

/// Creates, replaces and deletes Extensions, so that there is one for each extension of a snapshot. Instances of an
/// extension that is no longer offered stay installed. Deletes nothing unless the snapshot is complete.
///
/// Returns a sentence for each Extension that could not be written: one that the API server refuses stops no other.
pub(crate) async fn write(
    hub: &Hub,
    owner: &Owner<'_>,
    snapshot: &Snapshot,
    is_complete: bool,
) -> kube::Result<Vec<String>> {
    let api: Api<Extension> = Api::namespaced(hub.client.clone(), owner.namespace);
    let of_catalog = ListParams::default().fields(&format!("spec.catalog={}", owner.name));
    let mut live: BTreeMap<String, Extension> = BTreeMap::new();
    for extension in api.list(&of_catalog).await?.items {
        live.insert(extension.name_any(), extension);
    }
    let mut writes = vec![];
    for spec in specs(owner.name, snapshot) {
        let name = Extension::name_of(owner.name, &spec.extension);
        let labels = owner.builtin.then(|| (BUILTIN.to_owned(), "true".to_owned()));
        let metadata = ObjectMeta {
            name: Some(name.clone()),
            labels: Some(labels.into_iter().collect::<BTreeMap<_, _>>()).filter(|labels| !labels.is_empty()),
            owner_references: owner.object.clone().map(|object| vec![object]),
            ..ObjectMeta::default()
        };
        let before = live.remove(&name);
        let is_current = |before: &Extension| {
            before.spec == spec
                && before.labels().contains_key(BUILTIN) == owner.builtin
                && before.metadata.owner_references == metadata.owner_references
        };
        if before.as_ref().is_some_and(is_current) {
            continue;
        }
        writes.push((before.and_then(|before| before.resource_version()), Extension { metadata, spec, status: None }));
    }
    let put = |(version, mut extension): (Option<String>, Extension)| {
        let api = api.clone();
        async move {
            let name = extension.name_any();
            let result = if version.is_some() {
                extension.metadata.resource_version = version;
                api.replace(&name, &PostParams::default(), &extension).await.map(drop)
            } else {
                api.create(&PostParams::default(), &extension).await.map(drop)
            };
            result.err().map(|error| unwritten(&name, &error))
        }
    };
    let mut failed: Vec<String> =
        stream::iter(writes).map(put).buffer_unordered(CONCURRENT).filter_map(std::future::ready).collect().await;
    if is_complete {
        for name in live.into_keys() {
            let deleted = found(api.delete(&name, &DeleteParams::default()).await.map(drop));
            failed.extend(deleted.err().map(|error| unwritten(&name, &error)));
        }
    }
    // Writes end in any order.
    failed.sort();
    Ok(failed)
}

fn unwritten(name: &str, error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => format!("Extension/{name} cannot be written: {}", status.message),
        error => format!("Extension/{name} cannot be written: {error}"),
    }
}

/// The Extensions of a catalog. One that several sources have lists the versions of all of them.
fn specs(catalog: &str, snapshot: &Snapshot) -> Vec<ExtensionSpec> {
    let mut by_name: BTreeMap<&str, Vec<(&str, &ExtensionEntry)>> = BTreeMap::new();
    // The newest Kubernetes version first: its source describes the extension.
    let mut sources: Vec<_> = snapshot.sources.iter().collect();
    sources.sort_by_key(|(key, _)| std::cmp::Reverse(order(key)));
    for (key, source) in sources {
        for (name, entry) in &source.extensions {
            by_name.entry(name).or_default().push((key, entry));
        }
    }
    by_name.into_iter().map(|(name, entries)| spec(catalog, name, &entries)).collect()
}

/// The order of keys: by number, not by text.
fn order(key: &str) -> Vec<u32> {
    key.split('.').filter_map(|part| part.parse().ok()).collect()
}

/// The versions that an Extension lists at most.
const VERSIONS: usize = 1024;

fn spec(catalog: &str, name: &str, entries: &[(&str, &ExtensionEntry)]) -> ExtensionSpec {
    let newest = entries[0].1;
    let versions = entries.iter().flat_map(|(key, entry)| entry.versions.iter().map(|entry| (*key, entry)));
    let mut versions: Vec<(&str, &VersionEntry)> = versions.collect();
    versions.sort_by(|a, b| b.1.version.cmp(&a.1.version));
    versions.truncate(VERSIONS);
    ExtensionSpec {
        catalog: catalog.to_owned(),
        extension: name.to_owned(),
        display_name: newest.display_name.clone(),
        summary: newest.summary.clone(),
        publisher: newest.publisher.clone(),
        categories: newest.categories.clone(),
        keywords: newest.keywords.clone(),
        icon: newest.icon.clone(),
        versions: versions.into_iter().map(|(key, entry)| version(key, entry)).collect(),
    }
}

fn version(key: &str, entry: &VersionEntry) -> ExtensionVersion {
    ExtensionVersion {
        version: entry.version.to_string(),
        kubernetes: entry.kubernetes.clone(),
        digest: entry.digest.to_string(),
        app_version: entry.app_version.clone(),
        key: Some(key.to_owned()).filter(|key| !key.is_empty()),
        state: entry.state,
        note: entry.note.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fitout_model::{Digest, VersionState};
    use fitout_snapshot::SourceSnapshot;

    use super::*;

    fn source(summary: &str, versions: &[&str]) -> Arc<SourceSnapshot> {
        let version = |text: &&str| VersionEntry {
            version: text.parse().unwrap(),
            kubernetes: None,
            upgrade_from: None,
            app_version: None,
            state: VersionState::Listed,
            note: None,
            digest: Digest::of(format!("{summary} {text}")),
            published: None,
        };
        let entry = ExtensionEntry {
            display_name: None,
            summary: Some(summary.to_owned()),
            publisher: None,
            categories: vec![],
            keywords: vec![],
            icon: None,
            pack: Digest::of(summary),
            versions: versions.iter().map(version).collect(),
        };
        Arc::new(SourceSnapshot {
            extensions: [("web".to_owned(), Arc::new(entry))].into(),
            ..SourceSnapshot::default()
        })
    }

    #[test]
    fn the_versions_of_all_sources_are_listed_with_their_keys() {
        let sources = [
            ("1.9", source("older", &["1.0.0"])),
            ("1.36", source("old", &["1.0.0"])),
            ("1.100", source("new", &["2.0.0"])),
        ];
        let sources = sources.map(|(key, source)| (key.to_owned(), source)).into();
        let snapshot = Snapshot { sources, ..Snapshot::default() };
        let specs = specs("shop", &snapshot);
        assert_eq!((specs.len(), specs[0].summary.as_deref()), (1, Some("new")));
        let versions: Vec<(&str, Option<&str>)> =
            specs[0].versions.iter().map(|version| (version.version.as_str(), version.key.as_deref())).collect();
        assert_eq!(versions, [("2.0.0", Some("1.100")), ("1.0.0", Some("1.36")), ("1.0.0", Some("1.9"))]);
    }
}
