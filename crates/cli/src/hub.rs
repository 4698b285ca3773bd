//! The hub, run by `fitout hub`.

use std::net::SocketAddr;
use std::sync::Arc;

use fitout_hub::{Hub, Window};
use fitout_server::observe;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Code;
use crate::{arguments, logging};

/// Runs the hub until it is told to stop. Why it stopped otherwise is in its log, as everything else.
pub(crate) async fn run(config: kube::Config, arguments: &arguments::Hub) -> Code {
    let arguments::Hub { history, sweep_after, lease, revisit, serve, observe, log_format, log_level } = *arguments;
    logging::start(log_format, log_level);
    let options = fitout_hub::Options { history, sweep_after, lease, revisit };
    let window = Window::default();
    let work = async {
        let hub = Hub::start(config, options, &window).await?;
        tokio::select! {
            ended = Arc::clone(&hub).lead(told_to_stop()) => ended,
            ended = asked(serve, &hub) => ended,
        }
    };
    let ended = tokio::select! {
        ended = work => ended.map_err(|error| format!("{error:#}")),
        why = watched_over(observe, window.clone()) => Err(why),
    };
    match ended {
        Ok(()) => Code::Done,
        Err(why) => {
            tracing::error!("the hub has stopped: {why}");
            Code::Failed
        }
    }
}

/// Lets the hub be asked for plans, where an address is given.
async fn asked(address: Option<SocketAddr>, hub: &Arc<Hub>) -> anyhow::Result<()> {
    match address {
        Some(address) => fitout_server::serve_compute(Arc::clone(hub), address).await,
        None => std::future::pending().await,
    }
}

/// Lets the hub be watched over, where an address is given. It only ends where that cannot be.
async fn watched_over(address: Option<SocketAddr>, window: Window) -> String {
    let Some(address) = address else { return std::future::pending().await };
    let ended = match TcpListener::bind(address).await {
        Ok(listener) => observe::serve(listener, window).await,
        Err(error) => Err(error),
    };
    let why = ended.err().map(|error| error.to_string()).unwrap_or_default();
    format!("cannot listen on {address}: {why}; --observe takes another address")
}

/// Waits for what Kubernetes sends a pod that is to end, or what a person types.
async fn told_to_stop() {
    let Ok(mut end) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = end.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
