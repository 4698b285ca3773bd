//! `fitout hub`: runs the hub.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use fitout_hub::MetricsHandle;
use fitout_server::metrics as metrics_server;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::durations;
use crate::failure::Code;
use crate::logging::{self, LogFormat, LogLevel};

#[derive(Args)]
pub(crate) struct Hub {
    /// Number of revisions to keep per instance, beside the deployed one
    #[arg(long, value_name = "COUNT", default_value_t = 9)]
    history: usize,
    /// How long content stays in the store after the last revision that names it is deleted
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = durations::parse, alias = "sweep-after")]
    content_gc_grace: Duration,
    /// Lease duration: another replica takes over when the leader has not renewed for this long
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = durations::parse)]
    lease: Duration,
    /// Retry interval after a permanent fetch failure (wrong digest, 401, invalid chart)
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = durations::parse, alias = "revisit")]
    fetch_retry_interval: Duration,
    /// Address that serves /healthz, /readyz and /metrics, such as 0.0.0.0:8080 [default: none]
    #[arg(long, value_name = "ADDRESS", alias = "observe")]
    metrics_address: Option<SocketAddr>,
    /// Format of log lines
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
    /// Least severe level that is logged
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "info")]
    log_level: LogLevel,
    /// Address that serves compute.fitout.dev (plans, values and extensions) to the API server, such as 0.0.0.0:8443 [default: none]
    #[arg(long, value_name = "ADDRESS", alias = "serve")]
    api_address: Option<SocketAddr>,
}

/// Why the hub stopped on its own.
#[derive(Debug, thiserror::Error)]
enum HubError {
    #[error("{0:#}")]
    Hub(anyhow::Error),
    #[error("cannot listen on {address}: {error}; choose another address with --metrics-address")]
    Metrics { address: SocketAddr, error: io::Error },
}

/// Runs the hub until a signal stops it. An error is logged, like everything else that the hub reports.
pub(crate) async fn run(config: kube::Config, arguments: &Hub) -> Code {
    let Hub {
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
        let hub = fitout_hub::Hub::start(config, options, &metrics).await?;
        tokio::select! {
            ended = Arc::clone(&hub).lead(stop_signal()) => ended,
            ended = serve_api(api_address, &hub) => ended,
        }
    };
    let ended = tokio::select! {
        ended = work => ended.map_err(HubError::Hub),
        error = serve_metrics(metrics_address, metrics.clone()) => Err(error),
    };
    match ended {
        Ok(()) => Code::Done,
        Err(error) => {
            tracing::error!("the hub has stopped: {error}");
            Code::Failed
        }
    }
}

/// Serves the aggregated API, if an address is given.
async fn serve_api(address: Option<SocketAddr>, hub: &Arc<fitout_hub::Hub>) -> anyhow::Result<()> {
    match address {
        Some(address) => fitout_server::serve_compute(Arc::clone(hub), address).await,
        None => std::future::pending().await,
    }
}

/// Serves metrics and health, if an address is given. Ends only with an error.
async fn serve_metrics(address: Option<SocketAddr>, metrics: MetricsHandle) -> HubError {
    let Some(address) = address else { return std::future::pending().await };
    let ended = match TcpListener::bind(address).await {
        Ok(listener) => metrics_server::serve(listener, metrics).await,
        Err(error) => Err(error),
    };
    let error = ended.err().unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into());
    HubError::Metrics { address, error }
}

/// Waits for SIGTERM, which Kubernetes sends to a pod, or for Ctrl-C.
async fn stop_signal() {
    let Ok(mut end) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = end.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use crate::commands::Command;
    use clap::Parser;

    fn parsed(words: &str) -> Hub {
        let words = ["fitout", "hub"].into_iter().chain(words.split(' '));
        let Command::Hub(hub) = Arguments::try_parse_from(words).unwrap().command else { unreachable!() };
        hub
    }

    #[test]
    fn old_flags_are_aliases() {
        for words in [
            "--metrics-address 0.0.0.0:1 --content-gc-grace 1m --fetch-retry-interval 2m --api-address 0.0.0.0:2",
            "--observe 0.0.0.0:1 --sweep-after 1m --revisit 2m --serve 0.0.0.0:2",
        ] {
            let hub = parsed(words);
            assert_eq!(hub.metrics_address.unwrap().port(), 1, "{words}");
            assert_eq!(hub.content_gc_grace, Duration::from_mins(1), "{words}");
            assert_eq!(hub.fetch_retry_interval, Duration::from_mins(2), "{words}");
            assert_eq!(hub.api_address.unwrap().port(), 2, "{words}");
        }
    }
}
