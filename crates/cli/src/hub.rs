//! The hub, run by `fitout hub`.

use std::net::SocketAddr;
use std::sync::Arc;

use fitout_hub::{Hub, MetricsHandle};
use fitout_server::metrics as metrics_server;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Code;
use crate::{arguments, logging};

/// Runs the hub until it is told to stop. Why it stopped otherwise is in its log, as everything else.
pub(crate) async fn run(config: kube::Config, arguments: &arguments::Hub) -> Code {
    let arguments::Hub {
        history,
        content_gc_grace,
        lease,
        fetch_retry_interval,
        metrics_address,
        log_format,
        log_level,
        api_address,
    } = *arguments;
    logging::start(log_format, log_level);
    let options = fitout_hub::Options { history, content_gc_grace, lease, fetch_retry_interval };
    let metrics = MetricsHandle::default();
    let work = async {
        let hub = Hub::start(config, options, &metrics).await?;
        tokio::select! {
            ended = Arc::clone(&hub).lead(stop_signal()) => ended,
            ended = serve_api(api_address, &hub) => ended,
        }
    };
    let ended = tokio::select! {
        ended = work => ended.map_err(|error| format!("{error:#}")),
        why = serve_metrics(metrics_address, metrics.clone()) => Err(why),
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
async fn serve_api(address: Option<SocketAddr>, hub: &Arc<Hub>) -> anyhow::Result<()> {
    match address {
        Some(address) => fitout_server::serve_compute(Arc::clone(hub), address).await,
        None => std::future::pending().await,
    }
}

/// Lets the hub be watched over, where an address is given. It only ends where that cannot be.
async fn serve_metrics(address: Option<SocketAddr>, metrics: MetricsHandle) -> String {
    let Some(address) = address else { return std::future::pending().await };
    let ended = match TcpListener::bind(address).await {
        Ok(listener) => metrics_server::serve(listener, metrics).await,
        Err(error) => Err(error),
    };
    let why = ended.err().map(|error| error.to_string()).unwrap_or_default();
    format!("cannot listen on {address}: {why}; --metrics-address takes another address")
}

/// Waits for what Kubernetes sends a pod that is to end, or what a person types.
async fn stop_signal() {
    let Ok(mut end) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = end.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
