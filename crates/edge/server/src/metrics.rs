//! The health and metrics endpoints of the hub.

use std::io;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use fitout_hub::MetricsHandle;
use tokio::net::TcpListener;

/// The content type of the `OpenMetrics` text format.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves `/healthz`, `/readyz` and `/metrics` without authentication: the metrics contain names and numbers, never
/// values.
pub async fn serve(listener: TcpListener, hub: MetricsHandle) -> io::Result<()> {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(hub);
    axum::serve(listener, router).await
}

async fn ready(State(hub): State<MetricsHandle>) -> impl IntoResponse {
    if hub.is_ready() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready: the hub has not listed all objects of its API server yet\n")
    }
}

async fn metrics(State(hub): State<MetricsHandle>) -> impl IntoResponse {
    ([(CONTENT_TYPE, OPEN_METRICS)], hub.metrics())
}
