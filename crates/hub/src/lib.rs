//! The hub: controllers that make clusters what people want them to be.
//!
//! One index holds what the hub's API server says, kept up to date by watches. Each cluster has a worker that owns the
//! connection to it; each instance has a session that asks the pure core what comes next, carries it out and reports.
//! Whatever a session knows and needs again is on record, on the hub or on the target: a hub that starts anew goes on
//! where the last one stopped.

mod catalogs;
mod clusters;
mod effects;
mod index;
mod layers;
mod organizations;
mod report;
mod session;
mod status;
mod sweeping;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use fitout_content::Content;
use kube::Client;
use kube::runtime::events::{Recorder, Reporter};
use tokio::sync::Notify;

use crate::catalogs::Catalogs;
use crate::index::Index;

/// The namespace that is the hub's own.
pub const SYSTEM: &str = "fitout-system";

/// How the hub runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many revisions of an instance are kept beside the one that is deployed.
    pub history: usize,
    /// How long content stays that no revision names.
    pub sweep_after: Duration,
}

impl Default for Options {
    fn default() -> Self {
        // As many as Helm keeps, the deployed one included.
        Self { history: 9, sweep_after: Duration::from_mins(5) }
    }
}

/// What all controllers share.
struct Hub {
    client: Client,
    options: Options,
    index: Index,
    catalogs: Catalogs,
    content: Content,
    events: Recorder,
    /// A revision is gone, and perhaps with it the last to name some content.
    sweep: Notify,
}

/// Runs the hub until it is dropped or its API server goes for good.
pub async fn run(client: Client, options: Options) -> Result<()> {
    let hub = Arc::new(Hub {
        index: Index::start(&client).await?,
        catalogs: Catalogs::default(),
        content: Content::new(client.clone(), SYSTEM),
        events: Recorder::new(client.clone(), Reporter::from("fitout-hub")),
        sweep: Notify::new(),
        client,
        options,
    });
    tracing::info!("the hub is ready");
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(organizations::run(Arc::clone(&hub)));
    tasks.spawn(catalogs::run(Arc::clone(&hub)));
    tasks.spawn(sweeping::run(Arc::clone(&hub)));
    tasks.spawn(clusters::run(hub));
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}
