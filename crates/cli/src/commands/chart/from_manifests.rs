//! `fitout chart from-manifests`.

use std::path::{Path, PathBuf};

use clap::Args;
use fitout_authoring::{Folder, chart_from_manifests};

use super::arguments::Values;
use super::{environment, given_values};
use crate::Answer;
use crate::failure::{Failure, problem};
use crate::file_tree;
use crate::output::Paint;

#[derive(Args)]
pub(crate) struct FromManifests {
    /// The folder with the manifests
    directory: PathBuf,
    /// The name of the chart [default: the name of the folder]
    #[arg(long)]
    name: Option<String>,
    /// The version of the chart [default: that of `addon.yaml`, or 0.1.0]
    #[arg(long)]
    version: Option<String>,
    /// The name of a `ConfigMap` to make of the files beside the manifests
    #[arg(long, value_name = "NAME")]
    config_map: Option<String>,
    /// Write the chart to a directory with its name in this directory
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    output_dir: PathBuf,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    values: Values,
}

pub(super) fn run(arguments: &FromManifests, paint: Paint) -> Result<Answer, Failure> {
    let files = file_tree::read(&arguments.directory)?;
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => folder_name(&arguments.directory)?,
    };
    let parameters = given_values(&arguments.values)?;
    let folder = Folder {
        files: &files,
        name: &name,
        version: arguments.version.as_deref(),
        parameters: &parameters,
        config_map: arguments.config_map.as_deref(),
    };
    let chart = chart_from_manifests(&folder, &environment()).map_err(problem)?;
    for note in &chart.notes {
        eprintln!("{} {note}", paint.cyan("note:"));
    }
    let directory = arguments.output_dir.join(&chart.name);
    file_tree::ensure_empty(&directory, arguments.force)?;
    let written = file_tree::write(&directory, &chart.files)?;
    Ok(file_tree::report(&written).into())
}

fn folder_name(directory: &Path) -> Result<String, Failure> {
    let path = directory.canonicalize();
    let path = path.map_err(|error| Failure::new(format!("cannot read {}: {error}", directory.display())))?;
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase().replace(['_', ' '], "-"));
    name.ok_or_else(|| Failure::new("the folder has no name").hint("give one with --name"))
}
