//! Charts on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fitout_chart::{Chart, File, Rules, Warnings};

/// Loads the chart in a directory or in an archive.
pub fn load(path: &Path, warnings: &mut Warnings) -> Result<Chart, String> {
    let shown = path.display();
    let about = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("path {shown:?} not found"),
        _ => format!("read {shown}: {error}"),
    })?;
    if about.is_dir() {
        return Chart::from_directory(files(path, warnings)?, warnings).map_err(|error| error.to_string());
    }
    let bytes = fs::read(path).map_err(|error| format!("read {shown}: {error}"))?;
    Chart::from_archive_file(&shown.to_string(), &bytes, warnings).map_err(|error| error.to_string())
}

/// The files of a directory that its `.helmignore` does not ignore; links are followed.
fn files(dir: &Path, warnings: &mut Warnings) -> Result<Vec<File>, String> {
    let ignored = dir.join(Rules::FILE);
    let rules = match fs::read(&ignored) {
        Ok(text) => Rules::parse(&text).map_err(|error| error.to_string())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Rules::default(),
        Err(error) => return Err(format!("read {}: {error}", ignored.display())),
    };
    let mut walk = Walk { rules, warnings, found: Vec::new() };
    walk.directory(dir, "").map(|()| walk.found)
}

struct Walk<'w> {
    rules: Rules,
    warnings: &'w mut Warnings,
    found: Vec<File>,
}

impl Walk<'_> {
    fn directory(&mut self, dir: &Path, prefix: &str) -> Result<(), String> {
        let failed = |error: io::Error| format!("read {}: {error}", dir.display());
        let entries = fs::read_dir(dir).map_err(failed)?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>().map_err(failed)?;
        paths.sort();
        for path in paths {
            let Some(name) = path.file_name() else { continue };
            let name = format!("{prefix}{}", name.to_string_lossy());
            self.entry(&path, name)?;
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, name: String) -> Result<(), String> {
        let shown = path.display();
        let failed = |error: io::Error| format!("error reading {shown}: {error}");
        if fs::symlink_metadata(path).map_err(failed)?.is_symlink() {
            let resolved =
                fs::canonicalize(path).map_err(|error| format!("error evaluating symlink {shown}: {error}"))?;
            let resolved = resolved.display();
            self.warnings.push(format!("{shown} is a symbolic link: what is in {resolved} is used"));
        }
        let about = fs::metadata(path).map_err(failed)?;
        if self.rules.ignores(&name, about.is_dir()) {
            return Ok(());
        }
        if about.is_dir() {
            return self.directory(path, &format!("{name}/"));
        }
        if !about.is_file() {
            return Err(format!("cannot load irregular file {shown} as it has file mode type bits set"));
        }
        let data = fs::read(path).map_err(failed)?;
        self.found.push(File::new(name, data));
        Ok(())
    }
}
