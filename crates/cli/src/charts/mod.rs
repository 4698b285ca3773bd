//! Charts on this machine: no hub is asked.

mod arguments;
mod fault;
mod writing;

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;

use fitout_environment::{HostEnvironment, load};
use fitout_helm_chart::render::{Capabilities, KubeVersion, Options};
use fitout_helm_chart::values::{Release, Schemas, UserValues};
use fitout_helm_chart::{Chart, Rendered, Severity, Shown, Warnings, images, lint, release_name, template};

pub(crate) use arguments::Chart as Command;
use arguments::{Lint, Part, Show, Target, Template, Values};

use crate::Answer;
use crate::failure::{Code, Failure};
use crate::output::{Format, Paint};
use crate::tables::table;

pub(crate) fn run(command: &Command, output: Format, paint: Paint) -> Result<Answer, Failure> {
    match command {
        Command::Template(asked) => render(asked, paint),
        Command::Show(asked) => show(asked, output, paint),
        Command::Lint(asked) => check(asked, output, paint),
    }
}

/// The world that templates see, which is this machine.
fn world() -> Rc<dyn fitout_helm_functions::Environment> {
    Rc::new(HostEnvironment)
}

/// The values that somebody gave.
fn given(values: &Values) -> Result<Rc<fitout_go_template::Map>, Failure> {
    let Values { files, set, set_string, set_file, set_json, set_literal } = values;
    let asked = UserValues {
        files: files.clone(),
        set_json: set_json.clone(),
        set: set.clone(),
        set_string: set_string.clone(),
        set_file: set_file.clone(),
        set_literal: set_literal.clone(),
    };
    asked.merged(&mut content).map_err(|error| Failure::new(error.to_string()))
}

fn content(name: &str) -> Result<Vec<u8>, String> {
    if name != "-" {
        return fs::read(name).map_err(|error| format!("read {name}: {error}"));
    }
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).map_err(|error| format!("read the input: {error}"))?;
    Ok(input)
}

fn capabilities(target: &Target) -> Result<Capabilities, Failure> {
    let version = KubeVersion::parse(&target.kube_version)
        .map_err(|error| Failure::new(format!("invalid kube version '{}': {error}", target.kube_version)))?;
    let mut capabilities = Capabilities::assumed(version);
    capabilities.api_versions = capabilities.api_versions.iter().chain(&target.api_versions).cloned().collect();
    Ok(capabilities)
}

fn loaded(path: &Path, warnings: &mut Warnings) -> Result<Chart, Failure> {
    load(path, warnings).map_err(Failure::new)
}

fn warn(warnings: &Warnings, paint: Paint) {
    for warning in warnings {
        eprintln!("{} {warning}", paint.yellow("warning:"));
    }
}

/// Renders a chart that is loaded; an error of a template is shown at its place.
fn rendered(
    chart: Chart,
    values: &Values,
    target: &Target,
    release: &Release,
    options: &Options,
    paint: Paint,
) -> Result<Rendered, Failure> {
    let (given, capabilities) = (given(values)?, capabilities(target)?);
    let mut warnings = Warnings::new();
    let sources = fault::Sources::of(&chart);
    let result = template(chart, &given, release, &capabilities, &world(), options, &mut warnings);
    warn(&warnings, paint);
    result.map_err(|error| sources.explain(&error, paint))
}

fn render(asked: &Template, paint: Paint) -> Result<Answer, Failure> {
    let (name, path) = match (&asked.name_and_chart[..], &asked.name_template) {
        ([_, _], Some(_)) => return Err(Failure::new("cannot set --name-template and also specify a name")),
        ([name, path], None) => (name.clone(), path),
        ([path], Some(text)) => {
            let name = release_name(text, &world()).map_err(|error| Failure::new(error.to_string()))?;
            (name, path)
        }
        ([path], None) => ("release-name".to_owned(), path),
        _ => return Err(Failure::new("a chart is wanted: a directory or an archive")),
    };
    let mut warnings = Warnings::new();
    let chart = loaded(Path::new(path), &mut warnings)?;
    warn(&warnings, paint);
    let release =
        Release { name, namespace: asked.target.namespace.clone(), revision: 1, is_upgrade: asked.is_upgrade };
    let schemas = if asked.skip_schema_validation { Schemas::Skip } else { Schemas::Check };
    let options = Options { schemas, ..Options::default() };
    let rendered = rendered(chart, &asked.values, &asked.target, &release, &options, paint)?;
    let shown = Shown {
        crds: asked.include_crds,
        no_hooks: asked.no_hooks,
        no_tests: asked.skip_tests,
        only: asked.show_only.clone(),
    };
    match &asked.output_dir {
        Some(dir) if asked.release_name => writing::write(&rendered, &shown, &dir.join(&release.name)),
        Some(dir) => writing::write(&rendered, &shown, dir),
        None => rendered.show(&shown).map(Answer::from).map_err(Failure::new),
    }
}

