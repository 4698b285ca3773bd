//! `fitout extension derive`.

use std::path::PathBuf;

use clap::Args;
use fitout_authoring::{ChartSource, derive};

use super::offered;
use crate::Answer;
use crate::commands::chart::arguments::Values;
use crate::commands::chart::{LoadedChart, environment, given_values};
use crate::failure::{Failure, problem};
use crate::file_tree;
use crate::output::Paint;

#[derive(Args)]
pub(crate) struct Derive {
    /// The chart: a directory or an archive
    chart: PathBuf,
    /// The repository that offers the chart, an `https://` or `oci://` URL [default: the chart is put beside the definition]
    #[arg(long, value_name = "URL")]
    repository: Option<String>,
    /// The name of the extension [default: the name of the chart]
    #[arg(long)]
    name: Option<String>,
    /// A catalog whose extensions become dependencies where they define kinds of the chart's objects; may be given more than
    /// once
    #[arg(long = "catalog", value_name = "DIRECTORY")]
    catalogs: Vec<PathBuf>,
    /// Write to `NAME/VERSION` in this directory, or print the definition with `-`
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    output_dir: String,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    values: Values,
}

pub(super) fn run(arguments: &Derive, paint: Paint) -> Result<Answer, Failure> {
    let loaded = LoadedChart::read(&arguments.chart, paint)?;
    let source = ChartSource {
        chart: &loaded.chart,
        archive: &loaded.archive,
        file_name: &loaded.file_name,
        repository: arguments.repository.as_deref(),
        is_published: loaded.is_archive,
    };
    let values = given_values(&arguments.values)?;
    let offered = offered(&arguments.catalogs)?;
    let derived = derive(&source, arguments.name.as_deref(), &values, &offered, &environment()).map_err(problem)?;
    for note in &derived.notes {
        eprintln!("{} {note}", paint.cyan("note:"));
    }
    if arguments.output_dir == "-" {
        let text = derived.files.get("definition.yaml").map(|text| String::from_utf8_lossy(text).into_owned());
        return Ok(text.unwrap_or_default().into());
    }
    let definition = &derived.definition;
    let directory =
        PathBuf::from(&arguments.output_dir).join(&definition.extension).join(definition.version.to_string());
    file_tree::ensure_empty(&directory, arguments.force)?;
    let written = file_tree::write(&directory, &derived.files)?;
    Ok(file_tree::report(&written).into())
}
