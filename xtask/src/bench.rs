//! Benchmarks: each prints our result, the other's and the ratio, measured in one run.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use fitout_testkit::{Part, paths};

use crate::testbed;

/// A benchmark.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Bench {
    /// Install 100 instances of 8 objects each, against a bare loop of the same writes
    Install,
    /// Execute templates like those of charts, against Go
    Template,
    /// Render charts, against Helm: in process and as a command
    Render,
    /// Read an index of 25 MB, against Helm
    Index,
    /// Read a catalog of 20,000 definitions, against its bars; and an index of 25 MB, against Helm
    Catalog,
    /// Resolve a fleet of 1,000 clusters after a change of a catalog, against its bars
    Resolve,
    /// Install 100 and 500 releases of a chart, against Flux, Helm and a bare loop of the same writes
    #[command(disable_help_flag = true)]
    Releases {
        /// Options of the benchmark, such as `--help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
}

pub(crate) fn run(bench: Bench) -> Result<()> {
    // It needs nothing but itself.
    if matches!(bench, Bench::Resolve) {
        return one("fitout-resolve", "resolve", &[]);
    }
    testbed::build(&Part::ALL)?;
    let index = ("fitout-repositories", "index", vec![]);
    let benches = match bench {
        Bench::Install => vec![("fitout-hub", "install", vec![])],
        Bench::Template => vec![("fitout-go-template", "template", vec![])],
        Bench::Render => {
            cargo(&["build", "--quiet", "--locked", "--release", "--package", "fitout-cli"])?;
            vec![("fitout-helm-chart", "render", vec![])]
        }
        Bench::Index => vec![index],
        Bench::Catalog => vec![("fitout-hub", "catalog", vec![]), index],
        Bench::Resolve => vec![],
        Bench::Releases { options } => {
            testbed::build_flux()?;
            vec![("fitout-cli", "releases", options)]
        }
    };
    // All of them run, also after one that misses a bar.
    let results: Vec<Result<()>> = benches.iter().map(|(package, name, options)| one(package, name, options)).collect();
    results.into_iter().collect()
}

fn one(package: &str, name: &str, options: &[String]) -> Result<()> {
    let mut words = vec!["bench", "--quiet", "--locked", "--package", package, "--bench", name, "--"];
    words.extend(options.iter().map(String::as_str));
    cargo(&words).with_context(|| format!("the benchmark {name} failed"))
}

fn cargo(words: &[&str]) -> Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(words)
        .current_dir(paths::checkout())
        .env("FITOUT", target()?.join("release/fitout"))
        .status()
        .context("run cargo")?;
    if !status.success() {
        bail!("cargo {} failed", words[0]);
    }
    Ok(())
}

/// The target directory: this program is in a directory of it.
fn target() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(own.ancestors().nth(2).context("this program is not in a target directory")?.to_owned())
}
