//! The hub, run by `fitout hub`.

use crate::failure::Failure;

/// Runs the hub until it is told to stop.
pub(crate) async fn run(client: kube::Client) -> Result<(), Failure> {
    // For whoever runs the hub: what it does and why not, a line each.
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_target(false).init();
    let ended = fitout_hub::run(client, fitout_hub::Options::default()).await;
    ended.map_err(|error| Failure::new(format!("the hub has stopped: {error:#}")))
}
