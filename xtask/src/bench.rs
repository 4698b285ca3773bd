//! Benchmarks: each prints ours, theirs and the ratio, measured side by side in one run.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use fitout_testkit::{Part, paths};

use crate::testbed;

/// What can be measured.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Bench {
    /// 100 instances of 8 objects each, against a bare loop of the same writes
    Install,
    /// Templates like those of charts, against Go's own
    Template,
    /// Charts, against Helm: in process, as a command, and how the time grows
    Render,
    /// 100 and 500 releases of a chart, against Flux, Helm and a bare loop of the same writes
    #[command(disable_help_flag = true)]
    Releases {
        /// What the benchmark itself takes: `--help` says it
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
}

pub(crate) fn run(bench: Bench) -> Result<()> {
    testbed::build(&Part::ALL)?;
    let (package, name, options) = match bench {
        Bench::Install => ("fitout-hub", "install", vec![]),
        Bench::Template => ("fitout-go-template", "template", vec![]),
        Bench::Render => {
            cargo(&["build", "--quiet", "--locked", "--release", "--package", "fitout-cli"])?;
            ("fitout-helm-chart", "render", vec![])
        }
        Bench::Releases { options } => {
            testbed::build_flux()?;
            ("fitout-cli", "releases", options)
        }
    };
    let mut words = vec!["bench", "--quiet", "--locked", "--package", package, "--bench", name, "--"];
    words.extend(options.iter().map(String::as_str));
    cargo(&words).with_context(|| format!("the benchmark {name} does not meet its bar"))
}

fn cargo(words: &[&str]) -> Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(words)
        .current_dir(paths::checkout())
        .env("FITOUT", target()?.join("release/fitout"))
        .status()
        .context("run cargo")?;
    if !status.success() {
        bail!("cargo {} has failed", words[0]);
    }
    Ok(())
}

/// Where cargo puts what it builds: this program is in a directory of it.
fn target() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(own.ancestors().nth(2).context("this program is in no directory of cargo's")?.to_owned())
}
