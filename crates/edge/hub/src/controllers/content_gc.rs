//! Content that no revision names any more goes, some time after the last one did.
//!
//! Nobody is held up by it, a crash between a revision's end and its content's loses nothing, and content that was kept
//! for a revision that is just being written is too young to go.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use fitout_model::Digest;
use k8s_openapi::jiff::Timestamp;
use tokio::time::sleep;

use crate::Hub;

pub(crate) async fn run(hub: Arc<Hub>) -> Result<()> {
    loop {
        let age = hub.options.content_gc_grace;
        sleep(age).await;
        // A revision that was not heard of names something too.
        if hub.cache.has_pending_revisions() {
            continue;
        }
        let before = Timestamp::now() - age;
        let revisions = hub.cache.revisions.state();
        let digests =
            revisions.iter().flat_map(|revision| [&revision.spec.artifact_digest, &revision.spec.chart_digest]);
        let named: BTreeSet<Digest> =
            digests.flatten().cloned().map(Digest::from).chain(hub.write_ahead_log.named()).collect();
        match hub.content.sweep(&named, before).await {
            Ok(0) => hub.content_gc.notified().await,
            // Either it is named soon, or it is swept up next time.
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "sweep"),
        }
    }
}
