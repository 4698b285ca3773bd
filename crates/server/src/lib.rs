//! What the hub serves over HTTP: the aggregated API, and what an operator's tools ask of it.

pub mod observe;
