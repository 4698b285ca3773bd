//! Live tests of predictions against a real API server: a module for each feature.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod crds;
mod immutable_fields;
