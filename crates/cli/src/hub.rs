//! The hub, run by `fitout hub`.

use std::sync::Arc;

use fitout_hub::Hub;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments;
use crate::failure::Failure;

/// Runs the hub until it is told to stop.
pub(crate) async fn run(config: kube::Config, arguments: &arguments::Hub) -> Result<(), Failure> {
    // For whoever runs the hub: what it does and why not, a line each.
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_target(false).init();
    let arguments::Hub { history, sweep_after, lease, serve } = *arguments;
    let options = fitout_hub::Options { history, sweep_after, lease };
    let stopped = |error| Failure::new(format!("the hub has stopped: {error:#}"));
    let hub = Hub::start(config, options).await.map_err(stopped)?;
    let served = async {
        match serve {
            Some(address) => fitout_server::serve_compute(Arc::clone(&hub), address).await,
            None => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        ended = Arc::clone(&hub).lead(told_to_stop()) => ended,
        ended = served => ended,
    };
    ended.map_err(stopped)
}

/// Waits for what Kubernetes sends a pod that is to end, or what a person types.
async fn told_to_stop() {
    let Ok(mut end) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = end.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
