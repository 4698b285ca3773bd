//! `fitout chart`: renders, shows, lints and packages charts on this machine, without a hub.

pub(crate) mod arguments;
mod from_manifests;
mod lint;
mod output_dir;
mod package;
pub(super) mod push;
mod show;
mod template;
mod template_error;

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::rc::Rc;

use clap::Subcommand;
use fitout_environment::{HostEnvironment, load};
use fitout_helm_chart::render::{Capabilities, KubeVersion, Options};
use fitout_helm_chart::values::{Release, UserValues};
use fitout_helm_chart::{Chart, Rendered, Warnings};

use crate::Answer;
use crate::failure::{Failure, problem};
use crate::output::{Format, Paint};
use crate::tables::Layout;
use arguments::{Target, Values};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Render a chart as `helm template` does, to the byte
    Template(template::Template),
    /// Show a part of a chart
    Show(show::Show),
    /// Check a chart for errors
    Lint(lint::Lint),
    /// Package a chart as an archive, as `helm package` does
    Package(package::Package),
    /// Push a chart to a registry, as `helm push` does
    Push(push::Push),
    /// Make a chart of a folder of manifests, plain or templated
    FromManifests(from_manifests::FromManifests),
}

impl Command {
    /// Whether the command waits for a server, so that it needs a runtime.
    pub(crate) fn needs_network(&self) -> bool {
        matches!(self, Self::Push(_))
    }
}

pub(crate) fn run(command: &Command, output: Format, paint: Paint, layout: Layout) -> Result<Answer, Failure> {
    match command {
        Command::Template(template) => template::run(template, paint),
        Command::Show(show) => show::run(show, output, paint, layout),
        Command::Lint(lint) => lint::run(lint, output, paint),
        Command::Package(package) => package::run(package, output, paint),
        // Runs before: it is the only one that needs a network.
        Command::Push(_) => Err(Failure::new("fitout chart push needs a network")),
        Command::FromManifests(from_manifests) => from_manifests::run(from_manifests, paint),
    }
}

/// The environment of templates, which is this machine.
pub(crate) fn environment() -> Rc<dyn fitout_helm_functions::Environment> {
    Rc::new(HostEnvironment)
}

/// The values of the command line, merged.
fn user_values(values: &Values) -> Result<Rc<fitout_go_template::Map>, Failure> {
    let Values { files, set, set_string, set_file, set_json, set_literal } = values;
    let given = UserValues {
        files: files.clone(),
        set_json: set_json.clone(),
        set: set.clone(),
        set_string: set_string.clone(),
        set_file: set_file.clone(),
        set_literal: set_literal.clone(),
    };
    let mut read = |name: &str| read_input(name).map_err(|error| error.to_string());
    given.merged(&mut read).map_err(|error| Failure::new(error.to_string()))
}

/// The values of the command line, as JSON.
pub(crate) fn given_values(values: &Values) -> Result<serde_json::Value, Failure> {
    let values = fitout_go_template::Value::Map(user_values(values)?);
    let text = fitout_helm_functions::to_yaml(&values).unwrap_or_default();
    fitout_go_yaml::from_yaml(&text).map_err(|error| Failure::new(error.to_string()))
}

/// A chart with its archive.
pub(crate) struct LoadedChart {
    pub(crate) chart: Chart,
    pub(crate) archive: Vec<u8>,
    /// The name of the archive.
    pub(crate) file_name: String,
    /// Whether it was read from an archive. Otherwise it was packaged now.
    pub(crate) is_archive: bool,
}

impl LoadedChart {
    /// Reads a chart from a directory or an archive.
    pub(crate) fn read(path: &Path, paint: Paint) -> Result<Self, Failure> {
        let chart = load_chart(path, paint)?;
        if path.is_dir() {
            let package = fitout_authoring::package_chart(&chart, None, None).map_err(problem)?;
            return Ok(Self { chart, archive: package.archive, file_name: package.file_name, is_archive: false });
        }
        let archive =
            fs::read(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))?;
        let file_name = format!("{}-{}.tgz", chart.name(), chart.metadata.version);
        Ok(Self { chart, archive, file_name, is_archive: true })
    }
}

/// Why a file with values cannot be read.
#[derive(Debug, thiserror::Error)]
enum InputError {
    #[error("read {name}: {error}")]
    File { name: String, error: io::Error },
    #[error("read the standard input: {0}")]
    Stdin(io::Error),
}

/// Reads a file, or the standard input for `-`.
fn read_input(name: &str) -> Result<Vec<u8>, InputError> {
    if name != "-" {
        return fs::read(name).map_err(|error| InputError::File { name: name.to_owned(), error });
    }
    let mut input = Vec::new();
    io::stdin().read_to_end(&mut input).map_err(InputError::Stdin)?;
    Ok(input)
}

fn capabilities(target: &Target) -> Result<Capabilities, Failure> {
    let version = KubeVersion::parse(&target.kube_version)
        .map_err(|error| Failure::new(format!("invalid kube version '{}': {error}", target.kube_version)))?;
    let mut capabilities = Capabilities::assumed(version);
    capabilities.api_versions = capabilities.api_versions.iter().chain(&target.api_versions).cloned().collect();
    Ok(capabilities)
}

/// Loads a chart and prints its warnings.
fn load_chart(path: &Path, paint: Paint) -> Result<Chart, Failure> {
    let mut warnings = Warnings::new();
    let chart = load(path, &mut warnings).map_err(|error| Failure::new(error.to_string()))?;
    print_warnings(&warnings, paint);
    Ok(chart)
}

fn print_warnings(warnings: &Warnings, paint: Paint) {
    for warning in warnings {
        eprintln!("{} {warning}", paint.yellow("warning:"));
    }
}

/// Renders a chart; an error of a template is shown with its source line.
fn render(
    chart: Chart,
    values: &Values,
    target: &Target,
    release: &Release,
    options: &Options,
    paint: Paint,
) -> Result<Rendered, Failure> {
    let (values, capabilities) = (user_values(values)?, capabilities(target)?);
    let mut warnings = Warnings::new();
    let sources = template_error::Sources::of(&chart);
    let result =
        fitout_helm_chart::template(chart, &values, release, &capabilities, &environment(), options, &mut warnings);
    print_warnings(&warnings, paint);
    result.map_err(|error| sources.explain(&error, paint))
}
