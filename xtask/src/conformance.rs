//! Whether we do what the originals do, on all there is to try it on.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use fitout_testkit::{Part, paths};

use crate::testbed;

/// What is compared.
#[derive(Args)]
pub(crate) struct Options {
    /// With whom
    #[arg(value_enum)]
    with: With,
    /// Render each file of values once, and not in every way
    #[arg(long)]
    once: bool,
    /// Directories with charts [default: the charts of the testbed]
    charts: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum With {
    /// Charts, rendered by Helm and by us
    Helm,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    testbed::build(&Part::ALL)?;
    let With::Helm = options.with;
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--locked", "--package", "fitout-helm-chart", "--example", "conformance", "--"])
        .args(options.once.then_some("--once"))
        .args(&options.charts)
        .current_dir(paths::checkout())
        .status()
        .context("run cargo")?;
    if !status.success() {
        bail!("some charts are rendered in another way than Helm renders them");
    }
    Ok(())
}
