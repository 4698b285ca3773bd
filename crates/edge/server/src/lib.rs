//! The HTTP servers of the hub: the aggregated API, and health and metrics.

mod compute;
pub mod metrics;

pub use compute::serve as serve_compute;
