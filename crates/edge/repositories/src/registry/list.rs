//! Lists the charts of an OCI registry and reads their metadata.

use std::sync::atomic::{AtomicBool, Ordering};

use fitout_helm_ranges::Version;
use fitout_model::Digest;
use fitout_snapshot::ChartVersion;
use futures::StreamExt;
use futures::stream::FuturesOrdered;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::pull::{tag, versions};
use super::session::json;
use super::{Scope, Session};
use crate::address::{RegistryPath, host};
use crate::http::Http;
use crate::index::chart_version;
use crate::manifest::Manifest;
use crate::{Access, Cause, ChartError, Error, IndexError, ResponseError};

/// The number of concurrent requests of a listing.
const CONCURRENCY: usize = 8;

/// The limit of a chart's metadata. That of large charts has some 10 kB.
const MAX_CONFIG: u64 = 1 << 20;

/// A request for the charts of a registry.
#[derive(Clone, Copy, Debug)]
pub struct ChartListing<'a> {
    /// The address below which the charts are: `oci://…` or `oci+http://…`.
    pub repository: &'a str,
    /// The names of the charts; empty for all repositories below the address, which many registries do not list.
    pub charts: &'a [String],
    /// The charts of an earlier listing. Their tags are not read again.
    pub known: &'a [RegistryChart],
    /// Whether to check that known tags are still at the same manifest, which costs one HEAD request for each.
    pub check_known: bool,
}

/// A chart in a registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryChart {
    /// The name of its repository below the address; it may have several segments.
    pub name: String,
    /// Its versions, the newest first.
    pub versions: Vec<RegistryVersion>,
    /// Tags that are versions, but not of charts, such as those of images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedTag>,
}

/// A version of a chart in a registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryVersion {
    /// The tag.
    pub tag: String,
    /// The digest of the manifest.
    pub manifest: Digest,
    /// The metadata, with the digest of the archive.
    pub chart: ChartVersion,
}

/// A tag that is a version, but not of a chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedTag {
    /// The tag.
    pub tag: String,
    /// The reason as a sentence.
    pub reason: String,
}

/// A tag with a chart that cannot be installed: because it is incomplete or malformed, or has another name or version.
#[derive(Debug)]
pub struct InvalidTag {
    /// The name of the chart's repository below the address.
    pub chart: String,
    /// The version.
    pub version: String,
    /// The reason.
    pub error: Error,
}

/// The charts that a registry offers.
#[derive(Debug)]
pub struct ListedCharts {
    /// The charts, in the order of the request or of their names.
    pub charts: Vec<RegistryChart>,
    /// A digest of all names, tags and manifests, and of what is wrong with invalid ones.
    pub revision: Digest,
    /// The tags with invalid charts. They are read again by the next listing.
    pub invalid: Vec<InvalidTag>,
    /// The charts and tags that could not be read. Their known versions are kept, unless the repository is gone. If there
    /// are any, other tags may be missing too, as a listing stops at an overloaded registry; a later one continues where
    /// `known` has the charts of this one.
    pub unread: Vec<Error>,
}

/// Lists charts.
pub(crate) async fn list(
    http: &Http,
    path: &RegistryPath,
    listing: &ChartListing<'_>,
    access: &Access,
) -> Result<ListedCharts, Cause> {
    let names = match listing.charts {
        [] => catalog(http, path, access).await?,
        names => names.to_vec(),
    };
    let (slots, stopped) = (Semaphore::new(CONCURRENCY), AtomicBool::new(false));
    let lister = Lister { http, path, listing, access, slots, stopped };
    let (mut names, mut running) = (names.iter(), FuturesOrdered::new());
    let (mut charts, mut unread, mut invalid) = (Vec::new(), Vec::new(), Vec::new());
    let (mut count, limit) = (0, http.limits.versions);
    loop {
        while running.len() < CONCURRENCY {
            let Some(name) = names.next() else { break };
            running.push_back(lister.chart(name));
        }
        let Some(chart) = running.next().await else { break };
        let Tags { chart, unread: of_chart, invalid: tags } = chart?;
        count += chart.versions.len() + chart.skipped.len() + tags.len();
        if count > limit {
            let reason = ResponseError::Index(IndexError::TooManyVersions(limit));
            return Err(Cause::Malformed { what: host(&path.base), reason });
        }
        unread.extend(of_chart);
        invalid.extend(tags);
        charts.push(chart);
    }
    // With wrong credentials, for example, the registry is not one without charts.
    let is_empty = charts.iter().all(|chart: &RegistryChart| chart.versions.is_empty() && chart.skipped.is_empty());
    if is_empty && invalid.is_empty() && !unread.is_empty() {
        return Err(unread.swap_remove(0).cause);
    }
    let lines = charts.iter().flat_map(|chart| {
        chart.versions.iter().map(|version| format!("{}\t{}\t{}\n", chart.name, version.tag, version.manifest))
    });
    let lines = lines.chain(invalid.iter().map(|tag: &InvalidTag| format!("{}\n", tag.error)));
    let revision = Digest::of(lines.collect::<String>());
    Ok(ListedCharts { charts, revision, invalid, unread })
}

