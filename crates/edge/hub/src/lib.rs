//! The hub: controllers that install, upgrade and remove extensions on clusters.
//!
//! A cache holds the objects of the hub's API server, kept up to date by watches. Each cluster has a controller task
//! that owns the connection to it. Each instance has a worker that asks the pure core for the next effects, carries
//! them out and reports the status. All state that a worker needs again is recorded on the hub or on the cluster, so a
//! hub that restarts continues where the last one stopped.

mod blocking;
mod cache;
mod catalogs;
mod charts;
mod compute;
mod controllers;
mod leader_election;
mod metrics;
mod options;
mod reconcile;
mod storage;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::Arc;

use anyhow::Result;
use fitout_cluster_client::{Fence, client_with_options};
use fitout_content::Content;
use kube::{Client, Config};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::cache::Cache;
use crate::catalogs::Catalogs;
use crate::charts::Charts;
use crate::controllers::catalogs::memory::SourceMemory;
use crate::controllers::content_gc::ContentReservations;
use crate::leader_election::LeaderElection;
use crate::metrics::Metrics;
use crate::reconcile::change_queues::ChangeQueues;
use crate::storage::deferred_writes::DeferredWrites;
use crate::storage::write_ahead_log::WriteAheadLog;

pub use compute::extensions::ExtensionError;
pub use compute::plans::PlanError;
pub use metrics::MetricsHandle;
pub use options::Options;

/// The namespace of the hub.
pub const SYSTEM: &str = "fitout-system";

/// The state that all controllers share.
pub struct Hub {
    client: Client,
    /// A client without the fence, for objects that every replica may write.
    unfenced: Client,
    /// Rejects every write, to the hub's API server and to clusters, while another hub may lead.
    fence: Fence,
    metrics: Arc<Metrics>,
    options: Options,
    cache: Cache,
    catalogs: Catalogs,
    charts: Charts,
    git: fitout_git::Client,
    /// For catalogs of organizations, with lower limits.
    organization_git: fitout_git::Client,
    source_memory: SourceMemory,
    content: Content,
    deferred_writes: DeferredWrites,
    change_queues: ChangeQueues,
    write_ahead_log: WriteAheadLog,
    /// Notified when a revision was deleted: it may have been the last to name some content.
    content_gc: Notify,
    content_reservations: ContentReservations,
}

/// Runs the hub until `stop` completes. Returns an error when the lease is lost to another hub.
pub async fn run(
    config: Config,
    options: Options,
    metrics: &MetricsHandle,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    Hub::start(config, options, metrics).await?.lead(stop).await
}

impl Hub {
    /// Starts a replica with a filled cache. It can compute plans, and can take over at once when the leader stops.
    pub async fn start(config: Config, options: Options, metrics: &MetricsHandle) -> Result<Arc<Self>> {
        let (fence, metrics) = (Fence::default(), metrics.shared());
        let (client, _) = client_with_options(config.clone(), metrics.client_options(fence.clone()))?;
        let (unfenced, _) = client_with_options(config, metrics.client_options(Fence::open()))?;
        let hub = Self {
            cache: Cache::start(&client).await?,
            catalogs: Catalogs::default(),
            charts: Charts::default(),
            git: fitout_git::Client::default(),
            organization_git: fitout_git::Client::new(organization_git_limits(), std::env::temp_dir()),
            source_memory: SourceMemory::default(),
            content: Content::new(client.clone(), SYSTEM),
            deferred_writes: DeferredWrites::default(),
            change_queues: ChangeQueues::default(),
            write_ahead_log: WriteAheadLog::default(),
            content_gc: Notify::new(),
            content_reservations: ContentReservations::default(),
            fence,
            metrics,
            client,
            unfenced,
            options,
        };
        hub.metrics.filled(&hub.cache);
        tracing::info!("the hub is ready");
        Ok(Arc::new(hub))
    }

    /// A client of the hub's API server for objects that every replica may write.
    pub fn unfenced(&self) -> &Client {
        &self.unfenced
    }

    /// Waits for the lease, and then runs the controllers until `stop` completes. Returns an error when the lease is
    /// lost to another hub.
    pub async fn lead(self: Arc<Self>, stop: impl Future<Output = ()>) -> Result<()> {
        let hub = self;
        // The fence opens once the lease is written.
        let leadership = LeaderElection::new(hub.unfenced.clone(), identity(), hub.options.lease, hub.fence.clone());
        let mut stop = pin!(stop);
        let mut lease = tokio::select! {
            lease = leadership.acquire() => lease?,
            () = &mut stop => return Ok(()),
        };
        let metrics = Arc::clone(&hub.metrics);
        metrics.leads(true);
        tracing::info!("acquired lease");
        let mut tasks = JoinSet::new();
        let work = async {
            cache::consistency::catch_up(&hub).await;
            storage::write_ahead_log::recover(&hub).await;
            tasks.spawn(controllers::organizations::run(Arc::clone(&hub)));
            tasks.spawn(controllers::catalogs::run(Arc::clone(&hub)));
            tasks.spawn(controllers::content_gc::run(Arc::clone(&hub)));
            tasks.spawn(storage::deferred_writes::run(Arc::clone(&hub)));
            tasks.spawn(controllers::clusters::run(hub));
            tasks.join_next().await
        };
        tokio::select! {
            lost = leadership.keep(&mut lease) => lost,
            ended = work => match ended {
                Some(ended) => ended?,
                None => Ok(()),
            },
            () = &mut stop => {
                tracing::info!("stopping, releasing lease");
                tasks.shutdown().await;
                metrics.leads(false);
                leadership.release(lease).await
            }
        }
    }
}

/// The limits of git repositories of organizations' catalogs, which share the memory of the hub.
fn organization_git_limits() -> fitout_git::Limits {
    fitout_git::Limits { pack: 64 << 20, total: 64 << 20, ..fitout_git::Limits::default() }
}

/// The identity of this replica in the lease, unique to each start.
fn identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let suffix = RandomState::new().build_hasher().finish();
    format!("{}-{suffix:016x}", host.trim())
}
