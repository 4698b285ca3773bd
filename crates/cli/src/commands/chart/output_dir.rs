//! Writes rendered documents to files, as `helm template --output-dir` does.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path};

use fitout_helm_chart::{Rendered, Shown};

use crate::Answer;
use crate::failure::Failure;

/// Writes each document to a file named after its template, and returns the list of files.
pub(super) fn write(rendered: &Rendered, shown: &Shown, dir: &Path) -> Result<Answer, Failure> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut order = Vec::new();
    for (path, document) in rendered.documents(shown) {
        let file = files.entry(path.to_owned()).or_insert_with(|| {
            order.push(path.to_owned());
            String::new()
        });
        let _ = write!(file, "---\n# Source: {path}\n{document}\n");
    }
    let mut report = String::new();
    for path in order {
        // The name of a template is untrusted input.
        if !Path::new(&path).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Failure::new(format!(
                "{path}: the name of this template is no relative path, so it is not written to a file"
            )));
        }
        let file = dir.join(&path);
        let failed = |error| Failure::new(format!("cannot write {}: {error}", file.display()));
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&file, &files[&path]).map_err(failed)?;
        let _ = writeln!(report, "wrote {}", file.display());
    }
    Ok(report.into())
}
