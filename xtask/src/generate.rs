//! `generate`: writes the files that are generated from code and checked in.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use fitout_testkit::paths;

use crate::discovery;

#[derive(Args)]
pub(crate) struct Options {
    /// The files to write [default: those that are generated from code]
    #[arg(value_enum)]
    files: Option<Files>,
    /// Write nothing, and fail where a file is stale
    #[arg(long, conflicts_with = "files")]
    check: bool,
}

/// Files that are not generated from code.
#[derive(Clone, Copy, ValueEnum)]
enum Files {
    /// The kinds that each supported Kubernetes version serves, from a control plane of each
    Discovery,
}

/// The directories that have only generated files.
const DIRECTORIES: [&str; 2] = ["deploy/crds", "deploy/chart/templates/crds"];

const HEADER: &str =
    "# Generated from crates/edge/api by `cargo xtask generate`. Edit the types there, not this file.\n";

pub(crate) fn run(options: &Options) -> Result<()> {
    match options.files {
        Some(Files::Discovery) => discovery::run(),
        None if options.check => check(),
        None => write(),
    }
}

/// Fails with the names of stale files.
pub(crate) fn check() -> Result<()> {
    let stale = stale(paths::checkout(), &desired()?)?;
    if stale.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = stale.iter().map(|path| format!("  {}", path.display())).collect();
    bail!("stale generated files: run `cargo xtask generate`:\n{}", names.join("\n"));
}

fn write() -> Result<()> {
    let desired = desired()?;
    for path in stale(paths::checkout(), &desired)? {
        let file = paths::checkout().join(&path);
        if let Some(text) = desired.get(&path) {
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&file, text).with_context(|| format!("write {}", path.display()))?;
            println!("wrote {}", path.display());
        } else {
            fs::remove_file(&file).with_context(|| format!("remove {}", path.display()))?;
            println!("removed {}", path.display());
        }
    }
    Ok(())
}

/// Every generated file, by its path in the checkout.
fn desired() -> Result<BTreeMap<PathBuf, String>> {
    let mut desired = BTreeMap::from([("deploy/chart/templates/rbac.yaml".into(), chart_rbac()?)]);
    for mut crd in fitout_api::crds() {
        let name = format!("{}.yaml", crd.spec.names.plural);
        let text = |crd: &_| serde_yaml_ng::to_string(crd).with_context(|| format!("write {name} as YAML"));
        desired.insert(Path::new("deploy/crds").join(&name), format!("{HEADER}{}", text(&crd)?));
        // Deleting a CRD deletes all its objects.
        let keep = ("helm.sh/resource-policy".to_owned(), "keep".to_owned());
        crd.metadata.annotations.get_or_insert_default().extend([keep]);
        let template = text(&crd)?.replace("{{", r#"{{ "{{" }}"#);
        desired.insert(Path::new("deploy/chart/templates/crds").join(&name), format!("{HEADER}{template}"));
    }
    Ok(desired)
}

/// The RBAC rules of the chart: `deploy/hub/rbac.yaml` without the namespace, which Helm creates.
fn chart_rbac() -> Result<String> {
    let path = "deploy/hub/rbac.yaml";
    let text = fs::read_to_string(paths::checkout().join(path)).with_context(|| format!("read {path}"))?;
    let documents: Vec<&str> = text.split("\n---\n").filter(|one| !one.contains("\nkind: Namespace\n")).collect();
    let header = format!("# Generated from {path} by `cargo xtask generate`. Edit that, not this file.\n");
    Ok(header + &documents.join("\n---\n"))
}

/// The stale paths: files that differ, are missing, or are no longer generated.
fn stale(checkout: &Path, desired: &BTreeMap<PathBuf, String>) -> Result<Vec<PathBuf>> {
    let mut stale = Vec::new();
    for (path, text) in desired {
        if fs::read_to_string(checkout.join(path)).ok().as_ref() != Some(text) {
            stale.push(path.clone());
        }
    }
    for directory in DIRECTORIES {
        // A missing directory has no superfluous files.
        let Ok(entries) = fs::read_dir(checkout.join(directory)) else { continue };
        for entry in entries {
            let path = Path::new(directory).join(entry?.file_name());
            if !desired.contains_key(&path) {
                stale.push(path);
            }
        }
    }
    stale.sort();
    Ok(stale)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is removed when it is dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("fitout-generate-{name}-{}", std::process::id()));
            fs::create_dir_all(path.join("deploy/crds")).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn path(name: &str) -> PathBuf {
        Path::new("deploy/crds").join(name)
    }

    #[test]
    fn differing_missing_and_superfluous_files_are_stale() {
        let checkout = Scratch::new("stale");
        let desired = ["same", "other", "missing"].map(|name| (path(name), name.to_owned()));
        for (name, text) in [("same", "same"), ("other", "edited"), ("gone", "gone")] {
            fs::write(checkout.0.join(path(name)), text).unwrap();
        }
        let found = stale(&checkout.0, &desired.into()).unwrap();
        assert_eq!(found, [path("gone"), path("missing"), path("other")]);
    }

    #[test]
    fn generation_is_deterministic() {
        assert_eq!(desired().unwrap(), desired().unwrap());
        assert!(desired().unwrap().values().all(|text| text.starts_with("# Generated from ")));
    }

    #[test]
    fn chart_version_is_the_product_version() {
        let chart = fs::read_to_string(paths::checkout().join("deploy/chart/Chart.yaml")).unwrap();
        let chart: serde_json::Value = serde_yaml_ng::from_str(&chart).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!((&chart["version"], &chart["appVersion"]), (&version.into(), &version.into()));
    }
}
