//! `fitout chart template`.

use std::path::{Path, PathBuf};

use clap::Args;
use fitout_helm_chart::render::Options;
use fitout_helm_chart::values::{Release, Schemas};
use fitout_helm_chart::{Shown, release_name};

use super::arguments::{Target, Values};
use super::{environment, load_chart, output_dir};
use crate::Answer;
use crate::failure::Failure;
use crate::output::Paint;

#[derive(Args)]
#[command(override_usage = "fitout chart template [OPTIONS] [NAME] <CHART>")]
#[allow(clippy::struct_excessive_bools, clippy::struct_field_names, reason = "these are Helm's flags")]
pub(crate) struct Template {
    /// The name of the release (optional) and the chart: a directory or an archive
    #[arg(required = true, num_args = 1..=2, value_names = ["NAME", "CHART"])]
    name_and_chart: Vec<String>,
    #[command(flatten)]
    values: Values,
    #[command(flatten)]
    target: Target,
    /// Include the CRDs in `crds/`
    #[arg(long)]
    include_crds: bool,
    /// Leave out test hooks
    #[arg(long)]
    skip_tests: bool,
    /// Leave out hooks
    #[arg(long)]
    no_hooks: bool,
    /// Show only the output of this template, such as `templates/service.yaml`; may be given more than once
    #[arg(long, short, value_name = "PATH")]
    show_only: Vec<String>,
    /// A template for the name of the release
    #[arg(long, value_name = "TEMPLATE")]
    name_template: Option<String>,
    /// Render for an upgrade instead of an install
    #[arg(long)]
    is_upgrade: bool,
    /// Do not validate values against `values.schema.json`
    #[arg(long)]
    skip_schema_validation: bool,
    /// Write one file per template into this directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "show_only")]
    output_dir: Option<PathBuf>,
    /// Write these files into a subdirectory named after the release
    #[arg(long, requires = "output_dir")]
    release_name: bool,
}

pub(super) fn run(template: &Template, paint: Paint) -> Result<Answer, Failure> {
    let (name, path) = match (&template.name_and_chart[..], &template.name_template) {
        ([_, _], Some(_)) => return Err(Failure::new("cannot set --name-template and also specify a name")),
        ([name, path], None) => (name.clone(), path),
        ([path], Some(text)) => {
            let name = release_name(text, &environment()).map_err(|error| Failure::new(error.to_string()))?;
            (name, path)
        }
        ([path], None) => ("release-name".to_owned(), path),
        _ => return Err(Failure::new("expected a chart: a directory or an archive")),
    };
    let chart = load_chart(Path::new(path), paint)?;
    let release =
        Release { name, namespace: template.target.namespace.clone(), revision: 1, is_upgrade: template.is_upgrade };
    let schemas = if template.skip_schema_validation { Schemas::Skip } else { Schemas::Check };
    let options = Options { schemas, ..Options::default() };
    let rendered = super::render(chart, &template.values, &template.target, &release, &options, paint)?;
    let shown = Shown {
        crds: template.include_crds,
        no_hooks: template.no_hooks,
        no_tests: template.skip_tests,
        only: template.show_only.clone(),
    };
    match &template.output_dir {
        Some(dir) if template.release_name => output_dir::write(&rendered, &shown, &dir.join(&release.name)),
        Some(dir) => output_dir::write(&rendered, &shown, dir),
        None => rendered.show(&shown).map(Answer::from).map_err(Failure::new),
    }
}
