//! Reads one source of a catalog into a snapshot, one extension after the other.

use std::path::PathBuf;
use std::sync::Arc;

use fitout_api::{CatalogFilter, CatalogSource, CatalogSpec};
use fitout_catalogs::{Directory, RawExtension, SourceExtension, embedded_files, embedded_names, parse_states, split};
use fitout_model::{Digest, FileMap, Package, VersionStateRule};
use fitout_snapshot::{ExtensionEntry, Filters, Pack, Pattern, SourceSnapshot, changed_versions, set_states};
use futures::{StreamExt, stream};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::error::SourceError;
use crate::catalogs::ReadingGuard;
use crate::{Hub, SYSTEM};

/// The extensions of one source that are parsed and stored at the same time.
const CONCURRENT: usize = 8;

/// The extensions that are read ahead.
const AHEAD: usize = 4;

/// The versions of an extension that are offered. An Extension lists no more.
const VERSIONS: usize = 1000;

/// A source to read.
pub(super) struct Source<'a> {
    pub(super) hub: &'a Hub,
    /// The namespace of the catalog.
    pub(super) namespace: &'a str,
    pub(super) source: &'a CatalogSource,
    pub(super) settings: Settings,
    /// The result of the last read.
    pub(super) before: Option<&'a SourceSnapshot>,
    /// Whether to read the source even if it has not changed.
    pub(super) force: bool,
    /// The revision whose changes to published versions a user has accepted.
    pub(super) accepted: Option<&'a str>,
}

/// What decides how a source is read, apart from its address.
pub(super) struct Settings {
    filters: Filters,
    states: Vec<VersionStateRule>,
    /// Differs for other sources and filters: the source is read as a whole then.
    digest: String,
}

/// A source that was read.
pub(super) struct Read<'a> {
    pub(super) snapshot: SourceSnapshot,
    /// Keeps the packs until the snapshot names them.
    pub(super) guards: Vec<ReadingGuard<'a>>,
}

/// An extension that was read.
struct ReadExtension<'a> {
    entry: Option<(String, ExtensionEntry)>,
    problems: Vec<String>,
    kept: Vec<String>,
    guard: Option<ReadingGuard<'a>>,
}

/// The facts of a source apart from its extensions.
struct Opened {
    revision: String,
    validators: Vec<(String, String)>,
    generated: Option<String>,
    states: Vec<VersionStateRule>,
    extensions: mpsc::Receiver<Result<RawExtension, SourceError>>,
}

impl Settings {
    pub(super) fn of(spec: &CatalogSpec, source: &CatalogSource) -> Result<Self, SourceError> {
        fn pattern(filter: &CatalogFilter) -> Pattern<'_> {
            Pattern { name: filter.name.as_deref(), version: filter.version.as_deref() }
        }
        let filters = Filters::new(spec.include.iter().map(pattern), spec.exclude.iter().map(pattern));
        let digest = Digest::of_value(&json!([source, spec.include, spec.exclude, spec.states]));
        Ok(Self {
            filters: filters.map_err(|error| SourceError::Range { field: "spec.include or spec.exclude", error })?,
            states: spec.states.clone(),
            digest: digest.to_string(),
        })
    }
}

