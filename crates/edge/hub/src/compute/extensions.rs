//! The extensions that an organization can install, and the details of one version.
//!
//! Every replica answers from what is stored: the `Extension` objects, the snapshots and the packs.

use std::rc::Rc;
use std::sync::Arc;

use fitout_api::{AvailableExtension, Extension, ExtensionDetailsSpec, ExtensionDetailsStatus, Scope, VersionChanges};
use fitout_authoring::{Environment, requirements};
use fitout_environment::HostEnvironment;
use fitout_model::{Definition, Package, Requirements, changelog_sections};
use fitout_snapshot::{ExtensionEntry, VersionEntry};
use kube::Api;
use kube::api::ListParams;
use semver::Version;

use crate::blocking::run_blocking;
use crate::cache::indexes::Key;
use crate::reconcile::convert;
use crate::{Hub, SYSTEM};

/// The versions whose packages are read for a changelog. More is no answer that a person reads.
const CHANGELOG_VERSIONS: usize = 50;

/// The error of a request for extensions.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message describes each variant")]
pub enum ExtensionError {
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Unavailable(String),
    #[error("the hub's API server refuses the request: {0}")]
    Refused(String),
}

impl Hub {
    /// The extensions that the organization with this namespace can install: those of shared catalogs and its own.
    pub async fn available_extensions(
        &self,
        namespace: &str,
        label_selector: Option<&str>,
    ) -> Result<Vec<AvailableExtension>, ExtensionError> {
        let params = ListParams { label_selector: label_selector.map(str::to_owned), ..ListParams::default() };
        let scopes = [(SYSTEM, Scope::Shared), (namespace, Scope::Organization)];
        let mut all = vec![];
        // For a request in the hub's own namespace, only shared catalogs exist.
        for (of, scope) in scopes.into_iter().filter(|(of, scope)| *scope == Scope::Shared || *of != SYSTEM) {
            let listed = Api::<Extension>::namespaced(self.unfenced().clone(), of).list(&params).await;
            let listed = listed.map_err(|error| match error {
                kube::Error::Api(status) if status.code < 500 => ExtensionError::Refused(status.message.clone()),
                error => ExtensionError::Unavailable(error.to_string()),
            })?;
            all.extend(listed.into_iter().map(|extension| AvailableExtension::of(extension, scope, namespace)));
        }
        Ok(all)
    }

    /// The details of a version of an extension, as the organization with this namespace sees it.
    pub async fn extension_details(
        &self,
        namespace: &str,
        spec: &ExtensionDetailsSpec,
    ) -> Result<ExtensionDetailsStatus, ExtensionError> {
        let reference = &spec.extension;
        let (name, catalog) = (&reference.name, convert::catalog_of(reference, namespace));
        let wanted = spec.version.as_deref().map(|version| parse(version, "spec.version")).transpose()?;
        let entry = self.entry(&catalog, name, spec.key.as_deref(), wanted.as_ref()).await?;
        let version = find(&entry, name, wanted.as_ref())?;
        let since = spec.since.as_deref().map(|since| parse(since, "spec.since")).transpose()?;
        let package = self.package_of(version, &entry).await?;
        let mut details = ExtensionDetailsStatus {
            version: version.version.to_string(),
            digest: Some(version.digest.clone()),
            changelog: self.changelog(&entry, version, since.as_ref()).await?,
            ..ExtensionDetailsStatus::default()
        };
        let mut definition = package.definition.clone();
        if definition.requirements.is_none() && definition.helm.is_some() {
            match self.derived(&catalog.0, &package).await {
                Ok((requirements, notes)) => {
                    definition.requirements = Some(requirements);
                    (details.derived, details.notes) = (true, notes);
                }
                Err(reason) => details.notes.push(format!("its requirements are not known: {reason}")),
            }
        }
        details.definition = Some(definition);
        Ok(details)
    }

    /// The extension in the snapshot of a catalog. Of several sources, the first one that has the version.
    async fn entry(
        &self,
        catalog: &Key,
        extension: &str,
        key: Option<&str>,
        version: Option<&Version>,
    ) -> Result<Arc<ExtensionEntry>, ExtensionError> {
        self.load_snapshot(catalog).await;
        let snapshot = self.catalogs.snapshot(catalog);
        let snapshot = snapshot.ok_or_else(|| {
            ExtensionError::NotFound(format!(
                "catalog {} was not read yet, or does not exist; `fitout catalog list` shows the catalogs",
                catalog.1
            ))
        })?;
        let sources = snapshot.sources.iter().rev().filter(|(of, _)| key.is_none_or(|key| key == of.as_str()));
        let entries: Vec<_> = sources.filter_map(|(_, source)| source.extensions.get(extension)).collect();
        let has_version = |entry: &&&Arc<ExtensionEntry>| {
            version.is_none_or(|version| entry.versions.iter().any(|one| one.version == *version))
        };
        let found = entries.iter().find(has_version).or(entries.first());
        found.map(|entry| Arc::clone(entry)).ok_or_else(|| {
            ExtensionError::NotFound(format!(
                "catalog {} does not offer {extension}; `fitout extension list` shows the extensions",
                catalog.1
            ))
        })
    }

