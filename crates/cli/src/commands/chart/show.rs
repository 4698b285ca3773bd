//! `fitout chart show`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fitout_helm_chart::render::Options;
use fitout_helm_chart::values::Release;
use fitout_helm_chart::{Chart, images};

use super::arguments::{Target, Values};
use super::{load_chart, render};
use crate::Answer;
use crate::failure::Failure;
use crate::output::{Format, Paint};
use crate::tables::{Layout, fitted_table};

#[derive(Args)]
pub(crate) struct Show {
    /// The part to show
    #[arg(value_enum)]
    part: Part,
    /// The chart: a directory or an archive
    chart: PathBuf,
    #[command(flatten)]
    values: Values,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Part {
    /// The default values, with their comments
    Values,
    /// The metadata in `Chart.yaml`
    Chart,
    /// The readme
    Readme,
    /// The CRDs in `crds/`
    Crds,
    /// The images in the output rendered with these values
    Images,
}

pub(super) fn run(show: &Show, output: Format, paint: Paint, layout: Layout) -> Result<Answer, Failure> {
    let chart = load_chart(&show.chart, paint)?;
    let text = match show.part {
        Part::Values => chart.values_text().map_or_else(String::new, |text| format!("{text}\n")),
        Part::Chart => format!("{}\n", chart.metadata.to_yaml()),
        Part::Readme => chart.readme().map_or_else(String::new, |text| format!("{text}\n")),
        Part::Crds => crds(&chart),
        Part::Images => {
            let release = Release {
                name: "release-name".to_owned(),
                namespace: show.target.namespace.clone(),
                revision: 1,
                is_upgrade: false,
            };
            let options = Options::default();
            let found = images(&render(chart, &show.values, &show.target, &release, &options, paint)?);
            if !output.is_table() {
                return Ok(output.value(&serde_json::json!(found)).into());
            }
            let rows = found.into_iter().map(|(image, users)| vec![image, users.join(", ")]);
            fitted_table(&["IMAGE", "USED BY"], rows, 1, layout)
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
