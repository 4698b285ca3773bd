//! `fitout chart push`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use fitout_authoring::package_chart;
use fitout_repositories::{Access, ChartPush, Pushed, Sources};

use super::load_chart;
use crate::Answer;
use crate::failure::{Failure, problem};
use crate::output::{Format, Paint};
use crate::registry_access::{CREATED, RegistryArgs, pushed};

#[derive(Args)]
pub(crate) struct Push {
    /// The chart: an archive or a directory; with --all, a directory of charts
    chart: PathBuf,
    /// The address below which charts are: `oci://HOST/PATH`, or `oci+http://…` without TLS
    registry: String,
    /// Push every chart of the directory
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    access: RegistryArgs,
}

pub(crate) async fn run(push: &Push, output: Format, paint: Paint) -> Result<Answer, Failure> {
    let access = push.access.access()?;
    let charts = if push.all { charts(&push.chart)? } else { vec![push.chart.clone()] };
    let sources = Sources::default();
    let mut done: Vec<Pushed> = vec![];
    for chart in &charts {
        let result = one(&sources, chart, &push.registry, &access, paint).await;
        done.push(result.map_err(|failure| match done.as_slice() {
            [] => failure,
            // The charts that were pushed stay; a repeated command uploads nothing of them.
            done => Failure {
                sentence: format!("{}; {} charts were pushed before", failure.sentence, done.len()),
                ..failure
            },
        })?);
    }
    Ok(pushed(&done, output).into())
}

async fn one(
    sources: &Sources,
    chart: &Path,
    repository: &str,
    access: &Access,
    paint: Paint,
) -> Result<Pushed, Failure> {
    let archive = if chart.is_dir() {
        package_chart(&load_chart(chart, paint)?, None, None).map_err(problem)?.archive
    } else {
        fs::read(chart).map_err(|error| Failure::new(format!("cannot read {}: {error}", chart.display())))?
    };
    let provenance = fs::read(format!("{}.prov", chart.display())).ok();
    let push = ChartPush { repository, archive: &archive, provenance: provenance.as_deref(), created: CREATED };
    let pushed = sources.push_chart(&push, access).await;
    pushed.map_err(|error| Failure::new(format!("cannot push {}: {error}", chart.display())))
}

/// The charts of a directory: archives, and directories with a `Chart.yaml`.
fn charts(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error: std::io::Error| Failure::new(format!("cannot read {}: {error}", folder.display()));
    let mut charts = vec![];
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.join("Chart.yaml").is_file() || path.extension().is_some_and(|extension| extension == "tgz") {
            charts.push(path);
        }
    }
    charts.sort();
    if charts.is_empty() {
        let hint = "give a directory with archives (*.tgz), or with a folder for each chart";
        return Err(Failure::new(format!("{} has no charts", folder.display())).hint(hint));
    }
    Ok(charts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn charts_of_a_config_map_volume_are_found_once() {
        let volume = std::env::temp_dir().join(format!("fitout-push-{}", std::process::id()));
        let data = volume.join("..2026_01_02_03_04_05.678");
        fs::create_dir_all(&data).unwrap();
        symlink("..2026_01_02_03_04_05.678", volume.join("..data")).unwrap();
        for name in ["web-1.0.0.tgz", "db-2.0.0.tgz", "README.md"] {
            fs::write(data.join(name), "").unwrap();
            symlink(Path::new("..data").join(name), volume.join(name)).unwrap();
        }
        let found = charts(&volume);
        fs::remove_dir_all(&volume).unwrap();
        assert_eq!(found.unwrap(), [volume.join("db-2.0.0.tgz"), volume.join("web-1.0.0.tgz")]);
    }
}
