//! How much of the code decides, and how much carries out.

use std::fs;
use std::path::Path;

/// The crates above the line in the design's table; all others but those for tests and chores are the edge.
const PURE: [&str; 14] = [
    "gotmpl", "goyaml", "goregex", "gotoml", "range", "sprig", "chart", "release", "model", "resolve", "engines",
    "health", "plan", "change",
];
const EDGE: [&str; 9] = ["api", "chance", "content", "source", "catalog", "target", "hub", "server", "cli"];

fn lines(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => lines(&path),
            Some("rs") => fs::read_to_string(&path).unwrap().lines().count(),
            _ => 0,
        })
        .sum()
}

#[test]
fn more_than_half_of_the_code_is_pure() {
    let crates = fitout_testkit::paths::checkout().join("crates");
    let mut all: Vec<String> =
        fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    all.retain(|name| name != "testkit");
    all.sort();
    let mut known: Vec<&str> = PURE.into_iter().chain(EDGE).collect();
    known.sort_unstable();
    assert_eq!(all, known, "a new crate belongs to one of the two");
    let count = |names: &[&str]| names.iter().map(|name| lines(&crates.join(name).join("src"))).sum::<usize>();
    let (pure, edge) = (count(&PURE), count(&EDGE));
    assert!(pure > edge, "{pure} lines decide, {edge} carry out");
}
