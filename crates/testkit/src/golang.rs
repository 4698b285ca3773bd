//! Builds the programs of the testbed with Go, from the modules in `testbed/`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::paths;
use crate::programs::{Build, Copied};

fn go(module: &str) -> Command {
    let mut command = Command::new("go");
    command.current_dir(paths::testbed_sources().join(module));
    // Static programs run in images without a C library. With -trimpath every checkout gives the same program.
    command.env("CGO_ENABLED", "0").env("GOFLAGS", "-trimpath -buildvcs=false").env("GOWORK", "off");
    command
}

/// The number of packages that the program is linked from. Downloads them where they are missing.
pub(crate) fn count_packages(build: &Build) -> Result<u64> {
    let listed =
        go(build.module).args(["list", "-deps", build.package]).output().context("run go: is it installed?")?;
    if !listed.status.success() {
        bail!("go list {} in testbed/{}: {}", build.package, build.module, String::from_utf8_lossy(&listed.stderr));
    }
    Ok(String::from_utf8(listed.stdout)?.lines().count() as u64)
}

pub(crate) fn build(build: &Build, output: &Path, mut compiled: impl FnMut()) -> Result<()> {
    let variables = build.variables.iter().map(|(name, value)| format!("-X {name}={value}"));
    let flags: Vec<String> = ["-s", "-w"].into_iter().map(str::to_owned).chain(variables).collect();
    // Renamed once it is complete.
    let partial = output.with_extension("partial");
    let mut child = go(build.module)
        .args(["build", "-v", "-ldflags", &flags.join(" "), "-o"])
        .args([partial.as_os_str(), build.package.as_ref()])
        .stderr(Stdio::piped())
        .spawn()
        .context("run go")?;
    let mut messages = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).lines() {
            // With -v, the line of a compiled package is one word; all other lines are messages.
            let line = line?;
            if line.contains(' ') { messages.push(line) } else { compiled() }
        }
    }
    if !child.wait()?.success() {
        bail!("go build {} in testbed/{}:\n{}", build.package, build.module, messages.join("\n"));
    }
    fs::rename(&partial, output).with_context(|| format!("keep {}", output.display()))
}

pub(crate) fn copy(copied: &Copied, dir: &Path) -> Result<()> {
    let listed = go(copied.module).args(["list", "-m", "-f", "{{.Dir}}", copied.source]).output()?;
    let source = PathBuf::from(String::from_utf8(listed.stdout)?.trim()).join(copied.folder);
    copy_tree(&source, &dir.join(copied.output)).with_context(|| format!("copy {} of {}", copied.folder, copied.source))
}

/// The directory of a module, downloaded where it is missing. An error where its content does not have this hash.
pub(crate) fn download(module: &str, version: &str, hash: &str) -> Result<PathBuf> {
    let module_version = format!("{module}@{version}");
    let answer =
        Command::new("go").args(["mod", "download", "-json", &module_version]).env("GOWORK", "off").output()?;
    let answer: serde_json::Value = serde_json::from_slice(&answer.stdout)
        .with_context(|| format!("download {module_version}: {}", String::from_utf8_lossy(&answer.stderr)))?;
    if answer["Sum"] != hash {
        bail!("download {module_version}: its hash is {}, expected {hash}: {}", answer["Sum"], answer["Error"]);
    }
    Ok(PathBuf::from(answer["Dir"].as_str().context("a module has a directory")?))
}

/// Copies a directory without its permissions, because files in Go's module cache are read-only.
pub fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}
