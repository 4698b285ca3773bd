//! The pages that lead through the code: every file and function that they name exists.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use fitout_testkit::paths;

/// A step of *Life of an instance*: a file and a function in it.
#[derive(Debug, PartialEq, Eq)]
struct Step<'a> {
    file: &'a str,
    function: &'a str,
}

/// Reads the steps of a section. Each is a numbered line that ends with a file and a function in backticks.
fn steps<'a>(page: &'a str, heading: &str) -> Result<Vec<Step<'a>>> {
    let section = page.split(heading).nth(1).with_context(|| format!("the page has no {heading}"))?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let numbered = section.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    numbered.map(|line| step(line).with_context(|| format!("no file and function at the end of: {line}"))).collect()
}

fn step(line: &str) -> Option<Step<'_>> {
    let mut parts = line.strip_suffix("`.")?.rsplitn(4, '`');
    let (function, space, file) = (parts.next()?, parts.next()?, parts.next()?);
    (space == " ").then_some(Step { file, function })
}

/// Why a step is wrong, if it is.
fn problem(root: &Path, step: &Step) -> Option<String> {
    let Step { file, function } = step;
    let Ok(text) = fs::read_to_string(root.join(file)) else { return Some(format!("{file} does not exist")) };
    let defined = ["(", "<"].iter().any(|next| text.contains(&format!("fn {function}{next}")));
    (!defined).then(|| format!("{file} has no function {function}"))
}

#[test]
fn life_of_an_instance_names_existing_functions() {
    let root = paths::checkout();
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let steps = steps(&page, "\n## Life of an instance\n").unwrap();
    assert!(steps.len() >= 20, "{} steps", steps.len());
    let problems: Vec<String> = steps.iter().filter_map(|step| problem(root, step)).collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn missing_file_and_function_are_named() {
    let page = "# A\n\n## Walk\n\n1. One: `xtask/src/walk.rs` `steps`.\n2. Two: `xtask/src/walk.rs` `leap`.\n3. Three: `gone.rs` \
                `x`.\n\n## Other\n\n1. no step\n";
    let steps = steps(page, "## Walk\n").unwrap();
    let problems: Vec<_> = steps.iter().map(|step| problem(paths::checkout(), step)).collect();
    let (second, third) = ("xtask/src/walk.rs has no function leap", "gone.rs does not exist");
    assert_eq!(problems, [None, Some(second.to_owned()), Some(third.to_owned())]);
}

#[test]
fn step_without_a_function_is_refused() {
    assert!(steps("## Walk\n1. One: `a.rs`.\n", "## Walk\n").is_err());
}
