//! The hub's program.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use fitout_testkit::paths;
use serde_json::Value;

/// Builds the program and says where it is.
pub(crate) fn build() -> Result<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--package=fitout-cli", "--message-format=json-render-diagnostics"])
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
