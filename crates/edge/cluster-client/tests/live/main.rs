//! Live tests of the client of a target cluster: a module for each feature.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod client;
mod failure_causes;
