//! Old idioms that must not come back into doc comments, messages, help and docs.

use std::fs;
use std::path::{Path, PathBuf};

use fitout_testkit::paths;

/// Phrases of the private language that this code once had. The terms of the field replace them: out-of-band change, watch
/// event, acquire the lease, desired state, random, object cache, write-ahead log.
const IDIOMS: [&str; 20] = [
    "another hand",
    "other hand",
    "word of",
    "is had",
    "was had",
    "made anew",
    "begins anew",
    "comes to lead",
    "came to lead",
    "takes its leave",
    "take leave",
    "on its way out",
    "what is wanted",
    "by chance",
    "a crowd",
    "the chronicle",
    "the journal",
    "sightings",
    "whoever",
    "is told",
];

/// Words that doc comments do not begin with: the noun comes first.
const OPENINGS: [&str; 6] = ["What ", "Whoever ", "Those ", "Whatever ", "Whose ", "Of what "];

/// The pages and the source folders that are read.
const PAGES: [&str; 5] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
const FOLDERS: [&str; 5] = ["docs", "crates/core", "crates/edge", "crates/cli/src", "xtask/src"];

/// The problems of a file, with their lines.
fn problems(path: &Path, text: &str) -> Vec<String> {
    let is_rust = path.extension().is_some_and(|extension| extension == "rs");
    let at = |number: usize, what: &str| format!("{}:{}: {what}", path.display(), number + 1);
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        found.extend(IDIOMS.iter().filter(|idiom| has_words(&lower, idiom)).map(|idiom| at(number, idiom)));
        let doc = line.trim_start();
        let doc = doc.strip_prefix("/// ").or_else(|| doc.strip_prefix("//! ")).filter(|_| is_rust);
        // A question may begin so.
        let doc = doc.filter(|doc| !doc.ends_with('?') && starts_paragraph(text, number));
        found.extend(
            doc.and_then(|doc| OPENINGS.iter().find(|word| doc.starts_with(**word))).map(|word| at(number, word)),
        );
    }
    found
}

/// Whether the phrase is in the line as whole words.
fn has_words(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let word = |side: Option<char>| side.is_some_and(|side| side.is_alphanumeric() || side == '_');
        !word(line[..at].chars().next_back()) && !word(line[at + phrase.len()..].chars().next())
    })
}

/// Whether a doc comment begins on this line, and does not continue the line before.
fn starts_paragraph(text: &str, number: usize) -> bool {
    let before = number.checked_sub(1).and_then(|number| text.lines().nth(number)).unwrap_or_default().trim();
    !(before.starts_with("/// ") || before.starts_with("//! "))
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Tests have names and fixtures of their own.
        if path.is_dir() && path.file_name().is_none_or(|name| name != "tests" && name != "benches") {
            files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
            into.push(path);
        }
    }
}

#[test]
fn old_idioms_are_gone_from_docs_and_code() {
    let root = paths::checkout();
    let mut all: Vec<PathBuf> = PAGES.iter().map(|page| root.join(page)).collect();
    for folder in FOLDERS {
        files(&root.join(folder), &mut all);
    }
    // The lists themselves, and the one of the CLI's help.
    all.retain(|path| !path.ends_with("idioms.rs") && !path.ends_with("cli/src/arguments.rs"));
    let found: Vec<String> = all.iter().flat_map(|path| problems(path, &fs::read_to_string(path).unwrap())).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn idioms_and_openings_are_found() {
    let text =
        "/// What came of it.\n/// Whose it is.\nfn a() {} // by Another Hand\n/// What now?\nlet password_of = 1;\n";
    assert_eq!(problems(Path::new("a.rs"), text), ["a.rs:1: What ", "a.rs:3: another hand"]);
}
