//! Charts from where they are published: HTTP repositories and OCI registries.
//!
//! What is fetched is the archive's bytes and their digest. Whoever publishes may be slow, broken or lying: what does not
//! have the digest that it was said to have is refused, credentials go to the server they are for and to nobody else, and
//! every failure is a sentence that says whether trying again can help.
//!
//! A repository is named by its address:
//!
//! - `https://…` or `http://…`: the folder that `index.yaml` is in.
//! - `oci://host/path`: a registry, over TLS. The chart is the last segment, `oci://host/charts` and `podinfo` make
//!   `host/charts/podinfo`; where the chart is empty, the address is already all of it. `podinfo@sha256:…` is the chart
//!   whose manifest has this digest.
//! - `oci+http://host/path`: the same without TLS. There is no other way to do without, not even on a loopback address.
//!
//! Which version is chosen is Helm's choice, as are the rules for addresses in an index. Where the environment names a proxy
//! (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`), it is used, as Helm does.

mod access;
mod address;
mod challenge;
mod choice;
mod error;
mod expected;
mod index;
mod known;
mod manifest;
mod registry;
mod repository;
mod tls;
mod web;

use std::time::Duration;

use fitout_model::Digest;
use tokio::sync::Semaphore;

pub use access::{Access, Identity};
pub use error::{Cause, Error};

use address::Address;
use known::Known;
use web::Web;

/// A chart that is wanted.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Where it is published: `https://…`, `http://…`, `oci://…` or `oci+http://…`.
    pub repository: &'a str,
    /// Its name.
    pub chart: &'a str,
    /// An exact version or a range, as Helm reads it; the newest that is no pre-release where there is none.
    pub version: Option<&'a str>,
    /// The digest that the archive has to have.
    pub digest: Option<&'a Digest>,
}

/// A chart as it was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The archive: a gzipped tar.
    pub archive: Vec<u8>,
    /// The digest of the archive.
    pub digest: Digest,
    /// The version that was chosen, as it is published.
    pub version: String,
}

/// What a source may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of an index, uncompressed.
    pub index: u64,
    /// Bytes of an index that has to be held as a whole, because it is not written line by line. As YAML it takes 13 times
    /// as much memory while it is read, as JSON no more; one is read at a time.
    pub held: u64,
    /// Bytes of an archive.
    pub archive: u64,
    /// Until a connection is there.
    pub connect: Duration,
    /// Without a byte.
    pub silence: Duration,
    /// For an answer as a whole.
    pub answer: Duration,
    /// Redirects from one address to the next.
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
            // A server that sends a byte now and then would keep us for ever.
            answer: Duration::from_mins(15),
            redirects: 5,
        }
    }
}

/// All sources there are: connections to them, and what is known of their indexes.
pub struct Sources {
    web: Web,
    known: Known,
    /// For indexes that are held as a whole.
    hold: Semaphore,
}

impl Default for Sources {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Sources {
    /// Sources that cost no more than this.
    pub fn new(limits: Limits) -> Self {
        Self { web: Web::new(limits), known: Known::default(), hold: Semaphore::new(1) }
    }

    /// The chart's archive, whose digest is the one that is wanted and the one that its publisher says it has.
    ///
    /// Nothing is tried twice: [`Error::passing`] says whether that can help.
    pub async fn fetch(&self, wanted: &Wanted<'_>, access: &Access) -> Result<Fetched, Error> {
        let fetched = match Address::parse(wanted.repository) {
            Ok(Address::Http(base)) => repository::fetch(self, &base, wanted, access).await,
            Ok(Address::Registry(registry)) => registry::fetch(&self.web, &registry, wanted, access).await,
            Err(cause) => Err(cause),
        };
        fetched.map_err(|cause| Error::new(wanted, cause))
    }
}
