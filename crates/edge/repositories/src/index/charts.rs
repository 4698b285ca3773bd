//! The charts that are kept of an index: one, or each of them.

use std::collections::HashSet;

use fitout_snapshot::ChartVersion;
use serde_json::Value;

use super::{Charts, Release, chart_version};
use crate::{IndexError, IndexedChart};

/// The versions of one chart.
#[derive(Debug)]
pub(crate) struct OneChart<'c> {
    chart: &'c str,
    /// None if the index does not have the chart.
    pub(crate) releases: Option<Vec<Release>>,
}

impl<'c> OneChart<'c> {
    pub(crate) fn new(chart: &'c str) -> Self {
        Self { chart, releases: None }
    }
}

impl Charts for OneChart<'_> {
    fn begin(&mut self, chart: &str) -> Result<bool, IndexError> {
        let is_wanted = chart == self.chart;
        if is_wanted {
            self.releases.get_or_insert_default();
        }
        Ok(is_wanted)
    }

    fn add(&mut self, entry: Value) -> Result<(), IndexError> {
        self.releases.get_or_insert_default().extend(Release::read(&entry));
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.releases.is_some()
    }
}

/// All charts, each of which is handed on when it is complete.
pub(crate) struct AllCharts<F> {
    found: F,
    names: HashSet<String>,
    current: IndexedChart,
    /// The number of versions left until the limit.
    left: usize,
    limit: usize,
}

impl<F: FnMut(IndexedChart)> AllCharts<F> {
    /// Creates a receiver that hands each chart on, of an index with up to this many versions.
    pub(crate) fn new(limit: usize, found: F) -> Self {
        Self { found, names: HashSet::new(), current: IndexedChart::default(), left: limit, limit }
    }
}

impl<F: FnMut(IndexedChart)> Charts for AllCharts<F> {
    fn begin(&mut self, chart: &str) -> Result<bool, IndexError> {
        // An empty chart counts as a version, so that charts are limited too.
        self.left = self.left.checked_sub(1).ok_or(IndexError::TooManyVersions(self.limit))?;
        if !self.names.insert(chart.to_owned()) {
            return Err(IndexError::DuplicateChart(chart.to_owned()));
        }
        self.current = IndexedChart { name: chart.to_owned(), versions: Vec::new() };
        Ok(true)
    }

    fn add(&mut self, entry: Value) -> Result<(), IndexError> {
        self.left = self.left.checked_sub(1).ok_or(IndexError::TooManyVersions(self.limit))?;
        self.current.versions.extend(chart_version(entry));
        Ok(())
    }

    fn end(&mut self) {
        let mut chart = std::mem::take(&mut self.current);
        limit_annotations(&mut chart.versions);
        (self.found)(chart);
    }
}

/// The bytes of annotations of a chart's versions that are kept in any case.
const MAX_ANNOTATIONS: usize = 4 << 20;

/// The longest annotation that is kept beyond that.
const SHORT_ANNOTATION: usize = 512;

/// Drops the long annotations of Artifact Hub, such as the changes of a version, from the versions after those that have
/// 4 MB of them.
fn limit_annotations(versions: &mut [ChartVersion]) {
    let mut left = MAX_ANNOTATIONS;
    for version in versions {
        version.annotations.retain(|key, text| {
            let fits = text.len() <= left;
            left = left.saturating_sub(text.len());
            fits || text.len() <= SHORT_ANNOTATION || key.starts_with("fitout.dev/")
        });
    }
}
