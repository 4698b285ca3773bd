//! Traces of the testbed on the machine: directories, processes, mounts, links and control groups. After a test none
//! is left.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::{paths, sandbox};

/// The traces of the sandbox in this directory, which may be gone.
pub fn of(sandbox: &Path) -> Result<Vec<String>> {
    let number = sandbox.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (link, group) = (format!("fitout{number}"), format!("fitout-testbed-{number}"));
    let mut found = Vec::new();
    if sandbox.exists() {
        found.push(format!("directory {}", sandbox.display()));
    }
    // With a slash, because sandbox 1 would also match sandbox 12.
    let inside = format!("{}/", sandbox.display());
    found.extend(processes(&inside, &group)?);
    found.extend(
        fs::read_to_string("/proc/self/mounts")?
            .lines()
            .filter(|line| line.contains(&inside))
            .map(|line| format!("mount {line}")),
    );
    if Path::new("/sys/class/net").join(&link).exists() {
        found.push(format!("link {link}"));
    }
    found.extend(cgroups()?.into_iter().filter(|path| path.ends_with(&group)).map(|path| trace("cgroup", &path)));
    Ok(found)
}

/// The traces of all sandboxes that no process owns. The sandbox that `cargo xtask up` keeps is left out.
pub fn all() -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut numbers: Vec<PathBuf> = Vec::new();
    let sandboxes = paths::sandboxes();
    // A sandbox whose directory is gone may still have a link or a control group.
    for name in names(Path::new("/sys/class/net"))? {
        numbers.extend(name.strip_prefix("fitout").map(|number| sandboxes.join(number)));
    }
    for group in cgroups()? {
        let name = group.file_name().unwrap_or_default().to_string_lossy().into_owned();
        numbers.extend(name.strip_prefix("fitout-testbed-").map(|number| sandboxes.join(number)));
    }
    numbers.extend(names(&sandboxes)?.into_iter().map(|name| sandboxes.join(name)));
    numbers.sort();
    numbers.dedup();
    for sandbox in numbers {
        if !sandbox.join("name").exists() && !sandbox::in_use(&sandbox) {
            found.extend(of(&sandbox)?);
        }
    }
    Ok(found)
}

fn processes(inside: &str, group: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in names(Path::new("/proc"))? {
        if name.parse::<u32>().is_err() || name == std::process::id().to_string() {
            continue;
        }
        // A process can end while it is read.
        let read = |what: &str| fs::read(format!("/proc/{name}/{what}")).unwrap_or_default();
        let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        let groups = String::from_utf8_lossy(&read("cgroup")).into_owned();
        let ours = groups.lines().any(|line| line.split('/').any(|part| part == group));
        if command.contains(inside) || ours {
            found.push(format!("process {name} {command}"));
        }
    }
    Ok(found)
}

/// The control groups of the testbed, in every hierarchy.
fn cgroups() -> Result<Vec<PathBuf>> {
    let root = Path::new("/sys/fs/cgroup");
    let mut found = Vec::new();
    let hierarchies = names(root)?.into_iter().map(|name| root.join(name));
    for hierarchy in hierarchies.chain([root.to_owned()]) {
        let groups = names(&hierarchy)?.into_iter().filter(|name| name.starts_with("fitout-testbed-"));
        found.extend(groups.map(|name| hierarchy.join(name)));
    }
    Ok(found)
}

fn trace(what: &str, path: &Path) -> String {
    format!("{what} {}", path.display())
}

/// The names in a directory, empty where it does not exist.
fn names(dir: &Path) -> Result<Vec<String>> {
    if !dir.is_dir() {
        return Ok(vec![]);
    }
    fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
