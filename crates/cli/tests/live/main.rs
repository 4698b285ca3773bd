//! Live tests of the command line and of the hub as a process of its own: a module for each feature.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod addons;
mod adopt;
mod ambiguous_writes;
mod authoring;
mod bad_charts;
mod catalogs;
mod chaos;
mod chart_deployment;
mod charts;
mod charts_at_installation;
mod command;
mod commands;
mod connectivity;
mod crash;
mod crash_charts;
mod early_registration;
mod error_messages;
mod faults;
mod idle;
mod metrics;
mod namespaces;
mod plan;
mod rbac;
mod readme;
mod revisions;
mod running_workloads;
mod scrape;
mod tenants;
mod values;
mod write_ahead_log;
