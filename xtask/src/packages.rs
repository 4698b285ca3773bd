//! System packages that builds and tests need.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use fitout_testkit::{NoPods, clock_mover, pods_cannot_run};

/// What pods need, and what moves a program's clock.
const PACKAGES: [&str; 7] =
    ["containerd", "runc", "containernetworking-plugins", "nftables", "iproute2", "util-linux", "libfaketime"];

/// What the hub's allocator is built with.
const MAKE: &str = "make";

/// Installs what is built with, where it is not there.
pub(crate) fn install_tools() {
    if Command::new(MAKE).arg("--version").output().is_err() {
        had(&[MAKE]);
    }
}

/// Installs what pods need where it may; otherwise says in a line what could not be had.
///
/// Whoever asks for pods finds out from [`pods_cannot_run`] whether they can.
pub(crate) fn install() {
    match pods_cannot_run() {
        None if clock_mover().is_some() => {}
        None | Some(NoPods::Missing(_)) => had(&PACKAGES),
        Some(reason) => println!("not installing {}: {reason}", PACKAGES.join(", ")),
    }
}

fn had(packages: &[&str]) {
    println!("installing {}", packages.join(", "));
    if let Err(error) = apt(packages) {
        println!("not installed, so what needs it is skipped: {error:#}");
    }
}

fn apt(packages: &[&str]) -> Result<()> {
    let install = [&["install", "--yes", "--quiet", "--no-install-recommends"], packages].concat();
    for args in [&["update", "--quiet"][..], &install] {
        let output = Command::new("apt-get")
            .args(args)
            // A package must not start its service: the testbed runs its own.
            .env("RUNLEVEL", "1")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .output()
            .context("run apt-get: is this Debian?")?;
        if !output.status.success() {
            bail!("apt-get {}: {}", args[0], String::from_utf8_lossy(&output.stderr).trim());
        }
    }
    Ok(())
}