impl<'a> Source<'a> {
    /// Reads the source; none if it has not changed.
    pub(super) async fn read(&self) -> Result<Option<Read<'a>>, SourceError> {
        let Some(mut opened) = self.open().await? else { return Ok(None) };
        let origin = Digest::of_value(&json!(self.source)).to_string();
        let mut read = Read {
            snapshot: SourceSnapshot {
                settings: self.settings.digest.clone(),
                // Another source is another publisher: what it publishes is compared from now on.
                origin,
                revision: opened.revision,
                validators: opened.validators,
                generated: opened.generated,
                ..SourceSnapshot::default()
            },
            guards: vec![],
        };
        let states = opened.states;
        let raw = stream::poll_fn(move |context| opened.extensions.poll_recv(context));
        let accepts = self.accepted == Some(&read.snapshot.revision);
        let origin = read.snapshot.origin.clone();
        let mut extensions = std::pin::pin!(
            raw.map(|raw| self.extension(raw, &states, &origin, accepts)).buffer_unordered(CONCURRENT)
        );
        while let Some(extension) = extensions.next().await {
            let ReadExtension { entry, problems, kept, guard } = extension?;
            read.snapshot.extensions.extend(entry.map(|(name, entry)| (name, Arc::new(entry))));
            read.snapshot.problems.extend(problems);
            read.snapshot.kept.extend(kept);
            read.guards.extend(guard);
        }
        // Extensions end in any order.
        read.snapshot.problems.sort();
        read.snapshot.kept.sort();
        Ok(Some(read))
    }

    /// Whether the last read had the same settings.
    fn same_settings(&self) -> Option<&'a SourceSnapshot> {
        self.before.filter(|before| before.settings == self.settings.digest && !self.force)
    }

    async fn open(&self) -> Result<Option<Opened>, SourceError> {
        match &self.source.directory {
            Some(directory) => match (&directory.embedded, &directory.path) {
                (Some(name), _) => self.open_embedded(name),
                // The hub's disk belongs to the platform team: an organization must not read it through its catalog.
                (None, Some(_)) if self.namespace != SYSTEM => Err(SourceError::PathNotAllowed),
                (None, path) => self.open_directory(path.clone().unwrap_or_default()).await,
            },
            None => Err(SourceError::NotSupported),
        }
    }

    fn open_embedded(&self, name: &str) -> Result<Option<Opened>, SourceError> {
        let names = embedded_names();
        if !names.iter().any(|known| known == name) {
            return Err(SourceError::NotBuiltIn { name: name.to_owned(), known: names.join(", ") });
        }
        self.open_files(embedded_files(name), None)
    }

    /// Opens a source whose files are all in memory.
    fn open_files(&self, mut files: FileMap, revision: Option<String>) -> Result<Option<Opened>, SourceError> {
        let revision = revision.unwrap_or_else(|| {
            let lines: String = files.iter().map(|(path, file)| format!("{path} {}\n", Digest::of(file))).collect();
            Digest::of(lines).to_string()
        });
        if self.same_settings().is_some_and(|before| before.revision == revision) {
            return Ok(None);
        }
        let states = files.remove(fitout_catalogs::STATES);
        let states = states.map(|text| parse_states(&text)).transpose()?.unwrap_or_default();
        let (sender, extensions) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            for extension in split(files) {
                if sender.send(Ok(extension)).await.is_err() {
                    return;
                }
            }
        });
        Ok(Some(Opened { revision, validators: vec![], generated: None, states, extensions }))
    }

    async fn open_directory(&self, path: String) -> Result<Option<Opened>, SourceError> {
        let at = PathBuf::from(&path);
        let opened = spawn_blocking(move || Ok((fitout_catalogs::fingerprint(&at)?, Directory::open(&at)?))).await;
        let failed = move |error| SourceError::Directory { path: path.clone(), error };
        let (fingerprint, directory) = opened.map_err(|error| SourceError::Ended(error.to_string()))?.map_err(&failed)?;
        if self.same_settings().is_some_and(|before| before.revision == fingerprint.as_str()) {
            return Ok(None);
        }
        let states = directory.states.as_deref().map(parse_states).transpose()?.unwrap_or_default();
        let (sender, extensions) = mpsc::channel(AHEAD);
        spawn_blocking(move || {
            for extension in directory {
                if sender.blocking_send(extension.map_err(&failed)).is_err() {
                    return;
                }
            }
        });
        Ok(Some(Opened { revision: fingerprint.to_string(), validators: vec![], generated: None, states, extensions }))
    }

    /// Whether published versions of this source never change. A directory belongs to whoever runs the hub.
    fn is_immutable(&self) -> bool {
        self.source.directory.is_none()
    }

    /// Parses an extension, stores its definitions and makes its entry.
    async fn extension(
        &self,
        raw: Result<RawExtension, SourceError>,
        states: &[VersionStateRule],
        origin: &str,
        accepts: bool,
    ) -> Result<ReadExtension<'a>, SourceError> {
        let raw = raw?;
        let parsed = blocking(move || raw.parse()).await?;
        let SourceExtension { mut packages, problems, states: own, keywords, icon } = parsed;
        let filters = &self.settings.filters;
        packages.retain(|package| {
            filters.admits(&package.definition.extension, &package.definition.version.to_string())
        });
        let mut problems: Vec<String> = problems
            .into_iter()
            .filter(|(place, _)| {
                let (extension, version) = place.split_once('/').unwrap_or((place, ""));
                filters.admits_extension(extension) && (version.is_empty() || filters.admits(extension, version))
            })
            .map(|(_, problem)| problem.to_string())
            .collect();
        let Some(name) = packages.first().map(|package| package.definition.extension.clone()) else {
            return Ok(ReadExtension { entry: None, problems, kept: vec![], guard: None });
        };
        let before = self.before.filter(|before| before.origin == origin);
        let before = before.and_then(|before| before.extensions.get(&name));
        let kept = match before.filter(|_| self.is_immutable() && !accepts) {
            Some(before) => self.keep_published(&name, before, &mut packages).await,
            None => vec![],
        };
        if packages.len() > VERSIONS {
            problems.push(format!(
                "{name}/: it has {} versions; the newest {VERSIONS} are offered; remove old ones from the source",
                packages.len()
            ));
            packages.drain(..packages.len() - VERSIONS);
        }
        let (packages, pack) = blocking(move || {
            let pack = Pack::of(&packages);
            (packages, pack)
        })
        .await?;
        let guard = match before {
            // The snapshot of the last read names it, so it is stored.
            Some(before) if before.pack == pack.digest => self.hub.catalogs.keep_while_reading(&pack.digest),
            _ => self.hub.store_pack(&pack).await?,
        };
        let entry = ExtensionEntry::of(&packages, pack.digest).map(|entry| ExtensionEntry { keywords, icon, ..entry });
        let Some(mut entry) = entry else {
            return Ok(ReadExtension { entry: None, problems, kept, guard: Some(guard) });
        };
        for rules in [&own[..], states, &self.settings.states] {
            let set = set_states(&name, &mut entry, rules);
            set.map_err(|error| SourceError::Range { field: "the version of a state", error })?;
        }
        Ok(ReadExtension { entry: Some((name, entry)), problems, kept, guard: Some(guard) })
    }

    /// Replaces versions whose published content has changed by what was published. Returns a sentence for each.
    async fn keep_published(
        &self,
        extension: &str,
        before: &ExtensionEntry,
        packages: &mut [Arc<Package>],
    ) -> Vec<String> {
        let mut kept = vec![];
        for changed in changed_versions(before, packages) {
            let Some(package) =
                packages.iter_mut().find(|package| package.definition.version == changed.version)
            else {
                continue;
            };
            match self.hub.package(&changed.published, &before.pack).await {
                Ok(published) => {
                    kept.push(format!(
                        "{extension} {}: the source has changed its content from {} to {}; the published content stays",
                        changed.version,
                        changed.published.short(),
                        package.digest.short()
                    ));
                    *package = published;
                }
                // What was published is lost, so there is nothing to keep.
                Err(error) => tracing::warn!(extension, version = %changed.version, %error, "lost a definition"),
            }
        }
        kept
    }
}

async fn blocking<T: Send + 'static>(compute: impl FnOnce() -> T + Send + 'static) -> Result<T, SourceError> {
    spawn_blocking(compute).await.map_err(|error| SourceError::Ended(error.to_string()))
}
