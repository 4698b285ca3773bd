//! Fetches charts and catalogs from HTTP repositories and OCI registries, lists what they offer, and pushes to registries.
//!
//! A fetched chart is an archive and its digest. A server may be slow, broken or malicious: an archive without the
//! stated digest is rejected, credentials are sent to the server they are for and to no other, and every error says
//! whether a retry can succeed.
//!
//! The address of a repository is one of:
//!
//! - `https://…` or `http://…`: the folder of `index.yaml`.
//! - `oci://host/path`: a registry, over TLS. The chart is the last segment: `oci://host/charts` and `podinfo` make
//!   `host/charts/podinfo`; with an empty chart, the address includes it. `podinfo@sha256:…` selects the chart by the
//!   digest of its manifest.
//! - `oci+http://host/path`: the same without TLS. Nothing else turns TLS off, not even a loopback address.
//!
//! The rules for choosing a version and for URLs in an index are Helm's. The proxy of the environment (`HTTPS_PROXY`,
//! `HTTP_PROXY`, `NO_PROXY`) is used, as in Helm.

mod access;
mod address;
mod challenge;
mod chart_config;
mod choice;
mod conditional;
mod download;
mod error;
mod expected;
mod http;
mod index;
mod index_cache;
mod manifest;
mod registry;
mod repository;
mod tls;
mod whole_index;

use std::time::Duration;

use fitout_model::Digest;
use fitout_snapshot::ChartVersion;
use tokio::sync::Semaphore;

pub use access::{Access, Identity};
pub use address::redacted;
pub use conditional::{Answer, Validators};
pub use download::Downloaded;
pub use error::{
    AccessError, AddressError, CatalogError, Cause, ChartError, Error, IndexError, RedirectError, ResponseError,
};

pub use http::{Http, HttpRequest, Response};
pub use index::chart_version;
pub use registry::list::{ChartListing, InvalidTag, ListedCharts, RegistryChart, RegistryVersion, SkippedTag};
pub use registry::push::{CatalogPush, ChartPush, Pushed};

use address::{Address, RegistryPath};
use index_cache::IndexCache;

/// A request for a chart.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The address of the repository: `https://…`, `http://…`, `oci://…` or `oci+http://…`.
    pub repository: &'a str,
    /// The name of the chart.
    pub chart: &'a str,
    /// An exact version or a range, as Helm reads it; none for the newest version that is no pre-release.
    pub version: Option<&'a str>,
    /// The digest that the archive must have.
    pub digest: Option<&'a Digest>,
}

/// A fetched chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The archive: a gzipped tar.
    pub archive: Vec<u8>,
    /// The digest of the archive.
    pub digest: Digest,
    /// The chosen version, as it is published.
    pub version: String,
}

/// A chart of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedChart {
    /// The name by which the repository lists it. Its versions usually have the same name.
    pub name: String,
    /// Its versions in the order of the index, without those that Helm skips: without a name, with an invalid version,
    /// or with an invalid type, maintainer or dependency.
    pub versions: Vec<ChartVersion>,
}

/// A whole index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index<T> {
    /// The collected charts.
    pub charts: T,
    /// The digest of the uncompressed index.
    pub revision: Digest,
    /// The validators of the next request.
    pub validators: Validators,
    /// The time at which the index was generated, as it states. An older one than before means that the server offers an
    /// old index again.
    pub generated: Option<String>,
}

/// Limits on the size and duration of requests.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of an index, uncompressed.
    pub index: u64,
    /// Bytes of an index that has to be in memory as a whole, because it is not written line by line. Parsing YAML
    /// takes 13 times as much memory, parsing JSON no more; one index is parsed at a time.
    pub held: u64,
    /// Versions of all charts of an index.
    pub versions: usize,
    /// Bytes of an archive.
    pub archive: u64,
    /// Timeout of a connection attempt.
    pub connect: Duration,
    /// Timeout between two reads.
    pub silence: Duration,
    /// Timeout of a whole response.
    pub answer: Duration,
    /// Number of redirects of a request.
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            index: 256 << 20,
            held: 32 << 20,
            // About 100 MB in memory.
            versions: 200_000,
            archive: 100 << 20,
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            // The read timeout never ends a response that sends a byte now and then.
            answer: Duration::from_mins(15),
            redirects: 5,
        }
    }
}

/// A client of chart repositories, with its connections and a cache of their indexes.
pub struct Sources {
    http: Http,
    indexes: IndexCache,
    /// Limits indexes in memory as a whole to one at a time.
    whole_index: Semaphore,
}

impl Default for Sources {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Sources {
    /// Creates a client with these limits.
    pub fn new(limits: Limits) -> Self {
        Self { http: Http::new(limits), indexes: IndexCache::default(), whole_index: Semaphore::new(1) }
    }

