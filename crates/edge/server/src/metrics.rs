//! How a hub is watched over: whether it works, whether it is ready, and its measures.

use std::io;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use fitout_hub::MetricsHandle;
use tokio::net::TcpListener;

/// What Prometheus calls the format.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers `/healthz`, `/readyz` and `/metrics` for as long as it is not dropped. Whoever reaches it may ask: it tells names
/// and numbers, never values.
pub async fn serve(listener: TcpListener, window: MetricsHandle) -> io::Result<()> {
    let router = Router::new()
        // That there is an answer is the answer.
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(window);
    axum::serve(listener, router).await
}

async fn ready(State(window): State<MetricsHandle>) -> impl IntoResponse {
    if window.is_ready() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready: the hub has not read all objects from its API server yet\n")
    }
}

async fn metrics(State(window): State<MetricsHandle>) -> impl IntoResponse {
    ([(CONTENT_TYPE, OPEN_METRICS)], window.metrics())
}