/// The names of all repositories below a path.
async fn catalog(http: &Http, path: &RegistryPath, access: &Access) -> Result<Vec<String>, Cause> {
    #[derive(Deserialize)]
    struct Page {
        repositories: Option<Vec<String>>,
    }
    let session = Session::new(http, &path.base, path.path.clone(), access, Scope::Catalog)?;
    let mut url = path.base.clone();
    url.set_path("/v2/_catalog");
    url.set_query(Some("n=1000"));
    let names = session.pages(url, |page: Page| page.repositories.unwrap_or_default()).await;
    let names = names.map_err(|cause| match cause {
        Cause::Refused { status, .. } | Cause::Unexpected { status, .. } => {
            Cause::NoCatalog { host: host(&path.base), status }
        }
        Cause::Missing { .. } => Cause::NoCatalog { host: host(&path.base), status: 404 },
        cause => cause,
    })?;
    let below = |name: String| match path.path.as_str() {
        "" => Some(name),
        path => Some(name.strip_prefix(path)?.strip_prefix('/')?.to_owned()),
    };
    let mut names: Vec<String> = names.into_iter().filter_map(below).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// The tags of a chart.
struct Tags {
    chart: RegistryChart,
    unread: Vec<Error>,
    invalid: Vec<InvalidTag>,
}

impl Tags {
    /// Tags that could not be listed.
    fn unread(chart: RegistryChart, error: Error) -> Self {
        Self { chart, unread: vec![error], invalid: vec![] }
    }
}

/// The result for a tag.
enum Tag {
    Version(Box<RegistryVersion>),
    Skipped(SkippedTag),
    Invalid(InvalidTag),
    /// With the version, if it is known.
    Unread(Error, Option<Box<RegistryVersion>>),
    /// Not read, because the listing has stopped.
    Left,
}

struct Lister<'a> {
    http: &'a Http,
    path: &'a RegistryPath,
    listing: &'a ChartListing<'a>,
    access: &'a Access,
    slots: Semaphore,
    /// Whether the registry is overloaded or unreachable.
    stopped: AtomicBool,
}

