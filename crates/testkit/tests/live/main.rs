//! Live tests of the testbed itself: a module for each feature.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod cleanup;
mod cluster;
mod node;
mod startup_cost;
