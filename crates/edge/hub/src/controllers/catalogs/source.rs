//! Reads one source of a catalog into a snapshot, one extension after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use fitout_api::{CatalogFilter, CatalogSource, CatalogSpec, GitSource, HelmRepositorySource};
use fitout_catalogs::{
    ARCHIVE_LIMITS, Directory, RawExtension, SourceExtension, embedded_files, embedded_names, keep_newest, split,
    unpack, unpacked_size,
};
use fitout_content::Error as ContentError;
use fitout_git::Reference;
use fitout_model::{ArchiveLimits, Digest, FileMap, Package, Problem, STATES, States, VersionState, VersionStateRule};
use fitout_repositories::{Answer, ChartListing, IndexedChart, InvalidTag, RegistryChart, Validators};
use fitout_snapshot::{
    CatalogRules, Dependencies, ExtensionEntry, Filters, Pack, SourceSnapshot, VersionPattern, changed_versions,
    clashing_charts, dependency_cycles, extension_of, set_states,
};
use futures::{StreamExt, TryFutureExt, TryStreamExt, stream};
use k8s_openapi::jiff::Timestamp;
use semver::Version;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::spawn_blocking;

use super::directory_watch::DirectoryWatch;
use super::error::SourceError;
use crate::catalogs::{PackageError, ReadingGuard};
use crate::charts::credentials::Credentials;
use crate::{Hub, SYSTEM};

/// The extensions of one source that are parsed and stored at the same time.
const CONCURRENT: usize = 8;

/// The extensions that are read ahead.
const AHEAD: usize = 4;

/// The largest archive in bytes.
const ARCHIVE: u64 = 128 << 20;

/// The bytes of the files of one source of an organization's catalog.
const ORGANIZATION: u64 = 64 << 20;

/// A source to read.
pub(super) struct Source<'a> {
    pub(super) hub: &'a Hub,
    /// The namespace of the catalog.
    pub(super) namespace: &'a str,
    #[expect(clippy::struct_field_names, reason = "the API calls it so")]
    pub(super) source: &'a CatalogSource,
    pub(super) settings: Settings,
    /// The result of the last read.
    pub(super) before: Option<&'a SourceSnapshot>,
    /// The headers of the next conditional request, if they are others than those of the last read.
    pub(super) validators: Option<&'a [(String, String)]>,
    /// Whether to read the source even if it has not changed.
    pub(super) force: bool,
    /// The revision whose changes to published versions a user has accepted.
    pub(super) accepted: Option<&'a str>,
    pub(super) directories: &'a Arc<DirectoryWatch>,
}

/// The settings that decide how a source is read, apart from its address.
pub(super) struct Settings {
    filters: Filters,
    /// Differs for other sources and filters: the source is read as a whole then.
    digest: String,
}

/// The answer of a source.
pub(super) enum Outcome<T> {
    /// It has not changed. The headers of the next conditional request, if they are others than before.
    Unchanged(Vec<(String, String)>),
    Changed(T),
}

/// A source that was read.
pub(super) struct Read<'a> {
    pub(super) snapshot: SourceSnapshot,
    /// Keeps the packs until the snapshot names them.
    pub(super) guards: Vec<ReadingGuard<'a>>,
}

/// An extension that was read.
struct ReadExtension<'a> {
    /// The name that the source has for it.
    name: String,
    entry: Option<(String, ExtensionEntry)>,
    dependencies: Option<Dependencies>,
    problems: Vec<String>,
    kept: Vec<String>,
    guard: Option<ReadingGuard<'a>>,
}

/// The facts of a source apart from its extensions.
struct Opened {
    revision: String,
    validators: Vec<(String, String)>,
    generated: Option<String>,
    memory: Option<serde_json::Value>,
    states: States,
    /// Problems of the source as a whole.
    problems: Vec<String>,
    extensions: mpsc::Receiver<Result<RawExtension, SourceError>>,
    /// The memory that its files take.
    memory_permit: Option<OwnedSemaphorePermit>,
}

impl Settings {
    pub(super) fn of(spec: &CatalogSpec, source: &CatalogSource) -> Result<Self, SourceError> {
        let digest = Digest::of_value(&json!([source, spec.include, spec.exclude]));
        let filters = rules(spec).and_then(|rules| filters(&rules));
        let filters = filters.map_err(|InvalidRange { field, error }| SourceError::Range { field, error })?;
        Ok(Self { filters, digest: digest.to_string() })
    }
}