fn show(asked: &Show, output: Format, paint: Paint) -> Result<Answer, Failure> {
    let mut warnings = Warnings::new();
    let chart = loaded(&asked.chart, &mut warnings)?;
    warn(&warnings, paint);
    let text = match asked.part {
        Part::Values => chart.values_text().map_or_else(String::new, |text| format!("{text}\n")),
        Part::Chart => format!("{}\n", chart.metadata.to_yaml()),
        Part::Readme => chart.readme().map_or_else(String::new, |text| format!("{text}\n")),
        Part::Crds => crds(&chart),
        Part::Images => {
            let release = Release {
                name: "release-name".to_owned(),
                namespace: asked.target.namespace.clone(),
                revision: 1,
                is_upgrade: false,
            };
            let options = Options::default();
            let found = images(&rendered(chart, &asked.values, &asked.target, &release, &options, paint)?);
            if !output.is_table() {
                return Ok(output.value(&serde_json::json!(found)).into());
            }
            table(&["IMAGE", "NAMED BY"], found.into_iter().map(|(image, users)| vec![image, users.join(", ")]))
        }
    };
    Ok(text.into())
}

fn crds(chart: &Chart) -> String {
    chart.crds().iter().fold(String::new(), |mut text, crd| {
        let data = crd.file.data.to_str();
        let begin = if data.starts_with("---") { "" } else { "---\n" };
        let _ = writeln!(text, "{begin}{data}");
        text
    })
}

fn check(asked: &Lint, output: Format, paint: Paint) -> Result<Answer, Failure> {
    let mut warnings = Warnings::new();
    let chart = loaded(&asked.chart, &mut warnings)?;
    warn(&warnings, paint);
    let release = Release {
        name: "test-release".to_owned(),
        namespace: asked.target.namespace.clone(),
        revision: 1,
        is_upgrade: false,
    };
    let sources = fault::Sources::of(&chart);
    let findings = lint(&chart, &*given(&asked.values)?, &release, &capabilities(&asked.target)?, &world());
    let worst = if asked.strict { Severity::Warning } else { Severity::Error };
    let failed = findings.iter().filter(|finding| finding.severity <= worst).count();
    let code = if failed > 0 { Code::Failed } else { Code::Done };
    let word = |severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "advice",
    };
    if !output.is_table() {
        let list: Vec<_> = findings
            .iter()
            .map(|one| serde_json::json!({ "severity": word(one.severity), "path": one.path, "message": one.message }))
            .collect();
        return Ok(Answer { text: output.value(&serde_json::json!(list)), code });
    }
    let mut text = String::new();
    for finding in &findings {
        let word = format!("{:8}", word(finding.severity));
        let word = match finding.severity {
            Severity::Error => paint.red(&word),
            Severity::Warning => paint.yellow(&word),
            Severity::Advice => paint.cyan(&word),
        };
        match &finding.error {
            Some(error) => {
                let _ = writeln!(text, "{word} {}", sources.explain(error, paint).sentence);
            }
            None => {
                let _ = writeln!(text, "{word} {}: {}", finding.path, finding.message);
            }
        }
    }
    let name = format!("{} {}", chart.name(), chart.metadata.version);
    let _ = match failed {
        0 => writeln!(text, "{name} {}", paint.green("is in order")),
        1 => writeln!(text, "{name} {}", paint.red("has 1 fault")),
        _ => writeln!(text, "{name} {}", paint.red(&format!("has {failed} faults"))),
    };
    Ok(Answer { text, code })
}
