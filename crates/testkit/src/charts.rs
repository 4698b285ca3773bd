//! The charts that rendering is compared on: folders of Go modules, listed in `testbed/charts/charts.txt`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::golang;
use crate::paths;

/// A module with its version and its hash, and the charts in it: folder and name.
struct Module {
    path: String,
    version: String,
    hash: String,
    charts: Vec<(String, String)>,
}

fn modules() -> Result<Vec<Module>> {
    let list = paths::testbed_sources().join("charts/charts.txt");
    let list = fs::read_to_string(&list).with_context(|| format!("read {}", list.display()))?;
    let mut modules: Vec<Module> = Vec::new();
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (words[..].as_ref(), modules.last_mut()) {
            ([folder, name], Some(module)) => module.charts.push(((*folder).to_owned(), (*name).to_owned())),
            ([path, version, hash], _) => modules.push(Module {
                path: (*path).to_owned(),
                version: (*version).to_owned(),
                hash: (*hash).to_owned(),
                charts: Vec::new(),
            }),
            _ => anyhow::bail!("charts.txt: {line}: expected a module (path, version, hash) or a chart (folder, name)"),
        }
    }
    Ok(modules)
}

/// The names of all charts.
pub(crate) fn names() -> Result<Vec<String>> {
    Ok(modules()?.into_iter().flat_map(|module| module.charts).map(|(_, name)| name).collect())
}

/// Copies all charts into a directory.
pub(crate) fn fetch(dir: &Path) -> Result<()> {
    for module in modules()? {
        let source = golang::download(&module.path, &module.version, &module.hash)?;
        for (folder, name) in &module.charts {
            golang::copy_tree(&source.join(folder), &dir.join(name))
                .with_context(|| format!("copy {folder} of {}", module.path))?;
        }
    }
    Ok(())
}