/// An invalid range of versions in the spec of a catalog.
pub(super) struct InvalidRange {
    field: &'static str,
    error: fitout_helm_ranges::Error,
}

/// The rules of a catalog.
pub(super) fn rules(spec: &CatalogSpec) -> Result<CatalogRules, InvalidRange> {
    let pattern = |CatalogFilter { name, version }: &CatalogFilter| VersionPattern {
        name: name.clone(),
        version: version.clone(),
    };
    let rules = CatalogRules {
        include: spec.include.iter().map(pattern).collect(),
        exclude: spec.exclude.iter().map(pattern).collect(),
        states: spec.states.clone(),
    };
    filters(&rules)?;
    rules.check_states().map_err(|error| InvalidRange { field: "spec.states", error })?;
    Ok(rules)
}

fn filters(rules: &CatalogRules) -> Result<Filters, InvalidRange> {
    rules.filters().map_err(|error| InvalidRange { field: "spec.include or spec.exclude", error })
}

impl<'a> Source<'a> {
    /// Reads the source, unless it has not changed.
    pub(super) async fn read(&self) -> Result<Outcome<Read<'a>>, SourceError> {
        let mut opened = match self.open().await? {
            Outcome::Unchanged(validators) => return Ok(Outcome::Unchanged(validators)),
            Outcome::Changed(opened) => opened,
        };
        // Until all extensions are stored.
        let _memory = opened.memory_permit.take();
        let mut read = Read {
            snapshot: SourceSnapshot {
                settings: self.settings.digest.clone(),
                origin: self.origin(),
                revision: opened.revision,
                validators: opened.validators,
                generated: opened.generated,
                memory: opened.memory,
                states: opened.states.rules.clone(),
                ..SourceSnapshot::default()
            },
            guards: vec![],
        };
        let states = opened.states;
        let raw = stream::poll_fn(move |context| opened.extensions.poll_recv(context));
        let accepts = self.accepted == Some(&read.snapshot.revision);
        let origin = read.snapshot.origin.clone();
        let extension = |(place, raw)| {
            self.extension(raw, &states.rules, &origin, accepts).map_ok(move |extension| (place, extension))
        };
        let extensions = raw.enumerate().map(extension).buffer_unordered(CONCURRENT);
        let mut extensions: Vec<(usize, ReadExtension)> = extensions.try_collect().await?;
        // Extensions end in any order. Of two with the same name, the first of the source counts.
        extensions.sort_by_key(|(place, _)| *place);
        let (mut names, mut needed, mut problems) = (BTreeSet::new(), vec![], opened.problems);
        for (_, extension) in extensions {
            read.guards.extend(extension.guard);
            names.insert(extension.name);
            if let Some((name, entry)) = extension.entry
                && let Err(problem) = read.snapshot.add(name, entry)
            {
                problems.push(problem.to_string());
                continue;
            }
            needed.extend(extension.dependencies);
            problems.extend(extension.problems);
            read.snapshot.kept.extend(extension.kept);
        }
        let misspelt = states.misspelt(&names.iter().map(String::as_str).collect());
        let between = states.problems.into_iter().chain(misspelt).map(Problem::from).chain(dependency_cycles(&needed));
        problems.extend(between.map(|problem| problem.to_string()));
        read.snapshot.set_problems(problems);
        read.snapshot.kept.sort();
        Ok(Outcome::Changed(read))
    }

    /// Whether the last read had the same settings.
    fn same_settings(&self) -> Option<&'a SourceSnapshot> {
        self.before.filter(|before| before.settings == self.settings.digest && !self.force)
    }

    /// The headers of a conditional request.
    fn validators(&self) -> Option<Validators> {
        let before = self.same_settings()?;
        Some(validators(self.validators.unwrap_or(&before.validators)))
    }

    async fn open(&self) -> Result<Outcome<Opened>, SourceError> {
        match &self.source.directory {
            Some(directory) => match (&directory.embedded, &directory.path) {
                (Some(name), _) => self.open_embedded(name),
                // The hub's disk belongs to the platform team: an organization must not read it through its catalog.
                (None, Some(_)) if self.namespace != SYSTEM => Err(SourceError::PathNotAllowed),
                (None, path) => self.open_directory(path.clone().unwrap_or_default()).await,
            },
            None => self.open_remote().await,
        }
    }

    async fn open_remote(&self) -> Result<Outcome<Opened>, SourceError> {
        match self.source {
            CatalogSource { helm_repository: Some(repository), .. } => self.open_repository(repository).await,
            CatalogSource { archive: Some(archive), .. } => self.open_archive(&archive.url).await,
            CatalogSource { git: Some(git), .. } => self.open_git(git).await,
            _ => Err(SourceError::NotSupported),
        }
    }

    fn open_embedded(&self, name: &str) -> Result<Outcome<Opened>, SourceError> {
        let names = embedded_names();
        if !names.iter().any(|known| known == name) {
            return Err(SourceError::NotBuiltIn { name: name.to_owned(), known: names.join(", ") });
        }
        self.open_files(embedded_files(name), None, vec![])
    }

    /// Opens a source whose files are all in memory.
    fn open_files(
        &self,
        mut files: FileMap,
        revision: Option<String>,
        validators: Vec<(String, String)>,
    ) -> Result<Outcome<Opened>, SourceError> {
        let revision = revision.unwrap_or_else(|| {
            let lines: Vec<String> = files.iter().map(|(path, file)| format!("{path} {}", Digest::of(file))).collect();
            Digest::of(lines.join("\n")).to_string()
        });
        if self.same_settings().is_some_and(|before| before.revision == revision) {
            return Ok(Outcome::Unchanged(validators));
        }
        let states = files.remove(STATES).map(|content| States::parse(&content)).transpose()?.unwrap_or_default();
        Ok(Outcome::Changed(Opened { revision, validators, states, ..Opened::of(split(files)) }))
    }

    async fn open_directory(&self, path: String) -> Result<Outcome<Opened>, SourceError> {
        let (at, watch, force) = (PathBuf::from(&path), Arc::clone(self.directories), self.force);
        let opened = spawn_blocking(move || Ok((watch.fingerprint(&at, force)?, Directory::open(&at)?))).await;
        let failed = move |error| SourceError::Directory { path: path.clone(), error };
        let (fingerprint, directory) =
            opened.map_err(|error| SourceError::Ended(error.to_string()))?.map_err(&failed)?;
        if self.same_settings().is_some_and(|before| before.revision == fingerprint.as_str()) {
            return Ok(Outcome::Unchanged(vec![]));
        }
        let states = directory.states.as_deref().map(States::parse).transpose()?.unwrap_or_default();
        let (sender, extensions) = mpsc::channel(AHEAD);
        spawn_blocking(move || {
            for extension in directory {
                if sender.blocking_send(extension.map_err(&failed)).is_err() {
                    return;
                }
            }
        });
        Ok(Outcome::Changed(Opened { revision: fingerprint.to_string(), states, extensions, ..Opened::of(vec![]) }))
    }

    async fn open_repository(&self, repository: &HelmRepositorySource) -> Result<Outcome<Opened>, SourceError> {
        let url = &repository.url;
        if url.starts_with("oci") {
            return self.open_registry(repository).await;
        }
        let Credentials { access, secret, .. } = self.hub.credentials(self.namespace, url);
        let validators = self.validators();
        let collect = |charts: &mut Vec<IndexedChart>, chart| charts.push(chart);
        let read = self.hub.charts.sources.index(url, validators.as_ref(), &access, collect).await;
        let index = match read.map_err(|error| SourceError::Repository { error: Box::new(error), secret })? {
            Answer::Unchanged => return Ok(Outcome::Unchanged(vec![])),
            Answer::Changed(index) => index,
        };
        let revision = index.revision.to_string();
        if self.same_settings().is_some_and(|before| before.revision == revision) {
            return Ok(Outcome::Unchanged(pairs(&index.validators)));
        }
        let known = self.before.filter(|before| before.origin == self.origin());
        let known = known.and_then(|before| before.generated.clone());
        if let (Some(generated), Some(known)) = (&index.generated, known)
            && is_earlier(generated, &known)
            && self.accepted != Some(&revision)
        {
            return Err(SourceError::OlderIndex { generated: generated.clone(), known, revision });
        }
        let chart = |IndexedChart { name, versions }| RawExtension::Charts { repository: url.clone(), name, versions };
        let (validators, generated) = (pairs(&index.validators), index.generated);
        let extensions = index.charts.into_iter().map(chart).collect();
        Ok(Outcome::Changed(Opened { revision, validators, generated, ..Opened::of(extensions) }))
    }

    async fn open_registry(&self, repository: &HelmRepositorySource) -> Result<Outcome<Opened>, SourceError> {
        let url = &repository.url;
        let Credentials { access, secret, .. } = self.hub.credentials(self.namespace, url);
        let known: Vec<RegistryChart> = self
            .before
            .filter(|before| before.origin == self.origin())
            .and_then(|before| serde_json::from_value(before.memory.clone()?).ok())
            .unwrap_or_default();
        // A request checks whether tags were moved, which costs a request for each.
        let listing =
            ChartListing { repository: url, charts: &repository.charts, known: &known, check_known: self.force };
        let listed = self.hub.charts.sources.list_charts(&listing, &access).await;
        let listed = listed.map_err(|error| SourceError::Repository { error: Box::new(error), secret })?;
        let revision = listed.revision.to_string();
        if listed.unread.is_empty() && self.same_settings().is_some_and(|before| before.revision == revision) {
            return Ok(Outcome::Unchanged(vec![]));
        }
        let mut problems: Vec<String> = listed.unread.iter().map(ToString::to_string).collect();
        let memory = serde_json::to_value(&listed.charts).ok();
        let mut charts = listed.charts;
        let offered = charts.iter().filter(|chart| !chart.versions.is_empty()).map(|chart| chart.name.as_str());
        let clashing = clashing_charts(offered);
        charts.retain(|chart| !clashing.contains_key(&chart.name));
        let filters = &self.settings.filters;
        let is_offered = |chart: &str| filters.admits_extension(extension_of(chart));
        problems.extend(clashing.iter().filter(|(chart, _)| is_offered(chart)).map(|(_, problem)| problem.to_string()));
        let is_offered = |tag: &InvalidTag| filters.admits(extension_of(&tag.chart), &tag.version);
        problems.extend(listed.invalid.iter().filter(|tag| is_offered(tag)).map(|tag| tag.error.to_string()));
        let chart = |chart: RegistryChart| RawExtension::Charts {
            repository: url.clone(),
            name: chart.name,
            versions: chart.versions.into_iter().map(|version| version.chart).collect(),
        };
        let extensions = charts.into_iter().map(chart).collect();
        Ok(Outcome::Changed(Opened { revision, memory, problems, ..Opened::of(extensions) }))
    }

    async fn open_archive(&self, url: &str) -> Result<Outcome<Opened>, SourceError> {
        let Credentials { access, secret, .. } = self.hub.credentials(self.namespace, url);
        let validators = self.validators();
        let downloaded = self.hub.charts.sources.download(url, validators.as_ref(), ARCHIVE, &access).await;
        let downloaded = match downloaded.map_err(|error| SourceError::Repository { error: Box::new(error), secret })? {
            Answer::Unchanged => return Ok(Outcome::Unchanged(vec![])),
            Answer::Changed(downloaded) => downloaded,
        };
        let content = Arc::new(downloaded.content);
        let (limits, packed) = (self.file_limits(), Arc::clone(&content));
        let size = blocking(move || unpacked_size(&packed, limits.total)).await?;
        let permit = self.hub.source_memory.acquire(size).await;
        let files = blocking(move || unpack(&content, &limits)).await?;
        let files = files.map_err(|error| SourceError::Archive { url: url.to_owned(), error })?;
        let opened = self.open_files(files, Some(downloaded.revision.to_string()), pairs(&downloaded.validators))?;
        Ok(opened.with_memory(permit))
    }

    /// The limits of an archive's files. A catalog of an organization gets less of the memory that all share.
    fn file_limits(&self) -> ArchiveLimits {
        if self.namespace == SYSTEM { ARCHIVE_LIMITS } else { ArchiveLimits { total: ORGANIZATION, ..ARCHIVE_LIMITS } }
    }

    async fn open_git(&self, git: &GitSource) -> Result<Outcome<Opened>, SourceError> {
        let Credentials { access, ssh, secret } = self.hub.credentials(self.namespace, &git.url);
        let reference = match (&git.branch, &git.tag, &git.commit) {
            (Some(branch), ..) => Reference::Branch(branch),
            (_, Some(tag), _) => Reference::Tag(tag),
            (_, _, Some(commit)) => Reference::Commit(commit),
            (None, None, None) => Reference::Default,
        };
        // Another address, reference or folder is another history.
        let known = self.before.filter(|before| before.origin == self.origin()).map(|before| before.revision.as_str());
        let unchanged = self.same_settings().and(known);
        let request = fitout_git::Request { url: &git.url, reference, path: git.path.as_deref(), known, accept: false };
        let credentials = fitout_git::Credentials { http: access, ssh };
        let memory = self.hub.source_memory.for_git();
        let read = async |accept, known| {
            let git = if self.namespace == SYSTEM { &self.hub.git } else { &self.hub.organization_git };
            let request = fitout_git::Request { accept, known, ..request };
            git.read_admitted(&request, &credentials, memory.admit()).await
        };
        let mut answer = read(false, unchanged).await;
        // With other settings the same commit is read again, and its history is checked all the same.
        if unchanged.is_none() && known.is_some() {
            let check = read(false, known).await;
            if !matches!(check, Ok(fitout_git::Answer::Unchanged)) {
                answer = check;
            }
        }
        if let Err(error) = &answer
            && let fitout_git::Cause::Rewritten { found, .. } | fitout_git::Cause::TagMoved { found, .. } = &error.cause
            && self.accepted == Some(found)
        {
            answer = read(true, None).await;
        }
        match answer.map_err(|error| SourceError::Git { error: Box::new(error), secret })? {
            fitout_git::Answer::Unchanged => Ok(Outcome::Unchanged(vec![])),
            fitout_git::Answer::Read { commit, files } => {
                let permit = memory.shrink(files.values().map(Vec::len).sum());
                Ok(self.open_files(files, Some(commit), vec![])?.with_memory(permit))
            }
        }
    }

    /// The digest of the address. Another address is another publisher, whose versions are compared from then on.
    fn origin(&self) -> String {
        Digest::of_value(&json!(self.source)).to_string()
    }

    /// Whether published versions of this source never change. A directory belongs to the platform team, and can change.
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
        let mut raw = raw?;
        let filters = &self.settings.filters;
        raw.retain(|extension, version| filters.admits(extension, version));
        let (source_name, is_chart) = (raw.name().to_owned(), raw.is_chart());
        let parsed = blocking(move || raw.parse()).await?;
        let SourceExtension { mut packages, problems, mut published, states: own, keywords, icon } = parsed;
        packages
            .retain(|package| filters.admits(&package.definition.extension, &package.definition.version.to_string()));
        let mut problems: Vec<String> = problems
            .into_iter()
            .filter(|(place, _)| {
                let (extension, version) = place.split_once('/').unwrap_or((place, ""));
                filters.admits_extension(extension) && (version.is_empty() || filters.admits(extension, version))
            })
            .map(|(_, problem)| problem.to_string())
            .collect();
        let mut read = ReadExtension {
            name: source_name,
            entry: None,
            dependencies: None,
            problems: vec![],
            kept: vec![],
            guard: None,
        };
        let Some(name) = packages.first().map(|package| package.definition.extension.clone()) else {
            return Ok(ReadExtension { problems, ..read });
        };
        let before = self.before.filter(|before| before.origin == origin);
        let before = before.and_then(|before| before.extensions.get(&name));
        if let Some(before) = before.filter(|_| self.is_immutable()) {
            read.kept = self.keep_published(&name, before, &mut packages, &mut published, accepts).await?;
        }
        problems.extend(keep_newest(&name, &mut packages).map(|problem| problem.to_string()));
        read.dependencies = Dependencies::of(&packages, is_chart);
        let (packages, pack) = blocking(move || {
            let pack = Pack::of(&packages);
            (packages, pack)
        })
        .await?;
        let stored = match before {
            // The snapshot of the last read names it, so it is stored. A request repairs what was lost.
            Some(before) if before.pack == pack.digest && !self.force => {
                Ok(self.hub.catalogs.keep_while_reading(&pack.digest))
            }
            _ => self.hub.store_pack(&pack).await,
        };
        let (entry, guard) = match stored {
            Ok(guard) => {
                let entry = ExtensionEntry::of(&packages, pack.digest);
                let mut entry = entry.map(|entry| ExtensionEntry { keywords, icon, ..entry });
                for version in entry.iter_mut().flat_map(|entry| &mut entry.versions) {
                    version.published = published.remove(&version.version);
                }
                (entry, Some(guard))
            }
            Err(ContentError::TooLarge(bytes)) => {
                problems.push(too_large(&name, bytes, before.is_some()));
                let guard = before.map(|before| self.hub.catalogs.keep_while_reading(&before.pack));
                (before.map(|before| without_states(before)), guard)
            }
            Err(error) => return Err(error.into()),
        };
        read.problems = problems;
        read.guard = guard;
        let Some(mut entry) = entry else { return Ok(read) };
        for rules in [&own[..], states] {
            let set = set_states(&name, &mut entry.versions, rules);
            set.map_err(|error| SourceError::Range { field: "the version of a state", error })?;
        }
        Ok(ReadExtension { entry: Some((name, entry)), ..read })
    }

    /// Replaces packages by those that were published: where the source has changed a version, unless a user accepts that, and
    /// where the hub makes another package of the same. `digests` has what was published of each version. Returns a sentence
    /// for each change of the source.
    async fn keep_published(
        &self,
        extension: &str,
        before: &ExtensionEntry,
        packages: &mut [Arc<Package>],
        digests: &mut BTreeMap<Version, Digest>,
        accepts: bool,
    ) -> Result<Vec<String>, SourceError> {
        let mut changed = changed_versions(before, packages, digests);
        changed.retain(|changed| !(accepts && changed.by_publisher));
        if changed.is_empty() {
            return Ok(vec![]);
        }
        let wanted: Vec<Digest> = changed.iter().map(|changed| changed.published.digest.clone()).collect();
        let mut stored = match self.hub.packages(&wanted, &before.pack).await {
            Ok(stored) => stored,
            // What was published may be kept once it can be read.
            Err(PackageError::Content(error @ ContentError::Hub(_))) => return Err(error.into()),
            // What was published is lost, so there is nothing to keep.
            Err(error) => {
                tracing::warn!(extension, %error, "lost published definitions");
                return Ok(vec![]);
            }
        };
        let mut kept = vec![];
        for changed in changed {
            let package = packages.iter_mut().find(|package| package.definition.version == changed.version);
            let (Some(package), Some(published)) = (package, stored.remove(&changed.published.digest)) else {
                tracing::warn!(extension, version = %changed.version, "lost a published definition");
                continue;
            };
            if changed.by_publisher {
                kept.push(changed.sentence(extension, &package.digest));
            }
            *package = Arc::new(published);
            digests.remove(&changed.version);
            digests.extend(changed.published.published.map(|digest| (changed.published.version, digest)));
        }
        Ok(kept)
    }
}

