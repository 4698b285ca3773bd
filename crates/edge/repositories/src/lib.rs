//! Fetches charts from HTTP repositories and OCI registries.
//!
//! The result is a chart's archive and its digest. A server may be slow, broken or malicious: an archive without the
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
mod choice;
mod error;
mod expected;
mod http;
mod index;
mod index_cache;
mod manifest;
mod registry;
mod repository;
mod tls;

use std::time::Duration;

use fitout_model::Digest;
use tokio::sync::Semaphore;

pub use access::{Access, Identity};
pub use error::{AccessError, AddressError, Cause, ChartError, Error, IndexError, RedirectError, ResponseError};

use address::Address;
use http::Http;
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

/// Limits on the size and duration of requests.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of an index, uncompressed.
    pub index: u64,
    /// Bytes of an index that has to be in memory as a whole, because it is not written line by line. Parsing YAML
    /// takes 13 times as much memory, parsing JSON no more; one index is parsed at a time.
    pub held: u64,
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
            Ok(Address::Registry(registry)) => registry::fetch(&self.http, &registry, wanted, access).await,
            Err(error) => Err(Cause::Address(error)),
        };
        fetched.map_err(|cause| Error::new(wanted, cause))
    }
}
