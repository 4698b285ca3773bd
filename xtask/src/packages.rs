//! System packages that builds and tests need.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use fitout_testkit::{NoPods, clock_mover, no_git, no_sshd, pods_cannot_run};

/// The packages that pods need, and the library that moves a program's clock.
const PACKAGES: [&str; 7] =
    ["containerd", "runc", "containernetworking-plugins", "nftables", "iproute2", "util-linux", "libfaketime"];

/// The packages of a git server.
const GIT_SERVER: [&str; 2] = ["git", "openssh-server"];

/// The tool that builds the hub's allocator.
const MAKE: &str = "make";

/// Installs the build tools that are missing.
pub(crate) fn install_tools() {
    if Command::new(MAKE).arg("--version").output().is_err() {
        try_install(&[MAKE]);
    }
}

/// Installs the packages of a git server, where they are missing.
pub(crate) fn install_git_server() {
    if no_git().is_some() || no_sshd().is_some() {
        try_install(&GIT_SERVER);
    }
}

/// Installs the packages that pods need, and prints the reason where it cannot.
///
/// [`pods_cannot_run`] reports whether pods can run afterwards.
pub(crate) fn install() {
    match pods_cannot_run() {
        None if clock_mover().is_some() => {}
        None | Some(NoPods::Missing(_)) => try_install(&PACKAGES),
        Some(reason) => println!("not installing {}: {reason}", PACKAGES.join(", ")),
    }
}

fn try_install(packages: &[&str]) {
    println!("installing {}", packages.join(", "));
    if let Err(error) = apt(packages) {
        println!("not installed, so tests that need them are skipped: {error:#}");
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
