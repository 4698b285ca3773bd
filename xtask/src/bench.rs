//! Benchmarks: each prints ours, theirs and the ratio, measured side by side in one run.

use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use fitout_testkit::paths;

use crate::testbed;

/// What can be measured.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Bench {
    /// 100 instances of 8 objects each, against a bare loop of the same writes
    Install,
    /// Templates like those of charts, against Go's own
    Template,
}

pub(crate) fn run(bench: Bench) -> Result<()> {
    testbed::build()?;
    let (package, name) = match bench {
        Bench::Install => ("fitout-hub", "install"),
        Bench::Template => ("fitout-gotmpl", "template"),
    };
    let status = Command::new(env!("CARGO"))
        .args(["bench", "--quiet", "--locked", "--package", package, "--bench", name])
        .current_dir(paths::checkout())
        .status()
        .context("run cargo")?;
    if !status.success() {
        bail!("the benchmark {name} does not meet its bar");
    }
    Ok(())
}
