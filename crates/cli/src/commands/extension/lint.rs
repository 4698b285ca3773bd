//! `fitout extension lint`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use fitout_authoring::{Directory, Finding, LintContext, LocalChart, Severity, lint, lint_catalog, lint_states};
use fitout_model::STATES;
use serde_json::json;

use super::offered;
use crate::Answer;
use crate::commands::chart::arguments::Values;
use crate::commands::chart::{LoadedChart, environment, given_values};
use crate::failure::{Code, Failure};
use crate::file_tree;
use crate::output::{Format, Paint};

const DEFINITION: &str = "definition.yaml";

#[derive(Args)]
pub(crate) struct Lint {
    /// Directories of definitions, extensions or catalogs
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// A catalog whose extensions dependencies may name; may be given more than once
    #[arg(long = "catalog", value_name = "DIRECTORY")]
    catalogs: Vec<PathBuf>,
    /// The chart of a definition whose chart is in a repository: a directory or an archive; may be given more than once
    #[arg(long = "chart", value_name = "CHART")]
    charts: Vec<PathBuf>,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    values: Values,
}

pub(super) fn run(arguments: &Lint, output: Format, paint: Paint) -> Result<Answer, Failure> {
    let mut charts = Vec::new();
    for path in &arguments.charts {
        let LoadedChart { chart, archive, .. } = LoadedChart::read(path, paint)?;
        charts.push(LocalChart { name: chart.name().to_owned(), version: chart.metadata.version.clone(), archive });
    }
    let offered = offered(&arguments.catalogs)?;
    let (values, environment) = (given_values(&arguments.values)?, environment());
    let context = LintContext { charts: &charts, offered: &offered, values: &values, environment: &environment };
    let (mut findings, mut checked) = (Vec::new(), 0);
    for path in &arguments.paths {
        let found = directories(path, file_tree::read(path)?)?;
        checked += found.directories.len();
        let check = if found.is_single { lint } else { lint_catalog };
        findings.extend(check(&found.directories, context));
        if let Some((path, content)) = &found.states {
            findings.extend(lint_states(path, content, &found.directories));
        }
    }
    Ok(answer(&findings, checked, arguments.strict, output, paint))
}

/// The definitions below a path.
struct Found {
    directories: Vec<Directory>,
    /// The path and the content of the states, where the path is a catalog.
    states: Option<(String, Vec<u8>)>,
    /// Whether the path is the directory of one definition.
    is_single: bool,
}

/// Divides the files into directories of definitions. The path is a definition's directory, an extension's, or a catalog.
fn directories(path: &Path, mut files: BTreeMap<String, Vec<u8>>) -> Result<Found, Failure> {
    let root = path.display().to_string();
    let root = if root == "." { String::new() } else { format!("{}/", root.trim_end_matches('/')) };
    let below =
        |depth: usize| files.keys().any(|file| file.matches('/').count() == depth && file.ends_with(DEFINITION));
    let Some(depth) = (0..3).find(|depth| below(*depth)) else {
        let message = format!("{} contains no {DEFINITION}", path.display());
        return Err(Failure::new(message).hint("give the directory of a definition or of a catalog"));
    };
    let states = files.remove(STATES).filter(|_| depth == 2).map(|content| (format!("{root}{STATES}"), content));
    let mut folders: BTreeMap<String, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    for (file, content) in files {
        let end = file.match_indices('/').nth(depth.wrapping_sub(1)).map(|(at, _)| at);
        match (depth, end) {
            (0, _) => drop(folders.entry(String::new()).or_default().insert(file, content)),
            (_, Some(end)) => {
                let inner = file[end + 1..].to_owned();
                folders.entry(file[..end].to_owned()).or_default().insert(inner, content);
            }
            // A file beside the definitions, such as a readme.
            (_, None) => {}
        }
    }
    let directory = |(folder, files): (String, BTreeMap<String, Vec<u8>>)| Directory {
        path: format!("{root}{folder}").trim_end_matches('/').to_owned(),
        place: (depth == 2).then_some(folder),
        files,
    };
    Ok(Found { directories: folders.into_iter().map(directory).collect(), states, is_single: depth == 0 })
}