    async fn package_of(&self, version: &VersionEntry, entry: &ExtensionEntry) -> Result<Arc<Package>, ExtensionError> {
        let read = self.package(&version.digest, &entry.pack).await;
        read.map_err(|error| ExtensionError::Unavailable(error.to_string()))
    }

    /// The changes of a version and of those before it, as far as the request goes back.
    async fn changelog(
        &self,
        entry: &ExtensionEntry,
        version: &VersionEntry,
        since: Option<&Version>,
    ) -> Result<Vec<VersionChanges>, ExtensionError> {
        let older = entry.versions.iter().filter(|older| older.version <= version.version);
        let wanted: Vec<&VersionEntry> = match since {
            Some(since) => older.filter(|older| older.version > *since).take(CHANGELOG_VERSIONS).collect(),
            None => older.take(1).collect(),
        };
        let mut changelog: Vec<VersionChanges> = vec![];
        let has = |changelog: &[VersionChanges], version: &str| changelog.iter().any(|one| one.version == version);
        for of in wanted {
            // A newer version may have had the whole changelog.
            if has(&changelog, &of.version.to_string()) {
                continue;
            }
            let package = self.package_of(of, entry).await?;
            for changes in changes(&package, since, &version.version) {
                if !has(&changelog, &changes.version) {
                    changelog.push(changes);
                }
            }
        }
        Ok(changelog)
    }

    /// The requirements of what a package renders, with notes; or why they are not known.
    async fn derived(&self, namespace: &str, package: &Package) -> Result<(Requirements, Vec<String>), String> {
        let archive = self.archive(namespace, package).await.map_err(|error| error.why.to_string())?;
        let archive = archive.as_ref().map(|archive| &*archive.content);
        let environment: Rc<dyn Environment> = Rc::new(HostEnvironment);
        let size = archive.map_or(usize::MAX, <[u8]>::len);
        run_blocking(size, || requirements(package, archive, &environment)).map_err(|problem| problem.to_string())
    }
}

fn parse(version: &str, field: &str) -> Result<Version, ExtensionError> {
    let invalid = |error| ExtensionError::Invalid(format!("{field}: {version:?} is not a version: {error}"));
    Version::parse(version.strip_prefix('v').unwrap_or(version)).map_err(invalid)
}

/// The entry of a version, or the newest one that is no pre-release.
fn find<'e>(
    entry: &'e ExtensionEntry,
    name: &str,
    version: Option<&Version>,
) -> Result<&'e VersionEntry, ExtensionError> {
    let Some(version) = version else {
        let release = entry.versions.iter().find(|entry| entry.version.pre.is_empty());
        return release
            .or(entry.versions.first())
            .ok_or_else(|| ExtensionError::NotFound(format!("{name} has no versions")));
    };
    entry.versions.iter().find(|entry| entry.version == *version).ok_or_else(|| {
        let newest: Vec<String> = entry.versions.iter().take(3).map(|entry| entry.version.to_string()).collect();
        ExtensionError::NotFound(format!("{name} has no version {version}; the newest are {}", newest.join(", ")))
    })
}

/// The changes that the changelog of a package lists, up to a version.
fn changes(package: &Package, since: Option<&Version>, to: &Version) -> Vec<VersionChanges> {
    let Definition { changelog: Some(file), version, .. } = &package.definition else { return vec![] };
    let Some(text) = package.files.get(file).and_then(|text| std::str::from_utf8(text).ok()) else { return vec![] };
    let sections = changelog_sections(text);
    if sections.is_empty() {
        // It has the changes of this version alone.
        return vec![VersionChanges { version: version.to_string(), text: text.trim().to_owned() }];
    }
    let is_wanted = |of: &Version| of <= to && since.map_or(of == version, |since| of > since);
    let wanted = sections.into_iter().filter(|(of, _)| is_wanted(of));
    wanted.map(|(of, text)| VersionChanges { version: of.to_string(), text }).collect()
}
