//! `fitout extension new`.

use std::path::PathBuf;

use clap::Args;
use fitout_authoring::{Packaging, scaffold};

use crate::Answer;
use crate::commands::chart::environment;
use crate::failure::{Failure, problem};
use crate::file_tree;

#[derive(Args)]
pub(crate) struct New {
    /// The name of the extension
    name: String,
    /// Its first version
    #[arg(long, default_value = "0.1.0")]
    version: String,
    /// Its purpose in one line
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// The image of its manifests
    #[arg(long, value_name = "IMAGE", default_value = "ghcr.io/example/app:1.0.0")]
    image: String,
    /// The chart that it installs instead of manifests
    #[arg(long, requires_all = ["chart_version", "repository"])]
    chart: Option<String>,
    /// The version of the chart
    #[arg(long, value_name = "VERSION", requires = "chart")]
    chart_version: Option<String>,
    /// The repository of the chart: an `https://` or `oci://` URL
    #[arg(long, value_name = "URL", requires = "chart")]
    repository: Option<String>,
    /// Write to `NAME/VERSION` in this directory
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    output_dir: PathBuf,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

pub(super) fn run(arguments: &New) -> Result<Answer, Failure> {
    let New { name, version, summary, .. } = arguments;
    let parsed = version
        .parse()
        .map_err(|_| Failure::new(format!("`{version}` is not a version")).hint("give three numbers, such as 1.2.3"))?;
    let packaging = match (&arguments.chart, &arguments.chart_version, &arguments.repository) {
        (Some(chart), Some(version), Some(repository)) => {
            Packaging::Chart { name: chart.clone(), version: version.clone(), repository: repository.clone() }
        }
        _ => Packaging::Manifests { image: arguments.image.clone() },
    };
    let files = scaffold(name, parsed, summary.as_deref(), &packaging, &environment()).map_err(problem)?;
    let directory = arguments.output_dir.join(name).join(version);
    file_tree::ensure_empty(&directory, arguments.force)?;
    let written = file_tree::write(&directory, &files)?;
    Ok(file_tree::report(&written).into())
}
