//! Packages: definitions with their files, read from the content store when they are needed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fitout_content::{Error as ContentError, Packed};
use fitout_model::{Digest, Package};
use fitout_snapshot::{Pack, PackError};

use super::Catalogs;
use crate::Hub;
use crate::blocking::run_blocking;

/// The bytes of packages in memory. Beyond this, all are dropped and read again.
const CACHE_BYTES: usize = 32 << 20;

/// The packages that were read lately, by digest.
#[derive(Default)]
pub(super) struct PackageCache(Mutex<HashMap<Digest, Arc<Package>>>);

/// The reason why a package cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PackageError {
    /// The content store does not have it, or does not answer.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// Its pack is damaged.
    #[error(transparent)]
    Pack(#[from] PackError),
}

impl PackageCache {
    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Arc<Package>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, package: Package) -> Arc<Package> {
        let size = |package: &Package| package.files.values().map(Vec::len).sum::<usize>();
        let mut packages = self.lock();
        if packages.values().map(|package| size(package)).sum::<usize>() + size(&package) > CACHE_BYTES {
            packages.clear();
        }
        let package = Arc::new(package);
        packages.insert(package.digest.clone(), Arc::clone(&package));
        package
    }
}

impl Hub {
    /// The package with this digest, from memory or from this pack.
    pub(crate) async fn package(&self, digest: &Digest, pack: &Digest) -> Result<Arc<Package>, PackageError> {
        let known = self.catalogs.packages.lock().get(digest).cloned();
        if let Some(package) = known {
            return Ok(package);
        }
        let content = self.content.get(pack).await?;
        let package = run_blocking(content.len(), || Pack::package(&content, digest))?;
        Ok(self.catalogs.packages.insert(package))
    }

    /// The packages with these digests, without those that this pack does not have.
    pub(crate) async fn packages(
        &self,
        digests: &[Digest],
        pack: &Digest,
    ) -> Result<BTreeMap<Digest, Package>, PackageError> {
        let content = self.content.get(pack).await?;
        Ok(run_blocking(content.len(), || Pack::packages(&content, digests))?)
    }

    /// Stores a pack. The garbage collector keeps it until the guard is dropped, and then for as long as a snapshot
    /// names it.
    pub(crate) async fn store_pack<'a>(&'a self, pack: &Pack) -> Result<ReadingGuard<'a>, ContentError> {
        // A collection that is under way may be about to delete the same content.
        let _reservation = self.content_reservations.reserve().await;
        let guard = self.catalogs.keep_while_reading(&pack.digest);
        self.put_content(&pack.content).await?;
        Ok(guard)
    }

    /// Stores content and returns its digest. Idempotent.
    pub(crate) async fn put_content(&self, content: &[u8]) -> Result<Digest, ContentError> {
        let packed = run_blocking(content.len(), || Packed::new(content));
        self.content.put_packed(&packed).await?;
        Ok(packed.digest().clone())
    }
}

/// Keeps a pack from the garbage collector.
pub(crate) struct ReadingGuard<'a> {
    catalogs: &'a Catalogs,
    pack: Digest,
}

impl Catalogs {
    pub(crate) fn keep_while_reading(&self, pack: &Digest) -> ReadingGuard<'_> {
        *self.reading().entry(pack.clone()).or_default() += 1;
        ReadingGuard { catalogs: self, pack: pack.clone() }
    }
}

impl Drop for ReadingGuard<'_> {
    fn drop(&mut self) {
        let mut reading = self.catalogs.reading();
        if let Some(count) = reading.get_mut(&self.pack) {
            *count -= 1;
            if *count == 0 {
                reading.remove(&self.pack);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_is_kept_until_the_last_reader_is_done() {
        let catalogs = Catalogs::default();
        let pack = Digest::of("");
        let first = catalogs.keep_while_reading(&pack);
        let second = catalogs.keep_while_reading(&pack);
        drop(first);
        assert!(catalogs.reading().contains_key(&pack));
        drop(second);
        assert!(catalogs.reading().is_empty());
    }
}
