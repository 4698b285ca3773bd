//! Findings in definitions and catalogs: what a reviewer would find.

mod dependencies;
mod files;
mod kubernetes;
mod parameters;
mod requirements;
mod roles;
mod upgrades;

use std::collections::BTreeMap;
use std::rc::Rc;

use fitout_engines::Environment;
use fitout_go_yaml::{from_yaml_strict, line};
use fitout_model::{Definition, Engine, Problem, States, StatesProblem, parse_definition};
use serde_json::Value;

use crate::derive::DEFINITION;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The definition is wrong: it cannot be read, or the hub or the cluster will refuse what it does.
    Error,
    /// It works, and declares more than it needs, or leaves something out that users miss.
    Warning,
    /// Something could not be checked.
    Advice,
}

/// A finding in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How serious it is.
    pub severity: Severity,
    /// The path of the file.
    pub path: String,
    /// The field, such as `spec.kubernetes`.
    pub field: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The finding in a sentence.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

/// The directory of one definition.
#[derive(Clone, Debug)]
pub struct Directory {
    /// The path that findings name.
    pub path: String,
    /// The extension and the version that its place in a catalog demands, as `EXTENSION/VERSION`; none outside of a catalog.
    pub place: Option<String>,
    /// The files, by path within the directory.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// A chart from a repository, for definitions that refer to it.
#[derive(Clone, Debug)]
pub struct LocalChart {
    /// The name of the chart.
    pub name: String,
    /// The version of the chart.
    pub version: String,
    /// The archive.
    pub archive: Vec<u8>,
}

/// The inputs of the linter beside the definitions.
#[derive(Clone, Copy)]
pub struct LintContext<'a> {
    /// The charts of definitions whose chart is in a repository.
    pub charts: &'a [LocalChart],
    /// The definitions of other catalogs, which dependencies may name.
    pub offered: &'a [Definition],
    /// Values for parameters without a default.
    pub values: &'a Value,
    /// Random bytes, the clock and keys for templates.
    pub environment: &'a Rc<dyn Environment>,
}

/// A definition that was read, with its directory.
struct Subject<'a> {
    directory: &'a Directory,
    text: &'a str,
    definition: Definition,
}

/// The findings in single definitions: nothing is known of the other versions.
pub fn lint(directories: &[Directory], context: LintContext) -> Vec<Finding> {
    let (_, findings) = each(directories, context);
    findings
}

/// The findings in a whole catalog: in each definition, and between them.
pub fn lint_catalog(directories: &[Directory], context: LintContext) -> Vec<Finding> {
    let (subjects, mut findings) = each(directories, context);
    findings.extend(upgrades::check(&subjects));
    findings.extend(dependencies::check(&subjects, context.offered));
    findings
}

fn each<'a>(directories: &'a [Directory], context: LintContext) -> (Vec<Subject<'a>>, Vec<Finding>) {
    let (mut subjects, mut findings) = (Vec::new(), Vec::new());
    for directory in directories {
        match read(directory) {
            Ok(subject) => {
                findings.extend(check(&subject, context));
                subjects.push(subject);
            }
            Err(finding) => findings.push(*finding),
        }
    }
    (subjects, findings)
}

fn read(directory: &Directory) -> Result<Subject<'_>, Box<Finding>> {
    let path = format!("{}/{DEFINITION}", directory.path);
    let finding = |message: String, remedy: &str| {
        let remedy = remedy.to_owned();
        Finding { severity: Severity::Error, path: path.clone(), field: None, line: None, message, remedy }
    };
    let content = directory.files.get(DEFINITION).ok_or_else(|| finding("file not found".to_owned(), "add it"))?;
    let text = std::str::from_utf8(content).map_err(|_| finding("it is not UTF-8".to_owned(), "save it as UTF-8"))?;
    let document = from_yaml_strict(text)
        .map_err(|error| Finding { line: error.line(), ..finding(error.problem(), "fix the YAML") })?;
    let definition = parse_definition(&document).map_err(|problem| {
        let Problem { field, message, hint } = problem;
        let remedy = hint.unwrap_or_else(|| "correct it".to_owned());
        Finding { line: line(text, &field), field: Some(field), ..finding(message, &remedy) }
    })?;
    let named = format!("{}/{}", definition.extension, definition.version);
    let subject = Subject { directory, text, definition };
    match &directory.place {
        Some(place) if *place != named => {
            let is_extension = place.split('/').next() == Some(&subject.definition.extension);
            let field = if is_extension { "spec.version" } else { "spec.extension" };
            let remedy = "move it to that directory, or correct its extension and version";
            Err(Box::new(subject.finding(Severity::Error, field, format!("it defines {named}"), remedy)))
        }
        _ => Ok(subject),
    }
}