impl Outcome<Opened> {
    /// With the room in memory that the files take.
    fn with_memory(self, memory_permit: Option<OwnedSemaphorePermit>) -> Self {
        match self {
            Self::Changed(opened) => Self::Changed(Opened { memory_permit, ..opened }),
            unchanged @ Self::Unchanged(_) => unchanged,
        }
    }
}

impl Opened {
    /// These extensions, from a source without anything else.
    fn of(all: Vec<RawExtension>) -> Self {
        let (sender, extensions) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            for extension in all {
                if sender.send(Ok(extension)).await.is_err() {
                    return;
                }
            }
        });
        Self {
            revision: String::new(),
            validators: vec![],
            generated: None,
            memory: None,
            states: States::default(),
            problems: vec![],
            extensions,
            memory_permit: None,
        }
    }
}

fn too_large(extension: &str, bytes: usize, is_known: bool) -> String {
    let stays = if is_known { "what was read before stays" } else { "it is left out" };
    format!(
        "{extension}/: the definitions and files of its versions have {bytes} bytes (compressed), and 32 MB is the limit; \
         {stays}; remove old versions or files from the source"
    )
}

/// An entry whose versions have no state yet.
fn without_states(entry: &ExtensionEntry) -> ExtensionEntry {
    let mut entry = entry.clone();
    for version in &mut entry.versions {
        (version.state, version.note) = (VersionState::Listed, None);
    }
    entry
}

/// Whether a time is earlier than another. Only times in RFC 3339 are compared.
fn is_earlier(time: &str, other: &str) -> bool {
    let parse = |text: &str| text.parse::<Timestamp>().ok();
    parse(time).zip(parse(other)).is_some_and(|(time, other)| time < other)
}

const ETAG: &str = "etag";
const LAST_MODIFIED: &str = "last-modified";

fn validators(pairs: &[(String, String)]) -> Validators {
    let value = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    Validators { etag: value(ETAG), last_modified: value(LAST_MODIFIED) }
}

fn pairs(validators: &Validators) -> Vec<(String, String)> {
    let pair = |name: &str, value: &Option<String>| value.clone().map(|value| (name.to_owned(), value));
    [pair(ETAG, &validators.etag), pair(LAST_MODIFIED, &validators.last_modified)].into_iter().flatten().collect()
}

async fn blocking<T: Send + 'static>(compute: impl FnOnce() -> T + Send + 'static) -> Result<T, SourceError> {
    spawn_blocking(compute).await.map_err(|error| SourceError::Ended(error.to_string()))
}
