//! Case tables: folders of text files with a case on each line.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The lines of all files of a folder, in order, with their place. Empty lines and lines that begin with `#` are left out.
pub fn case_lines(folder: &Path) -> Result<Vec<(String, String)>> {
    let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().display().to_string();
        let text = fs::read_to_string(&file)?;
        let numbered = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        lines.extend(numbered.map(|(number, line)| (format!("{name}:{}", number + 1), line.to_owned())));
    }
    Ok(lines)
}
