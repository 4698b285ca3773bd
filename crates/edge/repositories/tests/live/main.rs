//! Live tests of fetching charts: a module for each kind of source.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod helm;
mod registries;
mod sources;
