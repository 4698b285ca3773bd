//! `fitout chart package`.

use std::path::PathBuf;

use clap::Args;
use fitout_authoring::package_chart;
use fitout_model::Digest;

use super::load_chart;
use crate::Answer;
use crate::commands::extension::package::packaged;
use crate::failure::{Failure, problem};
use crate::file_tree;
use crate::output::{Format, Paint};

#[derive(Args)]
pub(crate) struct Package {
    /// The chart: a directory or an archive
    chart: PathBuf,
    /// Write the archive into this directory
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    output_dir: PathBuf,
    /// Set the version of the chart
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Set the version of the application
    #[arg(long, value_name = "VERSION")]
    app_version: Option<String>,
}

pub(super) fn run(package: &Package, output: Format, paint: Paint) -> Result<Answer, Failure> {
    let chart = load_chart(&package.chart, paint)?;
    let (version, app_version) = (package.version.as_deref(), package.app_version.as_deref());
    let packaged_chart = package_chart(&chart, version, app_version).map_err(problem)?;
    let digest = Digest::of(&packaged_chart.archive);
    let files = [(packaged_chart.file_name, packaged_chart.archive)].into();
    let written = file_tree::write(&package.output_dir, &files)?;
    Ok(packaged(&written, &digest, output).into())
}
