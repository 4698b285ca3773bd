//! All charts of the testbed, or those in given directories, rendered by Helm and by us: `cargo xtask conformance helm`.

#[path = "../tests/conformance/mod.rs"]
mod conformance;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use conformance::{Answer, Case, cases, difference};
use fitout_testkit::Programs;

/// How a chart did.
#[derive(Default)]
struct Tally {
    rendered: usize,
    refused: usize,
    different: Vec<String>,
}

fn main() -> Result<()> {
    let programs = Programs::get()?;
    let mut given: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let once = given.first().is_some_and(|first| first.as_os_str() == "--once");
    given.drain(..usize::from(once));
    let charts: Vec<(String, PathBuf)> = if given.is_empty() {
        programs.charts()?.into_iter().collect()
    } else {
        given.into_iter().map(|path| (path.display().to_string(), path)).collect()
    };
    println!("{:32} {:>9} {:>9} {:>9}", "chart", "rendered", "refused", "different");
    let (mut all, mut different) = (0, 0);
    for (name, path) in charts {
        let on_request = tried(&cases(&path, once)?, &programs)?;
        let Tally { rendered, refused, different: found } = &on_request;
        println!("{name:32} {rendered:>9} {refused:>9} {:>9}", found.len());
        // What differs in one way mostly differs in all.
        found.iter().take(1).for_each(|shown| println!("{shown}"));
        all += rendered + refused + found.len();
        different += found.len();
    }
    println!("{} of {all} are the same", all - different);
    ensure!(different == 0, "{different} are different");
    Ok(())
}

fn tried(cases: &[Case], programs: &Programs) -> Result<Tally> {
    let mut on_request = Tally::default();
    for case in cases {
        let (theirs, ours) = (case.theirs(programs)?, case.ours());
        if theirs != ours {
            on_request.different.push(format!("  {case:?}\n{}", difference(&theirs, &ours)));
        } else if matches!(ours, Answer::Text(_)) {
            on_request.rendered += 1;
        } else {
            on_request.refused += 1;
        }
    }
    Ok(on_request)
}
