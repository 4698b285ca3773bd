//! Live tests of the controllers, which run in this process: a module for each feature.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod catalogs;
mod chart_repositories;
mod charts;
mod clean_install;
mod community_catalog;
mod drift;
mod drift_latency;
mod every;
mod every_chart;
mod helm_interchange;
mod helm_issues;
mod hooks;
mod lifecycle;
mod remote_catalogs;
mod repository;
mod world;
