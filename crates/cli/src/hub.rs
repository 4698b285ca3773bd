//! The hub, run by `fitout hub`.

use tokio::signal::unix::{SignalKind, signal};

use crate::arguments;
use crate::failure::Failure;

/// Runs the hub until it is told to stop.
pub(crate) async fn run(config: kube::Config, arguments: &arguments::Hub) -> Result<(), Failure> {
    // For whoever runs the hub: what it does and why not, a line each.
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_target(false).init();
    let arguments::Hub { history, sweep_after, lease } = *arguments;
    let options = fitout_hub::Options { history, sweep_after, lease };
    let ended = fitout_hub::run(config, options, told_to_stop()).await;
    ended.map_err(|error| Failure::new(format!("the hub has stopped: {error:#}")))
}

/// Waits for what Kubernetes sends a pod that is to end, or what a person types.
async fn told_to_stop() {
    let Ok(mut end) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = end.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
