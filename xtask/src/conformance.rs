//! `conformance`: compares what we render with what Helm renders.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use fitout_testkit::{Part, paths};

use crate::testbed;

/// The comparison.
#[derive(Args)]
pub(crate) struct Options {
    /// The program to compare with
    #[arg(value_enum)]
    with: With,
    /// Render each values file once instead of with every option
    #[arg(long)]
    once: bool,
    /// Directories with charts [default: the charts of the testbed]
    charts: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum With {
    /// Render charts with Helm and with our engine
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
        bail!("some charts differ from what Helm renders");
    }
    Ok(())
}
