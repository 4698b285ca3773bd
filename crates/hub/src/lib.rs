//! The hub: controllers that make clusters what people want them to be.
//!
//! One index holds what the hub's API server says, kept up to date by watches. Each cluster has a worker that owns the
//! connection to it; each instance has a session that asks the pure core what comes next, carries it out and reports.
//! Whatever a session knows and needs again is on record, on the hub or on the target: a hub that starts anew goes on
//! where the last one stopped.

mod asking;
mod catalogs;
mod charts;
mod chronicle;
mod clusters;
mod computing;
mod effects;
mod groups;
mod index;
mod journal;
mod kubeconfigs;
mod layers;
mod leading;
mod leaving;
mod living;
mod looking;
mod measures;
mod organizations;
mod planning;
mod preparing;
mod progress;
mod report;
mod session;
mod status;
mod sweeping;
mod trouble;
mod unheard;
mod valuing;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use fitout_content::Content;
use fitout_target::{Fence, guarded};
use kube::{Client, Config};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::catalogs::Catalogs;
use crate::charts::Charts;
use crate::chronicle::Chronicle;
use crate::index::Index;
use crate::journal::Journal;
use crate::leading::Leadership;
use crate::measures::Measures;

pub use measures::Window;
pub use planning::Unplanned;

/// The namespace that is the hub's own.
pub const SYSTEM: &str = "fitout-system";

/// How the hub runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many revisions of an instance are kept beside the one that is deployed.
    pub history: usize,
    /// How long content stays that no revision names.
    pub sweep_after: Duration,
    /// How long another hub waits for one that has gone silent.
    pub lease: Duration,
    /// How long until a repository is asked again whose answer only its publisher can mend.
    pub revisit: Duration,
}

impl Default for Options {
    fn default() -> Self {
        // As many revisions as Helm keeps, the deployed one included.
        Self {
            history: 9,
            sweep_after: Duration::from_mins(5),
            lease: Duration::from_secs(15),
            revisit: Duration::from_mins(10),
        }
    }
}

/// What all controllers share.
pub struct Hub {
    client: Client,
    /// One that the fence does not hold back: for what every replica may write.
    unfenced: Client,
    /// Holds back every write, to the hub's own API server and to clusters, while another hub may lead.
    fence: Fence,
    measures: Arc<Measures>,
    options: Options,
    index: Index,
    catalogs: Catalogs,
    charts: Charts,
    content: Content,
    chronicle: Chronicle,
    journal: Journal,
    /// A revision is gone, and perhaps with it the last to name some content.
    sweep: Notify,
}

/// Runs the hub until it is told to stop, seen through the window. It ends with an error when another hub leads in its place.
pub async fn run(config: Config, options: Options, window: &Window, stop: impl Future<Output = ()>) -> Result<()> {
    Hub::start(config, options, window).await?.lead(stop).await
}

impl Hub {
    /// A hub that knows all that the leader knows: it takes over in a moment, and can say what would be done.
    pub async fn start(config: Config, options: Options, window: &Window) -> Result<Arc<Self>> {
        let (fence, measures) = (Fence::default(), window.measures());
        let (client, _) = guarded(config.clone(), measures.guard(fence.clone()))?;
        let (unfenced, _) = guarded(config, measures.guard(Fence::open()))?;
        let hub = Self {
            index: Index::start(&client).await?,
            catalogs: Catalogs::default(),
            charts: Charts::default(),
            content: Content::new(client.clone(), SYSTEM),
            chronicle: Chronicle::default(),
            journal: Journal::default(),
            sweep: Notify::new(),
            fence,
            measures,
            client,
            unfenced,
            options,
        };
        hub.measures.filled(&hub.index);
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
        let leadership = Leadership::new(hub.unfenced.clone(), identity(), hub.options.lease, hub.fence.clone());
        let mut stop = pin!(stop);
        let mut lease = tokio::select! {
            lease = leadership.acquire() => lease?,
            () = &mut stop => return Ok(()),
        };
        let measures = Arc::clone(&hub.measures);
        measures.leads(true);
        tracing::info!("the hub leads");
        let mut tasks = JoinSet::new();
        let work = async {
            asking::catch_up(&hub).await;
            journal::recover(&hub).await;
            tasks.spawn(organizations::run(Arc::clone(&hub)));
            tasks.spawn(catalogs::run(Arc::clone(&hub)));
            tasks.spawn(sweeping::run(Arc::clone(&hub)));
            tasks.spawn(chronicle::run(Arc::clone(&hub)));
            tasks.spawn(clusters::run(hub));
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
                measures.leads(false);
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
