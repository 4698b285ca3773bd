//! Snapshots of catalogs: the extensions that a catalog offered when it was last read, and how they may change.

mod chart;

pub use chart::{ChartDefinition, ChartLocation, ChartVersion, chart_definitions};