fn answer(findings: &[Finding], checked: usize, strict: bool, output: Format, paint: Paint) -> Answer {
    let worst = if strict { Severity::Warning } else { Severity::Error };
    let failed = findings.iter().filter(|finding| finding.severity <= worst).count();
    let code = if failed > 0 { Code::Failed } else { Code::Done };
    if !output.is_table() {
        let items: Vec<_> = findings.iter().map(as_json).collect();
        return Answer { text: output.value(&json!(items)), code };
    }
    let mut text = String::new();
    for finding in findings {
        let word = format!("{:8}", word(finding.severity));
        let word = match finding.severity {
            Severity::Error => paint.red(&word),
            Severity::Warning => paint.yellow(&word),
            Severity::Advice => paint.cyan(&word),
        };
        let line = finding.line.map_or_else(String::new, |line| format!(":{line}"));
        let field = finding.field.as_ref().map_or_else(String::new, |field| format!("{field}: "));
        let _ = writeln!(text, "{word} {}{line}: {field}{}; {}", finding.path, finding.message, finding.remedy);
    }
    let definitions = if checked == 1 { "1 definition".to_owned() } else { format!("{checked} definitions") };
    let _ = match failed {
        0 => writeln!(text, "{}", paint.green(&format!("no problems in {definitions}"))),
        1 => writeln!(text, "{}", paint.red(&format!("1 problem in {definitions}"))),
        _ => writeln!(text, "{}", paint.red(&format!("{failed} problems in {definitions}"))),
    };
    Answer { text, code }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "advice",
    }
}

fn as_json(finding: &Finding) -> serde_json::Value {
    let Finding { severity, path, field, line, message, remedy } = finding;
    json!({ "severity": word(*severity), "path": path, "field": field, "line": line, "message": message, "remedy": remedy })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn files(paths: &[&str]) -> BTreeMap<String, Vec<u8>> {
        paths.iter().map(|path| ((*path).to_owned(), vec![])).collect()
    }

    fn found(path: &str, paths: &[&str]) -> Vec<(String, Option<String>)> {
        let found = directories(Path::new(path), files(paths)).unwrap().directories;
        found.into_iter().map(|directory| (directory.path, directory.place)).collect()
    }

    #[test]
    fn definitions_are_found_at_every_level() {
        let place = |place: &str| Some(place.to_owned());
        assert_eq!(found("web/1.0.0", &["definition.yaml", "m/a.yaml"]), [("web/1.0.0".to_owned(), None)]);
        assert_eq!(found("web", &["1.0.0/definition.yaml", "readme.md"]), [("web/1.0.0".to_owned(), None)]);
        assert_eq!(
            found(".", &["a/1.0.0/definition.yaml", "b/2.0.0/values.schema.json", "a/owners"]),
            [("a/1.0.0".to_owned(), place("a/1.0.0")), ("b/2.0.0".to_owned(), place("b/2.0.0"))]
        );
        let failure = directories(Path::new("x"), files(&["a.yaml"])).err().unwrap();
        assert_snapshot!(failure.shown(Paint::new(false)), @r"
        error: x contains no definition.yaml
        hint: give the directory of a definition or of a catalog
        ");
    }

    #[test]
    fn findings_have_place_and_remedy() {
        let finding = |severity, line| Finding {
            severity,
            path: "web/1.0.0/definition.yaml".to_owned(),
            field: Some("spec.kubernetes".to_owned()),
            line,
            message: "it admits too much".to_owned(),
            remedy: "narrow it".to_owned(),
        };
        let all = [finding(Severity::Error, Some(7)), finding(Severity::Warning, None)];
        let text = |strict| answer(&all, 2, strict, Format::Table, Paint::new(false));
        assert_snapshot!(text(false).text, @r"
        error    web/1.0.0/definition.yaml:7: spec.kubernetes: it admits too much; narrow it
        warning  web/1.0.0/definition.yaml: spec.kubernetes: it admits too much; narrow it
        1 problem in 2 definitions
        ");
        assert_eq!((text(false).code, text(true).code), (Code::Failed, Code::Failed));
        let warned = |strict| answer(&all[1..], 1, strict, Format::Table, Paint::new(false)).code;
        assert_eq!((warned(false), warned(true)), (Code::Done, Code::Failed));
        let json = answer(&all[..1], 1, false, Format::Json, Paint::new(false)).text;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json[0]["line"], &json[0]["severity"]), (&json!(7), &json!("error")));
    }
}