/// The findings in the states of a catalog's versions. The path is that of the file.
pub fn lint_states(path: &str, content: &[u8], directories: &[Directory]) -> Vec<Finding> {
    let names = directories.iter().filter_map(|directory| directory.place.as_ref()?.split('/').next()).collect();
    let finding = |severity, StatesProblem { line, problem: Problem { field, message, hint } }| Finding {
        severity,
        path: path.to_owned(),
        field: Some(field).filter(|field| !field.is_empty()),
        line,
        message,
        remedy: hint.unwrap_or_default(),
    };
    match States::parse(content) {
        Ok(states) => {
            let misspelt = states.misspelt(&names).into_iter().map(|problem| finding(Severity::Error, problem));
            let removed = states.removed(&names).into_iter().map(|problem| finding(Severity::Warning, problem));
            let problems = states.problems.iter().cloned().map(|problem| finding(Severity::Error, problem));
            problems.chain(misspelt).chain(removed).collect()
        }
        Err(problem) => vec![finding(Severity::Error, problem)],
    }
}

fn check(subject: &Subject, context: LintContext) -> Vec<Finding> {
    let mut report = Report { subject, findings: Vec::new() };
    files::check_size(&mut report);
    let chart = chart(subject, context, &mut report);
    files::check(&mut report);
    parameters::check(&mut report, chart);
    let is_here = chart.is_some() || !is_remote(&subject.definition);
    if let Some(footprint) = is_here.then(|| kubernetes::check(&mut report, chart, context)).flatten() {
        requirements::check(&mut report, &footprint);
        roles::check(&mut report, &footprint);
    }
    report.findings
}

/// Whether the chart of a definition is in a repository, or the packaging cannot be rendered here.
fn is_remote(definition: &Definition) -> bool {
    match definition.engine() {
        Some(Engine::Helm(helm)) => helm.repository.is_some(),
        Some(Engine::Manifests(_)) => false,
        _ => true,
    }
}

/// The archive of a chart that is in a repository, if it is given.
fn chart<'a>(subject: &Subject, context: LintContext<'a>, report: &mut Report) -> Option<&'a [u8]> {
    let Some(Engine::Helm(helm)) = subject.definition.engine() else { return None };
    helm.repository.as_ref()?;
    let is_meant = |chart: &&LocalChart| {
        chart.name == helm.chart && helm.version.as_ref().is_none_or(|version| *version == chart.version)
    };
    let found = context.charts.iter().find(is_meant);
    if found.is_none() {
        let version = helm.version.as_deref().unwrap_or_default();
        report.add(
            Severity::Advice,
            "spec.helm",
            format!(
                "what chart {} {version} writes and grants is not checked, because it is in a repository",
                helm.chart
            ),
            "download the chart, and give it with --chart",
        );
    }
    found.map(|chart| chart.archive.as_slice())
}

/// The findings in one definition.
struct Report<'s, 'd> {
    subject: &'s Subject<'d>,
    findings: Vec<Finding>,
}

impl<'s> Report<'s, '_> {
    fn definition(&self) -> &'s Definition {
        &self.subject.definition
    }

    /// The content of a file beside the definition.
    fn file(&self, path: &str) -> Option<&'s [u8]> {
        self.subject.directory.files.get(path).map(Vec::as_slice)
    }

    fn error(&mut self, field: &str, message: String, remedy: &str) {
        self.add(Severity::Error, field, message, remedy);
    }

    fn warning(&mut self, field: &str, message: String, remedy: &str) {
        self.add(Severity::Warning, field, message, remedy);
    }

    /// A finding in a field of the definition.
    fn add(&mut self, severity: Severity, field: &str, message: String, remedy: &str) {
        self.findings.push(self.subject.finding(severity, field, message, remedy));
    }

    /// A finding in another file.
    fn in_file(&mut self, severity: Severity, file: &str, line: Option<usize>, message: String, remedy: &str) {
        self.findings.push(Finding {
            severity,
            path: format!("{}/{file}", self.subject.directory.path),
            field: None,
            line,
            message,
            remedy: remedy.to_owned(),
        });
    }
}

impl Subject<'_> {
    fn finding(&self, severity: Severity, field: &str, message: String, remedy: &str) -> Finding {
        Finding {
            severity,
            path: format!("{}/{DEFINITION}", self.directory.path),
            line: line(self.text, field),
            field: Some(field.to_owned()),
            message,
            remedy: remedy.to_owned(),
        }
    }
}
