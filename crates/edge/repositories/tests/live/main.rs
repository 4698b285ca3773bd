//! Live tests of fetching charts: a module for each kind of source.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod archives;
mod helm;
mod index;
mod listing;
mod loader;
mod push;
mod registries;
mod sources;
