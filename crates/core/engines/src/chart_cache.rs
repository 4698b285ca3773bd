//! Charts that were read `chart_cache`, on each thread: a fleet installs the same one many times.
//!
//! A chart is known by the digest of its files, so what is made of it is the same as if it were read again.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use fitout_helm_chart::Chart;
use fitout_helm_release::{Chart as Recorded, SharedChart};
use fitout_model::{Digest, Problem};
use serde_json::Value;

/// How many bytes the files of all kept charts may have. What is parsed of them takes several times as much.
const KEPT: usize = 1 << 20;

thread_local! {
    /// Those that were asked for last are at the end.
    static CHARTS: RefCell<Vec<(Digest, Rc<Loaded>)>> = const { RefCell::new(Vec::new()) };
}

/// A chart that has been read, and what does not change from one release of it to the next.
pub(crate) struct Loaded {
    pub(crate) chart: Chart,
    crds: OnceCell<Vec<Value>>,
    recorded: OnceCell<SharedChart>,
}

impl Loaded {
    pub(crate) fn new(chart: Chart) -> Self {
        Self { chart, crds: OnceCell::new(), recorded: OnceCell::new() }
    }

    /// The definitions of custom resources in it, as `read` reads them.
    pub(crate) fn crds(&self, read: impl FnOnce(&Chart) -> Result<Vec<Value>, Problem>) -> Result<&[Value], Problem> {
        if let Some(known) = self.crds.get() {
            return Ok(known);
        }
        let crds = read(&self.chart)?;
        Ok(self.crds.get_or_init(|| crds))
    }

    /// It as Helm records it, as `make` makes that.
    pub(crate) fn recorded(&self, make: impl FnOnce(&Chart) -> Recorded) -> &SharedChart {
        self.recorded.get_or_init(|| make(&self.chart).into())
    }

    fn size(&self) -> usize {
        self.chart.raw.iter().map(|file| file.data.len()).sum()
    }
}

/// The chart of the files with this digest: kept, or read now.
pub(crate) fn loaded(
    digest: Option<&Digest>,
    load: impl FnOnce() -> Result<Chart, Problem>,
) -> Result<Rc<Loaded>, Problem> {
    let Some(digest) = digest else { return Ok(Rc::new(Loaded::new(load()?))) };
    if let Some(known) = CHARTS.with_borrow_mut(|charts| again(charts, digest)) {
        return Ok(known);
    }
    let fresh = Rc::new(Loaded::new(load()?));
    CHARTS.with_borrow_mut(|charts| keep(charts, digest, &fresh));
    Ok(fresh)
}

fn again(charts: &mut [(Digest, Rc<Loaded>)], digest: &Digest) -> Option<Rc<Loaded>> {
    let place = charts.iter().position(|(known, _)| known == digest)?;
    charts[place..].rotate_left(1);
    charts.last().map(|(_, chart)| Rc::clone(chart))
}

/// Keeps a chart in the place of those that were not asked for the longest, unless it is too large itself.
fn keep(charts: &mut Vec<(Digest, Rc<Loaded>)>, digest: &Digest, fresh: &Rc<Loaded>) {
    let mut left = KEPT;
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
    let stay = charts.iter().rev().take_while(|(_, chart)| fits(chart)).count();
    charts.drain(..charts.len() - stay);
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

    fn is_kept(digest: &Digest) -> bool {
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
    fn what_was_not_asked_for_the_longest_goes_first_and_what_is_too_large_is_not_kept() {
        let [a, b, c, large] = ["a", "b", "c", "large"].map(Digest::of);
        for digest in [&a, &b] {
            loaded(Some(digest), || Ok(chart(KEPT * 2 / 5))).unwrap();
        }
        loaded(Some(&large), || Ok(chart(KEPT))).unwrap();
        assert!(is_kept(&a) && is_kept(&b) && !is_kept(&large));
        loaded(Some(&a), || Ok(chart(0))).unwrap();
        loaded(Some(&c), || Ok(chart(KEPT * 2 / 5))).unwrap();
        assert!(is_kept(&a) && !is_kept(&b) && is_kept(&c));
    }

    #[test]
    fn what_cannot_be_read_is_not_kept() {
        let digest = Digest::of("wrong");
        let wrong = Problem { field: "chart".to_owned(), message: "it is none".to_owned(), hint: None };
        assert!(loaded(Some(&digest), || Err(wrong)).is_err());
        assert!(!is_kept(&digest));
    }
}
