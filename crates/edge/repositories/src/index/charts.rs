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
        let mut version = chart_version(entry).ok();
        if let Some(version) = &mut version {
            limit_annotations(version);
        }
        self.current.versions.extend(version);
        Ok(())
    }

    fn end(&mut self) {
        (self.found)(std::mem::take(&mut self.current));
    }
}

/// The bytes of annotations of a version that are kept in any case.
const MAX_ANNOTATIONS: usize = 32 << 10;

/// The longest annotation that is kept beyond that.
const SHORT_ANNOTATION: usize = 512;

/// Drops long annotations of Artifact Hub, such as the changes of a version, beyond the limit. Other versions do not matter:
/// what is read of a version must not change when another one is published.
fn limit_annotations(version: &mut ChartVersion) {
    let mut left = MAX_ANNOTATIONS;
    version.annotations.retain(|key, text| {
        let is_kept = text.len() <= left || text.len() <= SHORT_ANNOTATION || key.starts_with("fitout.dev/");
        left = left.saturating_sub(if is_kept { text.len() } else { 0 });
        is_kept
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The keys of the annotations of version 1.0.0 in an index with these newer versions.
    fn annotations(newer: usize) -> Vec<String> {
        let long = "x".repeat(20 << 10);
        let entry = |version: String| {
            let annotations = json!({
                "artifacthub.io/changes": long, "artifacthub.io/images": long, "artifacthub.io/license": "MIT",
                "fitout.dev/definition": long,
            });
            json!({ "name": "web", "version": version, "annotations": annotations })
        };
        let mut found = vec![];
        let mut charts = AllCharts::new(10_000, |chart: IndexedChart| found.push(chart));
        charts.begin("web").unwrap();
        for minor in (0..=newer).rev() {
            charts.add(entry(format!("1.{minor}.0"))).unwrap();
        }
        charts.end();
        drop(charts);
        found[0].versions.last().unwrap().annotations.keys().cloned().collect()
    }

    #[test]
    fn annotations_are_limited_for_each_version_alone() {
        let expected = ["artifacthub.io/changes", "artifacthub.io/license", "fitout.dev/definition"];
        assert_eq!(annotations(0), expected);
        assert_eq!(annotations(300), expected);
    }
}
