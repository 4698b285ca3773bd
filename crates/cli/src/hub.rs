//! The hub, run by `fitout hub`.

use std::net::SocketAddr;

use fitout_hub::Window;
use fitout_server::observe;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Code;
use crate::{arguments, logging};

/// Runs the hub until it is told to stop. Why it stopped otherwise is in its log, as everything else.
pub(crate) async fn run(config: kube::Config, arguments: &arguments::Hub) -> Code {
    let arguments::Hub { history, sweep_after, lease, observe, log_format, log_level } = *arguments;
    logging::start(log_format, log_level);
    let options = fitout_hub::Options { history, sweep_after, lease };
    let window = Window::default();
    let ended = tokio::select! {
        ended = fitout_hub::run(config, options, &window, told_to_stop()) => ended.map_err(|error| format!("{error:#}")),
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
