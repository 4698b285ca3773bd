//! What the hub serves over HTTP: the aggregated API, and what an operator's tools ask of it.

mod compute;
pub mod metrics;

pub use compute::serve as serve_compute;
