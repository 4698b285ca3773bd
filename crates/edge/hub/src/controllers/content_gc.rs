//! Garbage collection of content: content that no revision names is deleted after a grace period.
//!
//! No worker waits for it, and a crash between the deletion of a revision and of its content loses nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use fitout_content::Error;
use fitout_model::Digest;
use k8s_openapi::jiff::Timestamp;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::time::sleep;

use crate::Hub;

/// Keeps the garbage collection away from content that is about to be named.
///
/// A worker that finds its content stored, or stores it, names it in a revision a moment later. Until then no revision
/// may name the content, and it may be older than the grace period.
#[derive(Default)]
pub(crate) struct ContentReservations(RwLock<()>);

/// No content is deleted while this guard exists.
pub(crate) type ContentReservation<'a> = RwLockReadGuard<'a, ()>;

impl ContentReservations {
    /// Reserves all content, stored or not, until the guard is dropped. Waits for a collection that is under way.
    ///
    /// Hold the guard from before content is looked up until its revision is written or given up.
    pub(crate) async fn reserve(&self) -> ContentReservation<'_> {
        self.0.read().await
    }

    /// Waits until nothing is reserved, and prevents reservations until the guard is dropped.
    async fn collect(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write().await
    }
}

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    loop {
        let grace = hub.options.content_gc_grace;
        sleep(grace).await;
        match collect(&hub, grace).await {
            Ok(Some(0)) => hub.content_gc.notified().await,
            // Younger content is named soon, or deleted by a later collection.
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "failed to collect content"),
        }
    }
}

/// Deletes content that nothing names. Returns how much of it is too young to be deleted, or none if the cache is
/// behind: it lacks a revision or a catalog that may name content.
async fn collect(hub: &Hub, grace: Duration) -> Result<Option<usize>, Error> {
    // From here on, content is named by a revision in the cache or in the write-ahead log, or the cache is behind.
    let _exclusive = hub.content_reservations.collect().await;
    // Read first: a revision that leaves the log is in the cache or pending by then.
    let logged = hub.write_ahead_log.named();
    if hub.cache.has_pending_revisions() {
        return Ok(None);
    }
    let before = Timestamp::now() - grace;
    let Some(catalogs) = hub.catalogs.named(&hub.cache) else { return Ok(None) };
    let revisions = hub.cache.revisions.state();
    let contents = revisions.iter().flat_map(|revision| revision.spec.contents()).cloned().map(Digest::from);
    let named: BTreeSet<Digest> = contents.chain(logged).chain(catalogs).collect();
    hub.content.sweep(&named, before).await.map(Some)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_collection_waits_for_reservations() {
        let reservations = ContentReservations::default();
        let first = reservations.reserve().now_or_never().unwrap();
        let second = reservations.reserve().now_or_never().unwrap();
        drop(first);
        assert!(reservations.collect().now_or_never().is_none());
        drop(second);
        assert!(reservations.collect().now_or_never().is_some());
    }

    #[test]
    fn a_reservation_waits_for_a_collection() {
        let reservations = ContentReservations::default();
        let exclusive = reservations.collect().now_or_never().unwrap();
        assert!(reservations.reserve().now_or_never().is_none());
        drop(exclusive);
        assert!(reservations.reserve().now_or_never().is_some());
    }
}