impl Lister<'_> {
    /// Lists the tags of a chart, and reads those that are not known.
    async fn chart(&self, name: &str) -> Result<Tags, Cause> {
        let chart = RegistryChart { name: name.to_owned(), versions: Vec::new(), skipped: Vec::new() };
        let known = self.listing.known.iter().find(|known| known.name == name);
        let (repository, pinned) = self.path.chart(name).map_err(Cause::Address)?;
        if pinned.is_some() {
            return Err(Cause::Address(crate::AddressError::Name(name.to_owned())));
        }
        let session = Session::new(self.http, &self.path.base, repository, self.access, Scope::Pull)?;
        let tags = {
            let _slot = self.slot().await;
            session.tags().await
        };
        let mut tags = match tags {
            Ok(tags) => versions(tags),
            Err(cause @ Cause::Missing { .. }) => return Ok(Tags::unread(chart, self.error(name, cause))),
            Err(cause @ (Cause::Refused { .. } | Cause::Malformed { .. })) => {
                return Ok(Tags::unread(known.cloned().unwrap_or(chart), self.error(name, cause)));
            }
            Err(cause) => return Err(cause),
        };
        tags.sort_by(|(one, one_text), (other, other_text)| other.cmp(one).then_with(|| other_text.cmp(one_text)));
        tags.dedup();
        let (mut tags, mut running) = (tags.iter(), FuturesOrdered::new());
        let mut read = Tags { chart, unread: Vec::new(), invalid: Vec::new() };
        loop {
            while running.len() < CONCURRENCY {
                let Some((_, version)) = tags.next() else { break };
                running.push_back(self.tag(&session, name, version, known));
            }
            let Some(tag) = running.next().await else { break };
            match tag {
                Tag::Version(version) => read.chart.versions.push(*version),
                Tag::Skipped(skipped) => read.chart.skipped.push(skipped),
                Tag::Invalid(invalid) => read.invalid.push(invalid),
                Tag::Unread(error, known) => {
                    read.unread.push(error);
                    read.chart.versions.extend(known.map(|known| *known));
                }
                Tag::Left => {}
            }
        }
        Ok(read)
    }

    /// Reads the tag of a version, unless it is known.
    async fn tag(&self, session: &Session<'_>, name: &str, version: &str, known: Option<&RegistryChart>) -> Tag {
        let tag = tag(version);
        let _slot = self.slot().await;
        let known_version = known.and_then(|chart| chart.versions.iter().find(|known| known.tag == tag));
        let known_version = known_version.map(|known| Box::new(known.clone()));
        let has_stopped = self.stopped.load(Ordering::Relaxed);
        let read = match &known_version {
            Some(known) if !self.listing.check_known || has_stopped => return Tag::Version(known.clone()),
            None if has_stopped => return Tag::Left,
            Some(known) => match session.manifest_digest(&tag).await {
                Ok(manifest) if manifest == known.manifest => return Tag::Version(known.clone()),
                Ok(_) => read(session, name, version, &tag).await,
                Err(cause) => Err(cause),
            },
            None => {
                let skipped = known.and_then(|chart| chart.skipped.iter().find(|skipped| skipped.tag == tag));
                match skipped.filter(|_| !self.listing.check_known) {
                    Some(skipped) => return Tag::Skipped(skipped.clone()),
                    None => read(session, name, version, &tag).await,
                }
            }
        };
        match read {
            Ok(version) => Tag::Version(Box::new(version)),
            Err(cause @ Cause::NotAChart { reason: ChartError::Manifest(_) | ChartError::Config, .. }) => {
                Tag::Skipped(SkippedTag { tag, reason: cause.to_string() })
            }
            Err(
                cause @ (Cause::NotAChart { .. }
                | Cause::Malformed { .. }
                | Cause::Missing { .. }
                | Cause::TooLarge { .. }
                | Cause::DigestMismatch { .. }),
            ) => {
                let error = self.error(&format!("{name}:{tag}"), cause);
                Tag::Invalid(InvalidTag { chart: name.to_owned(), version: version.to_owned(), error })
            }
            Err(cause) => {
                self.stopped.fetch_or(cause.passing(), Ordering::Relaxed);
                Tag::Unread(self.error(&format!("{name}:{tag}"), cause), known_version)
            }
        }
    }

    async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // Fails only if the semaphore is closed, which it never is.
        self.slots.acquire().await.ok()
    }

    fn error(&self, name: &str, cause: Cause) -> Error {
        Error::of("chart", &format!("{}/{name}", self.listing.repository.trim_end_matches('/')), cause)
    }
}

/// Reads the metadata of a version from its manifest and the config of that.
async fn read(session: &Session<'_>, name: &str, version: &str, tag: &str) -> Result<RegistryVersion, Cause> {
    let (what, digest, text) = session.manifest(tag).await?;
    let no_chart = |reason| Cause::NotAChart { what: what.clone(), reason };
    let manifest = Manifest::parse(&text).map_err(no_chart)?;
    let (config, text) = session.blob(&manifest.config, MAX_CONFIG).await?;
    let chart = chart_version(json::<Value>(&config, &text)?).map_err(|_| no_chart(ChartError::Metadata))?;
    let expected_name = name.rsplit('/').next().unwrap_or(name);
    // A repository with an empty name has the chart in the address itself.
    let is_named = expected_name.is_empty() || chart.name == expected_name;
    if !is_named || !is_same(&chart.version, version) {
        let found = format!("{} {}", chart.name, chart.version);
        return Err(no_chart(ChartError::Other(found)));
    }
    let chart = ChartVersion { digest: Some(manifest.archive.digest), ..chart };
    Ok(RegistryVersion { tag: tag.to_owned(), manifest: digest, chart })
}

/// Whether two texts are the same version, with the same metadata.
fn is_same(one: &str, other: &str) -> bool {
    let parse = |text: &str| Version::parse(text).ok();
    matches!((parse(one), parse(other)), (Some(a), Some(b)) if a == b && a.metadata() == b.metadata())
}
