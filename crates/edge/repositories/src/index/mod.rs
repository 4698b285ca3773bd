//! The index of a repository: its charts, their versions, URLs and digests.

mod block;
#[cfg(test)]
mod block_tests;
mod charts;
mod entry;
mod line;
mod parse;
mod reader;
mod scan;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::IndexError;

pub(crate) use charts::{AllCharts, OneChart};
pub(crate) use entry::Release;
pub use entry::chart_version;
pub(crate) use parse::parse_whole;
pub(crate) use reader::IndexReader;
pub(crate) use scan::ScanError;

/// Receives the charts of an index, one after the other.
pub(crate) trait Charts {
    /// Begins a chart, and returns whether its versions are wanted. One that is not wanted has no end.
    fn begin(&mut self, chart: &str) -> Result<bool, IndexError>;

    /// Adds an entry to the chart.
    fn add(&mut self, entry: Value) -> Result<(), IndexError>;

    /// Ends the chart.
    fn end(&mut self) {}

    /// Whether the rest of the index is not needed.
    fn is_complete(&self) -> bool {
        false
    }
}

/// The result of reading an index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found<C> {
    pub(crate) charts: C,
    /// The time at which the index was generated, as it states.
    pub(crate) generated: Option<String>,
}
