//! Ratio of pure code (decisions) to edge code (effects).

use std::fs;
use std::path::Path;

/// Folders of `crates/` whose crates are pure.
const PURE: [&str; 3] = ["go", "helm", "core"];

/// Folders of `crates/` whose crates carry out effects.
const EDGE: [&str; 2] = ["edge", "cli"];

/// Folders of `crates/` that are no part of the product.
const TESTS: [&str; 1] = ["testkit"];

/// Counts the lines of Rust below the `src` folders of a directory.
fn lines(dir: &Path, is_source: bool) -> usize {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => lines(&path, is_source || path.ends_with("src")),
            Some("rs") if is_source => fs::read_to_string(&path).unwrap().lines().count(),
            _ => 0,
        })
        .sum()
}

#[test]
fn more_than_half_of_the_code_is_pure() {
    let crates = fitout_testkit::paths::checkout().join("crates");
    let mut all: Vec<String> =
        fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    let mut known: Vec<&str> = PURE.into_iter().chain(EDGE).chain(TESTS).collect();
    known.sort_unstable();
    assert_eq!(all, known, "a new folder is either pure or edge");
    let count = |names: &[&str]| names.iter().map(|name| lines(&crates.join(name), false)).sum::<usize>();
    let (pure, edge) = (count(&PURE), count(&EDGE));
    assert!(pure > edge, "{pure} lines decide, {edge} carry out");
}
