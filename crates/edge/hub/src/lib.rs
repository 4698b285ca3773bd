//! The hub: controllers that make clusters what people want them to be.
//!
//! One index holds what the hub's API server says, kept up to date by watches. Each cluster has a worker that owns the
//! connection to it; each instance has a session that asks the pure core what comes next, carries it out and reports.
//! Whatever a session knows and needs again is on record, on the hub or on the target: a hub that restarts goes on
//! where the last one stopped.

mod blocking;
mod cache;
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
use crate::charts::Charts;
use crate::controllers::catalogs::Catalogs;
use crate::leader_election::LeaderElection;
use crate::metrics::Metrics;
use crate::storage::deferred_writes::DeferredWrites;
use crate::storage::write_ahead_log::WriteAheadLog;

pub use compute::plans::PlanError;
pub use metrics::MetricsHandle;
pub use options::Options;

/// The namespace that is the hub's own.
pub const SYSTEM: &str = "fitout-system";

/// What all controllers share.
pub struct Hub {
    client: Client,
    /// One that the fence does not hold back: for what every replica may write.
    unfenced: Client,
    /// Holds back every write, to the hub's own API server and to clusters, while another hub may lead.
    fence: Fence,
    metrics: Arc<Metrics>,
    options: Options,
    cache: Cache,
    catalogs: Catalogs,
    charts: Charts,
    content: Content,
    deferred_writes: DeferredWrites,
    write_ahead_log: WriteAheadLog,
    /// A revision is gone, and perhaps with it the last to name some content.
    content_gc: Notify,
}

/// Runs the hub until it is told to stop, seen through the window. It ends with an error when another hub leads in its place.
pub async fn run(
    config: Config,
    options: Options,
    window: &MetricsHandle,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    Hub::start(config, options, window).await?.lead(stop).await
}

impl Hub {
    /// A hub that knows all that the leader knows: it takes over in a moment, and can say what would be done.
    pub async fn start(config: Config, options: Options, window: &MetricsHandle) -> Result<Arc<Self>> {
        let (fence, metrics) = (Fence::default(), window.shared());
        let (client, _) = client_with_options(config.clone(), metrics.client_options(fence.clone()))?;
        let (unfenced, _) = client_with_options(config, metrics.client_options(Fence::open()))?;
        let hub = Self {
            cache: Cache::start(&client).await?,
            catalogs: Catalogs::default(),
            charts: Charts::default(),
            content: Content::new(client.clone(), SYSTEM),
            deferred_writes: DeferredWrites::default(),
            write_ahead_log: WriteAheadLog::default(),
            content_gc: Notify::new(),
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

    /// A client of the hub's own API server, for what every replica may write.
    pub fn unfenced(&self) -> &Client {
        &self.unfenced
    }

    /// Waits until it leads, and then works until it is told to stop. It ends with an error when another hub leads in its
    /// place.
    pub async fn lead(self: Arc<Self>, stop: impl Future<Output = ()>) -> Result<()> {
        let hub = self;
        // The lease itself must be written before anything else may be.
        let leadership = LeaderElection::new(hub.unfenced.clone(), identity(), hub.options.lease, hub.fence.clone());
        let mut stop = pin!(stop);
        let mut lease = tokio::select! {
            lease = leadership.acquire() => lease?,
            () = &mut stop => return Ok(()),
        };
        let metrics = Arc::clone(&hub.metrics);
        metrics.leads(true);
        tracing::info!("the hub leads");
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
                tracing::info!("the hub stops, and lets another lead");
                tasks.shutdown().await;
                metrics.leads(false);
                leadership.release(lease).await
            }
        }
    }
}

/// Who this hub is among its replicas: another one each time it starts.
fn identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let chance = RandomState::new().build_hasher().finish();
    format!("{}-{chance:016x}", host.trim())
}
