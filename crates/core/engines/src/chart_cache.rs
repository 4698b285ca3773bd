//! A cache of parsed charts, one per thread: a fleet installs the same chart many times.
//!
//! The key is the digest of the chart's files, so a cached chart renders the same as one that is read again.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use fitout_helm_chart::Chart;
use fitout_helm_release::{Chart as Recorded, SharedChart};
use fitout_model::{Digest, Problem};
use serde_json::Value;

/// The capacity in bytes of chart files. Parsed charts take several times as much.
const CAPACITY: usize = 1 << 20;

thread_local! {
    /// The most recently used chart is last.
    static CHARTS: RefCell<Vec<(Digest, Rc<Loaded>)>> = const { RefCell::new(Vec::new()) };
}

/// A parsed chart, with all that is the same for each of its releases.
pub(crate) struct Loaded {
    pub(crate) chart: Chart,
    crds: OnceCell<Vec<Value>>,
    recorded: OnceCell<SharedChart>,
}

impl Loaded {
    pub(crate) fn new(chart: Chart) -> Self {
        Self { chart, crds: OnceCell::new(), recorded: OnceCell::new() }
    }

    /// The CRDs of the chart, which `read` parses once.
    pub(crate) fn crds(&self, read: impl FnOnce(&Chart) -> Result<Vec<Value>, Problem>) -> Result<&[Value], Problem> {
        if let Some(crds) = self.crds.get() {
            return Ok(crds);
        }
        let crds = read(&self.chart)?;
        Ok(self.crds.get_or_init(|| crds))
    }

    /// The chart as a release record contains it, which `make` builds once.
    pub(crate) fn recorded(&self, make: impl FnOnce(&Chart) -> Recorded) -> &SharedChart {
        self.recorded.get_or_init(|| make(&self.chart).into())
    }

    fn size(&self) -> usize {
        self.chart.raw.iter().map(|file| file.data.len()).sum()
    }
}

/// The chart with this digest: cached, or read now.
pub(crate) fn loaded(
    digest: Option<&Digest>,
    load: impl FnOnce() -> Result<Chart, Problem>,
) -> Result<Rc<Loaded>, Problem> {
    let Some(digest) = digest else { return Ok(Rc::new(Loaded::new(load()?))) };
    if let Some(cached) = CHARTS.with_borrow_mut(|charts| cached(charts, digest)) {
        return Ok(cached);
    }
    let fresh = Rc::new(Loaded::new(load()?));
    CHARTS.with_borrow_mut(|charts| insert(charts, digest, &fresh));
    Ok(fresh)
}

/// The cached chart, marked as the most recently used.
fn cached(charts: &mut [(Digest, Rc<Loaded>)], digest: &Digest) -> Option<Rc<Loaded>> {
    let place = charts.iter().position(|(known, _)| known == digest)?;
    charts[place..].rotate_left(1);
    charts.last().map(|(_, chart)| Rc::clone(chart))
}

/// Inserts a chart and evicts the least recently used ones, unless the chart exceeds the capacity by itself.
fn insert(charts: &mut Vec<(Digest, Rc<Loaded>)>, digest: &Digest, fresh: &Rc<Loaded>) {
    let mut left = CAPACITY;
    let mut fits = |chart: &Rc<Loaded>| match left.checked_sub(chart.size()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    if !fits(fresh) {
        return;
    }
    let kept = charts.iter().rev().take_while(|(_, chart)| fits(chart)).count();
    charts.drain(..charts.len() - kept);
    charts.push((digest.clone(), Rc::clone(fresh)));
}

#[cfg(test)]
mod tests {
    use fitout_helm_chart::{File, Warnings};

    use super::*;

    /// A chart with a file of this size.
    fn chart(size: usize) -> Chart {
        let metadata = "apiVersion: v2\nname: web\nversion: 1.0.0\n";
        let files = vec![File::new("Chart.yaml", metadata), File::new("data", "x".repeat(size))];
        Chart::from_files(files, &mut Warnings::new()).unwrap()
    }

    fn is_cached(digest: &Digest) -> bool {
        CHARTS.with_borrow(|charts| charts.iter().any(|(known, _)| known == digest))
    }

    #[test]
    fn a_chart_is_read_once_for_each_digest() {
        let digests = [Digest::of("a"), Digest::of("b")];
        let first = loaded(Some(&digests[0]), || Ok(chart(1))).unwrap();
        let other = loaded(Some(&digests[1]), || Ok(chart(1))).unwrap();
        let again = loaded(Some(&digests[0]), || panic!("it was read before")).unwrap();
        assert!(Rc::ptr_eq(&first, &again) && !Rc::ptr_eq(&first, &other));
    }

    #[test]
    fn least_recently_used_charts_are_evicted_and_oversized_ones_not_cached() {
        let [a, b, c, large] = ["a", "b", "c", "large"].map(Digest::of);
        for digest in [&a, &b] {
            loaded(Some(digest), || Ok(chart(CAPACITY * 2 / 5))).unwrap();
        }
        loaded(Some(&large), || Ok(chart(CAPACITY))).unwrap();
        assert!(is_cached(&a) && is_cached(&b) && !is_cached(&large));
        loaded(Some(&a), || Ok(chart(0))).unwrap();
        loaded(Some(&c), || Ok(chart(CAPACITY * 2 / 5))).unwrap();
        assert!(is_cached(&a) && !is_cached(&b) && is_cached(&c));
    }

    #[test]
    fn a_chart_that_cannot_be_read_is_not_cached() {
        let digest = Digest::of("wrong");
        let wrong = Problem { field: "chart".to_owned(), message: "it is invalid".to_owned(), hint: None };
        assert!(loaded(Some(&digest), || Err(wrong)).is_err());
        assert!(!is_cached(&digest));
    }
}
