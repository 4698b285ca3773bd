//! Catalogs as the hub and the linter read them.

#![allow(dead_code, reason = "each test uses some of it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use fitout_authoring::{Environment, Finding, LintContext, Severity, lint_catalog, lint_states};
use fitout_catalogs::{Directory, RawExtension, keep_newest};
use fitout_environment::HostEnvironment;
use fitout_model::{FileMap, Problem, States};
use fitout_snapshot::{Dependencies, dependency_cycles};
use serde_json::json;

pub(crate) fn files(entries: &[(&str, &str)]) -> FileMap {
    entries.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

/// A definition without a problem.
pub(crate) fn definition(extension: &str, version: &str) -> String {
    with(extension, version, "")
}

/// A definition with these lines in its spec, the first of which is line 8.
pub(crate) fn with(extension: &str, version: &str, fields: &str) -> String {
    format!(
        "apiVersion: fitout.dev/v1alpha1\nkind: ExtensionDefinition\nmetadata: {{ name: {extension} }}\nspec:\n  extension: \
         {extension}\n  version: {version}\n  helm: {{ chart: web, repository: 'https://charts.example.com' }}\n{fields}"
    )
}

/// One sentence a line; `nothing` for none.
pub(crate) fn sentences(all: &[String]) -> String {
    if all.is_empty() { "nothing".to_owned() } else { all.join("\n        ") }
}

/// The problems that the hub reports for a source with these states and extensions.
pub(crate) fn read((states, extensions): (Option<Vec<u8>>, Vec<RawExtension>)) -> Vec<String> {
    let states = match states.map(|content| States::parse(&content)).transpose() {
        Ok(states) => states.unwrap_or_default(),
        Err(problem) => return vec![Problem::from(problem).to_string()],
    };
    let (mut names, mut dependencies) = (BTreeSet::new(), vec![]);
    let mut problems: Vec<Problem> = states.problems.iter().cloned().map(Problem::from).collect();
    for raw in extensions {
        let (name, is_chart) = (raw.name().to_owned(), raw.is_chart());
        let mut extension = raw.parse();
        problems.extend(extension.problems.into_iter().map(|(_, problem)| problem));
        problems.extend(keep_newest(&name, &mut extension.packages));
        dependencies.extend(Dependencies::of(&extension.packages, is_chart));
        names.insert(name);
    }
    problems.extend(states.misspelt(&names.iter().map(String::as_str).collect()).into_iter().map(Problem::from));
    problems.extend(dependency_cycles(&dependencies));
    problems.iter().map(ToString::to_string).collect()
}

/// The same for a directory with these files, and what else is put into it.
pub(crate) fn read_directory(files: &FileMap, add: impl FnOnce(&Path)) -> Vec<String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("fitout-bad-input-{}-{number}", std::process::id()));
    for (name, content) in files {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
    add(&path);
    let mut directory = Directory::open(&path).unwrap();
    let states = directory.states.take();
    let found = read((states, directory.map(Result::unwrap).collect()));
    fs::remove_dir_all(&path).unwrap();
    found
}

/// The errors that `fitout extension lint` finds in a catalog.
pub(crate) fn linted(files: &FileMap) -> Vec<String> {
    let mut places: BTreeSet<String> = BTreeSet::new();
    for path in files.keys() {
        places.extend(path.match_indices('/').nth(1).map(|(at, _)| path[..at].to_owned()));
    }
    let directory = |place: String| {
        let prefix = format!("{place}/");
        let own = files.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        let files = own.map(|(path, content)| (path[prefix.len()..].to_owned(), content.clone())).collect();
        fitout_authoring::Directory { path: place.clone(), place: Some(place), files }
    };
    let directories: Vec<_> = places.into_iter().map(directory).collect();
    let environment: Rc<dyn Environment> = Rc::new(HostEnvironment);
    let values = json!({});
    let context = LintContext { charts: &[], offered: &[], values: &values, environment: &environment };
    let mut findings = lint_catalog(&directories, context);
    findings.extend(files.get("states.yaml").iter().flat_map(|text| lint_states("states.yaml", text, &directories)));
    findings.iter().filter(|finding| finding.severity == Severity::Error).map(sentence).collect()
}

fn sentence(Finding { path, field, line, message, remedy, .. }: &Finding) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    let field = field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
    format!("{path}{line}: {field}{message}; {remedy}")
}