    /// Fetches a chart's archive and verifies it against the requested digest and the one that its publisher states.
    ///
    /// Does not retry: [`Error::passing`] says whether a retry can succeed.
    pub async fn fetch(&self, wanted: &Wanted<'_>, access: &Access) -> Result<Fetched, Error> {
        let fetched = match Address::parse(wanted.repository) {
            Ok(Address::Http(base)) => repository::fetch(self, &base, wanted, access).await,
            Ok(Address::Registry(registry)) => registry::pull::fetch(&self.http, &registry, wanted, access).await,
            Err(error) => Err(Cause::Address(error)),
        };
        fetched.map_err(|cause| Error::of_chart(wanted, cause))
    }

    /// Reads all charts of an HTTP repository's index while it is received, in memory for one chart. With the validators
    /// of an earlier answer, an unchanged index costs one conditional request.
    ///
    /// `collect` adds a chart to the result. It is called once for each chart, and again from the first chart with a new
    /// result if the index turns out to be YAML that has to be parsed as a whole. An error leaves no partial result.
    ///
    /// Does not retry: [`Error::passing`] says whether a retry can succeed.
    pub async fn index<T: Default + Send>(
        &self,
        repository: &str,
        validators: Option<&Validators>,
        access: &Access,
        collect: impl FnMut(&mut T, IndexedChart) + Send,
    ) -> Result<Answer<Index<T>>, Error> {
        let index = match Address::parse(repository) {
            Ok(Address::Http(base)) => whole_index::read(self, &base, validators, access, collect).await,
            Ok(Address::Registry(_)) => Err(Cause::Address(AddressError::NoIndex)),
            Err(error) => Err(Cause::Address(error)),
        };
        index.map_err(|cause| Error::of("repository", repository, cause))
    }

    /// Lists the charts of a registry, with the metadata of each version. Without names it lists all charts below the
    /// address, which fails with [`Cause::NoCatalog`] at registries that do not list their repositories.
    ///
    /// A listing costs one request for the tags of each chart, and two for each version that is not in `known`. Known
    /// versions whose tag is gone are left out. A known tag that has moved to another manifest is noticed with
    /// `check_known` only, which costs one more request for each known version; an installation does not need it, as
    /// [`Sources::fetch`] verifies the digest of the archive. At most eight requests are sent at a time.
    ///
    /// Fails if the tags of a chart cannot be listed for now. A chart or a version that cannot be read is in
    /// [`ListedCharts::unread`] instead.
    pub async fn list_charts(&self, listing: &ChartListing<'_>, access: &Access) -> Result<ListedCharts, Error> {
        let failed = |cause| Error::of("registry", listing.repository, cause);
        let path = registry_path(listing.repository).map_err(failed)?;
        registry::list::list(&self.http, &path, listing, access).await.map_err(failed)
    }

    /// Downloads an archive of definitions of up to `limit` bytes: from an HTTP server, or from a registry, at
    /// `oci://host/path:tag` or `oci://host/path@sha256:…`, where it is the layer of the type
    /// `application/vnd.fitout.catalog.v1.tar+gzip`. With the validators of an earlier answer, an unchanged archive costs
    /// one request.
    pub async fn download(
        &self,
        address: &str,
        validators: Option<&Validators>,
        limit: u64,
        access: &Access,
    ) -> Result<Answer<Downloaded>, Error> {
        let downloaded = match Address::parse(address) {
            Ok(Address::Http(url)) => download::download(&self.http, url, validators, limit, access).await,
            Ok(Address::Registry(path)) => {
                registry::artifact::download(&self.http, &path, validators, limit, access).await
            }
            Err(error) => Err(Cause::Address(error)),
        };
        downloaded.map_err(|cause| match cause {
            Cause::Missing { what } => Error::of("catalog", address, Cause::NotFound { what }),
            cause => Error::of("catalog", address, cause),
        })
    }

    /// Pushes a chart to a registry as `helm push` does: with the same config, layers, annotations and tag. Blobs that
    /// the registry has are not uploaded again. A tag that exists is moved, unless the registry refuses that.
    pub async fn push_chart(&self, push: &ChartPush<'_>, access: &Access) -> Result<Pushed, Error> {
        let failed = |cause| Error::of("registry", push.repository, cause);
        let path = registry_path(push.repository).map_err(failed)?;
        registry::push::chart(&self.http, &path, push, access).await.map_err(failed)
    }

    /// Pushes an archive of definitions to a registry, as [`Sources::download`] reads it.
    pub async fn push_catalog(&self, push: &CatalogPush<'_>, access: &Access) -> Result<Pushed, Error> {
        let failed = |cause| Error::of("catalog", push.address, cause);
        let path = registry_path(push.address).map_err(failed)?;
        registry::push::catalog(&self.http, &path, push, access).await.map_err(failed)
    }
}

fn registry_path(address: &str) -> Result<RegistryPath, Cause> {
    match Address::parse(address).map_err(Cause::Address)? {
        Address::Registry(path) => Ok(path),
        Address::Http(_) => Err(Cause::Address(AddressError::NoRegistry)),
    }
}
