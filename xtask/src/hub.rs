//! Building `fitout`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use fitout_testkit::paths;
use serde_json::Value;

/// Builds the program for this machine and returns its path.
pub(crate) fn build() -> Result<PathBuf> {
    build_with(&[])
}

/// Builds an optimised static program and returns its path.
pub(crate) fn build_static() -> Result<PathBuf> {
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let added = Command::new("rustup").args(["target", "add", &target]).output().context("run rustup")?;
    if !added.status.success() {
        bail!("install the Rust target {target}: {}", String::from_utf8_lossy(&added.stderr).trim());
    }
    if Command::new("musl-gcc").arg("--version").output().is_err() {
        bail!("musl-gcc is missing: install the package musl-tools");
    }
    build_with(&["--release", "--target", &target])
}

fn build_with(options: &[&str]) -> Result<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--package=fitout-cli", "--message-format=json-render-diagnostics"])
        .args(options)
        .current_dir(paths::checkout())
        .stderr(Stdio::inherit())
        .output()
        .context("run cargo")?;
    if !output.status.success() {
        bail!("fitout does not compile");
    }
    let messages = String::from_utf8(output.stdout)?;
    let mut executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        (message["target"]["name"] == "fitout").then(|| message["executable"].as_str().map(PathBuf::from))?
    });
    executables.next().context("cargo built no program `fitout`")
}
