//! Checks of formats, lints, licences and sources of dependencies.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use fitout_testkit::paths;

use crate::generate;

/// Pinned, so that a new release cannot fail a build that passed.
const CARGO_DENY: &str = "0.20.2";

pub(crate) fn run() -> Result<()> {
    for (what, check) in CHECKS {
        check().with_context(|| format!("{what} failed"))?;
        println!("  {what} passed");
    }
    Ok(())
}

/// The name of a check, and the check.
pub(crate) type Check = (&'static str, fn() -> Result<()>);

/// The checks, the fastest first.
pub(crate) const CHECKS: [Check; 6] = [
    ("format of Rust", || cargo(&["fmt", "--all", "--check"])),
    ("format of Go", gofmt),
    ("generated files", generate::check),
    ("vet of Go", vet),
    ("clippy", || cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--locked", "--", "--deny=warnings"])),
    ("licences, bans and sources", deny),
];

fn cargo(args: &[&str]) -> Result<()> {
    succeed(Command::new(env!("CARGO")).args(args))
}

fn gofmt() -> Result<()> {
    let output =
        Command::new("gofmt").arg("-l").arg(paths::checkout().join("testbed")).output().context("run gofmt")?;
    if !output.stdout.is_empty() {
        bail!("run gofmt -w on:\n{}", String::from_utf8_lossy(&output.stdout).trim());
    }
    Ok(())
}

/// Vets the module of our own tools. The others mostly pin dependencies.
fn vet() -> Result<()> {
    succeed(Command::new("go").args(["vet", "./..."]).current_dir(paths::checkout().join("testbed/tools")))
}

/// Advisories are left out, because their database is a git repository that an offline machine cannot fetch.
fn deny() -> Result<()> {
    let program = install("cargo-deny", CARGO_DENY, &["--no-default-features"])?;
    println!("  advisories are not checked: their database is not available offline");
    let args = ["--log-level=error", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"];
    succeed(Command::new(program).args(args))
}

/// A Cargo tool at a version, installed into the cache where it is missing. Its build does not touch our target directory.
pub(crate) fn install(tool: &str, version: &str, flags: &[&str]) -> Result<PathBuf> {
    let root = paths::cache()?.join("tools").join(format!("{tool}-{version}"));
    let program = root.join("bin").join(tool);
    if !program.exists() {
        println!("installing {tool} {version}, which takes minutes on two cores, once");
        let mut install = Command::new(env!("CARGO"));
        install.args(["install", "--quiet", "--locked", "--profile=dev", "--version", version]).args(flags);
        succeed(install.arg(tool).arg("--root").arg(&root).env_remove("CARGO_TARGET_DIR"))?;
    }
    Ok(program)
}

fn succeed(command: &mut Command) -> Result<()> {
    if command.get_current_dir().is_none() {
        command.current_dir(paths::checkout());
    }
    let name = command.get_program().to_string_lossy().into_owned();
    if !command.status().with_context(|| format!("run {name}"))?.success() {
        bail!("{name} failed");
    }
    Ok(())
}
