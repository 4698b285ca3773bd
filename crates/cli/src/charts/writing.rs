//! A file for each template.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path};

use fitout_helm_chart::{Rendered, Shown};

use crate::Answer;
use crate::failure::Failure;

/// Writes all documents into files named after their templates, and says which.
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
    let mut said = String::new();
    for path in order {
        // A template's name comes from a stranger.
        if !Path::new(&path).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Failure::new(format!("{path}: a template of this name is not written to a file")));
        }
        let file = dir.join(&path);
        let failed = |error| Failure::new(format!("cannot write {}: {error}", file.display()));
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&file, &files[&path]).map_err(failed)?;
        let _ = writeln!(said, "wrote {}", file.display());
    }
    Ok(said.into())
}
